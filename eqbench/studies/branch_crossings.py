"""How many points of a branch there are at each value of its parameter.

Symbols in shapes: K points, B breakpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.tree import FloatArray
from eqbench.report.svg import COLORS
from eqbench.studies.branch import Branch, turning_points
from eqbench.studies.figure_style import LABEL_SIZE, label_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Vertical pieces of regularized curves lean and wind by about this much.
VERTICAL = 1e-4


def crossing_counts(
    values: FloatArray, tolerance: float = VERTICAL
) -> tuple[FloatArray, NDArray[np.int64]]:
    """How often a polyline of values (K,) takes each value: a step function.

    Between two neighboring breakpoints every value is taken equally often. Ends and folds that
    are no further apart than `tolerance` become one breakpoint, so that a vertical piece counts
    neither as a piece of its own nor as folds, however it winds.

    Returns
    -------
    breakpoints : float64 (B,), ascending
        The first and the last one are the ends of the range of values.
    counts : int64 (B-1,)
        Number of crossings between them.
    """
    pieces = values[np.concatenate(([0], turning_points(values), [len(values) - 1]))]
    order = np.sort(pieces)
    first = np.concatenate(([True], np.diff(order) > tolerance))
    breakpoints = order[first]
    at = np.searchsorted(breakpoints, pieces, side="right") - 1
    low, high = np.minimum(at[:-1], at[1:]), np.maximum(at[:-1], at[1:])
    change = np.zeros(len(breakpoints), dtype=np.int64)
    np.add.at(change, low, 1)
    np.add.at(change, high, -1)
    breakpoints, change = breakpoints[change != 0], change[change != 0]
    return breakpoints, np.cumsum(change)[:-1]


def crossing_figure(branches: Mapping[str, Branch], *, tolerance: float = VERTICAL) -> Figure:
    """Number of points of each branch against the parameter, in panels one above the other.

    They are crossings of the regularized curve; how many equilibria they become is for a
    verifier to say (cf. Billingham 2018, Figure 12).

    Parameters
    ----------
    branches : by the name that the figure shows
    tolerance : as in :func:`crossing_counts`

    Raises
    ------
    UsageError
        If there is no branch.
    """
    from matplotlib.ticker import MaxNLocator

    if not branches:
        raise UsageError("there is no branch to draw; give at least one")
    figure = new_figure(7.5, 0.8 + 0.95 * len(branches))
    grid = figure.subplots(len(branches), 1, squeeze=False, sharex=True)[:, 0]
    for ax, (name, branch) in zip(grid, branches.items(), strict=True):
        breakpoints, counts = crossing_counts(branch.values, tolerance)
        if not counts.size:  # it only stands still: one flat step
            breakpoints = np.array([branch.values.min(), branch.values.max()])
            counts = np.ones(1, dtype=np.int64)
        label_axes(ax, "", "")
        ax.set_axisbelow(True)
        # the outline keeps narrow steps visible
        colors = {"facecolor": COLORS[0], "edgecolor": COLORS[0]}
        ax.stairs(counts, breakpoints, fill=True, linewidth=0.7, snap=False, **colors)
        most = int(counts.max(initial=0))
        ax.set_ylim(0, 1.1 * max(most, 1))
        ax.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
        ax.set_title(f"{name}: up to {most}", loc="left", fontsize=LABEL_SIZE)
    parameters = sorted({branch.parameter for branch in branches.values()})
    grid[-1].set_xlabel(", ".join(parameters), fontsize=LABEL_SIZE)
    figure.supylabel("points of the branch", fontsize=LABEL_SIZE)
    return figure
