"""How many points of a branch there are at each value of its parameter.

Symbols in shapes: K points, B breakpoints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray
from eqbench.studies.branch import turning_points

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
