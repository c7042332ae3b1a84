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

steps = module("pseudo_arclength")
ACROSS = np.array([1.0, 0])


@dataclass(frozen=True, eq=False)
class PlaneCurve:
    """Where a function of two unknowns vanishes."""

    function: Callable[[np.ndarray], float]
    gradient: Callable[[np.ndarray], np.ndarray]
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


def begin(curve: PlaneCurve, at: Any, tangent: Any, length: float) -> Any:
    """A point of a curve with a first step length."""
    made = steps.correct(curve, np.array(at, dtype=float), np.array(tangent, dtype=float))
    return replace(made, next_length=length)


def test_guess_lies_on_the_parabola_through_the_last_points() -> None:
    """A parabola in the plane, turned into three dimensions; Billingham 2018, eq. (7)."""
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]

    def point(t: float) -> np.ndarray:
        return rotation @ np.array([1 + t, 2 - 0.7 * t * t, 3.0])

    first = steps.CurvePoint(point(0), rotation[:, 0], 1)
    assert first.ahead(0.25) == pytest.approx(first.y + 0.25 * first.tangent, abs=1e-15)
    for step, before in ((0.2, -0.3), (1.5, -0.1), (1e-3, -2.0)):
        guess = replace(first, earlier=point(before)).ahead(step)
        assert guess == pytest.approx(point(step), abs=1e-12)


def line(function: Callable[[np.ndarray], float]) -> PlaneCurve:
    """The line where the first unknown vanishes, or whatever a function says."""
    return PlaneCurve(function, lambda y: ACROSS)


@pytest.mark.parametrize(
    ("curve", "guess", "normal", "limits"),
    [
        (circle(), [0.3, 30.0], ACROSS, {"iterations": 5}),
        (circle(), [0.3, 30.0], ACROSS, {"iterations": 20, "reach": 25}),
        (circle(), [1.2, 0.5], ACROSS, {"iterations": 50}),  # this plane does not meet the circle
        (line(lambda y: float(y[0])), [1.0, 0], ACROSS, {}),  # singular
        (line(lambda y: np.nan), [1.0, 0], np.array([0, 1.0]), {}),
    ],
)
def test_correction_gives_up(curve: Any, guess: Any, normal: Any, limits: Any) -> None:
    assert steps.correct(curve, np.array(guess), normal, **limits) is None
    assert steps.correct(circle(), np.array([0.3, 30.0]), ACROSS, iterations=20) is not None


LAX = {"first": 0.1, "largest": 9, "iterations": 50, "correction": 1e9, "cosine": -2, "growth": 1}


def walk(curve: PlaneCurve, length: float, count: int, **control: Any) -> list[Any]:
    """The first points of a walk around the circle."""
    start = begin(curve, [1, 0], [0, 1], length)
    return [start, *islice(steps.follow(curve, start, steps.StepControl(**(LAX | control))), count)]


def test_walk_goes_around_the_circle_through_its_turning_points() -> None:
    points = walk(circle(), 0.1, 70)
    angles = np.unwrap([np.arctan2(point.y[1], point.y[0]) for point in points])
    assert (np.diff(angles) > 0).all()
    assert angles[-1] > 2 * np.pi
    assert {point.orientation for point in points} == {points[0].orientation}
    stretches = [steps.Between(circle(), *pair) for pair in pairwise(points)]
    for value, times in ((0.3, 2), (0.9999, 2), (1.0001, 0)):  # also within one stretch
        found = [point for stretch in stretches[:63] for point in stretch.crossings(value)]
        assert [point.y[1] for point in found] == [pytest.approx(value, abs=1e-12)] * times


def test_walk_says_why_it_cannot_go_on() -> None:
    """The line x = 0 that ends at p = 1."""
    curve = line(lambda y: y[0] if y[1] < 1 else np.nan)
    with pytest.raises(steps.CurveError, match="steps down to 1e-12 were refused: Newton"):
        list(steps.follow(curve, begin(curve, [0, 0], [0, 1], 0.3)))
    assert curve.refused > 30


def test_jump_to_another_piece_of_the_curve_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the orientation can object to the length of such steps along SKP's branch."""
    raised, judge = [], steps.objection

    def listen(*arguments: Any) -> str:
        raised.append(judge(*arguments))
        return raised[-1]

    monkeypatch.setattr(steps, "objection", listen)
    lax = {"first": 0.5, "largest": 0.6, "iterations": 15, "correction": 5, "cosine": -2}
    continuation = module("arclength.continuation").ArclengthContinuation(
        system("skp"), 1e-5, steps.StepControl(**lax, growth=3)
    )
    points = [continuation.start(2.0)]
    for point in islice(continuation.follow(points[0]), 200):
        points.append(point)
        if not 2.0 <= point.value <= 6.0:
            break
    turns = [a.value for a, b in pairwise(points) if a.direction * b.direction < 0]
    assert steps.ORIENTATION in raised
    # Billingham 2017: SKP turns around at these pots, in this order
    assert turns == pytest.approx([3.436, 3.212, 4.0, 3.898, 4.408, 4.312], abs=0.15)
    assert points[-1].value > 6.0


def test_crossing_of_two_curves_is_passed_and_marked() -> None:
    """The curves x = 0 and x^2 = p, which cross at the origin; p is the last unknown."""
    curve = PlaneCurve(
        lambda y: float(y[0] ** 3 - y[0] * y[1]),
        lambda y: np.array([3 * y[0] ** 2 - y[1], -y[0]]),
    )
    points = list(islice(steps.follow(curve, begin(curve, [0, -1], [0, 1], 0.1)), 120))
    assert points[-1].y[1] > 1
    assert max(abs(point.y[0]) for point in points) <= 1e-12
    (marked,) = [k for k, point in enumerate(points) if point.orientation_changed]
    assert points[marked - 1].y[1] < 0 < points[marked].y[1] < 1e-6
    assert points[marked].orientation == -points[marked - 1].orientation


@pytest.mark.parametrize(("start", "heading"), [(5.0, 1), (6.0, -1)])
def test_branch_goes_on_from_a_crossing_either_way(start: float, heading: int) -> None:
    """As it must where a range ends: no branch point is seen there, and steps are as long."""
    continuation = module("arclength.continuation").ArclengthContinuation(system("skp"), 1e-7)
    before = continuation.start(start)
    for after in continuation.follow(before, increasing=heading > 0):
        if (after.value - 5.5) * heading > 0:
            break
        before = after
    (crossing,) = continuation.crossings(before, after, 5.5)
    for point, sign in ((crossing, heading), (continuation.turned(crossing), -heading)):
        for ahead in islice(continuation.follow(point), 3):
            assert ahead.event == ""
        assert (ahead.value - 5.5) * sign > 0.1
