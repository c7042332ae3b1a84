"""How tables of cells are laid out, as options of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from eqbench.requests import FLAG, Choice, Option, Words

SORTS = ("status", "regret", "time", "solver", "given")
# Columns that may be asked for, and their titles.
COLUMNS = {
    **{name: name for name in ("status", "payoffs", "equilibrium", "profile", "iterations")},
    **{name: name for name in ("exploitability", "time", "memory")},
    **{"max_regret": "max regret", "nash_conv": "NashConv", "cpu": "CPU time", "setup": "set-up"},
}


@dataclass(frozen=True, kw_only=True)
class View:
    """Which rows and columns of cells are shown, and in which order."""

    sort: Annotated[
        str,
        Option(
            "Order of the solvers: by status and then max regret, or by one of the others; given "
            "is the order in which they were asked for.",
            Choice(words=SORTS),
        ),
    ] = "status"
    columns: Annotated[
        tuple[str, ...],
        Option(
            f"Show just these columns, separated by commas: {', '.join(sorted(COLUMNS))}.",
            Words("NAMES", "column", tuple(COLUMNS)),
        ),
    ] = ()
    summary: Annotated[
        bool,
        Option("One row per solver over all seeds: quartiles of max regret and times.", FLAG),
    ] = False
    show_all: Annotated[
        bool,
        Option(
            "One row per cell, however many there are. A game with more than 24 cells of several "
            "seeds has a summary otherwise.",
            FLAG,
            "all",
        ),
    ] = False

    @property
    def summarize(self) -> bool | None:
        """Whether to show summaries; None for games with many cells of several seeds."""
        return self.summary or (False if self.show_all or self.columns else None)


DEFAULT = View()
