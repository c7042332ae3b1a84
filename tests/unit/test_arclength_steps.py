"""Steps along a curve: prediction, correction, which steps are refused, crossing curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from arclength_cases import module, system
from solver_cases import bimatrix

steps = module("pseudo_arclength")
StepControl = steps.StepControl
Gradient = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class PlaneCurve:
    """Where a function of two unknowns vanishes."""

    function: Callable[[np.ndarray], float]
    gradient: Gradient
    seen: list[float] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)

    def equations(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.seen.append(abs(self.function(y)))
        return np.array([self.function(y)]), np.array([self.gradient(y), [np.nan, np.nan]])

    @property
    def refused(self) -> int:
        return self.counts["refused_steps"]


def circle() -> PlaneCurve:
    return PlaneCurve(lambda y: float(y @ y) - 1, lambda y: 2 * y)


def pitchfork() -> PlaneCurve:
    """The curves x = 0 and x^2 = p, which cross at the origin; p is the last unknown."""
    return PlaneCurve(
        lambda y: float(y[0] ** 3 - y[0] * y[1]),
        lambda y: np.array([3 * y[0] ** 2 - y[1], -y[0]]),
    )


def begin(curve: PlaneCurve, at: Any, tangent: Any, length: float) -> Any:
    """A point of a curve with a first step length."""
    y, along = np.array(at, dtype=float), np.array(tangent, dtype=float)
    made = steps.correct(curve, y, along)
    return replace(made, next_length=length)


# -- predictor ----------------------------------------------------------------------------------


def test_guess_lies_on_the_parabola_through_the_last_points() -> None:
    """A parabola in the plane, turned into three dimensions."""
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]

    def point(t: float) -> np.ndarray:
        return rotation @ np.array([1 + t, 2 - 0.7 * t * t, 3.0])

    tangent = rotation @ np.array([1.0, 0, 0])
    for step, before in ((0.2, -0.3), (1.5, -0.1), (1e-3, -2.0)):
        guess = steps.CurvePoint(point(0), tangent, 1, earlier=point(before)).ahead(step)
        assert guess == pytest.approx(point(step), abs=1e-12)


@pytest.mark.parametrize("earlier", [None, np.array([-0.4, 0.3, 0.1])])
def test_projection_of_the_guess_on_the_tangent_is_the_step(earlier: np.ndarray | None) -> None:
    """Billingham 2018, eq. (7)."""
    y, tangent = np.array([0.5, 0.2, -0.3]), np.array([2.0, -1, 2]) / 3
    guess = steps.CurvePoint(y, tangent, 1, earlier=earlier).ahead(0.25)
    assert (guess - y) @ tangent == pytest.approx(0.25, abs=1e-15)


# -- corrector ----------------------------------------------------------------------------------


def test_correction_stays_in_the_plane_and_ends_on_the_curve() -> None:
    curve, guess, normal = circle(), np.array([0.4, 0.7]), np.array([0.6, 0.8])
    made = steps.correct(curve, guess, normal)
    assert np.linalg.norm(made.y) == pytest.approx(1, abs=1e-15)
    assert (made.y - guess) @ normal == pytest.approx(0, abs=1e-15)
    assert made.tangent @ made.y == pytest.approx(0, abs=1e-9)
    assert np.linalg.norm(made.tangent) == pytest.approx(1, abs=1e-15)
    assert made.tangent @ normal > 0


def test_correction_converges_quadratically() -> None:
    curve = circle()
    steps.correct(curve, np.array([0.3, 1.4]), np.array([1.0, 0]))
    sizes = [size for size in curve.seen if size > 1e-14]
    assert len(sizes) >= 4
    for before, after in pairwise(sizes):
        assert after <= before**2


def test_correction_gives_up_where_it_does_not_converge() -> None:
    far, across = np.array([0.3, 30.0]), np.array([1.0, 0])
    assert steps.correct(circle(), far, across, iterations=5) is None
    assert steps.correct(circle(), far, across, iterations=20) is not None
    assert steps.correct(circle(), far, across, iterations=20, reach=25) is None
    beside = np.array([1.2, 0.5])  # this plane does not meet the circle
    assert steps.correct(circle(), beside, across, iterations=50) is None


def test_correction_gives_up_where_the_bordered_system_is_singular() -> None:
    curve = PlaneCurve(lambda y: float(y[0]), lambda y: np.array([1.0, 0]))
    assert steps.correct(curve, np.array([1.0, 0]), np.array([1.0, 0])) is None
    nowhere = PlaneCurve(lambda y: np.nan, lambda y: np.array([1.0, 0]))
    assert steps.correct(nowhere, np.array([1.0, 0]), np.array([0, 1.0])) is None


# -- which steps are accepted -------------------------------------------------------------------

LAX = {"first": 0.1, "largest": 9, "iterations": 50, "correction": 1e9, "cosine": -2, "growth": 1}


def walk(curve: PlaneCurve, length: float, count: int, **control: Any) -> list[Any]:
    """The first points of a walk around the circle."""
    start = begin(curve, [1, 0], [0, 1], length)
    return [start, *islice(steps.follow(curve, start, StepControl(**(LAX | control))), count)]


@pytest.mark.parametrize(
    ("length", "control", "reason"),
    [
        (0.9, {"iterations": 3}, "more than 3 iterations"),
        (0.9, {"correction": 0.2}, "longer than 0.2 of the step"),
        (0.9, {"cosine": 0.9}, "turns too sharply"),
    ],
)
def test_step_is_refused_by_one_criterion_and_halved(
    length: float, control: dict[str, Any], reason: str
) -> None:
    free, bound = circle(), circle()
    walk(free, length, 1)
    assert free.refused == 0
    before, after = walk(bound, length, 1, **control)
    assert bound.refused >= 1
    assert after.length == length / 2**bound.refused
    strict = StepControl(**(LAX | control))
    limits = {"iterations": strict.iterations, "reach": strict.correction * length}
    guess = before.y + length * before.tangent
    made = steps.correct(circle(), guess, before.tangent, **limits)
    assert reason in steps.objection(before, made, strict)


def test_accepted_step_is_followed_by_a_longer_one_up_to_the_largest() -> None:
    points = walk(circle(), 0.01, 12, growth=2, largest=0.1)
    lengths = [point.length for point in points[1:]]
    assert lengths == pytest.approx([0.01, 0.02, 0.04, 0.08, *[0.1] * 8])


def test_walk_goes_around_the_circle_through_its_turning_points() -> None:
    points = walk(circle(), 0.1, 70)
    angles = np.unwrap([np.arctan2(point.y[1], point.y[0]) for point in points])
    assert (np.diff(angles) > 0).all()
    assert angles[-1] > 2 * np.pi
    assert {point.orientation for point in points} == {points[0].orientation}


def test_walk_says_why_it_cannot_go_on() -> None:
    """The line x = 0 that ends at p = 1."""
    curve = PlaneCurve(lambda y: y[0] if y[1] < 1 else np.nan, lambda y: np.array([1.0, 0]))
    walked = steps.follow(curve, begin(curve, [0, 0], [0, 1], 0.3))
    seen = []
    with pytest.raises(steps.CurveError, match="steps down to 1e-12 were refused: Newton"):
        seen.extend(walked)  # what was yielded before the end is not lost
    assert curve.refused > 30


# -- crossing curves ----------------------------------------------------------------------------


def test_crossing_of_two_curves_is_passed_and_marked() -> None:
    curve = pitchfork()
    points = list(islice(steps.follow(curve, begin(curve, [0, -1], [0, 1], 0.1)), 120))
    assert points[-1].y[1] > 1
    assert max(abs(point.y[0]) for point in points) <= 1e-12
    (marked,) = [k for k, point in enumerate(points) if point.orientation_changed]
    assert points[marked - 1].y[1] < 0 < points[marked].y[1] < 1e-6
    assert points[marked].orientation == -points[marked - 1].orientation
    assert curve.refused > 10  # all longer steps beyond the crossing


def test_pitchfork_of_a_game_is_passed_and_marked() -> None:
    """In a coordination game the center is a solution for every eps.

    With log barrier, payoffs 1 on the diagonal, and frequencies 1/2 + x and 1/2 + y of the
    second actions, gains are 2 y and 2 x and the barrier is 8 eps x + O(x^3): at eps = 1/4
    the curve of solutions with x = y crosses it.
    """
    made = system(bimatrix([[1, 0], [0, 1]], [[1, 0], [0, 1]]))
    curve = module("arclength.regularization").RegularizedCurve(made, "log_epsilon", 0.0)
    down = np.array([0.0, 0, -1])
    start = steps.correct(curve, np.zeros(3), down)
    point = replace(start, next_length=0.05)
    points = list(islice(steps.follow(curve, point), 120))
    (marked,) = [k for k, point in enumerate(points) if point.orientation_changed]
    assert curve.epsilon(points[marked].y) == pytest.approx(1 / 4, abs=1e-6)
    assert np.abs([point.y[:-1] for point in points]).max() <= 1e-9
    assert curve.epsilon(points[-1].y) < 0.01
