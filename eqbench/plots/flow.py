"""Figures of trajectories: orbits in the plane of two frequencies, series, profits.

Symbols in shapes: K points of a run, A actions, F free frequencies.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eqbench.dynamics import Dynamics
from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.extremes import KnownPayoffs
from eqbench.equilibria.members import members
from eqbench.errors import UsageError, known_labels
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import action_labels
from eqbench.model.tree import FloatArray, IntArray
from eqbench.plots.branches import LINE_STYLES
from eqbench.plots.stability import regime_diagram
from eqbench.plots.style import (
    LABEL_SIZE,
    SMALL_SIZE,
    Color,
    add_legend,
    by_name,
    game_title,
    label_axes,
    new_figure,
    ordered_colors,
    sample,
    save_both,
    title_figure,
)
from eqbench.report.svg import GRAY, INK
from eqbench.studies.branch import POINTS
from eqbench.studies.flow.points import SimulatedRun, read_points
from eqbench.studies.flow.rest_points import verdicts
from eqbench.studies.flow.simulate import SimulationStudy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOVES = 0.02  # range over the second half of a run above which a frequency moves
LATE_POINTS = 2001  # 2,000 intervals
_EVEN = 1.5  # times the last distance of points is still the same distance
_SAMPLES = 50  # points of a run at which couplings are taken


def frequency_names(game: Game, known: Sequence[KnownSet]) -> list[str]:
    """Names of the free frequencies, F of them.

    Those of a published set where it names all of them, such as `b3`; else
    ``player|information set|action``.
    """
    actions = Choices.of(game.tree).action.tolist()
    names = dict(enumerate(action_labels(game.tree)))
    for each in known[:1]:
        published = dict(zip(each.layout.action.tolist(), each.layout.variables, strict=True))
        names = published if published.keys() >= set(actions) else names
    return [names[action] for action in actions]


def title_of(game: Game) -> str:
    """The game and the value of its payoff parameter."""
    payoffs = game.tree.payoffs
    return game_title(game.spec, payoffs.parameter, payoffs.value)


def free_frequencies(game: Game, run: SimulatedRun) -> FloatArray:
    """The free frequencies of a run, float64 (K, F)."""
    return run.behavior[:, Choices.of(game.tree).action]


def second_half(run: SimulatedRun) -> slice:
    """The points in the second half of the time of a run."""
    middle = (run.times[0] + run.times[-1]) / 2
    return slice(int(np.searchsorted(run.times, middle)), None)


def late_part(run: SimulatedRun) -> slice:
    """The last points of a run, 2,001 at most, that are as close together as the last two."""
    steps = np.diff(run.times[-LATE_POINTS:])
    wide = np.flatnonzero(steps > _EVEN * steps[-1:])
    kept = len(steps) - (wide[-1] + 1 if len(wide) else 0) + 1
    return slice(len(run.times) - int(kept), None)


def last_turns(values: FloatArray, turns: int) -> int:
    """The first of the last so many turns of a motion (K, n) that oscillates; 0 if it has fewer.

    A turn lasts from one rise of the column with the largest range through the middle of that
    range to the next one.
    """
    ranges = np.ptp(values, axis=0)
    widest = values[:, ranges.argmax()]
    low = widest < (widest.min() + widest.max()) / 2
    rises = np.flatnonzero(low[:-1] & ~low[1:])
    return int(rises[-turns - 1]) if len(rises) > turns else 0


def moving(game: Game, runs: Sequence[SimulatedRun]) -> list[int]:
    """Free frequencies whose range over the second half of some run exceeds 0.02, ascending."""
    ranges = [np.ptp(free_frequencies(game, run)[second_half(run)], axis=0) for run in runs]
    return np.flatnonzero(np.max(ranges, axis=0) > MOVES).tolist()


def couplings(game: Game, runs: Sequence[SimulatedRun]) -> FloatArray:
    """How strongly each two free frequencies drive each other, float64 (F, F), symmetric.

    The root of the product of the derivatives of each one's gain by the other, averaged over
    points in the second halves of the runs; 0 where only one drives the other.
    """
    model = game.payoff_model()
    total = np.zeros((Choices.of(game.tree).size,) * 2)
    for run in runs:
        points = run.behavior[second_half(run)]
        for position in np.linspace(0, len(points) - 1, _SAMPLES).astype(int):
            slopes = model.linearize(points[position]).jacobian
            total += np.sqrt(np.abs(slopes * slopes.T))
    return total / (len(runs) * _SAMPLES)


def coupled_pairs(game: Game, runs: Sequence[SimulatedRun], most: int) -> list[tuple[int, int]]:
    """Pairs of free frequencies that drive each other and move in the late part of the same run.

    They are the strongest ones that form no circle, so that each frequency occurs with one that
    matters to it; at most `most` of them, the strongest first. The strength of a pair is its
    coupling, times the root of the area that the frequencies sweep.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    late = np.array([np.ptp(free_frequencies(game, run)[late_part(run)], axis=0) for run in runs])
    late[late <= MOVES] = 0.0
    swept = np.sqrt(late[:, :, None] * late[:, None, :]).max(axis=0)
    strength = np.triu(couplings(game, runs) * swept, 1)
    forest = minimum_spanning_tree(-strength).tocoo()
    order = np.argsort(forest.data, kind="stable")[:most]
    return [(int(forest.row[k]), int(forest.col[k])) for k in order]


