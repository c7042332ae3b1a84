"""Pseudo-arclength continuation of a curve: predict, correct, judge the step, choose its length.

A curve lies where F equations hold for F+1 unknowns y. A step goes along the tangent, and Newton's
method leads back to the curve within the plane across it (Billingham 2018, eq. 7). Between two
neighboring points there may be a turning point of the last unknown, or a value of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import brentq

from eqbench.model.tree import FloatArray

# A Newton step as small as this leaves an error of about its square.
CONVERGED = 1e-9
# Where frequencies are determined by terms of order eps only, rounding moves them by more than
# that. Then a residual at rounding level must do, or small steps that get no smaller.
ROUNDING, LOOSE = 2e-15, 1e-4
STAGNANT, SHRINKING = 1e-6, 0.1
LARGEST_COORDINATE = 1e9
ORIENTATION = "the orientation changes: a branch point, or a jump to another branch"
# A step that is this much shorter than the first one cannot have jumped.
CROSSING = 1e-6
# Newton iterations to a point between two others, and the tolerance of its place.
ITERATIONS, TOLERANCE = 15, 1e-13
# A crossing whose parameter differs from the value by more than this share was not found.
AT_VALUE = 1e-9


class Curve(Protocol):
    """Equations of a curve."""

    @property
    def counts(self) -> MutableMapping[str, int]:
        """How many `factorizations`, `steps` and `refused_steps` the work consisted of."""

    def equations(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Residual (F,) at y, and its derivatives (F+1, F+1), whose last row is free."""


@dataclass(frozen=True)
class StepControl:
    """When a step is accepted, and how its length, in the unknowns, changes."""

    first: float = 1e-2
    smallest: float = 1e-12
    largest: float = 0.3
    iterations: int = 7  # of Newton's method, at most
    correction: float = 0.5  # share of the length that the correction may have
    cosine: float = 0.9  # between tangents at both ends, at least
    growth: float = 1.5  # of the length after an accepted step


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """A point of a curve, with what is needed to go on from it."""

    y: FloatArray  # (F+1,)
    tangent: FloatArray  # (F+1,), a unit vector
    # sign of the derivatives' determinant, bordered with the tangent: changes at branch points only
    orientation: int
    iterations: int = 0  # of Newton's method to this point
    length: float = 0.0  # of the step that led here, 0 at the first point
    next_length: float = 0.0
    earlier: FloatArray | None = None  # the point before, (F+1,)
    orientation_changed: bool = False  # whether the step led past a crossing of two curves

    def ahead(self, step: float) -> FloatArray:
        """Extrapolate along the parabola through the point, its tangent and the point before.

        The projection of the step on the tangent is `step`. The first guess is on the tangent.
        """
        guess = self.y + step * self.tangent
        if self.earlier is not None:
            length = float((self.y - self.earlier) @ self.tangent)
            # what the tangent leaves; it is orthogonal to it
            bend = self.earlier - self.y + length * self.tangent
            guess += (step / length) ** 2 * bend
        return guess


class CurveError(Exception):
    """No step, however short, is acceptable, or no point between two others can be computed."""


def last_axis(size: int, sign: float = 1.0) -> FloatArray:
    """The direction in which only the last of `size` unknowns changes: grows, or falls."""
    direction = np.zeros(size)
    direction[-1] = sign
    return direction


def correct(
    curve: Curve,
    guess: FloatArray,
    normal: FloatArray,
    *,
    iterations: int = 7,
    reach: float = np.inf,
) -> CurvePoint | None:
    """The point of the curve in the plane through `guess` across `normal`, heading that way.

    None if Newton's method does not converge within the number of iterations, or leaves the
    ball of radius `reach` around the guess.
    """
    y = guess.copy()
    right, before = np.zeros(len(y)), np.inf
    for iteration in range(1, iterations + 1):
        residual, matrix = curve.equations(y)
        matrix[-1] = normal
        # of the transposed matrix, whose columns are in one piece
        lu, pivots, singular = lapack.dgetrf(matrix.T, overwrite_a=1)
        curve.counts["factorizations"] += 1
        if singular:
            return None
        right[:-1], right[-1] = residual, normal @ (y - guess)
        step = lapack.dgetrs(lu, pivots, right, trans=1)[0]
        y -= step
        size = float(np.abs(step).max())
        if not size < LARGEST_COORDINATE or np.linalg.norm(y - guess) > reach:  # nan too
            return None
        exact = float(np.abs(residual).max()) <= ROUNDING * max(1.0, float(np.abs(y).max()))
        stuck = SHRINKING * before < size <= STAGNANT
        before = size
        if size <= CONVERGED or stuck or (exact and size <= LOOSE):
            right[:-1], right[-1] = 0.0, 1.0
            along = lapack.dgetrs(lu, pivots, right, trans=1)[0]
            length = float(np.linalg.norm(along))
            if not np.isfinite(length):
                return None
            return CurvePoint(y, along / length, _determinant_sign(lu, pivots), iteration)
    return None


