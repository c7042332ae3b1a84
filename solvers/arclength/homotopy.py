"""From the center of all simplices down to a small eps, at fixed payoffs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqbench.model.tree import FloatArray

from ..pseudo_arclength import Correction, CurvePoint, StalledError, correct, follow
from .regularization import RegularizedCurve, RegularizedGame

SMALLEST_FACTOR, FIRST_FACTOR, LARGEST_FACTOR = 0.02, 0.3, 0.97
# More iterations than this, and eps is lowered in smaller steps.
EASY, MOST_ITERATIONS = 5, 15
# Steps along the curve before a way around a fold is given up.
LONGEST_WAY, FIRST_STEP = 300, 1e-3


def descend(
    system: RegularizedGame,
    parameter: float,
    epsilon: float,
    seen: Callable[[FloatArray, float], None] | None = None,
) -> FloatArray | None:
    """Coordinates z (F,) of a solution at a small eps, from that at a large one.

    Where the barrier is as strong as the payoffs there is one solution, near the center of
    all simplices. The guess for a smaller eps lies on the tangent in the coordinates z, where
    frequencies near their bounds follow by themselves. Where that fails the curve may fold,
    and it is followed through the fold. None if that fails too.

    Parameters
    ----------
    seen : called with the coordinates and eps at every solution on the way
    """
    curve = RegularizedCurve(system, "log_epsilon", parameter)
    across = np.zeros(system.choices.size + 1)
    across[-1] = -1.0
    y = np.append(np.zeros(system.choices.size), np.log(max(system.unit, epsilon)))
    made = correct(curve, y, across, iterations=50)
    if made is None:
        return None
    return lower(curve, made, float(np.log(epsilon)), seen)


def lower(
    curve: RegularizedCurve,
    made: Correction,
    end: float,
    seen: Callable[[FloatArray, float], None] | None = None,
) -> FloatArray | None:
    """Coordinates z (F,) where log eps is `end`, from a point of the curve in log eps."""
    across = np.zeros(len(made.y))
    across[-1] = -1.0
    factor = FIRST_FACTOR
    while True:
        if seen:
            seen(made.y[:-1], curve.epsilon(made.y))
        if made.y[-1] <= end:
            return made.y[:-1]
        if made.iterations <= EASY:
            factor = max(factor * factor, SMALLEST_FACTOR)
        step = None
        while step is None and factor <= LARGEST_FACTOR:
            lower_log = max(made.y[-1] + np.log(factor), end)
            guess = made.y + made.tangent * ((lower_log - made.y[-1]) / made.tangent[-1])
            guess[-1] = lower_log
            step = correct(curve, guess, across, iterations=MOST_ITERATIONS)
            factor = factor if step else float(np.sqrt(factor))
        if step is None:
            step, factor = _past_fold(curve, made, across), FIRST_FACTOR
            if step is None:
                return None
        made = step


def _past_fold(curve: RegularizedCurve, made: Correction, across: FloatArray) -> Correction | None:
    """A point with a smaller eps further along the curve, which turns around before it."""
    start = CurvePoint(made.y, made.tangent, made.orientation, 0.0, FIRST_STEP)
    try:
        for count, point in enumerate(follow(curve, start)):
            if point.y[-1] < made.y[-1] + np.log(FIRST_FACTOR):
                return correct(curve, point.y, across)
            if count > LONGEST_WAY:
                return None
    except StalledError:
        return None
    return None
