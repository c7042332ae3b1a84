"""Branches of regularized equilibria along the payoff parameter of a game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from eqbench.continuation import BranchPoint, ContinuationError, Turn
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

from .between import Between, NotFoundError
from .corrector import correct
from .curve import Curve
from .folds import exact_fold
from .follow import CurvePoint, StalledError, StepControl, follow
from .homotopy import descend, lower
from .polish import Polished, polish, support_of
from .regularization import RegularizedGame

# Spread of the logarithm of random weights of information sets.
WEIGHT_SPREAD = 1.0
EXACT = 1e-12
# Where eps leaves open which actions are played it is lowered by this factor.
SHARPEN = 1e-2


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
            system = system.weighted(random_weights(system, rng))
        z = descend(system, value, self.epsilon)
        curve = Curve(system, "parameter", self.epsilon)
        across = np.zeros(system.choices.size + 1)
        across[-1] = 1.0
        made = None
        if z is not None:
            made = correct(curve, np.append(z, value), across, iterations=20)
        if made is None:
            raise ContinuationError(
                f"no regularized equilibrium was found at {value:g}: eps could not be lowered "
                f"to {self.epsilon:g}; try a larger epsilon or another value"
            )
        point = CurvePoint(made.y, made.tangent, made.orientation, 0.0, self.control.first)
        return _branch_point(curve, point)

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
        except StalledError as error:
            raise ContinuationError(
                f"the branch cannot be followed beyond {curve.parameter(at.y):.9g}: {error}"
            ) from None

    def turned(self, point: BranchPoint) -> BranchPoint:
        """The same point, from which the branch goes the other way."""
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
        between = self._between(before, after)
        curve, first, second = between.curve, between.first, between.second
        try:
            made = between.turning_point()
        except NotFoundError:
            made = None
        y = min((first, second), key=lambda p: abs(p.tangent[-1])).y if made is None else made.y
        value = float(y[-1])
        exact = exact_fold(curve.system, y, self.epsilon) if made is not None else None
        if exact is None:
            return Turn(value, curve.behavior(y), exact=False, regularized=value)
        return Turn(exact.parameter, exact.behavior, exact=True, regularized=value)

    def crossings(self, before: BranchPoint, after: BranchPoint, value: float) -> list[BranchPoint]:
        """Where the branch between two neighboring points has this value.

        Two of them where it turns around in between.
        """
        between = self._between(before, after)
        try:
            found = between.crossings(value)
        except NotFoundError:
            raise ContinuationError(
                f"the branch passes {value:.9g}, but the point cannot be computed"
            ) from None
        return [_branch_point(between.curve, point) for point in found]

    def polish(self, point: BranchPoint, value: float | None = None) -> tuple[FloatArray, float]:
        """An equilibrium close to a point, and its value of the parameter."""
        curve, at = self._restore(point)
        system, parameter = curve.system, point.value if value is None else value
        support = support_of(system, system.frequencies(at.y[:-1], self.epsilon))
        regret = float(system.model_at(parameter).regrets(point.behavior).max())
        start = Polished(point.behavior, parameter, regret)
        made = polish(system, start, support)
        if value is None:
            moving = polish(system, start, support, free_parameter=True)
            if made.regret > EXACT or (
                moving.regret <= EXACT and _distance(moving, start) < _distance(made, start)
            ):
                made = moving
        if made.regret > EXACT:
            sharper = self._sharpened(system, at.y[:-1], parameter)
            if sharper is not None and sharper.regret < made.regret:
                made = sharper
        return made.behavior, made.parameter

    def _sharpened(
        self, system: RegularizedGame, z: FloatArray, parameter: float
    ) -> Polished | None:
        """The polished end of a path from the coordinates z (F,) to a smaller eps."""
        curve = Curve(system, "log_epsilon", parameter)
        across = np.zeros(len(z) + 1)
        across[-1] = -1.0
        made = correct(curve, np.append(z, np.log(self.epsilon)), across, iterations=20)
        if made is None:
            return None
        epsilon = self.epsilon * SHARPEN
        end = lower(curve, made, float(np.log(epsilon)))
        if end is None:
            return None
        frequencies = system.frequencies(end, epsilon)
        behavior = system.behavior(frequencies)
        regret = float(system.model_at(parameter).regrets(behavior).max())
        start = Polished(behavior, parameter, regret)
        return polish(system, start, support_of(system, frequencies))

    def _between(self, before: BranchPoint, after: BranchPoint) -> Between:
        """The stretch from one point to the next; the first may be a crossing before the next."""
        curve, first = self._restore(before)
        second = self._restore(after)[1]
        if second.earlier is None or not np.array_equal(second.earlier, first.y):
            second = replace(second, length=float((second.y - first.y) @ first.tangent))
        return Between(curve, first, second)

    def _restore(self, point: BranchPoint) -> tuple[Curve, CurvePoint]:
        """The curve that a point belongs to, and what is known there."""
        state = point.state
        weights = state.get("weights")
        system = self.system if weights is None else self.system.weighted(weights)
        length, next_length, orientation = state["numbers"].tolist()
        earlier = state.get("earlier")
        return Curve(system, "parameter", self.epsilon), CurvePoint(
            state["y"], state["tangent"], int(orientation), length, next_length, earlier
        )


def random_weights(system: RegularizedGame, rng: np.random.Generator) -> FloatArray:
    """Log-normal strengths of the barrier at the information sets, float64 (C,)."""
    return np.exp(WEIGHT_SPREAD * rng.normal(size=len(system.choices.infoset)))


def _branch_point(curve: Curve, point: CurvePoint) -> BranchPoint:
    state = {
        "y": point.y,
        "tangent": point.tangent,
        "numbers": np.array([point.length, point.next_length, point.orientation]),
    }
    if point.earlier is not None:
        state["earlier"] = point.earlier
    if curve.system.weights is not None:
        state["weights"] = curve.system.weights
    made = curve.system.frequencies(point.y[:-1], curve.epsilon(point.y))
    return BranchPoint(
        value=float(point.y[-1]),
        behavior=curve.system.behavior(made),
        played=support_of(curve.system, made),
        direction=float(point.tangent[-1]),
        event="branch point" if point.orientation_changed else "",
        state=state,
    )


def _distance(made: Polished, start: Polished) -> float:
    """Euclidean distance in frequencies and parameter."""
    along = made.parameter - start.parameter
    return float(np.hypot(np.linalg.norm(made.behavior - start.behavior), along))
