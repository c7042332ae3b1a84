"""Tables of cells, and how they are laid out, as options of commands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from eqbench.documents import convert
from eqbench.report import read_data
from eqbench.report.entries import row_labels, trials
from eqbench.report.naming import label, marks, verdict_texts
from eqbench.report.rows import EXACT_ZERO, FORMATS, RUN, SOLVER, Cell, Column, Row, Table, seconds
from eqbench.requests import FLAG, Choice, Option, Words
from eqbench.store.trials import INTERVAL, TRIAL, Entry, Trials, began, several, virtual_best
from eqbench.text import printable

SORTS = ("status", "regret", "time", "solver", "given")
COLUMNS = read_data("columns")
CELLS = convert(COLUMNS["cells"], dict[str, Column])
SUMMARY, EQUILIBRIA, INDEX = (
    convert(COLUMNS[name], tuple[Column, ...]) for name in ("summary", "equilibria", "index")
)
_NAMES = tuple(sorted(CELLS))
LEAST_CELLS = 4  # that have quartiles in a table
VIRTUAL_BEST = "virtual best"
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
        Option("One row per solver over all seeds: statistics of max regret and times.", FLAG),
    ] = False
    show_all: Annotated[
        bool,
        Option(
            "One row per cell, however many there are. A game with more than 500 cells has a "
            "summary otherwise, in the terminal with more than 24 of several seeds.",
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
    label_of = row_labels(entries)
    rows = tuple(_row(entry, label_of(entry)) for entry in entries)
    absent = {name for name in COLUMNS["rare"] if all(row.values[name] is None for row in rows)}
    found = [FORMATS["found"](names) for entry in entries if (names := label(entry.record))]
    texts = (verdict_texts(each.record.equilibria[0]) for each in entries if each.record.equilibria)
    others = sorted({name for own in texts for name in own} - CELLS.keys())
    verdicts = {name: Column(name, "verdict", dispensable=4) for name in others}
    for name, column in (CELLS | verdicts).items():
        if name == "equilibrium":
            column = replace(column, notes=marks(found))
        if name in view.columns:
            columns.append(replace(column, dispensable=0))
        elif not (view.columns or name in COLUMNS["hidden"] or name in absent):
            columns.append(column)
    return Table("", tuple(columns), rows)


def summary(entries: Sequence[Entry], view: View = DEFAULT) -> Table:
    """Table of a game with one row for each solver, and one for the best of them in each trial."""
    ran = began(entries)
    solvers, best = trials(ran, view.sort), virtual_best(ran)
    rows = [
        Row(own.solver, _summary_values(own) | {"fastest": best.wins[own.solver] if best else None})
        for own in solvers
    ]
    limits = sorted({entry.limit_s for entry in ran if entry.source})
    if best:
        values = {"solver": VIRTUAL_BEST, **_shown(best.statistics, best.cells, limits)}
        rows.append(Row(VIRTUAL_BEST, values))
    columns = [RUN] * several("run", entries) + [SOLVER, *SUMMARY]
    kept = (c for c in columns if any(row.values.get(c.title) is not None for row in rows))
    timeout = f"timeout of a cell: {' or '.join(f'{limit:g} s' for limit in limits)}"
    return Table("", tuple(kept), tuple(rows), (timeout,))


def _summary_values(own: Trials) -> dict[str, Any]:
    first, limits = own.entries[0], [entry.limit_s for entry in own.entries]
    shown = _shown(own.statistics, len(own.entries), limits)
    return {"run": first.run, "solver": first.record.solver, **shown}


def _shown(figures: Mapping[str, Any], cells: int, limits: Sequence[float]) -> dict[str, Any]:
    """Statistics as tables have them: few cells have no quartiles, and infinity is a limit."""
    beyond = Cell(f"> {seconds(min(limits, default=0.0))}", None)
    shown = {
        title: beyond if value == math.inf else value
        for title, value in figures.items()
        if cells >= LEAST_CELLS or "quartile" not in title
    }
    if ends := figures[INTERVAL]:
        low, high = (beyond.text if end == math.inf else seconds(end) for end in ends)
        shown[INTERVAL] = low if low == high else f"{low} – {high}"
    return shown


def _row(entry: Entry, name: str) -> Row:
    record, fields = entry.record, COLUMNS["fields"]
    claim = record.equilibria[0].claim if record.equilibria else ""
    known = {c.title: getattr(record, fields.get(name, name), None) for name, c in CELLS.items()}
    known |= {name: getattr(record, name) for name in ("solver", "game", *TRIAL)}
    verdicts = verdict_texts(record.equilibria[0]) if record.equilibria else {}
    values = (
        verdicts
        | known
        | {
            "run": entry.run,
            "status": replace(CELLS["status"].cell(record.status), hint=printable(record.reason)),
            "equilibrium": label(record) or None,
            "credible": verdicts.get("credible"),
            "profile": COLUMNS["claims"].get(claim, claim) or None,
            "iterations": record.iterations or None,  # a method that counts none says 0
            "memory": record.peak_memory_bytes if began([entry]) else None,
        }
    )
    if entry.is_proved and record.max_regret == 0:
        values["max regret"] = EXACT_ZERO
    return Row(name, values)