MOST_ROWS = 24
MOST_RUNS = 4
BINS = 150
MEAN_OVER = 5  # bins
CLOSE_UP = 600  # points at the end that are drawn one by one
WIDTHS = {1: 5.0, 2: 4.0}  # of a column of the whole in inches, by the number of runs
WIDTH = 3.2  # if there are more
_NOTHING_MOVES = f"nothing moves by more than {MOVES} in the second half"
BAND: dict[str, Any] = {"alpha": 0.3, "linewidth": 0}


def series_figure(game: Game, runs: Sequence[SimulatedRun], *, note: str = "") -> Figure:
    """Frequencies that move against time: a column for each run, then the end of the first one.

    What oscillates too fast for the whole is a band there, between the smallest and the largest
    value of a short stretch, with the running mean as a line. Frequencies that are at rest in the
    second half are listed above; if all are, they are drawn. At most 24 frequencies are drawn,
    those with the largest ranges, and the first four runs.

    Parameters
    ----------
    note : what else is to be said, below the title
    """
    names = frequency_names(game, known_sets(game))
    shown = runs[:MOST_RUNS]
    positions = moving(game, shown) or list(range(len(names)))
    values = [free_frequencies(game, run) for run in shown]
    rows = _widest(positions, shown, values)
    widths = [WIDTHS.get(len(shown), WIDTH)] * len(shown) + [WIDTH]
    figure = new_figure(sum(widths) + 2.0, 1.5 + 0.72 * len(rows))
    figure.set_layout_engine("constrained", wspace=0.03)  # so that numbers on the axes keep apart
    grid = figure.subplots(
        len(rows), len(widths), squeeze=False, sharex="col", sharey=True, width_ratios=widths
    )
    colors = ordered_colors(len(runs))
    banded = False
    for axes, position in zip(grid, rows, strict=True):
        for ax, run, free, color in zip(axes, shown, values, colors, strict=False):
            banded |= _draw_whole(ax, run.times, free[:, position], color)
        end = late_part(shown[0])  # points are drawn one by one there
        times, late = shown[0].times[end][-CLOSE_UP:], values[0][end, position][-CLOSE_UP:]
        axes[-1].plot(times, late, color=colors[0], linewidth=0.8)
        for ax in axes:
            label_axes(ax)
            ax.set(ylim=(-0.06, 1.06), yticks=(0, 1))
            ax.margins(x=0.01)
        style = {"fontsize": LABEL_SIZE, "rotation": 0, "ha": "right", "va": "center"}
        axes[0].set_ylabel(names[position], **style)
    titles = [*(run.name for run in shown), f"the end of {shown[0].name}"]
    for ax, title in zip(grid[0], titles, strict=True):
        label_axes(ax, title=title)
    figure.supxlabel("time", fontsize=LABEL_SIZE)
    words = [
        _at_rest(names, shown, values, set(positions)) if moving(game, shown) else _NOTHING_MOVES,
        _left_out(rows, positions, "frequencies"),
        _left_out(shown, runs, "runs"),
        note,
    ]
    lines = [title_of(game), "; ".join(filter(None, words))]
    title_figure(figure, "\n".join(filter(None, lines)), SMALL_SIZE)
    if banded:
        from matplotlib.patches import Patch

        mean = sample("running mean", color=INK, linewidth=1.0)
        add_legend(figure, [mean, Patch(color=INK, label="range", **BAND)])
    return figure


