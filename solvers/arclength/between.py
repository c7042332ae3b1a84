"""Points of a curve between two neighbors: where it turns around, where it has a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from eqbench.model.tree import FloatArray

from .corrector import Correction, correct
from .curve import Curve
from .follow import CurvePoint

ITERATIONS = 15
TOLERANCE = 1e-13
# A crossing whose parameter differs from the value by more than this share was not found.
AT_VALUE = 1e-9


class NotFoundError(Exception):
    """A point between two neighbors cannot be computed."""


@dataclass(frozen=True, eq=False)
class Between:
    """The stretch of a curve from one accepted point to the next.

    Lengths are measured along the tangent at the first point, as the step was.
    """

    curve: Curve
    first: CurvePoint
    second: CurvePoint
    known: dict[float, Correction] = field(default_factory=dict)

    def at(self, length: float) -> Correction:
        """The point in the plane at a length across the first tangent.

        Raises
        ------
        NotFoundError
        """
        for end, place in ((self.first, 0.0), (self.second, self.second.length)):
            if length == place:
                return Correction(end.y, end.tangent, end.orientation, 0)
        if length not in self.known:
            guess = self._guess(length)
            made = correct(self.curve, guess, self.first.tangent, iterations=ITERATIONS)
            if made is None:
                raise NotFoundError
            self.known[length] = made
        return self.known[length]

    def turning_point(self) -> Correction | None:
        """Where the last unknown is stationary; None if it does not change its direction."""
        if self.first.tangent[-1] * self.second.tangent[-1] >= 0:
            return None
        return self._root(lambda made: float(made.tangent[-1]), 0.0, self.second.length)

    def crossings(self, value: float) -> list[CurvePoint]:
        """Where the last unknown has a value: at most once, or twice if it turns around.

        Raises
        ------
        NotFoundError
            If one is there but cannot be computed.
        """
        places = [0.0, self.second.length]
        ends = sorted((self.first.y[-1], self.second.y[-1]))
        if not ends[0] - self.second.length <= value <= ends[1] + self.second.length:
            return []
        turn = self.turning_point()
        if turn is not None:
            places.insert(1, float((turn.y - self.first.y) @ self.first.tangent))
            self.known[places[1]] = turn
        found = []
        for low, high in pairwise(places):
            ends = sorted((self.at(low).y[-1], self.at(high).y[-1]))
            if ends[0] <= value < ends[1]:
                made = self._root(lambda made: float(made.y[-1]) - value, low, high)
                found.append(self._at_value(made, value))
        return found

    def _root(self, of: Callable[[Correction], float], low: float, high: float) -> Correction:
        """The point at which a function changes its sign."""
        try:
            length = brentq(lambda s: of(self.at(s)), low, high, xtol=TOLERANCE, rtol=TOLERANCE)
        except (ValueError, RuntimeError) as error:
            raise NotFoundError from error
        return self.at(length)

    def _at_value(self, made: Correction, value: float) -> CurvePoint:
        """The point once more with the last unknown at the value, where that is possible."""
        across = np.zeros(len(made.y))
        across[-1] = 1.0
        guess = made.y.copy()
        guess[-1] = value
        exact = correct(self.curve, guess, across, iterations=ITERATIONS, reach=self.second.length)
        if exact is not None:
            made = exact
        if abs(made.y[-1] - value) > AT_VALUE * max(1.0, abs(value)):
            raise NotFoundError
        tangent = made.tangent if made.tangent @ self.first.tangent > 0 else -made.tangent
        length = float((made.y - self.first.y) @ self.first.tangent)
        return CurvePoint(
            made.y, tangent, made.orientation, length, self.second.next_length, self.first.y
        )

    def _guess(self, length: float) -> FloatArray:
        """On the cubic through both points and their tangents."""
        first, second = self.first, self.second
        t = length / second.length
        # tangents scaled so that both are derivatives by the length
        slope = second.tangent / float(second.tangent @ first.tangent)
        h = second.length
        return (
            (1 + 2 * t) * (1 - t) ** 2 * first.y
            + t * (1 - t) ** 2 * h * first.tangent
            + t * t * (3 - 2 * t) * second.y
            + t * t * (t - 1) * h * slope
        )
