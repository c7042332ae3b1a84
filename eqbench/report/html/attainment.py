"""How much was reached how fast: shares of targets over time, and performance profiles."""

from __future__ import annotations

import math
import statistics
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence

from eqbench.report.html.axes import Axes, Scale, log_scale, share_scale
from eqbench.report.html.chart import chart
from eqbench.report.html.curves import SHORTEST_S
from eqbench.report.html.document import Figure
from eqbench.report.html.looks import Look, add_look_mark, part_of
from eqbench.report.html.tracks import GameTracks
from eqbench.report.html.trials import Trial, common_games, shown_looks, what_counts
from eqbench.report.svg import add, svg_text

# Shares of the payoff range, eight a decade: as many as lines stay smooth with.
TARGETS = tuple(10.0 ** (-k / 8) for k in range(8, 81))
COARSE = 1e-3
_MARK = (
    "A mark is where a solver reached something for the last time; behind it the line goes on, "
    "thin, to the right edge."
)

Steps = list[tuple[float, float]]


def ecdf(games: Sequence[GameTracks], trials: Sequence[Trial]) -> Figure | None:
    """Share of all games, seeds and targets that each solver reached over time.

    The run-length distributions of Hansen et al. (2021, COCO), over time instead of evaluations.
    None if nothing was reached.
    """
    shown = shown_looks(games)
    times = {
        look.key: [
            max(trial.cells[look.key].time_to(target * trial.game.unit), SHORTEST_S)
            for trial in trials
            for target in TARGETS
        ]
        for look in shown
    }
    reached = [time for own in times.values() for time in own if time < math.inf]
    if not reached:
        return None
    unknown = [game.short for game in common_games(trials) if game.payoff_scale is None]
    exceptions = f" (one unit of payoff on {', '.join(unknown)})" if unknown else ""
    title = "Targets reached over time"
    names = ("seconds of solving", "share of (game, seed, target) reached")
    svg, without = _drawn(title, (log_scale(reached), share_scale()), names, (shown, times))
    return Figure(
        "ecdf",
        svg,
        f"Higher is better. Targets are {len(TARGETS)} values of max regret from 0.1 down to "
        f"10⁻¹⁰ of the payoff range{exceptions}, evenly spaced on a logarithmic scale; a line is "
        "at 40 % when 40 % of all games, seeds and targets were reached. "
        f"{what_counts(games, trials)} What a solver does not support it never reached, and one "
        f"that uses no chance counts for every seed. {_MARK} How high that is says what the time "
        f"limit allowed, not what the method can do.{without}",
        title,
        least_width=420,
    )


def performance_profiles(games: Sequence[GameTracks], trials: Sequence[Trial]) -> list[Figure]:
    """Shares of games that each solver solved within a factor of the fastest one's time.

    Dolan and Moré (2002), once to a coarse target and once to the target of the runs, unless it
    is 0, which no measured regret has to reach; a solver with several seeds counts with the
    median of its times. Empty unless there are two games.
    """
    counted = common_games(trials)
    if len(counted) < 2:
        return []
    full = {game.title: _target(game) for game in counted}
    rough = {game.title: COARSE * game.unit for game in counted}
    figures = [_profile(games, trials, rough, coarse=True)]
    if all(full.values()):
        figures.append(_profile(games, trials, full, coarse=False))
    return [figure for figure in figures if figure is not None]


def _profile(
    games: Sequence[GameTracks],
    trials: Sequence[Trial],
    targets: Mapping[str, float],
    *,
    coarse: bool,
) -> Figure | None:
    shown = shown_looks(games)
    ratios: dict[str, list[float]] = {look.key: [] for look in shown}
    for title, target in targets.items():
        own = [trial.cells for trial in trials if trial.game.title == title]
        times = {
            key: statistics.median_high(
                max(cells[key].time_to(target), SHORTEST_S) for cells in own
            )
            for key in ratios
        }
        best = min(times.values())
        for key, time in times.items():
            ratios[key].append(time / best if best < math.inf else math.inf)
    known = [ratio for own in ratios.values() for ratio in own if ratio < math.inf]
    if not known:
        return None
    goal = (
        f"{COARSE:g} of the payoff range"
        if coarse
        else "the target of the run, the strictest one of a game where cells had several"
    )
    title = f"Performance profile: {'coarse' if coarse else 'full'} target"
    scales = (log_scale([1.0, *known]), share_scale())
    names = ("time relative to the fastest solver", "share of games")
    svg, without = _drawn(title, scales, names, (shown, ratios))
    return Figure(
        "profile-coarse" if coarse else "profile-target",
        svg,
        f"The goal is a max regret within {goal}. At the left end a line says on how many games a "
        "solver is the fastest, further right on how many it needs at most that many times the "
        f"best time; who never got there, unsupported games included, never counts. {_MARK} "
        f"{what_counts(games, trials)} Ratios hide absolute times and depend on which solvers take "
        f"part, so order two solvers only by a profile of these two.{without}",
        title,
        least_width=420,
    )


def _target(game: GameTracks) -> float:
    """Smallest max regret at which any cell of a game may stop, 0 if one may not."""
    targets = (track.entry.record.target for track in game.tracks)
    return min((target for target in targets if target is not None), default=0.0)


def _shares(values: Iterable[float]) -> Steps:
    """Points at which the share of values that are at most x rises."""
    known = sorted(values)
    rises = {x: (k + 1) / len(known) for k, x in enumerate(known) if x < math.inf}
    return list(rises.items())


def _drawn(
    label: str,
    scales: tuple[Scale, Scale],
    names: tuple[str, str],
    given: tuple[Sequence[Look], Mapping[str, Iterable[float]]],
) -> tuple[str, str]:
    """Picture of the shares of given values, and a sentence on the solvers that have no line."""
    looks, values = given
    points = {look.key: _shares(values[look.key]) for look in looks}
    shown = [look for look in looks if points[look.key]]
    without = [look.label for look in looks if not points[look.key]]
    root, axes = chart(label, scales, names, shown)
    # the thin ends of lines below, then lines, then marks, so that none is hidden where many end
    for draw in (_draw_rest, _draw_line, _draw_end):
        for look in shown:
            draw(root, axes, look, points[look.key])
    said = f" No line, since they reached nothing: {', '.join(without)}." if without else ""
    return svg_text(root), said


def _draw_rest(root: ET.Element, axes: Axes, look: Look, points: Steps) -> None:
    x, y = axes.place(*points[-1])
    line = {"d": f"M{x:.1f} {y:.1f}H{axes.left + axes.width:.1f}", **look.line}
    add(part_of(root, look), "path", **line, stroke_width=0.8, stroke_opacity=0.55)


def _draw_line(root: ET.Element, axes: Axes, look: Look, points: Steps) -> None:
    group = part_of(root, look)
    add(group, "title").text = _said(look, points)
    path = axes.steps([(points[0][0], 0.0), *points], points[-1][0])
    add(group, "path", d=path, stroke_width=1.5, **look.line)


def _draw_end(root: ET.Element, axes: Axes, look: Look, points: Steps) -> None:
    group = part_of(root, look)
    add(group, "title").text = _said(look, points)
    add_look_mark(group, look, *axes.place(*points[-1]))


def _said(look: Look, points: Steps) -> str:
    return f"{look.label}: {points[-1][1]:.0%} in the end"
