"""Tables of cells, and how they are laid out, as options of commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from eqbench.documents import convert
from eqbench.report import read_data
from eqbench.report.entries import TRIAL, Entry, began, row_label, several, trials
from eqbench.report.naming import label, marks
from eqbench.report.rows import EXACT_ZERO, FORMATS, RUN, SOLVER, Column, Row, Table
from eqbench.requests import FLAG, Choice, Option, Words
from eqbench.text import printable
from eqbench.verification import credible_text

SORTS = ("status", "regret", "time", "solver", "given")
COLUMNS = read_data("columns")
CELLS = convert(COLUMNS["cells"], dict[str, Column])
SUMMARY, EQUILIBRIA, INDEX = (
    convert(COLUMNS[name], tuple[Column, ...]) for name in ("summary", "equilibria", "index")
)
_NAMES = tuple(sorted(CELLS))
LEAST_CELLS = 4  # that have quartiles in a table
_GAME = Column("game", identifies=True)


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
        """True for summaries; None for those of games with many cells of several seeds alone."""
        return self.summary or (False if self.show_all or self.columns else None)


DEFAULT = View()


def cell_table(entries: Sequence[Entry], view: View = DEFAULT, *, with_game: bool = True) -> Table:
    """Table of cells without title and notes, as a rule with a column for the game as typed."""
    columns = [RUN] * several("run", entries) + [SOLVER] + [_GAME] * with_game
    columns += [Column(name, "count", identifies=True) for name in TRIAL if several(name, entries)]
    rows = tuple(_row(entry, entries) for entry in entries)
    absent = {name for name in COLUMNS["rare"] if all(row.values[name] is None for row in rows)}
    found = [FORMATS["found"](names) for entry in entries if (names := label(entry.record))]
    for name, column in CELLS.items():
        if name == "equilibrium":
            column = replace(column, notes=marks(found))
        if name in view.columns:
            columns.append(replace(column, dispensable=0))
        elif not (view.columns or name in COLUMNS["hidden"] or name in absent):
            columns.append(column)
    return Table("", tuple(columns), rows)


def summary(entries: Sequence[Entry], view: View = DEFAULT) -> Table:
    """Table of a game with one row for each solver."""
    rows = []
    for own in trials(began(entries), view.sort):
        first, figures = own.entries[0], own.statistics.items()
        shown = {t: v for t, v in figures if len(own.entries) >= LEAST_CELLS or "quartile" not in t}
        rows.append(Row(own.solver, {"run": first.run, "solver": first.record.solver, **shown}))
    columns = [RUN] * several("run", entries) + [SOLVER, *SUMMARY]
    kept = tuple(column for column in columns if any(column.title in row.values for row in rows))
    limits = sorted({entry.source.timeout_s for entry in entries if entry.source})
    timeout = f"timeout of a cell: {' or '.join(f'{limit:g} s' for limit in limits)}"
    return Table("", kept, tuple(rows), (timeout,))


def _row(entry: Entry, entries: Sequence[Entry]) -> Row:
    record, fields = entry.record, COLUMNS["fields"]
    claim = record.equilibria[0].claim if record.equilibria else ""
    known = {c.title: getattr(record, fields.get(name, name), None) for name, c in CELLS.items()}
    known |= {name: getattr(record, name) for name in ("solver", "game", *TRIAL)}
    values = known | {
        "run": entry.run,
        "status": replace(CELLS["status"].cell(record.status), hint=printable(record.reason)),
        "equilibrium": label(record) or None,
        "credible": credible_text(record.credible) or None,
        "profile": COLUMNS["claims"].get(claim, claim) or None,
        "iterations": record.iterations or None,  # a method that counts none says 0
        "memory": record.peak_memory_bytes if began([entry]) else None,
    }
    if entry.is_proved and record.max_regret == 0:
        values["max regret"] = EXACT_ZERO
    return Row(row_label(entry, entries), values)
