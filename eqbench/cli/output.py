"""Print formatted text where it may not be a terminal that reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click


def print_formatted(render: Callable[[Any], None]) -> None:
    """Let `render` print to a console, as wide as the terminal.

    Elsewhere it is as wide as COLUMNS says, or 150 columns, and without colors.
    """
    from rich.console import Console

    from eqbench.report.terminal import TEXT_WIDTH, plain_text

    console = Console()
    if console.is_terminal:
        render(console)
    else:
        width = console.width if "COLUMNS" in os.environ else TEXT_WIDTH
        click.echo(plain_text(render, width), nl=False)
