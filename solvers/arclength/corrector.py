"""Newton's method back to the curve, within a plane across the predicted direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eqbench.model.tree import FloatArray

from .curve import Curve

# A Newton step as small as this leaves an error of about its square.
CONVERGED = 1e-9
# Where frequencies are determined by terms of order eps only, rounding moves them by more than
# that. Then a residual at rounding level must do, or small steps that get no smaller.
ROUNDING, LOOSE = 2e-15, 1e-4
STAGNANT, SHRINKING = 1e-6, 0.1
LARGEST_COORDINATE = 1e9


@dataclass(frozen=True, eq=False)
class Correction:
    """Where Newton's method ended.

    Attributes
    ----------
    y : float64 (F+1,)
    tangent : float64 (F+1,)
        Unit vector along the curve, with a positive component in the given direction.
    orientation : int
        Sign of the determinant of the derivatives bordered with the tangent.
    iterations : int
    """

    y: FloatArray
    tangent: FloatArray
    orientation: int
    iterations: int


def correct(
    curve: Curve,
    guess: FloatArray,
    normal: FloatArray,
    *,
    iterations: int = 7,
    reach: float = np.inf,
) -> Correction | None:
    """The point of the curve in the plane through `guess` across `normal` (eq. 7 of the paper).

    None if Newton's method does not converge within the number of iterations, or leaves the
    ball of radius `reach` around the guess.
    """
    y = guess.copy()
    right, before = np.zeros(len(y)), np.inf
    for iteration in range(1, iterations + 1):
        residual, factors = curve.factorize(y, normal)
        if factors.singular:
            return None
        right[:-1], right[-1] = residual, normal @ (y - guess)
        step = factors.solve(right)
        y -= step
        size = float(np.abs(step).max())
        if not size < LARGEST_COORDINATE:  # nan too
            return None
        if np.linalg.norm(y - guess) > reach:
            return None
        exact = float(np.abs(residual).max()) <= ROUNDING * max(1.0, float(np.abs(y).max()))
        stuck = SHRINKING * before < size <= STAGNANT
        before = size
        if size <= CONVERGED or stuck or (exact and size <= LOOSE):
            right[:-1], right[-1] = 0.0, 1.0
            along = factors.solve(right)
            length = float(np.linalg.norm(along))
            if not np.isfinite(length):
                return None
            return Correction(y, along / length, factors.sign, iteration)
    return None
