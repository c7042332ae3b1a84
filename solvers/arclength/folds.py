"""Folds: where the parameter turns around, first with regularization, then without.

The fold of the regularized curve is off by the order of the square root of eps, because it
rounds the corner at which the exact curve turns. Most folds are such corners: an action
leaves the support where another enters, and there the exact equations of both supports
hold. The others are smooth turning points of the equations of one support.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eqbench.model.tree import FloatArray

from ..polish.frequencies import (
    ITERATIONS,
    RANK_TOLERANCE,
    ROUNDING,
    ActiveSet,
    Polished,
    Root,
    newton,
)
from .regularization import Frequencies, RegularizedGame

# Weights between these belong to actions that are neither clearly in nor out of the support.
OUTSIDE, INSIDE = 0.02, 0.98
EXACT = 1e-12  # regret in payoff units of a fold that counts as one of equilibria
# An exact fold further away than that many square roots of the strength is another one.
NEAR = 30.0
# Component of the parameter in the null space up to which it counts as determined.
FIXED = 1e-7
# Tolerances of Newton's method there, in frequencies and in the parameter.
AT_CORNER, ON_CURVE = (ROUNDING, ROUNDING), (10 * ROUNDING, 10 * ROUNDING)
# The first step along a curve to its turning point, and the last.
FIRST, LAST = 1e-4, 1e-12


def exact_fold(system: RegularizedGame, y: FloatArray, epsilon: float) -> Polished | None:
    """The fold of the equilibria themselves next to a fold (F+1,) of the regularized curve."""
    limit = NEAR * np.sqrt(epsilon / system.unit)
    for found in _candidates(system, system.frequencies(y[:-1], epsilon), float(y[-1])):
        if found and found.regret <= EXACT and abs(found.parameter - y[-1]) <= limit:
            return found
    return None


def _candidates(
    system: RegularizedGame, made: Frequencies, parameter: float
) -> Iterator[Polished | None]:
    """Corners at which actions with unclear weights turn, all together or one; a smooth fold."""
    weight, near = made.weight, made.behavior
    unclear = np.flatnonzero((near < 0.5) & (weight > OUTSIDE) & (weight <= INSIDE))
    turning = unclear[np.argsort(np.abs(weight[unclear] - 0.5))]
    for actions in (*([turning] if len(turning) > 1 else []), *turning[:, None]):
        inside, tied = made.support, made.support
        inside[actions], tied[actions] = False, True
        yield _corner(system, ActiveSet.of(system.choices, near, inside, tied), parameter)
    yield _smooth(system, ActiveSet.of(system.choices, near, made.support), parameter)


def _corner(system: RegularizedGame, active: ActiveSet, parameter: float) -> Polished | None:
    """Where the support's equations hold and the turning actions, not played, are as good."""
    root = newton(system, active, parameter, free_parameter=True, tolerances=AT_CORNER)
    gains, derivatives = _equations(system, active, root)
    if root.diverged or np.abs(gains).max(initial=0.0) > EXACT * system.unit:
        return None  # these actions do not turn at the same point
    if np.abs(_null_space(derivatives)[:, -1]).max(initial=0.0) > FIXED:
        return None  # frequencies that may vary freely move the fold with them
    return system.within_bounds(root.behavior, root.parameter)


def _smooth(system: RegularizedGame, active: ActiveSet, parameter: float) -> Polished | None:
    """The turning point of the curve on which the equations of a support hold."""
    try:
        root, direction = _on_curve(system, active, parameter, None)
        low, high, first = 0.0, FIRST, direction[-1]
        second = _on_curve(system, active, parameter, (direction, high))[1][-1]
        for _ in range(ITERATIONS):
            if abs(high - low) <= LAST or second == first:
                break
            low, high = high, high - second * (high - low) / (second - first)
            root, along = _on_curve(system, active, parameter, (direction, high))
            first, second = second, along[-1]
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        return None
    return system.within_bounds(root.behavior, root.parameter)


def _on_curve(
    system: RegularizedGame,
    active: ActiveSet,
    parameter: float,
    plane: tuple[FloatArray, float] | None,
) -> tuple[Root, FloatArray]:
    """The point in a plane (see `newton`), without one the nearest, and the tangent (K+1,).

    Raises
    ------
    ArithmeticError
        If there is none.
    """
    root = newton(system, active, parameter, free_parameter=True, plane=plane, tolerances=ON_CURVE)
    tangents = _null_space(_equations(system, active, root)[1])
    if root.diverged or len(tangents) > 1:
        raise ArithmeticError  # no curve: something may vary freely
    turned = plane is not None and tangents[-1] @ plane[0] < 0
    return root, -tangents[-1] if turned else tangents[-1]


def _equations(
    system: RegularizedGame, active: ActiveSet, root: Root
) -> tuple[FloatArray, FloatArray]:
    linear = system.linearize(root.behavior, root.parameter)
    return active.equations(linear, free_parameter=True)


def _null_space(derivatives: FloatArray) -> FloatArray:
    """Rows that span the changes that leave equations with these derivatives (T, K+1) true."""
    values, rows = np.linalg.svd(derivatives)[1:]
    return np.asarray(rows[(values > RANK_TOLERANCE * values.max(initial=0.0)).sum() :])
