"""Print formatted text where it may not be a terminal that reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click


def say_notes(*runs: Any) -> None:
    """Say on standard error what is damaged in the folders of runs."""
    for note in dict.fromkeys(note for run in runs for note in run.notes):
        click.echo(f"note: {note}", err=True)


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
