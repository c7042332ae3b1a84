"""Linear programs, some variables of which may be whole numbers, put together from blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, csr_array, eye_array, vstack

SIMPLE = 10**6  # largest denominator of variables that may be anything
MET = 1e-9  # distance within which a solution in floats meets a bound
Row = tuple[Sequence[Any], Any, Any]


def minimize(
    costs: Sequence[NDArray],
    rows: Sequence[Row],
    bounds: Sequence[tuple[Any, Any]],
    *,
    whole: int = 0,
    time_s: float = math.inf,
    branchings: int | None = None,
    exact: Mapping[float, Fraction] | None = None,
) -> NDArray | None:
    """Variables of least cost by HiGHS, or None if it finds none.

    Parameters
    ----------
    costs : of each group of variables
    rows : a matrix for each group, or None, and what bounds their sum from below and above
    bounds : on the variables of each group
    whole : number of groups, from the first, whose variables are whole numbers
    branchings : limit of the search for whole numbers that is the same on every machine
    exact : what coefficients stand for, but for those that stand for themselves. If given, what
        meets the same bounds in Fractions is returned; whether it keeps the others is not known.
    """
    limits: Any = {} if time_s == math.inf else {"time_limit": time_s}
    if branchings is not None:
        limits["node_limit"] = branchings
    sizes = list(map(len, costs))
    heights = [next(part.shape[0] for part in row if part is not None) for row, _, _ in rows]
    low, high = (_joined([row[side] for row in rows], heights) for side in (1, 2))
    least, most = (_joined([each[side] for each in bounds], sizes) for side in (0, 1))
    matrix = csr_array(block_array([row for row, _, _ in rows]))
    done = milp(
        np.concatenate(costs),
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.repeat(np.arange(len(sizes)) < whole, sizes).astype(int),
        bounds=Bounds(least, most),
        options=limits,
    )
    if exact is None or done.x is None:
        return done.x
    both = csr_array(vstack([eye_array(len(least)), matrix]))
    return _corner(both, np.append(least, low), np.append(most, high), done.x, exact)


def _joined(parts: Sequence[Any], sizes: Sequence[int]) -> NDArray:
    return np.concatenate([np.broadcast_to(part, n) for part, n in zip(parts, sizes, strict=True)])


def _corner(
    matrix: csr_array, low: NDArray, high: NDArray, near: NDArray, exact: Mapping[float, Fraction]
) -> NDArray | None:
    """Solution in Fractions of the bounds that one in floats meets; None if there is none."""
    product = matrix @ near
    solved: dict[
        int, dict[int, Fraction]
    ] = {}  # sums that are 0, less a column; -1 is the number 1
    for r in np.flatnonzero(np.minimum(product - low, high - product) <= MET).tolist():
        cells = slice(*matrix.indptr[r : r + 2])
        values = (Fraction(exact.get(v, v)) for v in matrix.data[cells].tolist())
        row = dict(zip(matrix.indices[cells].tolist(), values, strict=True))
        row[-1] = -Fraction(float(low[r] if product[r] - low[r] <= MET else high[r]))
        for column, known in solved.items():
            if factor := row.pop(column, 0):
                for k, entry in known.items():
                    row[k] = row.get(k, 0) - factor * entry
        row = {k: entry for k, entry in row.items() if entry}
        column = max(row, default=-1)
        if column >= 0:
            pivot = row.pop(column)
            solved[column] = {k: entry / pivot for k, entry in row.items()}
        elif row:
            return None
    # what is not determined is free, and simple
    found = np.array([*(Fraction(v).limit_denominator(SIMPLE) for v in near.tolist()), Fraction(1)])
    for column, known in reversed(solved.items()):
        found[column] = -sum(entry * found[k] for k, entry in known.items())
    return found[:-1]
