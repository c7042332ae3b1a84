"""From one start downhill: regularized Newton steps with a nonmonotone line search."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cho_factor, cho_solve

from eqbench.model.tree import FloatArray

from .system import Point, System

# Strength of the regularization, times min(1, |residual|^2): without it steps explode where
# the matrix is singular, and much more of it slows down games with many information sets.
REGULARIZATION = 1e-5
# Least share of the largest diagonal entry that the regularization has. More stalls on games of
# a thousand information sets; but with so little, near a solution rounding is blown up along
# directions in which the matrix is singular, and regrets stay at 1e-12.
LEAST_SHARE = 1e-14
LEAST_SHARE_AT_END = 1e-11
END = 1e-9
# A step must not exceed the largest merit of so many points before it (Grippo et al. 1986).
MEMORY = 8
SUFFICIENT = 1e-4
SMALLEST_STEP = 1e-9
# Residuals per square root of their number: solved, and so small that a merit which hardly
# falls shows rounding.
SOLVED = 1e-15
NEARLY_SOLVED = 1e-11
ROUNDING = 0.9
# The smallest merit fell by less than a tenth over so many steps: stalled.
PATIENCE = 40
PROGRESS = 0.9


class Step(NamedTuple):
    """A point, and how often the line search halved the step that led to it."""

    point: Point
    halvings: int


def descend(system: System, start: Point) -> Iterator[Step]:
    """The start and the point after each step, until solved or stalled.

    The last one may lie above the one before it.
    """
    point, root = start, np.sqrt(len(start.residual))
    recent = deque([point.merit], MEMORY)
    smallest = [point.merit]
    yield Step(point, 0)
    while np.sqrt(2 * point.merit) > SOLVED * root:
        before, bound = point, max(recent)
        point, halvings = _step(system, point, bound)
        yield Step(point, halvings)
        recent.append(point.merit)
        smallest.append(min(smallest[-1], point.merit))
        if point is before:
            return
        nearly = np.sqrt(2 * before.merit) <= NEARLY_SOLVED * root
        if nearly and point.merit > ROUNDING * before.merit:
            return
        if len(smallest) > PATIENCE and smallest[-1] > PROGRESS * smallest[-1 - PATIENCE]:
            return


def _step(system: System, point: Point, bound: float) -> Step:
    """The next point; the same one if no step brings the merit below the bound."""
    matrix = system.derivatives(point)
    gradient = matrix.T @ point.residual
    direction = _direction(matrix, gradient, point.merit)
    slope = float(gradient @ direction)
    length, halvings = 1.0, 0
    while length > SMALLEST_STEP:
        after = system.at(point.unknowns + length * direction)
        if after.merit <= bound + SUFFICIENT * length * slope:
            return Step(after, halvings)
        length *= 0.5
        halvings += 1
    return Step(point, halvings)


def _direction(matrix: FloatArray, gradient: FloatArray, merit: float) -> FloatArray:
    """The Levenberg-Marquardt step (A,), which goes downhill whatever the matrix.

    Regularized with the squared residual, as Yamashita and Fukushima 2001: near solutions
    that lie in a continuum it converges about as fast as Newton's method near isolated ones.
    """
    square = matrix.T @ matrix
    diagonal = np.diag_indices_from(square)
    share = LEAST_SHARE if np.sqrt(2 * merit) > END else LEAST_SHARE_AT_END
    least = share * float(square[diagonal].max())
    strength = max(REGULARIZATION * min(1.0, 2 * merit), least)
    while np.isfinite(strength):
        square[diagonal] += strength
        try:
            return -cho_solve(cho_factor(square, check_finite=False), gradient)
        except LinAlgError:
            strength *= 10
    return -gradient
