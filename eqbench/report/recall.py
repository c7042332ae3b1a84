"""Recall: how many of all equilibria solvers found, over games whose complete sets are known.

Only profiles count that the verifier measured to be equilibria and that are near a member of the
set; continua count as one component each. Cells of a solver on a game follow one after the other,
by processor time, which depends less on what else the machine does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from eqbench.documents import convert
from eqbench.report import read_data
from eqbench.report.naming import places
from eqbench.report.rows import Column, Row, Table
from eqbench.report.trials import SHORTEST_S, RunCell, began, by_solver
from eqbench.text import grouped

FEWEST_GAMES = 2  # that have a table and a chart
TOPIC = "recall"
_COLUMNS = convert(read_data("columns")["recall"], tuple[Column, ...])
_STEP = 0.005  # of a share, less than which is not drawn


@dataclass
class Recall:
    """What a solver found on games whose equilibria are all known, game by game that it began."""

    solver: str
    of: list[int] = field(default_factory=list)  #: how many equilibria there are
    found: list[int] = field(default_factory=list)  #: how many it found
    seconds: list[float] = field(default_factory=list)  #: processor time of all cells together
    #: seconds on a game after which its share of the equilibria rose, and by how much
    gains: list[tuple[float, float]] = field(default_factory=list)

    @property
    def games(self) -> int:
        """Number of games that it began."""
        return len(self.of)

    @property
    def share(self) -> float:
        """Mean over games of the share that was found."""
        return fmean(found / of for found, of in zip(self.found, self.of, strict=True))

    def add(self, cells: Sequence[RunCell], of: int) -> None:
        """Add a game that has so many equilibria, with the cells of the solver on it."""
        seen, spent = set[int](), 0.0
        for entry in sorted(cells, key=lambda each: (each.record.repeat, each.record.seed or 0)):
            spent += entry.record.cpu_s or entry.record.elapsed_s or 0.0
            known = places(entry.record)
            new = known[0] - seen if known else set()
            seen |= new
            self.gains += [(max(spent, SHORTEST_S), len(new) / of)] * bool(new)
        self.of.append(of)
        self.found.append(len(seen))
        self.seconds.append(spent)

    def steps(self, games: int) -> list[tuple[float, float]]:
        """Seconds on each game, and mean share of its equilibria by then, of so many games."""
        points, share, drawn = [], 0.0, 0.0
        gains = sorted(self.gains)
        for number, (time, gain) in enumerate(gains, 1):
            share += gain / games
            if share - drawn >= _STEP or number == len(gains):
                points.append((time, share))
                drawn = share
        return points


def recalls(entries: Iterable[RunCell]) -> list[Recall]:
    """Recall of each solver, the best first; empty for fewer than two games that are all known."""
    found: dict[str, Recall] = {}
    ended = (entry for entry in began(entries) if entry.record.status != "interrupted")
    for cells in grouped(ended, lambda entry: entry.record.game_identity).values():
        known = (places(entry.record) for entry in cells)
        of = max((each[1] for each in known if each), default=0)
        for own in by_solver(cells) if of else ():
            found.setdefault(own.solver, Recall(own.solver)).add(own.entries, of)
    ranked = sorted(found.values(), key=lambda own: (-own.share, -own.games))
    return ranked if max((own.games for own in ranked), default=0) >= FEWEST_GAMES else []


def recall_table(entries: Iterable[RunCell]) -> list[Table]:
    """Table of a row for each solver, if there are several games whose equilibria are all known."""
    rows = []
    for own in recalls(entries):
        found, full = f"{sum(own.found)}/{sum(own.of)}", sum(map(int.__eq__, own.found, own.of))
        values = (own.solver, own.games, found, own.share, full, fmean(own.seconds))
        rows.append(Row.of(_COLUMNS, values))
    games = max((row.values["games"] for row in rows), default=0)
    title = f"{games} games whose equilibria are all known"
    return [Table(title, _COLUMNS, tuple(rows), topic=TOPIC)] * bool(rows)


def recall_rows(entries: Iterable[RunCell]) -> list[dict[str, Any]]:
    """Steps of each solver for the chart, of games that it takes, and of all games."""
    known = recalls(entries)
    games = max((own.games for own in known), default=0)
    return [
        {"game": f"{games} games", "solver": own.solver, "of": of, "games": number}
        | {"x": float(f"{time:.4g}"), "share": round(share, 4)}
        for own in known
        for of, number in (("taken", own.games), ("all", games))
        for time, share in own.steps(number)
    ]
