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
    """Sign of the determinant of a matrix (n, n); if not 0, `solution` (R, n) solves the equations.

    Columns are eliminated in their order, with the largest entry as pivot. `matrix` and `right`
    (R, n), which holds a right side in each row, are overwritten.
    """
    sides, n = right.shape
    left, pivots = np.arange(n).astype(np.uint32), np.empty(n, np.uint32)
    rows, columns = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for k in range(n):
        largest, best, n_rows, n_columns = 0.0, 0, 0, 0
        for i in range(n - k):
            rows[n_rows] = i  # overwritten by the next one if the entry is 0
            n_rows += matrix[left[i], k] != 0.0
        for i in range(n_rows):
            entry = abs(matrix[left[rows[i]], k])
            if entry > largest:
                largest, best = entry, rows[i]
            rows[i] = left[rows[i]]
        if not 0.0 < largest < np.inf:
            return 0
        pivot = pivots[k] = left[best]
        left[best] = left[n - k - 1]
        upper = matrix[pivot]
        for j in range(k + 1, n):
            columns[n_columns] = j
            n_columns += upper[j] != 0.0
        filled = n_columns >= FILLED * (n - k)
        for i in range(n_rows):
            if rows[i] == pivot:
                continue
            lower = matrix[rows[i]]
            factor = lower[k] / upper[k]
            for side in range(sides):
                right[side, rows[i]] -= factor * right[side, pivot]
            if filled:
                for j in range(k + 1, n):
                    lower[j] -= factor * upper[j]
            else:
                for j in range(n_columns):
                    lower[columns[j]] -= factor * upper[columns[j]]
    sign = 1
    for k in range(n - 1, -1, -1):
        corner = matrix[pivots[k], k]
        for side in range(sides):
            solution[side, k] = right[side, pivots[k]] / corner
        for i in range(k):
            entry = matrix[pivots[i], k]
            for side in range(sides):
                right[side, pivots[i]] -= entry * solution[side, k]
        if corner < 0:
            sign = -sign
    for k in range(n):  # each exchange on the way to the order of the pivots turns the sign
        while pivots[k] != k:
            other = pivots[k]
            pivots[k], pivots[other] = pivots[other], other
            sign = -sign
    return sign
