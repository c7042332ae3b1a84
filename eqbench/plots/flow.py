"""Figures of trajectories: orbits in the plane of two frequencies, series, profits.

Symbols in shapes: K points of a run, A actions, F free frequencies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.members import members
from eqbench.errors import UsageError, known_labels
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import action_labels
from eqbench.model.tree import FloatArray, IntArray
from eqbench.plots import style
from eqbench.plots.branches import LINE_STYLES
from eqbench.report import GRAY, INK
from eqbench.studies.extremes import KnownPayoffs
from eqbench.studies.flow.points import SimulatedRun, late_part, second_half
from eqbench.studies.frame import Drawn

MOVES = 0.02  # range over the second half of a run above which a frequency moves
_SAMPLES = 50  # points of a run at which couplings are taken


def frequency_names(game: Game) -> dict[str, str]:
    """Names of the F free frequencies, and ``player|information set|action`` of each.

    The name is that of a published set where it names all of them, such as `b3`.
    """
    actions, own = Choices.of(game.tree).action.tolist(), action_labels(game.tree)
    names = dict(enumerate(own))
    for known in known_sets(game)[:1]:
        published = dict(zip(known.layout.action.tolist(), known.layout.variables, strict=True))
        names = published if published.keys() >= set(actions) else names
    return {names[action]: own[action] for action in actions}


def _labels(game: Game) -> list[str]:
    """Names of the free frequencies for axes: below a published one what it stands for."""
    return [a if a == b else f"{a}\n{b}" for a, b in frequency_names(game).items()]


def title_of(game: Game) -> str:
    """The game and the value of its payoff parameter."""
    return style.game_title(game.spec, game.tree.payoffs.parameter, game.tree.payoffs.value)


def free_frequencies(game: Game, run: SimulatedRun) -> FloatArray:
    """The free frequencies of a run, float64 (K, F)."""
    return run.behavior[:, Choices.of(game.tree).action]


def last_turns(values: FloatArray, turns: int) -> FloatArray:
    """The last so many turns of a motion (K, n) that oscillates; all of it if it has fewer.

    A turn lasts from one rise of the column with the largest range through the middle of that
    range to the next one.
    """
    widest = values[:, np.ptp(values, axis=0).argmax()]
    low = widest < (widest.min() + widest.max()) / 2
    rises = np.flatnonzero(low[:-1] & ~low[1:])
    return values[rises[-turns - 1] :] if len(rises) > turns else values


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
MEAN_OVER = 5  # bins, which contain several periods
CLOSE_UP = 600  # points at the end that are drawn one by one
WIDTHS = (0.0, 5.0, 4.0, 3.2, 3.2)  # of a column of the whole in inches, by the number of runs


def series_figure(game: Game, runs: Sequence[SimulatedRun], *, remark: str = "") -> style.Figure:
    """Frequencies that move against time: a column for each run, then the end of the first one.

    What oscillates too fast for the whole is a band there, between the smallest and the largest
    value of a short stretch, with the running mean as a line. Frequencies that are at rest in the
    second half are listed above; if all are, they are drawn. At most 24 frequencies are drawn,
    those with the largest ranges, and the first four runs.
    """
    shown, labels = runs[:MOST_RUNS], _labels(game)
    halves = [free_frequencies(game, run)[second_half(run)] for run in shown]
    moved = np.max([np.ptp(half, axis=0) for half in halves], axis=0)
    moving = moved > MOVES
    positions = np.flatnonzero(moving if moving.any() else ~moving)
    widest = positions[np.argsort(-moved[positions], kind="stable")[:MOST_ROWS]]
    first, panels = shown[0], list[style.Panel]()
    end = np.arange(len(first.times))[late_part(first)][-CLOSE_UP:]
    last = first._replace(
        name=f"the end of {first.name}", times=first.times[end], behavior=first.behavior[end]
    )
    colors = style.ordered_colors(len(shown))
    settings = {"ylim": (-0.06, 1.06), "yticks": (0, 1), "xmargin": 0.01}
    for position in sorted(widest.tolist()):
        for run, color in zip((*shown, last), (*colors, colors[0]), strict=True):
            values = free_frequencies(game, run)[:, position]
            drawn = _whole(run.times, values, color, points=run is last)
            name = "" if len(panels) > len(shown) else run.name
            label = "" if len(panels) % (len(shown) + 1) else labels[position]
            panels.append(style.Panel(drawn, "", label, name, settings))
    words = [
        _at_rest(list(frequency_names(game)), moving, np.concatenate(halves)),
        f"{len(widest)} of {len(positions)} frequencies are drawn" * (len(widest) < len(positions)),
        f"{len(shown)} of {len(runs)} runs are drawn" * (len(shown) < len(runs)),
        remark,
    ]
    widths = [WIDTHS[len(shown)]] * len(shown) + [WIDTHS[-1]]
    title = "\n".join(filter(None, [title_of(game), "; ".join(filter(None, words))]))
    size = sum(widths) + 2.6, 1.5 + 0.72 * len(widest)
    grid: style.Look = {"sharex": "col", "sharey": True, "width_ratios": widths}
    figure = style.draw_figure(panels, *size, len(widths), title=title, x_label="time", **grid)
    figure.set_layout_engine("constrained", wspace=0.03)  # so that numbers on the axes keep apart
    for ax in figure.axes:
        ax.yaxis.label.set(rotation=0, ha="right", va="center", multialignment="right")
    return figure


def _whole(
    times: FloatArray, values: FloatArray, color: style.Color, *, points: bool
) -> list[style.Series]:
    """A line, or unless all points shall be seen a band with its mean where they are many."""
    if points or len(times) <= 2 * BINS:
        return [style.line(times, values, color, linewidth=0.8)]
    share = (times - times[0]) / (times[-1] - times[0])
    centers, low, high, means = _means(times, values, np.minimum(share * BINS, BINS - 1))
    look = {"color": color, "label": "range", "alpha": 0.3, "linewidth": 0}
    band = style.Series("fill_between", (centers, low, high), look)
    return [band, style.line(centers, means, color, "running mean", linewidth=1.0)]


def _means(x: FloatArray, y: FloatArray, bins: FloatArray) -> tuple[FloatArray, ...]:
    """Mean of x, smallest and largest y in each bin of ascending `bins`, running mean over five."""
    _, starts, counts = np.unique(bins.astype(int), return_index=True, return_counts=True)
    centers, means = (np.add.reduceat(each, starts) / counts for each in (x, y))
    near = slice(MEAN_OVER // 2, MEAN_OVER // 2 + len(means))  # fewer at both ends
    total, here = (np.convolve(each, np.ones(MEAN_OVER))[near] for each in (means, means**0))
    return centers, np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts), total / here


def _at_rest(names: Sequence[str], moving: NDArray[np.bool_], halves: FloatArray) -> str:
    """Which frequencies are at rest in the second half, and where, over all runs, in words."""
    if not moving.any():
        return f"nothing moves by more than {MOVES} in the second half"
    found = []
    for position in np.flatnonzero(~moving).tolist():
        ends = (f"{end(halves[:, position]):.2f}" for end in (np.min, np.max))
        found.append(f"{names[position]} {'–'.join(dict.fromkeys(ends))}")
    if len(found) > MOST_ROWS:
        return f"{len(found)} more move by less than {MOVES} in the second half"
    return f"move by less than {MOVES} in the second half: {', '.join(found)}" if found else ""


MOST_PANELS, MOST_COLUMNS = 8, 4
TURNS = 30
MOST_POINTS = 40_000  # of all lines; beyond that they become a picture inside the SVG
MARK = "#c81e1e"
TOGETHER = 0.055  # names that are so close to each other are written as one
_RING: style.Look = {"size": 7, "fillstyle": "none"}
_MEMBERS_DRAWN = 32
_SAME = 1e-6


def planes_of(
    game: Game, runs: Sequence[SimulatedRun], pairs: Sequence[tuple[str, str]] = ()
) -> list[tuple[int, int]]:
    """The planes that are drawn: of pairs by name, or else of the most strongly coupled ones.

    Empty if no pair is named, and no two frequencies that drive each other move. UsageError if a
    name is neither published nor ``player|information set|action``, or a pair has only one.
    """
    if not pairs:
        return coupled_pairs(game, runs, MOST_PANELS)
    names = frequency_names(game)
    position = {name: k for own in (names.values(), names) for k, name in enumerate(own)}
    for name in itertools.chain.from_iterable(pairs):
        if name not in position:
            known = known_labels(name, list(position))
            raise UsageError(f"{name!r} is not a frequency of this game; {known}")
    for x, y in pairs:
        if position[x] == position[y]:
            raise UsageError(f"{x},{y} names one frequency twice; name two, such as b3,d2")
    return [(position[x], position[y]) for x, y in pairs]


def phase_figure(
    game: Game, runs: Sequence[SimulatedRun], planes: Sequence[tuple[int, int]]
) -> style.Figure:
    """The last 30 turns of all runs, one color each, in planes of two frequencies.

    Of a run with fewer turns in its late part all of that is drawn. A dot is its end. Published
    equilibria are red: circles, lines or areas, each with what its name ends in.
    """
    known, labels = known_sets(game), _labels(game)
    colors = style.ordered_colors(len(runs))
    late = [free_frequencies(game, run)[late_part(run)] for run in runs]
    orbits = [[last_turns(own[:, plane], TURNS) for own in late] for plane in planes]
    dense = sum(len(orbit) for row in orbits for orbit in row) > MOST_POINTS
    keys = [style.line([], [], color, run.name) for run, color in zip(runs, colors, strict=True)]
    keys += [style.dots([], [], GRAY, "end of a run", 2.5)]
    keys += [style.dots([], [], MARK, "published equilibria", **_RING)] if known else []
    square = {"lim": (-0.03, 1.03), "ticks": (0, 0.5, 1)}
    settings = {f"{axis}{name}": value for name, value in square.items() for axis in "xy"}
    panels = []
    for (x, y), row in zip(planes, orbits, strict=True):
        series = keys + _marks(known, Choices.of(game.tree).action[[x, y]])
        for (across, up), color in zip((orbit.T for orbit in row), colors, strict=True):
            series.append(style.line(across, up, color, linewidth=0.5, rasterized=dense))
            series.append(style.dots(across[-1:], up[-1:], color, size=2.5, clip_on=False))
        panels.append(style.Panel(series, labels[x], labels[y], "", settings | {"aspect": "equal"}))
    rows = math.ceil(len(planes) / MOST_COLUMNS)
    columns = math.ceil(len(planes) / rows)
    legend = f"at most {TURNS} turns,\nup to time {max(run.times[-1] for run in runs):,.10g}"
    size = 1.9 + 2.6 * columns, 2.7 * rows
    figure = style.draw_figure(panels, *size, columns, title=title_of(game), legend=legend)
    figure.set_layout_engine("compressed")  # panels are square
    return figure


def _marks(known: Sequence[KnownSet], actions: IntArray) -> list[style.Series]:
    """Where published sets are, with the ends of their names next to a circle or above a line."""
    from matplotlib.patheffects import withStroke

    series = list[style.Series]()
    named: dict[tuple[float, float], tuple[bool, set[str]]] = {}
    above: style.Look = {"clip_on": False, "zorder": 5}
    for each in known:
        corners = _outline(each, actions)
        if not len(corners):
            continue
        x, y = corners.T
        if len(corners) == 1:
            series.append(style.dots(x, y, MARK, **_RING, **above))
        elif len(corners) == 2:
            series.append(style.line(x, y, MARK, linewidth=2.2, solid_capstyle="round", **above))
        else:
            look = {"facecolor": (MARK, 0.12), "edgecolor": MARK, "linewidth": 0.8}
            series.append(style.Series("fill", (x, y), look))
        spot = float(x.mean()), float(y.mean())
        near = [other for other in named if np.abs(np.subtract(spot, other)).max() < TOGETHER]
        is_circle, words = named.setdefault(near[0] if near else spot, (len(corners) == 1, set()))
        words.add(each.name.rpartition(":")[2])
    look = {"path_effects": [withStroke(linewidth=2.0, foreground="white")], "zorder": 6}
    look |= {"color": MARK, "va": "center", "fontsize": style.SMALL_SIZE}
    for (x, y), (is_circle, words) in named.items():
        side = 1 if x < 0.85 else -1  # toward the middle, so that it stays inside
        offset = (6 * side, 0) if is_circle else (0, 7 if y < 0.9 else -7)
        text, place = ", ".join(style.by_name(words)), "left" if side > 0 else "right"
        series.append(style.note(text, x, y, offset, ha=place, **look))
    return series


def _outline(known: KnownSet, actions: IntArray) -> FloatArray:
    """Corners (n, 2) of what the members of a set play at two actions: one, two or an area."""
    drawn = members(known, _MEMBERS_DRAWN, np.random.default_rng(0))
    frequencies = [known.frequencies(member.parameters) for member in drawn]
    if not frequencies:
        return np.empty((0, 2))
    points = np.array([known.layout.behavior(each)[actions] for each in frequencies])
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
STEP = 0.02  # share by which times in one bin may differ
_DIGITS = 9  # payoffs that agree to so many decimals are one line


def profit_figure(game: Game, runs: Sequence[SimulatedRun]) -> style.Figure:
    """Profit p of each player against time t above, and p / t below, one color per run.

    The ratio is averaged over a tenth of its time, in which oscillations could not be seen, and
    begins where points are dense, as they are not early in a long run. Published equilibria are
    dark: lines p = u t above and payoffs u below, areas where these vary within a set.
    """
    players, colors = game.tree.players, style.ordered_colors(len(runs))
    end = max(float(run.times[-1] - run.times[0]) for run in runs)
    published = _merged(KnownPayoffs.of(game))
    above, below = list[style.Panel](), list[style.Panel]()
    for player, name in enumerate(players):
        profits, ratios = list[style.Series](), list[style.Series]()
        for run, color in zip(runs, colors, strict=True):
            elapsed, profit = run.times - run.times[0], run.profits[:, player]
            times = np.linspace(0, elapsed[-1], MOST_PROFIT_POINTS)
            profits.append(style.line(times, np.interp(times, elapsed, profit), color, run.name))
            first = max(EARLY * elapsed[-1], LEAST_BEFORE * np.diff(elapsed).max())
            dense = elapsed >= min(first, elapsed[-1] / 2)
            late, bins = elapsed[dense], np.log(elapsed[dense]) / np.log1p(STEP)
            centers, *_, means = _means(late, profit[dense] / late, bins - bins[0])
            ratios.append(style.line(centers, means, color))
        styles = itertools.cycle(LINE_STYLES[1:])
        for (known, payoffs), dashes in zip(published.items(), styles, strict=False):
            look: style.Look = {"linestyle": dashes, "linewidth": 0.9, "zorder": 3}
            low, high = payoffs[player]
            for rate in sorted({low, high}):
                profits.append(style.line((0, end), (0, rate * end), INK, known, **look))
                ratios.append(style.Series("axhline", (rate,), look | {"color": INK}))
            if low < high:
                pale = {"color": GRAY, "alpha": 0.15, "linewidth": 0}
                ends = [0, end], [0, low * end], [0, high * end]
                profits.append(style.Series("fill_between", ends, pale))
                ratios.append(style.Series("axhspan", (low, high), pale))
        labels = ("", "") if player else ("profit", "profit / time")
        above.append(style.Panel(profits, "time", labels[0], name))
        below.append(style.Panel(ratios, "time", labels[1], settings={"xscale": "log"}))
    size, title = (2.2 + 2.9 * len(players), 5.2), title_of(game)
    return style.draw_figure([*above, *below], *size, len(players), title=title, sharex="row")


def _merged(known: KnownPayoffs) -> dict[str, FloatArray]:
    """Payoffs (N, 2) of the published sets, those with the same payoffs under one name."""
    found: dict[bytes, tuple[list[str], FloatArray]] = {}
    for name in style.by_name(known.ranges):
        rounded = np.round(known.ranges[name], _DIGITS) + 0.0  # no -0
        found.setdefault(rounded.tobytes(), ([], rounded))[0].append(name)
    return {", ".join(names): payoffs for names, payoffs in found.values()}


NO_PLANES = "at the end no two that drive each other move, so no orbits are drawn"


def draw_runs(
    game: Game, runs: Sequence[SimulatedRun], pairs: Sequence[tuple[str, str]]
) -> Iterator[Drawn]:
    """Draw orbits, if any frequencies move together, time series and profits."""
    planes = planes_of(game, runs, pairs)
    if planes:
        yield "phase", phase_figure(game, runs, planes)
    yield "series", series_figure(game, runs, remark="" if planes else NO_PLANES)
    yield "profits", profit_figure(game, runs)