def _left_out(drawn: Sequence[Any], those: Sequence[Any], things: str) -> str:
    """That not all are drawn, in words; empty if all are."""
    return f"{len(drawn)} of {len(those)} {things} are drawn" if len(drawn) < len(those) else ""


def _widest(
    positions: Sequence[int], runs: Sequence[SimulatedRun], values: Sequence[FloatArray]
) -> list[int]:
    """The frequencies with the largest ranges in the second half, in their own order."""
    ranges = [
        np.ptp(free[second_half(run)][:, positions], axis=0)
        for run, free in zip(runs, values, strict=True)
    ]
    order = np.argsort(-np.max(ranges, axis=0), kind="stable")[:MOST_ROWS]
    return sorted(positions[place] for place in order.tolist())


def _draw_whole(ax: Axes, times: FloatArray, values: FloatArray, color: Color) -> bool:
    """Draw a line, or where points are many a band with its mean; return whether it is a band."""
    if len(times) <= 2 * BINS:
        ax.plot(times, values, color=color, linewidth=0.8)
        return False
    edges = np.linspace(times[0], times[-1], BINS + 1)
    first = np.searchsorted(times, edges[:-1])
    filled = np.append(np.diff(first) > 0, True)  # the others hold no point
    first, middle = first[filled], (edges[:-1] + edges[1:])[filled] / 2
    low, high = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
    ax.fill_between(middle, low, high, color=color, **BAND)
    # over so wide stretches that they contain several periods
    wide = MEAN_OVER / 2 * (edges[1] - edges[0])
    begin, end = np.searchsorted(times, (middle - wide, middle + wide))
    sums = np.concatenate(([0.0], np.cumsum(values)))
    ax.plot(middle, (sums[end] - sums[begin]) / (end - begin), color=color, linewidth=1.0)
    return True


def _at_rest(
    names: Sequence[str],
    runs: Sequence[SimulatedRun],
    values: Sequence[FloatArray],
    moving: Set[int],
) -> str:
    """Which frequencies are at rest in the second half, and where, over all runs, in words."""
    ends = np.concatenate([free[second_half(run)] for run, free in zip(runs, values, strict=True)])
    found = []
    for position, name in enumerate(names):
        if position not in moving:
            low, high = f"{ends[:, position].min():.2f}", f"{ends[:, position].max():.2f}"
            found.append(f"{name} {low}" if low == high else f"{name} {low}–{high}")
    if len(found) > MOST_ROWS:
        return f"{len(found)} more move by less than {MOVES} in the second half"
    return f"move by less than {MOVES} in the second half: {', '.join(found)}" if found else ""


MOST_PANELS, MOST_COLUMNS = 8, 4
TURNS = 30
MOST_POINTS = 40_000  # of all lines; beyond that they become a picture inside the SVG
MARK = "#c81e1e"
LONGEST_TAG = 3
TOGETHER = 0.055  # names that are so close to each other are written as one
_RING: dict[str, Any] = {
    "color": MARK,
    "marker": "o",
    "linestyle": "",
    "fillstyle": "none",
    "markersize": 7,
}
_DOT: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 2.5}
_MEMBERS_DRAWN = 32
_SAME = 1e-6

Plane = tuple[int, int]  # two free frequencies
Spot = tuple[float, float]  # in a plane


def planes_of(
    game: Game, runs: Sequence[SimulatedRun], pairs: Sequence[tuple[str, str]] = ()
) -> list[Plane]:
    """The planes that are drawn: the named ones, or else the most strongly coupled pairs.

    Empty if no pair is named, and no two frequencies that drive each other move.

    Parameters
    ----------
    pairs : names of frequencies, ``player|information set|action`` or those of a published set

    Raises
    ------
    UsageError
        If a name is unknown, or a pair names one frequency twice.
    """
    if not pairs:
        return coupled_pairs(game, runs, MOST_PANELS)
    position = {name: place for place, name in enumerate(frequency_names(game, ()))}
    position |= {name: place for place, name in enumerate(frequency_names(game, known_sets(game)))}
    for pair in pairs:
        for name in pair:
            if name not in position:
                raise UsageError(
                    f"{name!r} is no frequency of this game; {known_labels(name, list(position))}"
                )
        if position[pair[0]] == position[pair[1]]:
            raise UsageError(f"{','.join(pair)} names one frequency twice; name two, such as b3,d2")
    return [(position[x], position[y]) for x, y in pairs]


