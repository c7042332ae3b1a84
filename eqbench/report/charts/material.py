"""What charts show: cells with their anytime curves, by game and solver."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    """Where a set of equilibria was published, and what the symbols in its members' names are.

    `ends` are the payoffs of its two ends, or of its only point, where these can be drawn.
    """

    name: str
    source: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    ends: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class GameFacts:
    """What is known of a game beside what a run stores."""

    payoff_scale: float
    sets: tuple[PublishedSet, ...] = ()


@dataclass(frozen=True)
class Track:
    """A cell and what was measured of it: snapshots in order of time, then what it ended with.

    `place` is that of its entry among all, and `solver` the label of the solver. `unread` says
    whether it has snapshots that cannot be read.
    """

    entry: Entry
    place: int
    solver: str
    points: tuple[Snapshot, ...]
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

    `payoff_scale` is None where nobody knows it.
    """

    title: str
    short: str
    tracks: tuple[Track, ...]
    payoff_scale: float | None
    sets: tuple[PublishedSet, ...] = ()

    @property
    def unit(self) -> float:
        """What targets are relative to: the payoff scale, or else one unit of payoff."""
        return self.payoff_scale or 1.0

    @property
    def by_solver(self) -> dict[str, list[Track]]:
        """Cells of each solver, in the order in which they first occur."""
        groups: dict[str, list[Track]] = {}
        for track in self.tracks:
            groups.setdefault(track.solver, []).append(track)
        return groups


@dataclass(frozen=True)
class Material:
    """Everything that charts are made of; `entries` are the cells of all runs in their order."""

    entries: Sequence[Entry]
    games: tuple[GameTracks, ...]


def collect(runs: Sequence[StoredRun], facts: Mapping[str, GameFacts] | None = None) -> Material:
    """Cells of runs by game, with their anytime curves as far as those can be read.

    Parameters
    ----------
    facts : by canonical spec of a game; may lack any
    """
    run_of = dict(zip(run_names(runs), runs, strict=True))
    entries = entries_of(runs)
    places = {id(entry): place for place, entry in enumerate(entries)}
    of_game = titled(entries)
    names = [group[0].record.game for _, group in of_game]
    games = []
    for title, group in of_game:
        own = tuple(_track(entry, places[id(entry)], run_of[entry.run]) for entry in group)
        short, known = group[0].record.game, (facts or {}).get(group[0].record.game_spec)
        scales = [known.payoff_scale] if known else _usual_scales(group, run_of)
        short = printable(short if names.count(short) == 1 else title)
        sets = known.sets if known else ()
        games.append(GameTracks(title, short, own, next(iter(scales), None), sets))
    return Material(entries, tuple(games))


def _usual_scales(entries: Sequence[Entry], run_of: Mapping[str, StoredRun]) -> list[float]:
    """The payoff scales that targets tell, of runs that were given none."""
    return [
        entry.record.target / _DEFAULT_TARGET
        for entry in entries
        if entry.record.target and run_of[entry.run].plan["request"].get("target") is None
    ]


def _track(entry: Entry, place: int, run: StoredRun) -> Track:
    record, curve = entry.record, None
    if record.trace:
        try:
            curve = read_trace(run.path / record.trace)
        except UsageError:  # a page can do without
            curve = None
    label = record.solver + (f" ({entry.run})" if entry.run else "")
    unread = bool(record.trace) and curve is None
    return Track(entry, place, printable(label), _points(record, curve or ()), unread)


def _points(record: CellRecord, curve: Sequence[Snapshot]) -> tuple[Snapshot, ...]:
    """The best snapshot at each moment in order of time, and the profile that counts at the end."""
    best: dict[float, Snapshot] = {}
    for point in sorted(curve, key=lambda point: (point.elapsed_s, point.max_regret)):
        best.setdefault(point.elapsed_s, point)
    points = [*best.values()]
    if None not in (record.elapsed_s, record.nash_conv, record.max_regret):
        final = (record.iterations or 0, record.elapsed_s, "", record.nash_conv, record.max_regret)
        points.append(Snapshot(*final))  # type: ignore[arg-type]
    return tuple(points)
