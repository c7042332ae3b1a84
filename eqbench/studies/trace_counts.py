"""How many points a traced branch has at each value of its parameter.

Symbols in shapes: K points, B breakpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray
from eqbench.studies.branch_crossings import crossing_counts

# Where a regularized branch is nearly vertical it may wind; narrower intervals are not looked at.
NARROWEST = 1e-6


@dataclass(frozen=True, eq=False)
class Counts:
    """A step function of the parameter.

    Attributes
    ----------
    breakpoints : float64 (B,), ascending
        Ends of the branch and folds.
    counts : int64 (B-1,)
        Points of the branch at each value between neighboring breakpoints.
    """

    breakpoints: FloatArray
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, values: FloatArray, turns: Sequence[tuple[int, float]], tolerance: float = 0.0
    ) -> Counts:
        """The step function of a branch.

        Parameters
        ----------
        values : float64 (K,), of the parameter along the branch
        turns : before which point the parameter turns, and at which value
        tolerance : breakpoints that are no further apart become one
        """
        rows = [row for row, _ in turns]
        path = np.insert(values, rows, [value for _, value in turns])
        return cls(*crossing_counts(path, tolerance))

    def intervals(self, count: int) -> list[tuple[float, float]]:
        """Intervals in which the branch has that many points at each value, ascending."""
        at = np.flatnonzero(self.counts == count).tolist()
        return [(float(self.breakpoints[k]), float(self.breakpoints[k + 1])) for k in at]

    def window(self, value: float, count: int) -> tuple[float, float]:
        """The interval around a value in which the branch has `count` points at each value.

        Within rounding of a fold the step function may have another count there; then it is the
        value alone.
        """
        for low, high in self.intervals(count):
            if low <= value <= high:
                return low, high
        return value, value

    @property
    def most(self) -> int:
        """The largest number of points at one value."""
        return int(self.counts.max(initial=0))


def in_the_middle_of_most(counts: Counts) -> Fraction:
    """A value in the middle of the widest interval with most points, with few decimals."""
    low, high = max(counts.intervals(counts.most), key=lambda ends: ends[1] - ends[0])
    middle, digits = (low + high) / 2, 0
    while abs(round(middle, digits) - middle) > 0.1 * (high - low):
        digits += 1
    return Fraction(repr(round(middle, digits)))
