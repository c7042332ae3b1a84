"""Folds: where the parameter turns around, first with regularization, then without.

The fold of the regularized curve is off by the order of the square root of eps, because it
rounds the corner at which the exact curve turns. Most folds are such corners: an action
leaves the support where another enters, and there the exact equations of both supports
hold. The others are smooth turning points of the equations of one support.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray

from ..polish.frequencies import (
    ITERATIONS,
    LARGEST_STEP,
    RANK_TOLERANCE,
    ROUNDING,
    SLACK,
    ActiveSet,
    Polished,
    exact_rows,
    least_squares,
    restrict,
)
from .regularization import Frequencies, RegularizedGame

# Weights between these belong to actions that are neither clearly in nor out of the support.
OUTSIDE, INSIDE = 0.02, 0.98
EXACT = 1e-12  # regret in payoff units of a fold that counts as one of equilibria
# An exact fold further away than that many square roots of the strength is another one.
NEAR = 30.0
# Component of the parameter in the null space up to which it counts as determined.
FIXED = 1e-7


def exact_fold(system: RegularizedGame, y: FloatArray, epsilon: float) -> Polished | None:
    """The fold of the equilibria themselves next to a fold (F+1,) of the regularized curve."""
    made = system.frequencies(y[:-1], epsilon)
    behavior, parameter = system.behavior(made), float(y[-1])
    weight = weights(system, made)
    small = behavior < 0.5
    support = ~small | (weight > INSIDE)
    unclear = np.flatnonzero(small & (weight > OUTSIDE) & (weight <= INSIDE))
    likely = weight >= 0.5
    order = unclear[np.argsort(np.abs(weight[unclear] - 0.5))]
    limit = NEAR * np.sqrt(epsilon / system.unit)
    found = _corner(system, Polished(behavior, parameter, np.inf), support | likely, order, limit)
    if found:
        return found
    inside = support | likely
    smooth = _smooth(system, behavior, inside, y)
    good = smooth and smooth.regret <= EXACT and abs(smooth.parameter - parameter) <= limit
    return smooth if good else None


def _corner(
    system: RegularizedGame,
    near: Polished,
    support: NDArray[np.bool_],
    turning: NDArray[np.int64],
    limit: float,
) -> Polished | None:
    """The equilibrium at which actions enter or leave the support, None if there is none.

    Parameters
    ----------
    near : a profile and parameter close to it
    support : bool (A,), which says of those that do not turn whether they are played
    turning : actions that may turn: first all of them are tried together, then each alone
    limit : how far the parameter may be from that of `near`
    """
    together = [turning] if len(turning) > 1 else []
    for actions in (*together, *(turning[k : k + 1] for k in range(len(turning)))):
        inside = support.copy()
        inside[actions] = False
        made = _tied(system, near, inside, actions)
        if made and made.regret <= EXACT and abs(made.parameter - near.parameter) <= limit:
            return made
    return None


def weights(system: RegularizedGame, made: Frequencies) -> FloatArray:
    """How far inside their bounds all actions are, from 0 to 1, float64 (A,)."""
    choices = system.choices
    weight = np.ones(choices.n_actions)
    weight[choices.action] = made.weight
    weight[choices.first[choices.start[:-1]]] = made.first_weight
    return weight


def _tied(
    system: RegularizedGame,
    near: Polished,
    support: NDArray[np.bool_],
    turning: NDArray[np.int64],
) -> Polished | None:
    """Where the support's equations hold and the turning actions, not played, are as good."""
    choices, parameter = system.choices, near.parameter
    behavior = restrict(choices, near.behavior, support)
    tied = support.copy()
    tied[turning] = True
    active = ActiveSet.of(choices, behavior, support, tied)
    for _ in range(ITERATIONS):
        gains, matrix, slope = active.equations(system.linearize(behavior, parameter))
        assert slope is not None  # only games with a parameter have folds
        step = least_squares(np.column_stack((matrix, slope)), -gains)
        if not np.abs(step).max() <= LARGEST_STEP:
            return None
        behavior = active.moved(behavior, step[:-1])
        parameter += float(step[-1])
        if np.abs(step).max() <= ROUNDING:
            break
    left, matrix, slope = active.equations(system.linearize(behavior, parameter))
    assert slope is not None
    if np.abs(left).max(initial=0.0) > EXACT * system.unit:
        return None  # these actions do not turn at the same point
    if not determines_parameter(np.column_stack((matrix, slope))):
        return None  # frequencies that may vary freely move the fold with them
    return _judged(system, behavior, parameter)


