"""Equilibria without regularization: Newton's method on the exact active set.

Symbols: A actions, F free frequencies (`Choices`), K unknowns. The support says which actions
are played at all. At a set with several of them all must be equally good, which gives one
equation for each but the most frequent one, the reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from eqbench.model.choices import Choices
from eqbench.model.payoff_model import Linearization
from eqbench.model.tree import FloatArray

# Singular values below this share of the largest belong to frequencies that may vary freely.
RANK_TOLERANCE = 1e-9
ITERATIONS = 25


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The equations of a support.

    Attributes
    ----------
    choices : Choices
    moving, reference : int64 (K,)
        Actions with an unknown frequency, and the one of the same set that gives way.
    tied : int64 (T,)
        Actions that must be as good as the reference of their set.
    tied_reference : int64 (T,)
    """

    choices: Choices
    moving: NDArray[np.int64]
    reference: NDArray[np.int64]
    tied: NDArray[np.int64]
    tied_reference: NDArray[np.int64]

    @classmethod
    def of(
        cls, choices: Choices, behavior: FloatArray, support: NDArray, tied: NDArray | None = None
    ) -> ActiveSet:
        """The equations of a support, bool (A,).

        Parameters
        ----------
        behavior : float64 (A,)
            The most frequent action of each set is its reference; it is always in the support.
        tied : bool (A,) or None
            Actions that must be equally good; those of the support unless given.
        """
        best = most_frequent(choices, behavior)
        tied = support if tied is None else tied
        moving = np.flatnonzero(support & (best >= 0) & (best != np.arange(len(best))))
        equal = np.flatnonzero(tied & (best >= 0) & (best != np.arange(len(best))))
        return cls(choices, moving, best[moving], equal, best[equal])

    def equations(self, linear: Linearization) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Gains that must vanish (T,), derivatives (T, K), derivatives by the parameter (T,)."""
        size = self.choices.size
        place = np.full(self.choices.n_actions, size)
        place[self.choices.action] = np.arange(size)
        padded = np.zeros((size + 1, size + 1))
        padded[:-1, :-1] = linear.jacobian
        gains = np.append(linear.gains, 0.0)
        row, base = place[self.tied], place[self.tied_reference]
        column, way = place[self.moving], place[self.reference]
        differences = padded[row] - padded[base]
        slope = None
        if linear.slope is not None:
            slopes = np.append(linear.slope, 0.0)
            slope = slopes[row] - slopes[base]
        return gains[row] - gains[base], differences[:, column] - differences[:, way], slope

    def moved(self, behavior: FloatArray, step: FloatArray) -> FloatArray:
        """Frequencies (A,) after a step (K,) of the moving actions."""
        result = behavior.copy()
        result[self.moving] += step
        np.subtract.at(result, self.reference, step)
        return result


def most_frequent(choices: Choices, behavior: FloatArray) -> NDArray[np.int64]:
    """For each action the most frequent one of its set, int64 (A,); -1 where there is no choice."""
    best = np.full(choices.n_actions, -1)
    for c in range(len(choices.infoset)):
        low, high = choices.start[c], choices.start[c + 1]
        first = choices.first[low]
        block = np.append(first, choices.action[low:high])
        best[block] = block[np.argmax(behavior[block])]
    return best


def least_squares(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The shortest of the vectors that come closest to solving a system."""
    if matrix.size == 0:
        return np.zeros(matrix.shape[1])
    # rows of information sets that nobody reaches may be zero; QR is several times faster
    # than singular values and as good where the rank is clear
    return np.asarray(lstsq(matrix, right, cond=RANK_TOLERANCE, lapack_driver="gelsy")[0])


def restrict(choices: Choices, behavior: FloatArray, support: NDArray) -> FloatArray:
    """Frequencies with 0 outside the support, the rest given to the most frequent action."""
    result = np.where(support, behavior, 0.0)
    best = most_frequent(choices, np.where(support, behavior, -1.0))
    missing = behavior - result
    inside = best >= 0
    np.add.at(result, best[inside], missing[inside])
    result[~inside] = 1.0
    return result
