"""What charts show: cells with their anytime curves, by game and solver."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from eqbench.errors import UsageError
from eqbench.report.entries import Entry, titled
from eqbench.report.exports import entries_of, run_names
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.store.traces import Snapshot, read_trace
from eqbench.text import printable

_DEFAULT_TARGET = 1e-10  # of the payoff range, where a run was given none


@dataclass(frozen=True)
class PublishedSet:
    """A published set of equilibria: its source, then what the symbols in its members' names are.

    `ends` are the payoffs of its two ends, or of its only point, where these can be drawn.
    """

    name: str
    said: Sequence[str] = ()
    ends: Sequence[Sequence[float]] = ()


@dataclass(frozen=True)
class GameFacts:
    """What is known of a game beside what a run stores."""

    payoff_scale: float
    sets: Sequence[PublishedSet] = ()


@dataclass(frozen=True)
class Track:
    """A cell and what was measured of it: snapshots in order of time, then what it ended with.

    `place` is that of its entry among all, and `solver` the label of the solver. `unread` says
    whether it has snapshots that cannot be read.
    """

    entry: Entry
    place: int
    solver: str
    points: Sequence[Snapshot]
    unread: bool = False

    @property
    def record(self) -> CellRecord:
        """What is stored of the cell."""
        return self.entry.record

    def time_to(self, regret: float) -> float:
        """Seconds of solving until a max regret was measured; infinite if it never was."""
        return min((p.elapsed_s for p in self.points if p.max_regret <= regret), default=math.inf)


@dataclass(frozen=True)
class GameTracks:
    """The cells of one game; `short` is the game as typed.

    `unit` is what targets are relative to: the payoff range, or 1 where nobody knows it.
    """

    title: str
    short: str
    tracks: Sequence[Track]
    unit: float
    sets: Sequence[PublishedSet]

    @cached_property
    def by_solver(self) -> dict[str, list[Track]]:
        """Cells of each solver, in the order in which they first occur."""
        solvers = dict.fromkeys(track.solver for track in self.tracks)
        return {name: [t for t in self.tracks if t.solver == name] for name in solvers}


@dataclass(frozen=True)
class Material:
    """Everything that charts are made of; `entries` are the cells of all runs in their order."""

    entries: Sequence[Entry]
    games: Sequence[GameTracks]


def collect(runs: Sequence[StoredRun], facts: Mapping[str, GameFacts] | None = None) -> Material:
    """Cells of runs by game, with their anytime curves as far as those can be read.

    Parameters
    ----------
    facts : by canonical spec of a game; may lack any
    """
    run_of = dict(zip(run_names(runs), runs, strict=True))
    entries = entries_of(runs)
    places = {id(entry): place for place, entry in enumerate(entries)}
    games, of_game = [], titled(entries)
    names = [group[0].record.game for _, group in of_game]
    for title, group in of_game:
        tracks = [_track(entry, places[id(entry)], run_of[entry.run]) for entry in group]
        first = group[0].record
        short = printable(first.game if names.count(first.game) == 1 else title)
        told = [  # by the targets of runs that were given none
            entry.record.target / _DEFAULT_TARGET
            for entry in group
            if entry.record.target and run_of[entry.run].plan["request"].get("target") is None
        ]
        known = (facts or {}).get(first.game_spec) or GameFacts([*told, 1.0][0])
        games.append(GameTracks(title, short, tracks, known.payoff_scale or 1.0, known.sets))
    return Material(entries, games)


def _track(entry: Entry, place: int, run: StoredRun) -> Track:
    record, label = entry.record, entry.record.solver + (f" ({entry.run})" if entry.run else "")
    points: list[Snapshot] = []
    unread = False
    try:
        points += read_trace(run.path / record.trace) if record.trace else ()
    except UsageError:  # a page can do without
        unread = True
    points.sort(key=lambda point: point.elapsed_s)
    if None not in (record.elapsed_s, record.nash_conv, record.max_regret):
        final = (record.iterations or 0, record.elapsed_s, "", record.nash_conv, record.max_regret)
        points.append(Snapshot(*final))  # type: ignore[arg-type]
    return Track(entry, place, printable(label), points, unread)