def determines_parameter(derivatives: FloatArray) -> bool:
    """Whether equations with these derivatives (T, K+1) fix the parameter, the last unknown.

    They do if nothing that leaves the equations unchanged moves the parameter.
    """
    values, rows = np.linalg.svd(derivatives)[1:]
    rank = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
    return bool(np.abs(rows[rank:, -1]).max(initial=0.0) <= FIXED)


def _smooth(
    system: RegularizedGame, behavior: FloatArray, support: NDArray[np.bool_], y: FloatArray
) -> Polished | None:
    """The turning point of the curve on which the equations of a support hold."""
    origin = restrict(system.choices, behavior, support)
    curve = _ExactCurve(system, ActiveSet.of(system.choices, origin, support), origin, float(y[-1]))
    try:
        start = curve.at(0.0, None)
        low, high, point = 0.0, 1e-4, start
        first, second = start.along[-1], curve.at(high, start.along).along[-1]
        for _ in range(ITERATIONS):
            if abs(high - low) <= 1e-12 or second == first:
                break
            low, high = high, high - second * (high - low) / (second - first)
            point = curve.at(high, start.along)
            first, second = second, point.along[-1]
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        return None
    return _judged(system, point.behavior, point.parameter)


class _ExactPoint(NamedTuple):
    """Frequencies (A,), the parameter, and the unit tangent (K+1,) in both."""

    behavior: FloatArray
    parameter: float
    along: FloatArray


@dataclass(frozen=True, eq=False)
class _ExactCurve:
    """The curve on which the equations of a support hold, near an origin."""

    system: RegularizedGame
    active: ActiveSet
    origin: FloatArray
    base: float

    def at(self, length: float, direction: FloatArray | None) -> _ExactPoint:
        """The point in the plane at `length` from the origin along `direction` (K+1,).

        Without a direction the nearest point. Raises ArithmeticError if there is none.
        """
        behavior, parameter = self.origin, self.base
        moved = np.zeros(len(self.active.moving) + 1)
        derivatives = self._derivatives(behavior, parameter)
        for _ in range(ITERATIONS):
            gains, matrix = derivatives
            if direction is not None:
                matrix = np.vstack((matrix, direction))
                gains = np.append(gains, direction @ moved - length)
            step = least_squares(matrix, -gains)
            if not np.abs(step).max() <= LARGEST_STEP:
                raise ArithmeticError
            moved += step
            behavior = self.active.moved(behavior, step[:-1])
            parameter += float(step[-1])
            derivatives = self._derivatives(behavior, parameter)
            if np.abs(step).max() <= 10 * ROUNDING:
                break
        values, rows = np.linalg.svd(derivatives[1])[1:]
        if (values > RANK_TOLERANCE * values.max(initial=0.0)).sum() < len(moved) - 1:
            raise ArithmeticError  # no curve: something may vary freely
        along = rows[-1]
        turned = direction is not None and along @ direction < 0
        return _ExactPoint(behavior, parameter, -along if turned else along)

    def _derivatives(self, behavior: FloatArray, parameter: float) -> tuple[FloatArray, FloatArray]:
        linear = self.system.linearize(behavior, parameter)
        gains, matrix, slope = self.active.equations(linear)
        assert slope is not None  # only games with a parameter have folds
        return gains, np.column_stack((matrix, slope))


def _judged(system: RegularizedGame, behavior: FloatArray, parameter: float) -> Polished | None:
    """A profile with its regret, None if it has left the bounds."""
    inside = np.clip(behavior, 0.0, 1.0)
    if not np.abs(inside - behavior).max() <= SLACK:
        return None
    behavior = exact_rows(system.choices, inside)
    regret = float(system.model_at(parameter).regrets(behavior).max())
    return Polished(behavior, parameter, regret)
