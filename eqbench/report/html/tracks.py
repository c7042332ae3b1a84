"""What the figures of a page show: cells with their anytime curves, by game and solver."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eqbench.report.document import entries_of
from eqbench.report.entries import Entry, by_game, by_solver, several_runs, titles
from eqbench.report.html.looks import Look, looks
from eqbench.store.results import load_traces
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun

_DEFAULT_TARGET = 1e-10  # of the payoff range, where a run was given none


@dataclass(frozen=True)
class PublishedPayoffs:
    """Payoffs of a published set of equilibria: those of its two ends, or of its only point."""

    name: str
    ends: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class GameFacts:
    """What a page has to know of a game beside what runs store."""

    payoff_range: float
    published: tuple[PublishedPayoffs, ...] = ()


@dataclass(frozen=True)
class Point:
    """A measured profile: when, after how many iterations (0: not counted), and how good."""

    elapsed_s: float
    work: int
    nash_conv: float
    max_regret: float


@dataclass(frozen=True)
class Track:
    """A cell and what was measured of it: snapshots in order of time, then what it ended with.

    `usual_range` is the payoff range that its target tells, None if the target was given.
    """

    entry: Entry
    look: Look
    points: tuple[Point, ...]
    usual_range: float | None = None

    def time_to(self, regret: float) -> float:
        """Seconds of solving until a max regret was measured; infinite if it never was."""
        return min((p.elapsed_s for p in self.points if p.max_regret <= regret), default=math.inf)


@dataclass(frozen=True)
class GameTracks:
    """The cells of one game.

    `payoff_range` is None where nobody knows it. `short` is the game as typed.
    """

    title: str
    short: str
    tracks: tuple[Track, ...]
    payoff_range: float | None
    published: tuple[PublishedPayoffs, ...]

    @property
    def unit(self) -> float:
        """What targets are relative to: the payoff range, or else one unit of payoff."""
        return self.payoff_range or 1.0


@dataclass(frozen=True)
class Material:
    """Everything that figures are made of; `entries` are the cells of all runs in their order."""

    entries: Sequence[Entry]
    games: tuple[GameTracks, ...]
    looks: tuple[Look, ...]


def collect(runs: Sequence[StoredRun], facts: Mapping[str, GameFacts]) -> Material:
    """Cells of runs by game, with their anytime curves.

    Parameters
    ----------
    facts : by canonical spec of a game; may lack any

    Raises
    ------
    UsageError
        If an anytime curve cannot be read.
    """
    entries = entries_of(runs)
    groups = by_solver(entries)
    found = looks([_label(group[0], entries) for group in groups])
    tracks = _tracks(runs, entries, zip(groups, found, strict=True))
    of_game = by_game(entries)
    names = [group[0].record.game for group in of_game]
    games = []
    for group, title in zip(of_game, titles(of_game), strict=True):
        own = tuple(tracks[id(entry)] for entry in group)
        short, known = group[0].record.game, facts.get(group[0].record.game_spec)
        usual = next((track.usual_range for track in own if track.usual_range), None)
        games.append(
            GameTracks(
                title=title,
                short=short if names.count(short) == 1 else title,
                tracks=own,
                payoff_range=known.payoff_range if known else usual,
                published=known.published if known else (),
            )
        )
    return Material(entries, tuple(games), tuple(found))


def _label(entry: Entry, entries: Sequence[Entry]) -> str:
    """What a solver is called in legends."""
    return entry.record.solver + (f" ({entry.run})" if several_runs(entries) else "")


def _tracks(
    runs: Sequence[StoredRun],
    entries: Sequence[Entry],
    looked: Iterable[tuple[Sequence[Entry], Look]],
) -> dict[int, Track]:
    """Track of each entry by its identity, since entries cannot be keys themselves."""
    look_of = {id(entry): look for group, look in looked for entry in group}
    run_of = [run for run in runs for _ in run.cells]
    curves = _curves(runs)
    tracks = {}
    for entry, run in zip(entries, run_of, strict=True):
        record, asked = entry.record, run.plan["request"].get("target")
        points = _points(record, curves[str(run.path.absolute()), record.key])
        usual = record.target / _DEFAULT_TARGET if record.target and asked is None else None
        tracks[id(entry)] = Track(entry, look_of[id(entry)], points, usual)
    return tracks


def _curves(runs: Sequence[StoredRun]) -> dict[tuple[str, str], list[Point]]:
    """Snapshots by run and key of the cell."""
    columns = ["run", "key", "elapsed_s", "work", "nash_conv", "max_regret"]
    curves: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for run, key, *figures in load_traces([run.path for run in runs])[columns].itertuples(
        index=False, name=None
    ):
        curves[run, key].append(Point(*figures))
    return curves


def _points(record: CellRecord, curve: Sequence[Point]) -> tuple[Point, ...]:
    """The best snapshot at each moment in order of time, and the profile that counts at the end."""
    best: dict[float, Point] = {}
    for point in curve:
        before = best.setdefault(point.elapsed_s, point)
        if point.max_regret < before.max_regret:
            best[point.elapsed_s] = point
    points = [best[time] for time in sorted(best)]
    final = (record.elapsed_s, record.iterations or 0, record.nash_conv, record.max_regret)
    if None not in final:
        points.append(Point(*final))  # type: ignore[arg-type]
    return tuple(points)