def phase_figure(game: Game, runs: Sequence[SimulatedRun], planes: Sequence[Plane]) -> Figure:
    """The last 30 turns of all runs, one color each, in planes of two frequencies.

    Of a run with fewer turns in its late part all of that is drawn. A dot is its end. Published
    equilibria are red: circles, lines or areas, each with what its name ends in, or with a number
    where that is long.
    """
    known = known_sets(game)
    names = frequency_names(game, known)
    rows = math.ceil(len(planes) / MOST_COLUMNS)
    columns = math.ceil(len(planes) / rows)
    figure = new_figure(1.9 + 2.5 * columns, 2.5 * rows)
    figure.set_layout_engine("compressed")  # panels are square
    title_figure(figure, title_of(game))
    grid = figure.subplots(rows, columns, squeeze=False)
    colors, tags = ordered_colors(len(runs)), _tags(known)
    orbits = [[_orbit(game, run, plane) for run in runs] for plane in planes]
    dense = sum(len(orbit) for row in orbits for orbit in row) > MOST_POINTS
    for ax, (x, y), row in zip(grid.flat, planes, orbits, strict=False):
        label_axes(ax, names[x], names[y])
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
        ax.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        for orbit, color in zip(row, colors, strict=True):
            ax.plot(*orbit.T, color=color, linewidth=0.5, rasterized=dense)
            ax.plot(*orbit[-1], color=color, **_DOT, clip_on=False)
        _mark(ax, known, tags, Choices.of(game.tree).action[[x, y]])
    for ax in grid.flat[len(planes) :]:
        ax.remove()
    handles = [sample(run.name, color=color) for run, color in zip(runs, colors, strict=True)]
    handles.append(sample("end of a run", color=GRAY, **_DOT))
    if known:
        handles.append(sample("published equilibria", **_RING))
    others = {name: tag for name, tag in tags.items() if not name.endswith(tag)}
    handles += [sample(f"{tag}: {name}", linestyle="") for name, tag in others.items()]
    end = max(float(run.times[-1]) for run in runs)
    add_legend(figure, handles, title=f"at most {TURNS} turns,\nup to time {end:,.10g}")
    return figure


def _orbit(game: Game, run: SimulatedRun, plane: Plane) -> FloatArray:
    """The last turns in the late part of a run in a plane, float64 (n, 2)."""
    late = free_frequencies(game, run)[late_part(run)][:, plane]
    return late[last_turns(late, TURNS) :]


def _tags(known: Sequence[KnownSet]) -> dict[str, str]:
    """What published sets are called in a plane: the end of their names, or their numbers."""
    ends = {each.name: each.name.rpartition(":")[2] for each in known}
    if all(len(end) <= LONGEST_TAG for end in ends.values()):
        return ends
    return {name: f"({number})" for number, name in enumerate(ends, start=1)}


def _mark(ax: Axes, known: Sequence[KnownSet], tags: Mapping[str, str], actions: IntArray) -> None:
    """Draw where published sets are, with their tags."""
    circles: set[Spot] = set()
    named: dict[Spot, set[str]] = {}
    for each in known:
        corners = _outline(each, actions)
        if not len(corners):
            continue
        x, y = corners.T
        spot = float(x.mean()), float(y.mean())
        if len(corners) == 1:
            ax.plot(x, y, **_RING, clip_on=False, zorder=5)
            circles.add(spot)
        elif len(corners) == 2:
            ends: dict[str, Any] = {"solid_capstyle": "round", "clip_on": False}
            ax.plot(x, y, color=MARK, linewidth=2.2, zorder=5, **ends)
        else:
            ax.fill(x, y, facecolor=MARK, alpha=0.12, edgecolor=MARK, linewidth=0.8)
        near = [other for other in named if np.abs(np.subtract(spot, other)).max() < TOGETHER]
        named.setdefault(near[0] if near else spot, set()).add(tags[each.name])
    for spot, words in named.items():
        _tag(ax, spot, ", ".join(by_name(words)), is_circle=spot in circles)


