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
    """Sign of the determinant of a matrix (n, n); if not 0, `solution` (2, n) solves the equations.

    Columns are eliminated in their order, with the largest entry as pivot. `matrix` and `right`
    (2, n), which holds two right sides, are overwritten.
    """
    n = len(matrix)
    left, pivots = np.arange(n).astype(np.uint32), np.empty(n, np.uint32)
    rows, columns = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for k in range(n):
        largest, best, n_rows, n_columns = 0.0, 0, 0, 0
        for i in range(n - k):
            rows[n_rows] = i  # overwritten by the next one if the entry is 0
            n_rows += matrix[left[i], k] != 0.0
        for i in range(n_rows):
            place = rows[i]
            rows[i] = left[place]
            entry = abs(matrix[rows[i], k])
            if entry > largest:
                largest, best = entry, place
        if not 0.0 < largest < np.inf:
            return 0
        pivot = pivots[k] = left[best]
        left[best] = left[n - k - 1]
        for j in range(k + 1, n):
            columns[n_columns] = j
            n_columns += matrix[pivot, j] != 0.0
        filled = n_columns >= FILLED * (n - k)
        inverse = 1.0 / matrix[pivot, k]
        for i in range(n_rows):
            row = rows[i]
            if row == pivot:
                continue
            factor = matrix[row, k] * inverse
            right[0, row] -= factor * right[0, pivot]
            right[1, row] -= factor * right[1, pivot]
            if filled:
                for j in range(k + 1, n):
                    matrix[row, j] -= factor * matrix[pivot, j]
            else:
                for j in range(n_columns):
                    matrix[row, columns[j]] -= factor * matrix[pivot, columns[j]]
    sign = 1
    for k in range(n - 1, -1, -1):
        row = pivots[k]
        one, other = right[0, row], right[1, row]
        for j in range(k + 1, n):
            one -= matrix[row, j] * solution[0, j]
            other -= matrix[row, j] * solution[1, j]
        corner = matrix[row, k]
        solution[0, k], solution[1, k] = one / corner, other / corner
        if corner < 0:
            sign = -sign
    for k in range(n):  # each exchange on the way to the order of the pivots turns the sign
        while pivots[k] != k:
            swapped = pivots[k]
            pivots[k], pivots[swapped] = pivots[swapped], swapped
            sign = -sign
    return sign
