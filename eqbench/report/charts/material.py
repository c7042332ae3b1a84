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
class ShownGame:
    """A game of which something is shown; `short` is the game as typed.

    `unit` is what targets are relative to: the payoff range, or 1 where nobody knows it.
    """

    title: str
    short: str
    unit: float
    sets: Sequence[PublishedSet]


@dataclass(frozen=True)
class Track:
    """A cell and what was measured of it: snapshots in order of time, then what it ended with.

    `place` is its place among all, and `solver` the label of the solver. `unread` says whether it
    has snapshots that cannot be read.
    """

    entry: Entry
    place: int
    game: ShownGame
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
class Material:
    """Everything that charts are made of: the cells of all runs in their order, and the games."""

    tracks: Sequence[Track]
    games: Sequence[ShownGame]

    @cached_property
    def solvers(self) -> list[str]:
        """Labels of solvers of which something was measured."""
        return list(dict.fromkeys(track.solver for track in self.tracks if track.points))

    @cached_property
    def players(self) -> int:
        """Number of players, the largest of any game."""
        return max((len(track.record.payoffs or ()) for track in self.tracks), default=2)

    def by_solver(self, game: ShownGame) -> dict[str, list[Track]]:
        """Cells of each solver on a game, in the order in which they first occur."""
        own = [track for track in self.tracks if track.game is game]
        solvers = dict.fromkeys(track.solver for track in own)
        return {name: [track for track in own if track.solver == name] for name in solvers}


def collect(runs: Sequence[StoredRun], facts: Mapping[str, GameFacts] | None = None) -> Material:
    """Cells of runs by game, with their anytime curves as far as those can be read.

    Parameters
    ----------
    facts : by canonical spec of a game; may lack any
    """
    run_of = dict(zip(run_names(runs), runs, strict=True))
    entries = entries_of(runs)
    places = {id(entry): place for place, entry in enumerate(entries)}
    tracks: list[Track] = []
    games, of_game = [], titled(entries)
    names = [group[0].record.game for _, group in of_game]
    for title, group in of_game:
        first = group[0].record
        told = [  # by the targets of runs that were given none
            entry.record.target / _DEFAULT_TARGET
            for entry in group
            if entry.record.target and run_of[entry.run].plan["request"].get("target") is None
        ]
        short = printable(first.game if names.count(first.game) == 1 else title)
        known = (facts or {}).get(first.game_spec) or GameFacts([*told, 1.0][0])
        games.append(ShownGame(title, short, known.payoff_scale or 1.0, known.sets))
        tracks += [_track(e, places[id(e)], games[-1], run_of[e.run]) for e in group]
    return Material(sorted(tracks, key=lambda track: track.place), games)


def _track(entry: Entry, place: int, game: ShownGame, run: StoredRun) -> Track:
    record = entry.record
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
    return Track(entry, place, game, printable(entry.solver), points, unread)