def _tag(ax: Axes, spot: Spot, text: str, *, is_circle: bool) -> None:
    """Write what is there: beside a circle, so that no other is as near, or above a line."""
    from matplotlib.patheffects import withStroke

    x, y = spot
    side = 1 if x < 0.85 else -1  # toward the middle, so that it stays inside
    ax.annotate(
        text,
        spot,
        (6 * side, 0) if is_circle else (0, 7 if y < 0.9 else -7),
        textcoords="offset points",
        ha="left" if side > 0 else "right",
        va="center",
        fontsize=SMALL_SIZE,
        color=MARK,
        path_effects=[withStroke(linewidth=2.0, foreground="white")],
        zorder=6,
    )


def _outline(known: KnownSet, actions: IntArray) -> FloatArray:
    """Corners (n, 2) of what the members of a set play at two actions: one, two or an area."""
    found = [
        known.layout.behavior(known.frequencies(member.parameters))[actions]
        for member in members(known, _MEMBERS_DRAWN, np.random.default_rng(0))
    ]
    if not found:
        return np.empty((0, 2))
    points = np.array(found)
    middle = points.mean(axis=0)
    if np.ptp(points, axis=0).max() <= _SAME:
        return middle[None]
    _, (length, width), axes = np.linalg.svd(points - middle, full_matrices=False)
    if width <= _SAME * length:
        along = (points - middle) @ axes[0]
        return points[[along.argmin(), along.argmax()]]
    from scipy.spatial import ConvexHull

    return points[ConvexHull(points).vertices]


MOST_PROFIT_POINTS = 500  # of a line
EARLY = 0.002  # share of the time before which averages are not shown
LEAST_BEFORE = 50  # points, as far apart as usual; with fewer, averages look jagged
NEARLY = 0.05  # share by which times may differ that an average is taken over
_DIGITS = 9  # payoffs that agree to so many decimals are one line
_AREA = {"color": GRAY, "alpha": 0.15, "linewidth": 0}


def profit_figure(game: Game, runs: Sequence[SimulatedRun]) -> Figure:
    """Profit p of each player against time t above, and p / t below, one color per run.

    The ratio is averaged over a tenth of its time, in which oscillations could not be seen, and
    begins where points are dense, as they are not early in a long run. Published equilibria are
    dark: lines p = u t above and payoffs u below, areas where these vary within a set.
    """
    players = game.tree.players
    figure = new_figure(2.2 + 2.9 * len(players), 5.2)
    title_figure(figure, title_of(game))
    grid = figure.subplots(2, len(players), squeeze=False, sharex="row")
    colors = ordered_colors(len(runs))
    published = _merged(KnownPayoffs.of(game))
    styles = list(itertools.islice(itertools.cycle(LINE_STYLES[1:]), len(published)))
    end = max(float(run.times[-1] - run.times[0]) for run in runs)
    for player, (above, below) in enumerate(grid.T):
        label_axes(above, "time", "" if player else "profit", players[player])
        label_axes(below, "time", "" if player else "profit / time")
        below.set_xscale("log")
        for payoffs, style in zip(published.values(), styles, strict=True):
            low, high = payoffs[player]
            for rate in sorted({low, high}):
                above.plot((0, end), (0, rate * end), **_line(style))
                below.axhline(rate, **_line(style))
            if low < high:
                above.fill_between((0, end), (0, low * end), (0, high * end), **_AREA)
                below.axhspan(low, high, **_AREA)
        for run, color in zip(runs, colors, strict=True):
            elapsed, profit = run.times - run.times[0], run.profits[:, player]
            rows = _spread(elapsed, np.linspace(0, end, MOST_PROFIT_POINTS))
            above.plot(elapsed[rows], profit[rows], color=color, linewidth=1.0)
            dense = np.geomspace(_dense_from(elapsed), elapsed[-1], MOST_PROFIT_POINTS)
            rows = _spread(elapsed, dense)
            below.plot(elapsed[rows], _averages(elapsed, profit)[rows], color=color, linewidth=1.0)
    handles = [sample(run.name, color=color) for run, color in zip(runs, colors, strict=True)]
    handles += [sample(k, **_line(style)) for k, style in zip(published, styles, strict=True)]
    add_legend(figure, handles)
    return figure


def _dense_from(elapsed: FloatArray) -> float:
    """The time from which averages are drawn, of ascending times that begin with 0."""
    end = float(elapsed[-1])
    return min(max(EARLY * end, LEAST_BEFORE * float(np.diff(elapsed).max())), end / 2)


