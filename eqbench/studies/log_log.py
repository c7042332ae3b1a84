"""Figures on two logarithmic scales, with the power laws that fit the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from eqbench.errors import UsageError
from eqbench.report.svg import COLORS, PALE
from eqbench.studies.figure_style import SMALL_SIZE, add_legend, label_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^vP"
MOST_PLACES = 12


def power_law(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Factor c and exponent p of y = c x^p by least squares of the logarithms.

    Raises
    ------
    UsageError
        If there are fewer than two different x, or a number is not positive and finite.
    """
    both = np.array([x, y], dtype=np.float64)
    if not (np.isfinite(both).all() and (both > 0).all()):
        raise UsageError(f"logarithms need positive numbers; got {both[:, :8].tolist()}")
    if len(np.unique(both[0])) < 2:
        raise UsageError("a power law needs at least two different x; give more points")
    exponent, logarithm = np.polyfit(np.log(both[0]), np.log(both[1]), 1)
    return float(np.exp(logarithm)), float(exponent)


def log_log_figure(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]], *, x_label: str, y_label: str
) -> Figure:
    """Series of points (x, y), with the fitted power law as a line and its exponent.

    Parameters
    ----------
    series : by the name that the legend shows; up to six

    Raises
    ------
    UsageError
        If there is no series or more than six, or one has no power law (:func:`power_law`).
    """
    if not 0 < len(series) <= len(MARKERS):
        raise UsageError(f"{len(series)} series asked for; choose 1 to {len(MARKERS)}")
    figure = new_figure(7.2, 4.2)
    ax = figure.subplots()
    label_axes(ax, x_label, y_label)
    ax.tick_params(which="minor", color=PALE, labelsize=SMALL_SIZE)
    for (name, (x, y)), color, marker in zip(series.items(), COLORS, MARKERS, strict=False):
        factor, exponent = power_law(x, y)
        ends = np.array([np.min(x), np.max(x)])
        ax.plot(x, y, marker, color=color, markersize=4, label=f"{name}: slope {exponent:.2f}")
        ax.plot(ends, factor * ends**exponent, color=color, linewidth=0.9)
    ax.set(xscale="log", yscale="log")
    places = np.unique(np.concatenate([np.ravel(x) for x, _ in series.values()]))
    if len(places) <= MOST_PLACES and places[-1] < 100 * places[0]:
        # powers of ten would leave such an axis almost without numbers
        ax.set_xticks(places, [f"{x:g}" for x in places])
        ax.set_xticks([], minor=True)
    add_legend(figure, ax.get_legend_handles_labels()[0])
    return figure
