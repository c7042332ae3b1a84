"""Paths of regularized equilibria: down to a small eps, and along the payoff parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from eqbench.continuation import BranchPoint, ContinuationError, Turn
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

from ..polish.frequencies import (
    ITERATIONS,
    RANK_TOLERANCE,
    ROUNDING,
    ActiveSet,
    Polished,
    Root,
    newton,
    polish,
)
from ..pseudo_arclength import (
    Between,
    CurveError,
    CurvePoint,
    StepControl,
    correct,
    follow,
    last_axis,
)
from .regularization import Frequencies, RegularizedCurve, RegularizedGame

# Where eps leaves open which actions are played it is lowered by this factor.
SHARPEN = 1e-2
# Steps down in eps, by factors. More iterations than are easy, and the steps get smaller.
SMALLEST_FACTOR, FIRST_FACTOR, LARGEST_FACTOR = 0.02, 0.3, 0.97
EASY, MOST_ITERATIONS, FIRST_ITERATIONS = 5, 15, 50
# Steps along the curve before a way around a fold in eps is abandoned.
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


@dataclass(frozen=True, eq=False)
class ArclengthContinuation:
    """Regularized arclength continuation of one game; see `eqbench.continuation`.

    Parameters
    ----------
    system : RegularizedGame
        With uniform weights; points that began elsewhere carry their own weights.
    epsilon : strength of the regularization along the branches
    control : when steps are accepted
    """

    system: RegularizedGame
    epsilon: float
    control: StepControl = field(default_factory=StepControl)

    @property
    def statistics(self) -> Mapping[str, int]:
        """Factorizations, accepted and refused steps so far."""
        return dict(self.system.counts)

    def game_at(self, value: float) -> Game:
        """The game at a value of its parameter."""
        name = self.system.game.tree.payoffs.parameter
        assert name is not None
        return self.system.game.at(**{name: value})

    def start(self, value: float, rng: np.random.Generator | None = None) -> BranchPoint:
        """A point at this value, from uniform weights or from random ones."""
        system = self.system
        if rng is not None:
            system = system.randomly_weighted(rng)
        curve = RegularizedCurve(system, "parameter", self.epsilon)
        made, z = None, descend(system, value, self.epsilon)
        if z is not None:
            fixed = last_axis(len(z) + 1)
            made = correct(curve, np.append(z, value), fixed, iterations=20)
        if made is None:
            raise ContinuationError(
                f"no regularized equilibrium was found at {value:g}: eps could not be lowered "
                f"to {self.epsilon:g}; try a larger epsilon or another value"
            )
        return _branch_point(curve, replace(made, next_length=self.control.first))

    def follow(self, point: BranchPoint, *, increasing: bool = True) -> Iterator[BranchPoint]:
        """Points after `point`, without end."""
        curve, at = self._restore(point)
        if at.earlier is None and (at.tangent[-1] > 0) != increasing:
            # with the row of the tangent the determinant changes its sign too
            at = replace(at, tangent=-at.tangent, orientation=-at.orientation)
        try:
            for after in follow(curve, at, self.control):
                at = after
                yield _branch_point(curve, after)
        except CurveError as error:
            raise ContinuationError(
                f"the branch cannot be followed beyond {at.y[-1]:.9g}: {error}"
            ) from None

    def turned(self, point: BranchPoint) -> BranchPoint:
        """The same point, followed from which the branch goes the other way."""
        y, tangent = point.state["y"], point.state["tangent"]
        # the tangent of a fresh start may point either way
        sign = -1 if point.direction * tangent[-1] >= 0 else 1
        state = {
            "tangent": sign * tangent,
            "numbers": point.state["numbers"] * [1, 1, sign],
            # straight behind, so that the first guess lies on the tangent
            "earlier": y - self.control.first * sign * tangent,
        }
        return replace(point, direction=-point.direction, state={**point.state, **state})

    def fold(self, before: BranchPoint, after: BranchPoint) -> Turn | None:
        """The fold between two neighboring points, None if the parameter does not turn."""
        if before.direction * after.direction >= 0:
            return None
        curve, first = self._restore(before)
        second = self._restore(after)[1]
        try:
            made = Between(curve, first, second).turning_point()
        except CurveError:
            made = None
        y = min((first, second), key=lambda p: abs(p.tangent[-1])).y if made is None else made.y
        value = float(y[-1])
        exact = exact_fold(curve.system, y, self.epsilon) if made is not None else None
        if exact is None:
            behavior = curve.system.frequencies(y[:-1], self.epsilon).behavior
            return Turn(value, behavior, exact=False, regularized=value)
        return Turn(exact.parameter, exact.behavior, exact=True, regularized=value)

    def crossings(self, before: BranchPoint, after: BranchPoint, value: float) -> list[BranchPoint]:
        """Where the branch between two neighboring points has this value.

        Two of them where it turns around in between.
        """
        curve, first = self._restore(before)
        second = self._restore(after)[1]
        try:
            found = Between(curve, first, second).crossings(value)
        except CurveError:
            raise ContinuationError(
                f"the branch passes {value:.9g}, but the point cannot be computed"
            ) from None
        return [_branch_point(curve, point) for point in found]

    def polish(self, point: BranchPoint, value: float | None = None) -> tuple[FloatArray, float]:
        """An equilibrium close to a point, and its value of the parameter."""
        curve, at = self._restore(point)
        system, parameter = curve.system, point.value if value is None else value
        start = system.measured(point.behavior, parameter)
        made = polish(system, start, point.played)
        if value is None:
            moving = polish(system, start, point.played, free_parameter=True)
            if made.regret > EXACT or (
                moving.regret <= EXACT and _distance(moving, start) < _distance(made, start)
            ):
                made = moving
        if made.regret > EXACT:
            # eps leaves open which actions are played
            epsilon, begin = SHARPEN * self.epsilon, (at.y[:-1], self.epsilon)
            end = descend(system, parameter, epsilon, begin=begin)
            if end is not None:
                sharper = polished_end(system, parameter, epsilon, end)
                made = min(made, sharper, key=lambda each: each.regret)
        return made.behavior, made.parameter

    def _restore(self, point: BranchPoint) -> tuple[RegularizedCurve, CurvePoint]:
        """The curve that a point belongs to, and what is known there."""
        state, system = point.state, self.system
        if "weights" in state:
            system = system.weighted(state["weights"])
        length, next_length, orientation = state["numbers"].tolist()
        return RegularizedCurve(system, "parameter", self.epsilon), CurvePoint(
            y=state["y"],
            tangent=state["tangent"],
            orientation=int(orientation),
            length=length,
            next_length=next_length,
            earlier=state.get("earlier"),
        )


def _branch_point(curve: RegularizedCurve, point: CurvePoint) -> BranchPoint:
    state = {
        "y": point.y,
        "tangent": point.tangent,
        "numbers": np.array([point.length, point.next_length, point.orientation]),
    }
    if point.earlier is not None:
        state["earlier"] = point.earlier
    if curve.system.weights is not None:
        state["weights"] = curve.system.weights
    made = curve.system.frequencies(point.y[:-1], curve.fixed)
    return BranchPoint(
        value=float(point.y[-1]),
        behavior=made.behavior,
        played=made.support,
        direction=float(point.tangent[-1]),
        event="branch point" if point.orientation_changed else "",
        state=state,
    )


def _distance(made: Polished, start: Polished) -> float:
    """Euclidean distance in frequencies and parameter."""
    along = made.parameter - start.parameter
    return float(np.hypot(np.linalg.norm(made.behavior - start.behavior), along))


# -- folds, first with regularization, then without ------------------------------------------------

# The fold of the regularized curve is off by the order of the square root of eps, because it
# rounds the corner at which the exact curve turns. Most folds are such corners: an action
# leaves the support where another enters, and there the exact equations of both supports
# hold. The others are smooth turning points of the equations of one support.

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

    Raises ArithmeticError if there is none.
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
