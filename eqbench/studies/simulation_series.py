"""Time series of the frequencies that move (Billingham 2017, Figures 9, 11 and 13)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import numpy as np

from eqbench.equilibria import known_sets
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.report.svg import GRAY
from eqbench.studies.figure_style import (
    LABEL_SIZE,
    SMALL_SIZE,
    Color,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
)
from eqbench.studies.simulation_moving import (
    free_frequencies,
    frequency_names,
    late_part,
    moving,
    second_half,
)
from eqbench.studies.simulation_points import SimulatedRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 24
MOST_RUNS = 6
BINS = 150
MEAN_OVER = 5  # bins
CLOSE_UP = 600  # points at the end that are drawn one by one


def series_figure(game: Game, runs: Sequence[SimulatedRun]) -> Figure:
    """Frequencies that move against time: the whole at the left, the end at the right.

    What oscillates too fast for the whole is a band there, between the smallest and the largest
    value of a short stretch, with its mean as a line. Frequencies that are at rest in the second
    half are listed above; if all are, they are drawn. At most 24 frequencies are drawn, those
    with the largest ranges, and at most six runs.
    """
    from matplotlib.lines import Line2D

    names = frequency_names(game, known_sets(game))
    runs = runs[:MOST_RUNS]
    positions = moving(game, runs) or list(range(len(names)))
    values = [free_frequencies(game, run) for run in runs]
    rows = _widest(positions, runs, values)
    figure = new_figure(10.0, 1.1 + 0.72 * len(rows))
    grid = figure.subplots(
        len(rows), 2, squeeze=False, sharex="col", sharey=True, width_ratios=(1.5, 1.0)
    )
    colors = ordered_colors(len(runs))
    for (whole, end), position in zip(grid, rows, strict=True):
        for run, free, color in zip(runs, values, colors, strict=True):
            _draw_whole(whole, run.times, free[:, position], color)
            part = late_part(run)
            times, shown = run.times[part][-CLOSE_UP:], free[part, position][-CLOSE_UP:]
            end.plot(times, shown, color=color, linewidth=0.8)
        for ax in (whole, end):
            label_axes(ax, "", "")
            ax.set(ylim=(-0.06, 1.06), yticks=(0, 1))
            ax.margins(x=0.01)
        whole.set_ylabel(names[position], fontsize=LABEL_SIZE, rotation=0, ha="right", va="center")
    figure.supxlabel("time", fontsize=LABEL_SIZE)
    words = _at_rest(names, runs, values, set(positions))
    if len(rows) < len(positions):
        words = f"the {len(rows)} of {len(positions)} frequencies that move most; {words}"
    figure.suptitle(words, fontsize=SMALL_SIZE, color=GRAY, wrap=True)
    handles = [
        Line2D([], [], color=color, label=run.name) for run, color in zip(runs, colors, strict=True)
    ]
    add_legend(figure, handles)
    return figure


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


def _draw_whole(ax: Axes, times: FloatArray, values: FloatArray, color: Color) -> None:
    """Draw a line, or where points are many a band with its mean."""
    if len(times) <= 2 * BINS:
        ax.plot(times, values, color=color, linewidth=0.8)
        return
    edges = np.linspace(times[0], times[-1], BINS + 1)
    first = np.searchsorted(times, edges[:-1])
    filled = np.append(np.diff(first) > 0, True)  # the others hold no point
    first, middle = first[filled], (edges[:-1] + edges[1:])[filled] / 2
    low, high = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
    ax.fill_between(middle, low, high, color=color, alpha=0.25, linewidth=0)
    # over so wide stretches that they contain several periods
    wide = MEAN_OVER / 2 * (edges[1] - edges[0])
    begin, end = np.searchsorted(times, (middle - wide, middle + wide))
    sums = np.concatenate(([0.0], np.cumsum(values)))
    ax.plot(middle, (sums[end] - sums[begin]) / (end - begin), color=color, linewidth=0.8)


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
        return f"{len(found)} more are at rest in the second half"
    return f"at rest in the second half: {', '.join(found)}" if found else ""
