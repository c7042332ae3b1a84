"""Tables of a page: those of reports, and which solver found which equilibria."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eqbench.report.charts.material import GameTracks, Track
from eqbench.report.entries import ABSENT, ALARMING, Entry, arranged, reached_target
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.html.document import Cell, Table
from eqbench.report.naming import handed_over, spread
from eqbench.report.rows import FORMATS, SOLVER, Column, Kind, Row, text_of
from eqbench.report.rows import Table as ReportTable
from eqbench.report.terminal import mebibytes, seconds, small
from eqbench.text import printable

MOST_EQUILIBRIA = 8  # columns of a matrix
_FORMATS: dict[Kind, Callable[[Any], str]] = {**FORMATS, "seconds": seconds, "bytes": mebibytes}
_NOTHING = Cell("·", None, kind="faint")

Keys = Mapping[str, int]  # places of solvers in the data of the page, which tie rows to charts


def tone(status: str) -> str:
    """Which of the page's colors a status has: ``good``, ``fair``, ``bad`` or ``idle``."""
    tones = {"ok": "good", **dict.fromkeys(ABSENT, "idle"), **dict.fromkeys(ALARMING, "bad")}
    return tones.get(status, "fair")


def page_table(
    table: ReportTable,
    name: str,
    *,
    title: str = "",
    caption: str = "",
    filters: Sequence[str] = (),
    hints: Sequence[str] | None = None,
) -> Table:
    """A table for a page; the solver stands first, where it stays when the table is scrolled.

    Parameters
    ----------
    table : of a report
    name, title, caption, filters : as in :class:`~eqbench.report.html.document.Table`
    hints : what is shown when the status of a row is pointed at
    """
    split = table.with_payoff_columns("P")
    columns = sorted(split.columns, key=lambda column: column.title != SOLVER.title)
    rows = [
        [_cell(row, column, hint) for column in columns]
        for row, hint in zip(split.rows, hints or [""] * len(split.rows), strict=True)
    ]
    return Table(name, columns, rows, caption, title, filters, folded=("exploitability",))


def _cell(row: Row, column: Column, hint: str) -> Cell:
    value = row.values.get(column.title)
    if value is None:
        return Cell("" if column.identifies else "–", None)
    if column.kind == "status":
        return Cell(value, hint=printable(hint), kind=tone(value))
    if isinstance(value, str) or not column.numeric:
        return Cell(printable(text_of(row, column)))
    if value == 0 and column.title in row.exact:
        return Cell("0 exactly", value)
    return Cell(_FORMATS.get(column.kind, str)(value), value)


def overview(games: Sequence[GameTracks], keys: Keys, caption: str) -> Table:
    """What became of every solver on every game."""
    solvers = list(dict.fromkeys(solver for game in games for solver in game.by_solver))
    rows = [
        [Cell(solver), *(_outcome(game.by_solver.get(solver, [])) for game in games)]
        for solver in solvers
    ]
    return Table(
        "status",
        [SOLVER, *(Column(game.short) for game in games)],
        rows,
        caption,
        "Every solver on every game",
        keys=[_key(solver, keys) for solver in solvers],
    )


def matrix(game: GameTracks, keys: Keys, caption: str) -> Table:
    """Which solver found which equilibria of a game, how good and how fast."""
    solver_of = {id(track.entry): track.solver for track in game.tracks}
    began = [t.entry for t in game.tracks if t.record.status not in ABSENT]
    solvers = dict.fromkeys(solver_of[id(entry)] for entry in arranged(began))
    found = equilibria(began)
    known = [item for item in found if not item.is_near]
    shown, others = known[:MOST_EQUILIBRIA], known[MOST_EQUILIBRIA:]
    groups = [[item] for item in shown] + [others] * bool(others)
    columns = [
        SOLVER,
        Column("status", "status"),
        Column("best regret", "small", "best\nregret"),
        Column("time to target", "seconds", "time to\ntarget"),
        *(Column(item.title, "count", item.title.replace(":", ":\n", 1)) for item in shown),
        *[Column(f"{len(others)} more", "count")] * bool(others),
        Column("only near"),
    ]
    rows = []
    for solver in solvers:
        own = game.by_solver[solver]
        regrets = [t.record.max_regret for t in own if t.record.max_regret is not None]
        entries = [track.entry for track in own]
        near = [item.name for item in found if item.is_near and _cells(item, entries)]
        rows.append(
            [
                Cell(solver),
                _status(own),
                _number(min(regrets, default=None), "small"),
                _number(_time(own), "seconds"),
                *(_finds(entries, items) for items in groups),
                Cell(", ".join(near), kind="faint") if near else _NOTHING,
            ]
        )
    title = f"Equilibria that each solver found on {game.short}"
    return Table("matrix", columns, rows, caption, title, keys=[_key(s, keys) for s in solvers])


def _key(solver: str, keys: Keys) -> dict[str, int]:
    return {"solver": keys[solver]} if solver in keys else {}


def _number(value: float | None, kind: Kind) -> Cell:
    return Cell("–", None) if value is None else Cell(_FORMATS[kind](value), value)


def _time(tracks: Sequence[Track]) -> float | None:
    """Median time to the target of the cells that reached it."""
    times = sorted(t.time_to(t.record.target or 0.0) for t in tracks if reached_target(t.record))
    known = [time for time in times if time < float("inf")]
    return known[len(known) // 2] if known else None


def _status(tracks: Sequence[Track]) -> Cell:
    """What became of the cells of a solver, alarms first, and how they were verified."""
    records = [track.record for track in tracks]
    statuses = Counter(record.status for record in records)
    ranks = {"bad": 2, "good": 1}
    shown = max(statuses, key=lambda status: (ranks.get(tone(status), 0), statuses[status]))
    several = len(statuses) > 1
    if "refuted" in statuses:
        sign = "✗"
    elif all(record.equilibria and record.equilibria[0].exact for record in records):
        sign = "✓✓"
    else:
        sign = "✓" if any(record.equilibria for record in records) else ""
    reasons = dict.fromkeys(f"{r.status}: {r.reason}" for r in records if r.reason)
    return Cell(
        f"{shown}{f' {statuses[shown]}/{len(records)}' * several} {sign}".strip(),
        hint=printable("; ".join(reasons)),
        kind="fair" if several and tone(shown) == "good" else tone(shown),
    )


def _outcome(tracks: Sequence[Track]) -> Cell:
    """Status with the time to the target, or else the smallest regret."""
    if not tracks:
        return Cell("not run", None, kind="idle")
    cell, time = _status(tracks), _time(tracks)
    regrets = [t.record.max_regret for t in tracks if t.record.max_regret is not None]
    more = seconds(time) if time is not None else small(min(regrets)) if regrets else ""
    return replace(cell, text=f"{cell.text} {more}".strip())


def _cells(item: Found, entries: Sequence[Entry]) -> list[Sequence[Any]]:
    own = {id(entry) for entry in entries}
    return [members for entry, members in item.cells if id(entry) in own]


def _finds(entries: Sequence[Entry], items: Sequence[Found]) -> Cell:
    """How many of some equilibria a solver found, or in how many of its cells, and where."""
    cells = [members for item in items for members in _cells(item, entries)]
    if not cells:
        return _NOTHING
    members = [member for each in cells for member in handed_over(each)]
    where = spread([member.identity for member in members]) if len(items) == 1 else ""
    several = len(entries) > 1 and len(items) == 1
    number = len(cells) if several else len(members)
    text = f"{number}/{len(entries)}" if several else str(number)
    between = "\n" if "…" in where else " "
    return Cell(f"{text}{between}{where}".strip(), number, kind="good")
