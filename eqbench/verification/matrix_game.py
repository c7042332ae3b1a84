"""Optimal mixtures of a matrix game, by the simplex method in floats or in Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-10  # of the largest gain
MOST_PIVOTS = 200  # in floats, where rounding may lead in circles


def optimal_mixtures(gains: NDArray) -> tuple[NDArray, NDArray]:
    """Mixture of rows that keeps the best column lowest, and of columns the worst row highest.

    Both guarantee the value of the game, in floats up to rounding.

    Parameters
    ----------
    gains : (n, k)
    """
    if gains.dtype != object:
        found = _simplex(gains)
        if found is not None:
            rows, columns = found
            gap = (rows @ gains).max() - (gains @ columns).min()
            if gap <= ROUNDING * abs(gains).max():
                return found
        gains = np.vectorize(Fraction, otypes=[object])(gains)
        rows, columns = optimal_mixtures(gains)
        return rows.astype(float), columns.astype(float)
    exact = _simplex(gains)
    assert exact is not None
    return exact


def _simplex(gains: NDArray) -> tuple[NDArray, NDArray] | None:
    """Optimal mixtures; None if floats lead in circles or to a column that nothing limits.

    With positive entries the value is positive, and weights that sum to its inverse are a linear
    program whose first basis is known (Dantzig 1951). Bland's rule keeps Fractions from going
    in circles; in floats it would take pivots that are almost 0.
    """
    (rows, columns), exact = gains.shape, gains.dtype == object
    one = gains.flat[0] * 0 + 1
    rounding = 0 if exact else ROUNDING
    positive = (gains - gains.min()).T / (abs(gains).max() or one) + one  # from 1 to 3
    identity = np.full((columns, columns), one * 0)
    np.fill_diagonal(identity, one)
    table = np.hstack([positive, identity, np.full((columns, 1), one)])
    cost = np.concatenate([np.full(rows, one), np.full(columns + 1, one * 0)])
    basis = np.arange(rows, rows + columns)
    pivots = 0
    while (cost[:-1] > rounding).any():
        enter = int(np.argmax(cost[:-1] > 0 if exact else cost[:-1]))
        limiting = np.flatnonzero(table[:, enter] > rounding)
        pivots += 1
        if not (len(limiting) and (exact or pivots <= MOST_PIVOTS)):
            return None
        ratios = table[limiting, -1] / table[limiting, enter]
        least = limiting[ratios <= ratios.min() + rounding]
        first = np.argmin(basis[least]) if exact else np.argmax(table[least, enter])
        leave = int(least[first])
        table[leave] /= table[leave, enter]
        others = np.arange(columns) != leave
        table[others] -= np.outer(table[others, enter], table[leave])
        cost -= cost[enter] * table[leave]
        basis[leave] = enter
    weights = np.full(rows + columns, one * 0)
    weights[basis] = table[:, -1]
    return _mixture(weights[:rows]), _mixture(-cost[rows:-1])


def _mixture(weights: NDArray) -> NDArray:
    weights = np.where(weights > 0, weights, weights * 0)
    return weights / weights.sum()
