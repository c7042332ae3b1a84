"""More digits of an equilibrium than floats have, by iterative refinement in whole numbers.

What is left of the equations is computed exactly, the steps with the derivatives of the floats.
Each round adds about as many digits as the first solution has right.

Symbols: S sequences, E equations, K unknown weights.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray

from ...polish.plans import Equations
from .exact_slacks import ExactGame

BITS = 512
# Steps of so many bits are rounding of the last ones, magnified by the equations.
ROUNDING_BITS = 64
ROUNDS = 60
# Bits that are kept of what is left, and of a step.
KEPT_BITS = 60


def refined(
    exact: ExactGame, equations: Equations, plans: FloatArray, rank_tolerance: float
) -> NDArray | None:
    """Weights (S,) as integers over ``2**BITS`` that solve the equations to nearly all bits.

    None if that does not converge, or to weights that are negative.

    Parameters
    ----------
    plans : float64 (S,)
        The solution to the digits of floats.
    rank_tolerance : share of the largest singular value below which one counts as 0
    """
    matrix, scale = equations.scaled(plans)
    inverse = np.linalg.pinv(matrix, rcond=rank_tolerance)
    weights = np.array([int(Fraction(float(w)) * 2**BITS) for w in plans], dtype=object)
    for _ in range(ROUNDS):
        left = _left(exact, equations, weights)
        down = max((abs(v) for v in left), default=0).bit_length() - KEPT_BITS
        step = inverse @ (np.array([float(_shifted(v, -down)) for v in left]) / scale)
        if not np.isfinite(step).all():
            return None
        whole = [_shifted(int(s * 2.0**KEPT_BITS), down - KEPT_BITS) for s in step.tolist()]
        weights[equations.unknown] -= np.array(whole, dtype=object)
        if max((abs(w) for w in whole), default=0).bit_length() <= ROUNDING_BITS:
            return weights if min(weights) >= -(2**ROUNDING_BITS) else None
    return None


def _left(exact: ExactGame, equations: Equations, weights: NDArray) -> list[int]:
    """What is left of ties, flow and held frequencies, integers (E,) over ``2**BITS``."""
    game, players = equations.game, exact.columns.shape[1]
    values = exact.direct_values(weights)
    for i in reversed(range(len(exact.parent))):
        values[exact.parent[i]] += values[equations.chosen[i]]
    # products of all other players' weights, rounded to the bits of one
    extra = BITS * (players - 2)
    ties = values[equations.best] - values[equations.tied]
    left = [_shifted(int(v), -extra) // exact.factor for v in ties]
    for i, above in enumerate(exact.parent):
        left.append(int(weights[exact.block(i)].sum() - weights[above]))
    for sequence, frequency in equations.held.frequencies:
        product = weights[game.above(sequence)] * frequency.numerator // frequency.denominator
        left.append(int(weights[sequence] - product))
    return left


def _shifted(value: int, bits: int) -> int:
    return value << bits if bits >= 0 else value >> -bits
