"""How tables of cells are laid out, as options of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from eqbench.report import read_data
from eqbench.requests import FLAG, Choice, Option, Words

SORTS = ("status", "regret", "time", "solver", "given")
COLUMNS = read_data("columns")
_NAMES = tuple(sorted(COLUMNS["cells"]))


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
            f"Show just these columns, separated by commas: {', '.join(_NAMES)}.",
            Words("NAMES", "column", _NAMES),
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
