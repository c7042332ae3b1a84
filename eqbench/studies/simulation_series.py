"""Time series of the frequencies that move (Billingham 2017, Figures 9, 11 and 13)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.equilibria import known_sets
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.report.svg import INK
from eqbench.studies.figure_style import (
    LABEL_SIZE,
    SMALL_SIZE,
    Color,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
    title_figure,
)
from eqbench.studies.simulation_moving import (
    MOVES,
    free_frequencies,
    frequency_names,
    late_part,
    moving,
    second_half,
    title_of,
)
from eqbench.studies.simulation_points import SimulatedRun

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
        _draw_end(axes[-1], shown[0], values[0][:, position], colors[0])
        for ax in axes:
            label_axes(ax, "", "")
            ax.set(ylim=(-0.06, 1.06), yticks=(0, 1))
            ax.margins(x=0.01)
        name, size = names[position], LABEL_SIZE
        axes[0].set_ylabel(name, fontsize=size, rotation=0, ha="right", va="center")
    titles = [*(run.name for run in shown), f"the end of {shown[0].name}"]
    for ax, title in zip(grid[0], titles, strict=True):
        ax.set_title(title, loc="left", fontsize=LABEL_SIZE)
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
        add_legend(figure, _band_and_mean())
    return figure


def _left_out(drawn: Sequence[Any], those: Sequence[Any], things: str) -> str:
    """That not all are drawn, in words; empty if all are."""
    return f"{len(drawn)} of {len(those)} {things} are drawn" if len(drawn) < len(those) else ""


def _band_and_mean() -> list[Artist]:
    """What a legend says about bands."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Line2D([], [], color=INK, linewidth=1.0, label="running mean"),
        Patch(color=INK, label="range", **BAND),
    ]


def _draw_end(ax: Axes, run: SimulatedRun, values: FloatArray, color: Color) -> None:
    """Draw the last points of a run one by one."""
    part = late_part(run)
    ax.plot(run.times[part][-CLOSE_UP:], values[part][-CLOSE_UP:], color=color, linewidth=0.8)


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
