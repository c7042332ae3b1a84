"""Steps so long that they land on another piece of the curve: who notices?"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import pytest
from arclength_cases import module, system

steps = module("pseudo_arclength")

# Nothing but the orientation can object to the length of such a step. Where eps is large the
# pieces of the curve are close to each other.
LONG = {"first": 0.5, "largest": 0.6, "iterations": 15, "correction": 5, "cosine": -2, "growth": 3}
EPSILON, START, END, MOST = 1e-5, 2.0, 6.0, 200
# Billingham 2017: SKP turns around at these pots, in this order.
FOLDS = (3.436, 3.212, 4.0, 3.898, 4.408, 4.312)


def walk() -> tuple[list[float], float]:
    """Pots at which the branch of SKP turns around, and the pot where the walk ends."""
    continuation = module("arclength.continuation").ArclengthContinuation(
        system("skp"), EPSILON, steps.StepControl(**LONG)
    )
    points = [continuation.start(START)]
    for point in islice(continuation.follow(points[0]), MOST):
        points.append(point)
        if not START <= point.value <= END:
            break
    turns = [
        before.value for before, after in pairwise(points) if before.direction * after.direction < 0
    ]
    return turns, points[-1].value


@pytest.fixture
def objections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The objections that were raised, as the walk goes on."""
    raised: list[str] = []
    judge = steps.objection

    def listen(*arguments: Any) -> str:
        raised.append(judge(*arguments))
        return raised[-1]

    monkeypatch.setattr(steps, "objection", listen)
    return raised


def test_jump_to_another_piece_of_the_curve_is_refused(objections: list[str]) -> None:
    turns, end = walk()
    assert steps.ORIENTATION in objections
    assert turns == pytest.approx(FOLDS, abs=0.15)
    assert end > END


def test_without_its_orientation_a_walk_jumps_and_misses_solutions(
    objections: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = steps.objection
    monkeypatch.setattr(steps, "objection", lambda *of: judge(*of).replace(steps.ORIENTATION, ""))
    turns, end = walk()
    assert steps.ORIENTATION in objections
    assert len(turns) == 3
    assert end < START  # it has turned back to where it came from


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
