"""Linear programs, some variables of which may be whole numbers, put together from blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, csr_array

Row = tuple[Sequence[Any], Any, Any]


def minimize(
    costs: Sequence[NDArray],
    rows: Sequence[Row],
    bounds: Sequence[tuple[float, float]],
    *,
    whole: int = 0,
    time_s: float = math.inf,
    branchings: int | None = None,
) -> NDArray | None:
    """Variables of least cost by HiGHS, or None if it finds none.

    Parameters
    ----------
    costs : of each group of variables
    rows : a matrix for each group, or None, and what bounds their sum from below and above
    bounds : on the variables of each group
    whole : number of groups, from the first, whose variables are whole numbers
    branchings : limit of the search for whole numbers that is the same on every machine
    """
    limits: Any = {} if time_s == math.inf else {"time_limit": time_s}
    if branchings is not None:
        limits["node_limit"] = branchings
    sizes = list(map(len, costs))
    heights = [next(part.shape[0] for part in row if part is not None) for row, _, _ in rows]
    low, high = (
        np.concatenate(
            [np.broadcast_to(row[side], n) for row, n in zip(rows, heights, strict=True)]
        )
        for side in (1, 2)
    )
    done = milp(
        np.concatenate(costs),
        constraints=LinearConstraint(
            csr_array(block_array([row for row, _, _ in rows])), low, high
        ),
        integrality=np.repeat(np.arange(len(sizes)) < whole, sizes).astype(int),
        bounds=Bounds(*(np.repeat([each[side] for each in bounds], sizes) for side in (0, 1))),
        options=limits,
    )
    return done.x
