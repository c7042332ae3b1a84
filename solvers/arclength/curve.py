"""A curve of regularized equilibria: what is unknown along it, and the bordered system.

A point y (F+1,) holds the coordinates z (F,) of `RegularizedGame` and one more unknown, which
is the payoff parameter (at a fixed eps) or the logarithm of eps (at the game's parameter).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from eqbench.model.tree import FloatArray

from .regularization import RegularizedGame, Unknown

LARGEST_LOG = 200.0


class Factors(NamedTuple):
    """LU factors of the bordered matrix, transposed."""

    lu: FloatArray
    pivots: NDArray[np.int32]
    singular: bool

    def solve(self, right: FloatArray) -> FloatArray:
        """Solution of the bordered system, float64 (F+1,)."""
        return np.asarray(lapack.dgetrs(self.lu, self.pivots, right, trans=1)[0])

    @property
    def sign(self) -> int:
        """Sign of the determinant."""
        swaps = np.count_nonzero(self.pivots != np.arange(len(self.pivots)))
        negative = np.count_nonzero(np.diagonal(self.lu) < 0)
        return -1 if (swaps + negative) % 2 else 1


@dataclass(frozen=True, eq=False)
class Curve:
    """Regularized equilibria of a game along one unknown more than there are equations.

    Parameters
    ----------
    system : RegularizedGame
    unknown : what varies along the curve
    fixed : eps where the parameter varies; the payoff parameter where eps varies
    """

    system: RegularizedGame
    unknown: Unknown
    fixed: float

    def epsilon(self, y: FloatArray) -> float:
        """Strength of the regularization at a point."""
        if self.unknown == "parameter":
            return self.fixed
        # a wild Newton step must not make it 0 or infinite
        return float(np.exp(np.clip(y[-1], -LARGEST_LOG, LARGEST_LOG)))

    def parameter(self, y: FloatArray) -> float:
        """Payoff parameter at a point."""
        return float(y[-1]) if self.unknown == "parameter" else self.fixed

    def behavior(self, y: FloatArray) -> FloatArray:
        """Frequencies at a point, float64 (A,)."""
        return self.system.behavior(self.system.frequencies(y[:-1], self.epsilon(y)))

    def factorize(self, y: FloatArray, border: FloatArray) -> tuple[FloatArray, Factors]:
        """Residual (F,) at y, and factors of the derivatives bordered with a row (F+1,)."""
        epsilon, parameter = self.epsilon(y), self.parameter(y)
        made = self.system.evaluate(y[:-1], epsilon, parameter, self.unknown)
        matrix = made.matrix
        matrix[:-1, -1] = made.along
        matrix[-1] = border
        self.system.counts["factorizations"] += 1
        lu, pivots, info = lapack.dgetrf(matrix.T, overwrite_a=1)
        return made.residual, Factors(lu, pivots, info != 0)
