"""Tables of a page: those of reports, and which solver found which equilibria."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any

from eqbench.report.charts.datasets import ShownGame
from eqbench.report.entries import ABSENT, ALARMING, Trials, began, trials
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.html.document import Cell, Table
from eqbench.report.naming import handed_over, spread
from eqbench.report.rows import FORMATS, SOLVER, Column, Kind, Row, text_of
from eqbench.report.rows import Table as ReportTable
from eqbench.report.terminal import mebibytes, seconds, small
from eqbench.text import printable

TEXTS = tomllib.loads((files("eqbench.report.html") / "texts.toml").read_text("utf-8"))
MOST_EQUILIBRIA = 8  # columns of a matrix
REGRETS = ("1e-3", "1e-6", "1e-9")  # in payoff units, to which a matrix has times too
_FORMATS: dict[Kind, Callable[[Any], str]] = {**FORMATS, "seconds": seconds, "bytes": mebibytes}


def tone(status: str) -> str:
    """Which of the page's colors a status has: ``good``, ``fair``, ``bad`` or ``idle``."""
    tones = {"ok": "good", **dict.fromkeys(ABSENT, "idle"), **dict.fromkeys(ALARMING, "bad")}
    return tones.get(status, "fair")


def page_table(
    table: ReportTable, name: str, *, hints: Sequence[str] | None = None, **look: Any
) -> Table:
    """A table for a page; the solver stands first, where it stays when the table is scrolled.

    Parameters
    ----------
    table : of a report
    hints : what is shown when the status of a row is pointed at
    name, look : as in :class:`~eqbench.report.html.document.Table`
    """
    split = table.with_payoff_columns("P")
    columns = sorted(split.columns, key=lambda column: column.title != SOLVER.title)
    rows = [
        [_cell(row, column, hint) for column in columns]
        for row, hint in zip(split.rows, hints or [""] * len(split.rows), strict=True)
    ]
    return Table(name, columns, rows, **look)


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
    return _number(value, column.kind)


def _number(value: float | None, kind: Kind) -> Cell:
    return Cell("–", None) if value is None else Cell(_FORMATS.get(kind, str)(value), value)


def _grid(
    name: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]], **look: Any
) -> Table:
    """A table of cells, and of numbers of the kinds of their columns."""
    cells = [
        [
            v if isinstance(v, Cell) else _number(v, c.kind)
            for v, c in zip(row, columns, strict=True)
        ]
        for row in rows
    ]
    return Table(name, columns, cells, **look)


def overview(games: Sequence[ShownGame]) -> Table:
    """What became of every solver on every game: the time to the target or the best regret."""
    of_game = [{own.solver: own for own in trials(game.cells.values())} for game in games]
    solvers = dict.fromkeys(solver for own in of_game for solver in own)
    columns = [SOLVER, *(Column(game.name) for game in games)]
    rows = [
        [Cell(printable(name)), *(_status(own.get(name), figure=True) for own in of_game)]
        for name in solvers
    ]
    look = {"caption": TEXTS["overview"], "title": "Every solver on every game"}
    return _grid("status", columns, rows, **look)


def matrix(game: ShownGame, place: int) -> Table:
    """Which solver found which equilibria of a game, how good and how fast."""
    entries = began(game.cells.values())
    found = equilibria(entries)
    known, near = ([item for item in found if item.is_near is near] for near in (False, True))
    shown, others = known[:MOST_EQUILIBRIA], known[MOST_EQUILIBRIA:]
    groups = [
        *((Column(i.title, "count", i.title.replace(":", ":\n", 1)), [i]) for i in shown),
        *[(Column(f"{len(others)} more", "count"), others)] * bool(others),
        *[(Column("only near", "count", "only\nnear"), near)] * bool(near),
    ]
    timed = [Column(f"time to {r}", "seconds", f"time to\n{r}") for r in ("target", *REGRETS)]
    best = Column("best regret", "small", "best\nregret")
    columns = [SOLVER, Column("status", "status"), timed[0], best, *timed[1:]]
    columns += [column for column, _ in groups]
    rows = [
        [
            *(Cell(printable(own.solver)), _status(own), own.time_to(), own.best),
            *(own.time_to(float(regret)) for regret in REGRETS),
            *(_finds(items, own) for _, items in groups),
        ]
        for own in trials(entries, "status")
    ]
    look = {
        "caption": TEXTS["matrix"],
        "title": f"Equilibria that each solver found on {game.name}",
    }
    folded = [column.title for column in timed[1:]]
    return _grid(f"matrix-{place}", columns, rows, game=str(place), folded=folded, **look)


def _status(own: Trials | None, *, figure: bool = False) -> Cell:
    """What became of the cells of a solver, alarms first, and how they were verified.

    With a figure its time to the target stands there too, or else the best regret.
    """
    if own is None:
        return Cell("not run", None, kind="idle")
    records = [entry.record for entry in own.entries]
    statuses = Counter(record.status for record in records)
    ranks = {"bad": 2, "good": 1}
    shown = max(statuses, key=lambda status: (ranks.get(tone(status), 0), statuses[status]))
    is_mixed = len(statuses) > 1
    if "refuted" in statuses:
        sign = "✗"
    elif all(record.equilibria and record.equilibria[0].exact for record in records):
        sign = "✓✓"
    else:
        sign = "✓" * any(record.equilibria for record in records)
    time, best = own.time_to(), own.best
    more = seconds(time) if time is not None else small(best) if best is not None else ""
    often = f"{statuses[shown]}/{len(records)}" * is_mixed
    reasons = dict.fromkeys(f"{r.status}: {r.reason}" for r in records if r.reason)
    return Cell(
        " ".join(filter(None, (shown, often, sign, more * figure))),
        hint=printable("; ".join(reasons)),
        kind="fair" if is_mixed and tone(shown) == "good" else tone(shown),
    )


def _finds(items: Sequence[Found], own: Trials) -> Cell:
    """How many of some equilibria a solver found, or in how many of its cells, and where."""
    cells = [each for item in items for entry, each in item.cells if entry.solver == own.solver]
    if not cells:
        return Cell("·", None, kind="faint")
    members = [member for each in cells for member in handed_over(each)]
    if items[0].is_near:
        names = dict.fromkeys(str(each[0].identity and each[0].identity["name"]) for each in cells)
        return Cell(f"≈{len(names)}", len(names), ", ".join(names), "faint")
    where = spread(member.identity for member in members) if len(items) == 1 else ""
    is_often = len(own.entries) > 1 and len(items) == 1
    number = len(cells) if is_often else len(members)
    text = f"{number}/{len(own.entries)}" if is_often else str(number)
    between = "\n" if "…" in where else " "
    return Cell(f"{text}{between}{where}".strip(), number, kind="good")
