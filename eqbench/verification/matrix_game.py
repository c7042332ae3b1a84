"""Optimal mixtures of a matrix game, by the simplex method in floats or in Fractions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError

ROUNDING = 1e-11  # of the largest entry; what is smaller is 0 in floats
MOST_PIVOTS = 10_000


def optimal_mixtures(gains: NDArray) -> tuple[NDArray, NDArray]:
    """Mixture of rows that keeps the best column lowest, and of columns the worst row highest.

    In Fractions, which Bland's rule keeps from going in circles, both guarantee the value of the
    game. In floats they may miss it; so measure what they guarantee.

    Parameters
    ----------
    gains : (n, k)
    """
    rows, columns = gains.shape
    one = gains.flat[0] * 0 + 1
    # with positive entries the value is positive, and weights that sum to its inverse are
    # a linear program whose first basis is known (Dantzig 1951)
    positive = (gains - gains.min()).T + (abs(gains).max() or one)
    rounding = 0.0 if gains.dtype == object else ROUNDING * float(positive.max())
    identity = np.full((columns, columns), one * 0)
    np.fill_diagonal(identity, one)
    table = np.hstack([positive, identity, np.full((columns, 1), one)])
    cost = np.concatenate([np.full(rows, one), np.full(columns + 1, one * 0)])
    basis = list(range(rows, rows + columns))
    for _ in range(MOST_PIVOTS):
        improving = np.flatnonzero(cost[:-1] > (rounding and ROUNDING))
        if not len(improving):
            break
        enter = int(improving[0])
        leave = _leaving(table, enter, basis, rounding)
        table[leave] /= table[leave, enter]
        others = np.arange(columns) != leave
        table[others] -= np.outer(table[others, enter], table[leave])
        cost -= cost[enter] * table[leave]
        basis[leave] = enter
    else:
        raise UsageError(f"no optimal mixtures after {MOST_PIVOTS} pivots")
    weights = np.full(rows + columns, one * 0)
    weights[basis] = table[:, -1]
    return _mixture(weights[:rows]), _mixture(-cost[rows:-1])


def _leaving(table: NDArray, enter: int, basis: list[int], rounding: float) -> int:
    """Row that limits the entering column first, among equals that of the smallest index."""
    limiting = np.flatnonzero(table[:, enter] > rounding)
    ratios = table[limiting, -1] / table[limiting, enter]
    least = ratios.min()
    return min((int(row) for row in limiting[ratios <= least]), key=basis.__getitem__)


def _mixture(weights: NDArray) -> NDArray:
    weights = np.where(weights > 0, weights, weights * 0)
    return weights / weights.sum()
