"""Tables of a page: those of reports, and which solver found which equilibria."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from statistics import median
from typing import Any

from eqbench.report.charts.material import Material, Track
from eqbench.report.entries import arranged, began
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.html.document import Table
from eqbench.report.naming import handed_over, spread
from eqbench.report.rows import (
    SOLVER,
    TONES,
    Cell,
    Column,
    seconds,
    small,
)
from eqbench.report.rows import Table as ReportTable
from eqbench.store.schema import EquilibriumRecord
from eqbench.text import printable

TEXTS = tomllib.loads((files("eqbench.report.html") / "texts.toml").read_text("utf-8"))
MOST_EQUILIBRIA = 8  # columns of a matrix
REGRETS = ("1e-3", "1e-6", "1e-9")  # in payoff units, to which a matrix has times too
_NOTHING = Cell("·", None, kind="faint")


def page_table(table: ReportTable, name: str, **look: Any) -> Table:
    """A table of a report for a page; the solver stands first, where it stays when it is scrolled.

    `name` and `look` are as in :class:`~eqbench.report.html.document.Table`.
    """
    split = table.with_payoff_columns("P")
    columns = sorted(split.columns, key=lambda column: column.title != SOLVER.title)
    rows = [[row.cell(column, with_unit=True) for column in columns] for row in split.rows]
    return Table(name, columns, rows, **look)


def overview(material: Material) -> Table:
    """What became of every solver on every game: the time to the target or the best regret."""
    rows, games = [], [material.by_solver(game) for game in material.games]
    for solver in dict.fromkeys(solver for game in games for solver in game):
        cells = [Cell(solver)]
        for own in (game.get(solver, []) for game in games):
            time, best = _time(own), _best(own)
            more = seconds(time) if time is not None else "" if best is None else small(best)
            status = _status(own)
            cells.append(replace(status, text=f"{status.text} {more}".strip()))
        rows.append(cells)
    columns = [SOLVER, *(Column(game.short) for game in material.games)]
    return Table("status", columns, rows, TEXTS["overview"], "Every solver on every game")


def matrix(material: Material, place: int) -> Table:
    """Which solver found which equilibria of a game, how good and how fast."""
    game = material.games[place]
    solvers = material.by_solver(game)
    entries = began(track.entry for own in solvers.values() for track in own)
    found = equilibria(entries)
    known = [item for item in found if not item.is_near]
    shown, others = known[:MOST_EQUILIBRIA], known[MOST_EQUILIBRIA:]
    groups = [[item] for item in shown] + [others] * bool(others)
    timed = [Column(f"time to {r}", "seconds", f"time to\n{r}") for r in ("target", *REGRETS)]
    columns = [
        SOLVER,
        Column("status", "status"),
        timed[0],
        Column("best regret", "small", "best\nregret"),
        *timed[1:],
        *(Column(item.title, "count", item.title.replace(":", ":\n", 1)) for item in shown),
        *[Column(f"{len(others)} more", "count")] * bool(others),
        Column("only near", "count", "only\nnear"),
    ]
    rows = []
    for solver in dict.fromkeys(printable(entry.solver) for entry in arranged(entries)):
        own = solvers[solver]
        near = [item.name for item in found if item.is_near and _members([item], solver)]
        rows.append(
            [
                Cell(solver),
                _status(own),
                _time(own),
                _best(own),
                *(_time(own, float(regret)) for regret in REGRETS),
                *(_finds(items, solver, len(own)) for items in groups),
                Cell(f"≈{len(near)}", len(near), ", ".join(near), "faint") if near else _NOTHING,
            ]
        )
    title = f"Equilibria that each solver found on {game.short}"
    folded = [column.title for column in timed[1:]]
    about = (TEXTS["matrix"], title)
    return Table(f"matrix-{place}", columns, rows, *about, game=str(place), folded=folded)


def _best(tracks: Sequence[Track]) -> float | None:
    return min(
        (t.record.max_regret for t in tracks if t.record.max_regret is not None), default=None
    )


def _time(tracks: Sequence[Track], regret: float | None = None) -> float | None:
    """Median time to a regret, or else to the target, of the cells that reached it."""
    if regret is None:  # rounding may leave more than the target, and there may be none
        times = [
            min(track.time_to(track.record.target or 0.0), track.record.elapsed_s)
            for track in tracks
            if track.record.status == "ok" and track.record.elapsed_s is not None
        ]
    else:
        times = [track.time_to(regret) for track in tracks]
    known = [time for time in times if time < float("inf")]
    return median(known) if known else None


def _status(tracks: Sequence[Track]) -> Cell:
    """What became of the cells of a solver, alarms first, and how they were verified."""
    if not tracks:
        return Cell("not run", None, kind="idle")
    records = [track.record for track in tracks]
    statuses = Counter(record.status for record in records)
    ranks = {"bad": 2, "good": 1}
    shown = max(statuses, key=lambda status: (ranks.get(TONES[status], 0), statuses[status]))
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
        kind="fair" if several and TONES[shown] == "good" else TONES[shown],
    )


def _members(items: Sequence[Found], solver: str) -> list[Sequence[EquilibriumRecord]]:
    """What each cell of a solver found of some equilibria."""
    cells = (cell for item in items for cell in item.cells)
    return [members for entry, members in cells if printable(entry.solver) == solver]


def _finds(items: Sequence[Found], solver: str, trials: int) -> Cell:
    """How many of some equilibria a solver found, or in how many of its cells, and where."""
    cells = _members(items, solver)
    if not cells:
        return _NOTHING
    members = [member for each in cells for member in handed_over(each)]
    where = spread(member.identity for member in members) if len(items) == 1 else ""
    several = trials > 1 and len(items) == 1
    number = len(cells) if several else len(members)
    text = f"{number}/{trials}" if several else str(number)
    between = "\n" if "…" in where else " "
    return Cell(f"{text}{between}{where}".strip(), number, kind="good")
