"""How much was reached how fast: shares of targets over time, and performance profiles."""

from __future__ import annotations

import math
import statistics
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

from eqbench.report.html.axes import Axes, log_scale, share_scale, svg_text
from eqbench.report.html.chart import chart
from eqbench.report.html.curves import SHORTEST_S, looks_of
from eqbench.report.html.document import Figure
from eqbench.report.html.looks import Look, add_look_mark, part_of
from eqbench.report.html.tracks import GameTracks, Track
from eqbench.report.svg import add, clean

# Shares of the payoff range, eight a decade: as many as lines stay smooth with.
TARGETS = tuple(10.0 ** (-k / 8) for k in range(8, 81))
COARSE = 1e-3

Steps = list[tuple[float, float]]


def ecdf(games: Sequence[GameTracks]) -> Figure | None:
    """Share of all games, seeds and targets that each solver reached over time.

    The run-length distributions of Hansen et al. (2021, COCO), over time instead of evaluations.
    None if nothing was reached.
    """
    times: dict[str, list[float]] = {}
    tracks = [track for game in games for track in game.tracks]
    for game in games:
        for track in game.tracks:
            own = times.setdefault(track.look.key, [])
            own += [max(track.time_to(target * game.unit), SHORTEST_S) for target in TARGETS]
    reached = [time for own in times.values() for time in own if time < math.inf]
    if not reached:
        return None
    unknown = [game.short for game in games if game.payoff_range is None]
    exceptions = f" (one unit of payoff on {', '.join(unknown)})" if unknown else ""
    title = "Targets reached over time"
    names = ("seconds of solving", "share of (game, seed, target) reached")
    shown = looks_of(tracks)
    root, axes = chart(title, (log_scale(reached), share_scale()), names, shown)
    for look in shown:
        _draw(root, axes, look, _shares(times[look.key]))
    return Figure(
        "ecdf",
        svg_text(root),
        f"Higher is better. Targets are {len(TARGETS)} values of max regret from 0.1 down to "
        f"10⁻¹⁰ of the payoff range{exceptions}, evenly spaced on a logarithmic scale; a line is "
        "at 40 % when 40 % of all games, seeds and targets were reached. Games that a solver does "
        "not support count as never reached; the end of a line says what the time limit allowed, "
        "not what the method can do.",
        title,
        least_width=420,
    )


def performance_profiles(games: Sequence[GameTracks]) -> list[Figure]:
    """Shares of games that each solver solved within a factor of the fastest one's time.

    Dolan and Moré (2002), once to a coarse target and once to the target of the runs; a solver
    with several seeds counts with the median of its times. Empty unless there are two games.
    """
    if len(games) < 2:
        return []
    both = (_profile(games, coarse=True), _profile(games, coarse=False))
    return [figure for figure in both if figure is not None]


def _profile(games: Sequence[GameTracks], *, coarse: bool) -> Figure | None:
    shown = looks_of(track for game in games for track in game.tracks)
    ratios: dict[str, list[float]] = {look.key: [] for look in shown}
    for game in games:
        times = {look.key: _median_time(game, look, coarse=coarse) for look in shown}
        best = min(times.values())
        for key, time in times.items():
            ratios[key].append(time / best if best < math.inf else math.inf)
    known = [ratio for own in ratios.values() for ratio in own if ratio < math.inf]
    if not known:
        return None
    goal = f"{COARSE:g} of the payoff range" if coarse else "the target of the run"
    title = f"Performance profile: {'coarse' if coarse else 'full'} target"
    scales = (log_scale([1.0, *known]), share_scale())
    names = ("time relative to the fastest solver", "share of games")
    root, axes = chart(title, scales, names, shown)
    for look in shown:
        _draw(root, axes, look, _shares(ratios[look.key]))
    return Figure(
        "profile-coarse" if coarse else "profile-target",
        svg_text(root),
        f"The goal is a max regret within {goal}. At the left end a line says on how many games a "
        "solver is the fastest, further right on how many it needs at most that many times the "
        "best time; who never got there, unsupported games included, never counts. Ratios hide "
        "absolute times and depend on which solvers take part, so order two solvers only by a "
        "profile of these two.",
        title,
        least_width=420,
    )


def _median_time(game: GameTracks, look: Look, *, coarse: bool) -> float:
    """Seconds to the coarse target or to that of each cell, over the seeds of a solver."""
    times = [
        max(track.time_to(COARSE * game.unit if coarse else _target(track)), SHORTEST_S)
        for track in game.tracks
        if track.look is look
    ]
    return statistics.median_high(times) if times else math.inf


def _target(track: Track) -> float:
    """Max regret at which a cell may stop, 0 if it was given none."""
    return track.entry.record.target or 0.0


def _shares(values: Iterable[float]) -> Steps:
    """Points at which the share of values that are at most x rises."""
    known = sorted(values)
    rises = {x: (k + 1) / len(known) for k, x in enumerate(known) if x < math.inf}
    return list(rises.items())


def _draw(root: ET.Element, axes: Axes, look: Look, points: Steps) -> None:
    group = part_of(root, look)
    end = points[-1][1] if points else 0.0
    add(group, "title").text = clean(f"{look.label}: {end:.0%} in the end")
    if not points:
        return
    path = axes.steps([(points[0][0], 0.0), *points], axes.x.high)
    add(group, "path", d=path, stroke_width=1.7, **look.line)
    add_look_mark(group, look, *axes.place(*points[-1]))
