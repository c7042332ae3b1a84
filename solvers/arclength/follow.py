"""Following a curve: predict, correct, judge the step, choose the next length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eqbench.model.tree import FloatArray

from .corrector import Correction, correct
from .curve import Curve
from .predictor import predict

ORIENTATION = "the orientation changes: a branch point, or a jump to another branch"
# A step that is this much shorter than the first one cannot have jumped.
CROSSING = 1e-6


@dataclass(frozen=True)
class StepControl:
    """When a step is accepted, and how lengths change.

    Parameters
    ----------
    first, smallest, largest : lengths in the unknowns z and parameter
    iterations : most Newton iterations of an accepted step
    correction : most of the step length that the correction may have
    cosine : least cosine between tangents at both ends
    growth : factor of the length after an accepted step
    """

    first: float = 1e-2
    smallest: float = 1e-12
    largest: float = 0.3
    iterations: int = 7
    correction: float = 0.5
    cosine: float = 0.9
    growth: float = 1.5


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """A point of a curve, with what is needed to go on from it.

    Attributes
    ----------
    y, tangent : float64 (F+1,)
    orientation : int
        Sign of the bordered determinant; it changes only at branch points.
    length : float
        Length of the step that led here, 0 at the first point.
    next_length : float
    earlier : float64 (F+1,) or None
        The point before.
    orientation_changed : bool
        Whether the step led past a point where another curve crosses.
    """

    y: FloatArray
    tangent: FloatArray
    orientation: int
    length: float
    next_length: float
    earlier: FloatArray | None = None
    orientation_changed: bool = False


class StalledError(Exception):
    """No step, however short, was acceptable; the last good point was already yielded."""


def follow(
    curve: Curve, point: CurvePoint, control: StepControl = StepControl()
) -> Iterator[CurvePoint]:
    """Points of the curve after `point`, without end.

    Raises
    ------
    StalledError
        If the shortest step is not acceptable either.
    """
    counts = curve.system.counts
    while True:
        length, reason = point.next_length, ""
        while True:
            guess = predict(point.y, point.tangent, length, point.earlier)
            made = correct(
                curve,
                guess,
                point.tangent,
                iterations=control.iterations,
                reach=control.correction * length,
            )
            reason = objection(point, made, control)
            # however short the step, the sign differs beyond a point where curves cross
            crossed = reason == ORIENTATION and length < CROSSING * control.first
            if made is not None and (not reason or crossed):
                break
            counts["refused_steps"] += 1
            length /= 2.0
            if length < control.smallest:
                raise StalledError(f"steps down to {control.smallest:g} were refused: {reason}")
        grown = min(length * control.growth, control.largest)
        point = CurvePoint(made.y, made.tangent, made.orientation, length, grown, point.y, crossed)
        counts["steps"] += 1
        yield point


def objection(point: CurvePoint, made: Correction | None, control: StepControl) -> str:
    """Why a step is not accepted; empty if it is."""
    if made is None:
        return (
            f"Newton's method needs more than {control.iterations} iterations or a correction "
            f"longer than {control.correction:g} of the step"
        )
    if float(made.tangent @ point.tangent) < control.cosine:
        return "the curve turns too sharply"
    return ORIENTATION if made.orientation != point.orientation else ""
