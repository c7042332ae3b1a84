"""Profits of simulated trajectories beside published ones (Billingham 2017, Figure 15)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.report.svg import GRAY, INK
from eqbench.studies.branch_frequencies import LINE_STYLES
from eqbench.studies.figure_style import (
    LABEL_SIZE,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
    title_figure,
)
from eqbench.studies.simulation_moving import title_of
from eqbench.studies.simulation_points import SimulatedRun
from eqbench.studies.simulation_profits import KnownPayoffs
from eqbench.studies.stability_style import by_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 500  # of a line
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
    from matplotlib.lines import Line2D

    players = game.tree.players
    figure = new_figure(2.2 + 2.9 * len(players), 5.2)
    title_figure(figure, title_of(game))
    grid = figure.subplots(2, len(players), squeeze=False, sharex="row")
    colors = ordered_colors(len(runs))
    published = _merged(KnownPayoffs.of(game))
    styles = list(itertools.islice(itertools.cycle(LINE_STYLES[1:]), len(published)))
    end = max(float(run.times[-1] - run.times[0]) for run in runs)
    for player, (above, below) in enumerate(grid.T):
        label_axes(above, "time", "" if player else "profit")
        label_axes(below, "time", "" if player else "profit / time")
        above.set_title(players[player], loc="left", fontsize=LABEL_SIZE)
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
            rows = _spread(elapsed, np.linspace(0, end, MOST_POINTS))
            above.plot(elapsed[rows], profit[rows], color=color, linewidth=1.0)
            rows = _spread(elapsed, np.geomspace(_dense_from(elapsed), elapsed[-1], MOST_POINTS))
            below.plot(elapsed[rows], _averages(elapsed, profit)[rows], color=color, linewidth=1.0)
    handles = [Line2D([], [], color=c, label=r.name) for r, c in zip(runs, colors, strict=True)]
    for name, style in zip(published, styles, strict=True):
        handles.append(Line2D([], [], label=name, **_line(style)))
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
    names: dict[bytes, list[str]] = {}
    for name in by_name(known.ranges):
        names.setdefault(_key(known.ranges[name]), []).append(name)
    return {", ".join(same): np.round(known.ranges[same[0]], _DIGITS) for same in names.values()}


def _key(payoffs: FloatArray) -> bytes:
    return (np.round(payoffs, _DIGITS) + 0.0).tobytes()  # no negative zeros


def _spread(elapsed: FloatArray, wanted: FloatArray) -> NDArray[np.int64]:
    """Points of a run next after the wanted times, each once."""
    return np.unique(np.searchsorted(elapsed, wanted[wanted <= elapsed[-1]]))