def _averages(elapsed: FloatArray, profit: FloatArray) -> FloatArray:
    """Profit over time (K,), each averaged over points at nearly the same time; 0 at the first."""
    ratio = np.divide(profit, elapsed, out=np.zeros_like(profit), where=elapsed > 0)
    sums = np.concatenate(([0.0], np.cumsum(ratio)))
    left = (elapsed[-1] - elapsed) / np.maximum(elapsed, elapsed[1])
    share = np.minimum(NEARLY, left)  # at the end as much before as after
    first = np.searchsorted(elapsed, (1 - share) * elapsed)
    end = np.searchsorted(elapsed, (1 + share) * elapsed, side="right")
    return (sums[end] - sums[first]) / (end - first)


def _line(style: Any) -> dict[str, Any]:
    """How a published payoff is drawn: above the runs, which may lie on it."""
    return {"color": INK, "linestyle": style, "linewidth": 0.9, "zorder": 3}


def _merged(known: KnownPayoffs) -> dict[str, FloatArray]:
    """Payoffs (N, 2) of the published sets, those with the same payoffs under one name."""
    ranges = {name: np.round(known.ranges[name], _DIGITS) + 0.0 for name in by_name(known.ranges)}
    names: dict[bytes, list[str]] = {}
    for name, payoffs in ranges.items():
        names.setdefault(payoffs.tobytes(), []).append(name)
    return {", ".join(same): ranges[same[0]] for same in names.values()}


def _spread(elapsed: FloatArray, wanted: FloatArray) -> NDArray[np.int64]:
    """Points of a run next after the wanted times, each once."""
    return np.unique(np.searchsorted(elapsed, wanted[wanted <= elapsed[-1]]))


NO_PLANES = "at the end no two that drive each other move, so no orbits are drawn"
VALUES = 121  # of the parameter at which published sets are looked at, beside the simulated ones


def draw_simulation(
    study: SimulationStudy, folder: Path, document: Mapping[str, Any]
) -> list[Path]:
    """Write orbits, time series and profits as figures, for each value of the parameter.

    If there are several values, a diagram of the regimes along them too. Returns the files.

    Parameters
    ----------
    document : the summary of the simulation

    Raises
    ------
    UsageError
        If a name is unknown, the points cannot be read, or a file cannot be written.
    """
    runs = {run.name: run for run in read_points(study.games[0], folder / POINTS)}
    several = len(document["values"]) > 1
    files: list[Path] = []
    for value, game in zip(document["values"], study.games, strict=False):
        rows = [row for row in document["runs"] if row["parameter"] == value["parameter"]]
        named = [runs[row["name"]]._replace(name=row["start"]) for row in rows]
        drawn = [run for run in named if len(run.times) > 1]
        suffix = f"-{document['parameter']}-{value['parameter']:g}" if several else ""
        for name, figure in _figures(game, drawn, study.request.pairs) if drawn else ():
            files += save_both(figure, folder, f"{name}{suffix}")
    if several:
        entries = _stability(study, [value["parameter"] for value in document["values"]])
        words: dict[float, Counter[str]] = {}
        for run in document["runs"]:
            words.setdefault(run["parameter"], Counter())[run["regime"]] += 1
        figure = regime_diagram(entries, words, document["parameter"], title=study.request.game)
        files += save_both(figure, folder, "regimes")
    return files


def _figures(
    game: Game, runs: Sequence[SimulatedRun], pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, Figure]]:
    planes = planes_of(game, runs, pairs)
    if planes:
        yield "phase", phase_figure(game, runs, planes)
    yield "series", series_figure(game, runs, note="" if planes else NO_PLANES)
    yield "profits", profit_figure(game, runs)


def _stability(study: SimulationStudy, values: Sequence[float]) -> list[dict[str, Any]]:
    """What published sets are along the parameter, as JSON values, at so many values."""
    dynamics: Dynamics = study.solver.instance
    between = np.linspace(min(values), max(values), VALUES)
    games = [study.games[0].at(**{str(study.parameter): value}) for value in between.tolist()]
    return [
        verdict.to_json()
        for game in [*games, *study.games]
        for verdict in verdicts(game, dynamics.flow(game), samples=0)
    ]
