"""From the center of all simplices down to a small eps, at fixed payoffs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np

from eqbench.model.tree import FloatArray

from ..polish.frequencies import Polished, polish
from ..pseudo_arclength import CurveError, CurvePoint, correct, follow, last_axis
from .regularization import RegularizedCurve, RegularizedGame

SMALLEST_FACTOR, FIRST_FACTOR, LARGEST_FACTOR = 0.02, 0.3, 0.97
# More iterations than this, and eps is lowered in smaller steps.
EASY, MOST_ITERATIONS, FIRST_ITERATIONS = 5, 15, 50
# Steps along the curve before a way around a fold is given up.
LONGEST_WAY, FIRST_STEP = 302, 1e-3


def descend(
    system: RegularizedGame,
    parameter: float,
    epsilon: float,
    seen: Callable[[FloatArray, float], None] = lambda *_: None,
    begin: tuple[FloatArray, float] | None = None,
) -> FloatArray | None:
    """Coordinates z (F,) of a solution at a small eps, from that at a large one.

    Where the barrier is as strong as the payoffs there is one solution, near the center of
    all simplices. The guess for a smaller eps lies on the tangent in the coordinates z, where
    frequencies near their bounds follow by themselves. Where that fails the curve may fold,
    and it is followed through the fold. None if that fails too.

    Parameters
    ----------
    seen : called with the coordinates and eps at every solution on the way
    begin : coordinates (F,) and eps of another solution to begin at
    """
    curve = RegularizedCurve(system, "log_epsilon", parameter)
    z, first = begin or (np.zeros(system.choices.size), max(system.unit, epsilon))
    down, end = last_axis(len(z) + 1, -1.0), float(np.log(epsilon))
    made = correct(curve, np.append(z, np.log(first)), down, iterations=FIRST_ITERATIONS)
    factor = FIRST_FACTOR
    while made is not None:
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
            step = correct(curve, guess, down, iterations=MOST_ITERATIONS)
            factor = factor if step else float(np.sqrt(factor))
        if step is None:
            step, factor = _past_fold(curve, made, down), FIRST_FACTOR
        made = step
    return None


def _past_fold(curve: RegularizedCurve, made: CurvePoint, down: FloatArray) -> CurvePoint | None:
    """A point with a smaller eps further along the curve, which turns around before it."""
    try:
        for point in islice(follow(curve, replace(made, next_length=FIRST_STEP)), LONGEST_WAY):
            if point.y[-1] < made.y[-1] + np.log(FIRST_FACTOR):
                return correct(curve, point.y, down)
    except CurveError:
        pass
    return None


def polished_end(
    system: RegularizedGame, parameter: float, epsilon: float, z: FloatArray
) -> Polished:
    """The equilibrium near a solution at the coordinates z (F,), or the best profile on the way."""
    made = system.frequencies(z, epsilon)
    return polish(system, system.measured(made.behavior, parameter), made.support)
