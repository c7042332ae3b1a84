"""What the charts of a page show: cells with their anytime curves, by game and solver."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from eqbench.errors import UsageError
from eqbench.report.entries import Entry, titled
from eqbench.report.exports import entries_of, run_names
from eqbench.spec import split_specs
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.store.traces import Snapshot, read_trace

_DEFAULT_TARGET = 1e-10  # of the payoff range, where a run was given none


@dataclass(frozen=True)
class PublishedPayoffs:
    """Payoffs of a published set of equilibria: those of its two ends, or of its only point."""

    name: str
    ends: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class PublishedSet:
    """Where a set of equilibria was published, and what the symbols in its members' names are."""

    name: str
    source: str
    symbols: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GameFacts:
    """What is known of a game: payoffs of published sets where these can be drawn, and sources."""

    payoff_scale: float
    published: tuple[PublishedPayoffs, ...] = ()
    sets: tuple[PublishedSet, ...] = ()


@dataclass(frozen=True)
class Track:
    """A cell and what was measured of it: snapshots in order of time, then what it ended with.

    `place` is that of its entry among all, and `solver` the label of the solver. `usual_range`
    is the payoff range that its target tells, None if the target was given. `unread` says
    whether it has snapshots that cannot be read.
    """

    entry: Entry
    place: int
    solver: str
    points: tuple[Snapshot, ...]
    usual_range: float | None = None
    unread: bool = False

    def time_to(self, regret: float) -> float:
        """Seconds of solving until a max regret was measured; infinite if it never was."""
        return min((p.elapsed_s for p in self.points if p.max_regret <= regret), default=math.inf)


@dataclass(frozen=True)
class GameTracks:
    """The cells of one game.

    `payoff_scale` is None where nobody knows it. `short` is the game as typed. `awaited` are
    solvers of unfinished runs that have no cell of it yet.
    """

    title: str
    short: str
    tracks: tuple[Track, ...]
    payoff_scale: float | None
    published: tuple[PublishedPayoffs, ...] = ()
    sets: tuple[PublishedSet, ...] = ()
    awaited: tuple[str, ...] = ()

    @property
    def unit(self) -> float:
        """What targets are relative to: the payoff scale, or else one unit of payoff."""
        return self.payoff_scale or 1.0


@dataclass(frozen=True)
class Material:
    """Everything that charts are made of.

    `entries` are the cells of all runs in their order, `solvers` the labels of all solvers.
    """

    entries: Sequence[Entry]
    games: tuple[GameTracks, ...]
    solvers: tuple[str, ...]


def collect(
    runs: Sequence[StoredRun],
    facts: Mapping[str, GameFacts] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> Material:
    """Cells of runs by game, with their anytime curves as far as those can be read.

    Parameters
    ----------
    facts : by canonical spec of a game; may lack any
    groups : solvers that a word such as ``all`` stands for, by that word
    """
    asked = [_asked(run, groups or {}) for run in runs]
    named = list(zip(run_names(runs), runs, asked, strict=True))
    labels = {
        (name, solver): f"{solver} ({name})" if name else solver
        for name, run, (_, solvers) in named
        for solver in (*solvers, *(cell.solver for cell in run.cells))
    }
    awaited: dict[str, list[str]] = {}
    for name, run, wanted in named:
        there = {(cell.game, cell.solver) for cell in run.cells}
        for game, solver in product(*wanted):
            if (game, solver) not in there:
                awaited.setdefault(game, []).append(labels[name, solver])
    run_of = dict(zip(run_names(runs), runs, strict=True))
    entries = entries_of(runs)
    places = {id(entry): place for place, entry in enumerate(entries)}
    of_game = titled(entries)
    names = [group[0].record.game for _, group in of_game]
    games = []
    for title, group in of_game:
        own = tuple(
            _track(entry, places[id(entry)], labels[entry.run, entry.record.solver], run)
            for entry in group
            for run in [run_of[entry.run]]
        )
        short, known = group[0].record.game, (facts or {}).get(group[0].record.game_spec)
        usual = next((track.usual_range for track in own if track.usual_range), None)
        typed = dict.fromkeys(entry.record.game for entry in group)
        games.append(
            GameTracks(
                title=title,
                short=short if names.count(short) == 1 else title,
                tracks=own,
                payoff_scale=known.payoff_scale if known else usual,
                published=known.published if known else (),
                sets=known.sets if known else (),
                awaited=tuple(label for name in typed for label in awaited.pop(name, ())),
            )
        )
    games += [GameTracks(game, game, (), None, awaited=tuple(a)) for game, a in awaited.items()]
    return Material(entries, tuple(games), tuple(labels.values()))


def _asked(run: StoredRun, groups: Mapping[str, Sequence[str]]) -> tuple[list[str], list[str]]:
    """Games and solvers as typed that a run was asked for; none of one that has finished."""
    if not run.missing:
        return [], []
    games, solvers = (
        [part for text in run.plan["request"].get(name) or () for part in split_specs(text)]
        for name in ("games", "solvers")
    )
    return games, [name for part in solvers for name in groups.get(part, [part])]


def _track(entry: Entry, place: int, solver: str, run: StoredRun) -> Track:
    record, asked = entry.record, run.plan["request"].get("target")
    curve: Sequence[Snapshot] | None = ()
    if record.trace:
        try:
            curve = read_trace(run.path / record.trace)
        except UsageError:  # a page can do without
            curve = None
    usual = record.target / _DEFAULT_TARGET if record.target and asked is None else None
    return Track(entry, place, solver, _points(record, curve or ()), usual, curve is None)


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