def _determinant_sign(lu: FloatArray, pivots: NDArray[np.int32]) -> int:
    swaps = np.count_nonzero(pivots != np.arange(len(pivots)))
    negative = np.count_nonzero(np.diagonal(lu) < 0)
    return -1 if (swaps + negative) % 2 else 1


def follow(
    curve: Curve, point: CurvePoint, control: StepControl = StepControl()
) -> Iterator[CurvePoint]:
    """Points of the curve after `point`, without end.

    Raises CurveError if the shortest step is not acceptable either.
    """
    counts = curve.counts
    while True:
        length = point.next_length
        while True:
            reach, guess = control.correction * length, point.ahead(length)
            made = correct(curve, guess, point.tangent, iterations=control.iterations, reach=reach)
            reason = objection(point, made, control)
            # however short the step, the sign differs beyond a point where curves cross
            crossed = reason == ORIENTATION and length < CROSSING * control.first
            if made is not None and (not reason or crossed):
                break
            counts["refused_steps"] += 1
            length /= 2.0
            if length < control.smallest:
                raise CurveError(f"steps down to {control.smallest:g} were refused: {reason}")
        point = replace(
            made,
            length=length,
            next_length=min(length * control.growth, control.largest),
            earlier=point.y,
            orientation_changed=crossed,
        )
        counts["steps"] += 1
        yield point


def objection(point: CurvePoint, made: CurvePoint | None, control: StepControl) -> str:
    """Why a step is not accepted; empty if it is."""
    if made is None:
        return (
            f"Newton's method needs more than {control.iterations} iterations or a correction "
            f"longer than {control.correction:g} of the step"
        )
    if float(made.tangent @ point.tangent) < control.cosine:
        return "the curve turns too sharply"
    return ORIENTATION if made.orientation != point.orientation else ""


@dataclass(frozen=True, eq=False)
class Between:
    """The stretch of a curve from one accepted point to the next.

    Lengths are measured along the tangent at the first point, as the step was.
    """

    curve: Curve
    first: CurvePoint
    second: CurvePoint
    known: dict[float, CurvePoint] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known.update({self.second.length: self.second, 0.0: self.first})

    def at(self, length: float) -> CurvePoint:
        """The point in the plane at a length across the first tangent, or a CurveError."""
        if length not in self.known:
            guess = self._guess(length)
            made = correct(self.curve, guess, self.first.tangent, iterations=ITERATIONS)
            if made is None:
                raise CurveError
            self.known[length] = made
        return self.known[length]

    def turning_point(self) -> CurvePoint | None:
        """Where the last unknown is stationary; None if it does not change its direction."""
        if self.first.tangent[-1] * self.second.tangent[-1] >= 0:
            return None
        return self._root(lambda made: float(made.tangent[-1]), 0.0, self.second.length)

    def crossings(self, value: float) -> list[CurvePoint]:
        """Where the last unknown has a value: at most once, or twice if it turns around.

        Raises CurveError if one is there but cannot be computed.
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

    def _root(self, of: Callable[[CurvePoint], float], low: float, high: float) -> CurvePoint:
        """The point at which a function changes its sign."""
        try:
            length = brentq(lambda s: of(self.at(s)), low, high, xtol=TOLERANCE, rtol=TOLERANCE)
        except (ValueError, RuntimeError) as error:
            raise CurveError from error
        return self.at(length)

    def _at_value(self, made: CurvePoint, value: float) -> CurvePoint:
        """The point once more with the last unknown at the value, where that is possible."""
        first, second = self.first, self.second
        guess, fixed = np.append(made.y[:-1], value), last_axis(len(made.y))
        exact = correct(self.curve, guess, fixed, iterations=ITERATIONS, reach=second.length)
        made = exact or made
        if abs(made.y[-1] - value) > AT_VALUE * max(1.0, abs(value)):
            raise CurveError
        sign = 1 if made.tangent @ first.tangent > 0 else -1
        return replace(
            made,
            tangent=sign * made.tangent,
            orientation=sign * made.orientation,
            length=float((made.y - first.y) @ first.tangent),
            next_length=second.next_length,
            # straight behind: the first point may be too close to tell how the curve bends
            earlier=made.y - second.length * sign * made.tangent,
        )

    def _guess(self, length: float) -> FloatArray:
        """On the cubic through both points and their tangents."""
        first, second, h = self.first, self.second, self.second.length
        t = length / h
        # tangents scaled so that both are derivatives by the length
        slope = second.tangent / float(second.tangent @ first.tangent)
        return (
            (1 + 2 * t) * (1 - t) ** 2 * first.y
            + t * (1 - t) ** 2 * h * first.tangent
            + t * t * (3 - 2 * t) * second.y
            + t * t * (t - 1) * h * slope
        )
