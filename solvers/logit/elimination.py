"""Gaussian elimination that leaves out zeros.

Values at an information set depend on what others did before and what anybody does later, so
most entries of the matrices are 0, and remain 0 if what comes last in the game is eliminated
first. At a thousand unknowns of Leduc poker a library for sparse matrices is no faster; at fifty
the calls of one would take longer than the work.
"""

from __future__ import annotations

import numpy as np

from eqbench.model.compiled import kernel
from eqbench.model.tree import FloatArray

# Share of nonzero entries from which a row is updated as a whole.
FILLED = 0.25


@kernel
def eliminate(matrix: FloatArray, right: FloatArray, solution: FloatArray) -> int:
    """Sign of the determinant of a matrix (n, n); if not 0, `solution` (n,) solves the equations.

    Columns are eliminated in their order, with the largest entry as pivot. `matrix` and `right`
    (n,) are overwritten.
    """
    n = len(right)
    left, pivots = np.arange(n).astype(np.uint32), np.empty(n, np.uint32)
    rows, columns = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for k in range(n):
        largest, best, n_rows, n_columns = 0.0, 0, 0, 0
        for i in range(n - k):
            entry = abs(matrix[left[i], k])
            if entry != 0.0:
                rows[n_rows] = left[i]
                n_rows += 1
            if entry > largest:
                largest, best = entry, i
        if not 0.0 < largest < np.inf:
            return 0
        pivot = pivots[k] = left[best]
        left[best] = left[n - k - 1]
        upper = matrix[pivot]
        for j in range(k + 1, n):
            if upper[j] != 0.0:
                columns[n_columns] = j
                n_columns += 1
        filled = n_columns >= FILLED * (n - k)
        for i in range(n_rows):
            if rows[i] == pivot:
                continue
            lower = matrix[rows[i]]
            factor = lower[k] / upper[k]
            right[rows[i]] -= factor * right[pivot]
            if filled:
                for j in range(k + 1, n):
                    lower[j] -= factor * upper[j]
            else:
                for j in range(n_columns):
                    lower[columns[j]] -= factor * upper[columns[j]]
    sign = 1
    for k in range(n - 1, -1, -1):
        upper, rest = matrix[pivots[k]], right[pivots[k]]
        for j in range(k + 1, n):
            rest -= upper[j] * solution[j]
        solution[k] = rest / upper[k]
        if upper[k] < 0:
            sign = -sign
    for k in range(n):  # each exchange on the way to the order of the pivots turns the sign
        while pivots[k] != k:
            other = pivots[k]
            pivots[k], pivots[other] = pivots[other], other
            sign = -sign
    return sign
