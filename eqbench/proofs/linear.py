"""Linear programs over cones that change by bounds, and exact combinations from their duals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from eqbench.proofs.rows import Polynomial

_ROUNDED = (60, 5_040, 10**6)  # denominators that multipliers are tried with
_ZERO = 1e-9


@dataclass(frozen=True, eq=False)
class Optimum:
    """Minimum of a linear program.

    Attributes
    ----------
    value : float, minus infinity where it is unbounded
    point : float64 (C,), columns
    multipliers : float64 (R,), duals of the rows
    reduced : float64 (C,), duals of the bounds of columns
    """

    value: float
    point: NDArray
    multipliers: NDArray
    reduced: NDArray


class Program:
    """Minimize costs over rows and columns with bounds; HiGHS, with warm starts where highspy is.

    Parameters
    ----------
    matrix : float64 (R, C), sparse
    """

    def __init__(self, matrix: csr_array) -> None:
        self.count, self.width = matrix.shape
        self._matrix, self._added = matrix, list[csr_array]()
        infinite = np.inf
        self._rows = np.array([[-infinite, infinite]] * self.count)
        self._columns = np.array([[-infinite, infinite]] * self.width)
        self._costs = np.zeros(self.width)
        self._highs = _warm(matrix)

    def bound_row(self, row: int, lower: float, upper: float) -> None:
        """Set the bounds of a row."""
        if self._highs is not None and (lower, upper) != tuple(self._rows[row]):
            self._highs.changeRowBounds(row, lower, upper)
        self._rows[row] = lower, upper

    def bound_column(self, column: int, lower: float, upper: float) -> None:
        """Set the bounds of a column."""
        if self._highs is not None and (lower, upper) != tuple(self._columns[column]):
            self._highs.changeColBounds(column, lower, upper)
        self._columns[column] = lower, upper

    def cost(self, costs: NDArray) -> None:
        """Set the costs (C,)."""
        if self._highs is not None:
            for column in np.flatnonzero(costs != self._costs).tolist():
                self._highs.changeColCost(column, float(costs[column]))
        self._costs = costs.copy()

    def add_row(self, entries: Mapping[int, float]) -> int:
        """Append a row without bounds; return its number."""
        columns = np.array(sorted(entries), dtype=np.int32)
        values = np.array([entries[column] for column in columns.tolist()], dtype=float)
        if self._highs is not None:
            self._highs.addRow(-np.inf, np.inf, len(columns), columns, values)
        self._added.append(csr_array((values, columns, [0, len(columns)]), shape=(1, self.width)))
        self._rows = np.vstack((self._rows, [[-np.inf, np.inf]]))
        self.count += 1
        return self.count - 1

    def solve(self) -> Optimum | None:
        """Return the minimum, or None where the solver finds none."""
        return self._solve_cold() if self._highs is None else self._solve_warm()

    def _solve_warm(self) -> Optimum | None:
        import highspy

        highs, solved = self._highs, highspy.HighsModelStatus.kOptimal
        highs.run()
        if highs.getModelStatus() != solved:
            highs.clearSolver()
            highs.run()
        if highs.getModelStatus() != solved:
            return None
        found, value = highs.getSolution(), highs.getInfo().objective_function_value
        duals = np.array(found.row_dual), np.array(found.col_dual)
        return Optimum(value, np.array(found.col_value), *duals)

    def _solve_cold(self) -> Optimum | None:
        matrix = self._matrix
        if self._added:
            matrix = vstack([matrix, *self._added]).tocsr()
        lower, upper = self._rows.T
        equal = lower == upper
        above, below = ~equal & np.isfinite(lower), ~equal & np.isfinite(upper)
        parts = [-matrix[above], matrix[below]]
        limits = np.concatenate((-lower[above], upper[below]))
        found: Any = linprog(
            self._costs,
            A_ub=vstack(parts),
            b_ub=limits,
            A_eq=matrix[equal],
            b_eq=lower[equal],
            bounds=self._columns.tolist(),
            method="highs",
        )
        if found.status != 0:
            return None
        multipliers = np.zeros(self.count)
        multipliers[equal] = found.eqlin.marginals
        duals = found.ineqlin.marginals
        multipliers[above] -= duals[: above.sum()]
        multipliers[below] += duals[above.sum() :]
        reduced = found.lower.marginals + found.upper.marginals
        return Optimum(found.fun, found.x, multipliers, reduced)


def _warm(matrix: csr_array) -> Any:
    """HiGHS with the rows of a matrix and free bounds; None without highspy."""
    try:
        import highspy
    except ImportError:
        return None
    (binding,) = highspy.Highs.__bases__  # without the callbacks whose start prints a banner
    highs = binding()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("presolve", "off")
    highs.setOptionValue("threads", 1)
    rows, columns = matrix.shape
    highs.addVars(columns, np.full(columns, -np.inf), np.full(columns, np.inf))
    bounds = np.full(rows, -np.inf), np.full(rows, np.inf)
    highs.addRows(rows, *bounds, matrix.nnz, matrix.indptr[:-1], matrix.indices, matrix.data)
    return highs


def exact_multipliers(
    polynomials: Sequence[Polynomial], target: Polynomial, near: NDArray
) -> list[Fraction] | None:
    """Multipliers with which polynomials add up to a multiple of the target, near floats.

    Parameters
    ----------
    near : float64 (K,), of the K polynomials; those that are nearly 0 are left out.

    Returns
    -------
    K fractions, or None if rounding and elimination on the support find none.
    """
    support = np.flatnonzero(np.abs(near) > _ZERO * max(1.0, np.abs(near).max())).tolist()
    if not support:
        return None
    for most in _ROUNDED:
        rounded = [_rounded(float(near[k]), most) for k in support]
        if _adds_up([polynomials[k] for k in support], rounded, target):
            break
    else:
        found = _relation([polynomials[k] for k in support], target, near[support])
        if found is None:
            return None
        rounded = found
    whole = [Fraction(0)] * len(polynomials)
    for k, value in zip(support, rounded, strict=True):
        whole[k] = value
    return whole


@lru_cache(maxsize=10_000)
def _rounded(value: float, most: int) -> Fraction:
    return Fraction(value).limit_denominator(most)


def _adds_up(
    polynomials: Sequence[Polynomial], factors: Sequence[Fraction], target: Polynomial
) -> bool:
    common = math.lcm(*(factor.denominator for factor in factors))
    total: Polynomial = {monomial: -common * value for monomial, value in target.items()}
    for factor, polynomial in zip(factors, polynomials, strict=True):
        whole = factor.numerator * (common // factor.denominator)
        for monomial, value in polynomial.items():
            total[monomial] = total.get(monomial, 0) + whole * value
    return not any(total.values())


def _relation(
    polynomials: Sequence[Polynomial], target: Polynomial, near: NDArray
) -> list[Fraction] | None:
    """Factors with which polynomials add up to the target, by elimination in fractions.

    Factors that the others leave free are rounded from `near` (K,). None if there are none.
    """
    unknown = len(polynomials)
    equations: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for k, polynomial in enumerate([*polynomials, target]):
        for monomial, value in polynomial.items():
            equations.setdefault(monomial, {})[k] = Fraction(-value if k == unknown else value)
    left, solved = list(equations.values()), list[tuple[int, dict[int, Fraction]]]()
    while left:
        row = left.pop(min(range(len(left)), key=lambda place: len(left[place])))
        pivot = min(row)
        if pivot == unknown:
            return None
        row = {k: value / row[pivot] for k, value in row.items()}
        for other in [*left, *(equation for _, equation in solved)]:
            if factor := other.get(pivot):
                for k in row:
                    if new := other.get(k, Fraction(0)) - factor * row[k]:
                        other[k] = new
                    else:
                        other.pop(k, None)
        solved.append((pivot, row))
        left = [equation for equation in left if equation]
    values = [Fraction(float(value)).limit_denominator(_ROUNDED[1]) for value in near]
    values.append(Fraction(1))
    free = {*range(unknown + 1)} - {pivot for pivot, _ in solved}
    for pivot, row in solved:
        values[pivot] = -sum((row[k] * values[k] for k in row.keys() & free), Fraction(0))
    return values[:-1]
