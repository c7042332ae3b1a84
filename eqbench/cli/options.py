"""Option types that several commands share."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from eqbench.text import shortened

YEAR_S = 365 * 24 * 3600.0
LARGEST = 2**63 - 1
MILLION = 1_000_000
# Options that count something have an end: what lies beyond it is a mistake, or more than machines
# and files can hold.
COUNT = click.IntRange(1, LARGEST)
NUMBER = click.IntRange(1, MILLION)
NUMBER_OR_NONE = click.IntRange(0, MILLION)
JOBS = click.IntRange(1, 256)
THREADS = click.IntRange(1, 1024)
SEED = click.IntRange(0, 2**32 - 1)

_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6}
_UNITS["gb"] = 10**9
SMALLEST_MEMORY, LARGEST_MEMORY = 64 * 2**20, 2**50


class MemorySize(click.ParamType):
    """A size such as 2GiB or 500MB, as a number of bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", value)
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            self.fail(f"{value!r} is not a size; write for example 500MB or 2GiB", param, ctx)
        size = float(match[1]) * unit
        if size > LARGEST_MEMORY:
            self.fail(f"{shortened(value, 40)!r} is more than any machine has", param, ctx)
        if size < SMALLEST_MEMORY:
            self.fail(
                f"{value!r} is less than the interpreter itself needs; give at least 64MiB, for "
                "example 500MB or 2GiB",
                param,
                ctx,
            )
        return int(size)


class FiniteNumber(click.ParamType):
    """A finite number that is not negative, or positive, and not more than `most`."""

    name = "number"

    def __init__(self, *, positive: bool = False, most: float = math.inf) -> None:
        self.positive, self.most = positive, most

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or number < 0 or (self.positive and number == 0):
            wanted = "positive" if self.positive else "not negative"
            self.fail(f"{value!r} is no finite number that is {wanted}", param, ctx)
        if number > self.most:
            self.fail(f"{value!r} is too much; at most {self.most:g} is allowed", param, ctx)
        return number


SHARE = FiniteNumber(most=1000.0)
DURATION = FiniteNumber(positive=True, most=YEAR_S)


class Statuses(click.ParamType):
    """Statuses of cells, separated by commas."""

    name = "statuses"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        from typing import get_args

        from eqbench.errors import nearest
        from eqbench.store.schema import Status

        known = [status for status in get_args(Status) if status != "interrupted"]
        names = tuple(name.strip() for name in value.split(",") if name.strip())
        for name in names:
            if name not in known:
                self.fail(f"{name!r} is no status: {nearest(name, known)}", param, ctx)
        return names


def spec_completion(kind: str) -> Callable[[Any, Any, str], list[CompletionItem]]:
    """Shell completion with the names of the games or the solvers.

    Game files of the current folder are among them; where nothing fits, the shell completes paths.
    """

    def complete(ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        from eqbench.registry import GROUPS, default_registry
        from eqbench.spec import GAME_FILES, OPENSPIEL

        registry = default_registry()
        if kind == "solver":
            names = [*(entry.name for entry in registry.solvers()), "all", *GROUPS]
        else:
            files = (name for name in sorted(os.listdir()) if name.lower().endswith(GAME_FILES))
            names = [*(entry.name for entry in registry.games()), OPENSPIEL, *files]
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        if kind == "game" and not found:
            return [CompletionItem(incomplete, type="file")]
        return found

    return complete


plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Python file that registers games or solvers; may be given several times.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
max_nodes_option = click.option(
    "--max-nodes",
    # the default of eqbench.model.size_limit, which is not imported for a help text
    default=10_000_000,
    type=click.IntRange(1, 1000 * MILLION),
    show_default=True,
    metavar="N",
    help="Refuse games with more nodes than this.",
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Nothing but errors on standard error."
)


def game_option(text: str) -> Callable[[Any], Any]:
    """The game that a command needs; `text` is its help."""
    return click.option(
        "--game",
        required=True,
        metavar="SPEC",
        shell_complete=spec_completion("game"),
        help=text,
    )
