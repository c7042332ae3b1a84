"""Corners of polytopes in the unit cube, in any exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mul
from typing import Any

# What can be added, multiplied, divided and compared with 0, such as a Fraction.
Number = Any
Point = tuple[Number, ...]
# The slopes and, last, the constant of an affine function.
Affine = Sequence[Number]


def value_at(function: Affine, point: Sequence[Number]) -> Number:
    """Value of an affine function."""
    return sum(map(mul, function, point), function[-1])


def vertices(
    constraints: Sequence[Affine],
    dimension: int,
    one: Number,
    check: Callable[[], None] = lambda: None,
    tolerance: float = 0,
) -> list[Point]:
    """Vertices of the points of the unit cube at which all affine functions are >= 0.

    Parameters
    ----------
    one : number of the kind of all coordinates
    check : called now and then; may raise to break off
    tolerance : values of no larger size count as 0; for floats only
    """
    ends = (one - one, one)
    corners = [
        (
            tuple(ends[bits >> k & 1] for k in range(dimension)),
            sum(1 << 2 * k + (bits >> k & 1) for k in range(dimension)),
        )
        for bits in range(1 << dimension)
    ]
    for i, function in enumerate(constraints):
        check()
        values = [value_at(function, point) for point, _ in corners]
        corners = _clip(corners, values, 1 << 2 * dimension + i, check, tolerance)
    return [point for point, _ in corners]


def _clip(
    corners: list[tuple[Point, int]],
    values: list[Number],
    bit: int,
    check: Callable[[], None],
    tolerance: float,
) -> list[tuple[Point, int]]:
    """Vertices, each with the set of constraints that are tight there, after one more cut.

    New ones lie on edges. Two vertices share an edge if no third one has all constraints tight
    that both have (double description; Fukuda and Prodon 1996).
    """
    inside = [i for i, value in enumerate(values) if value > tolerance]
    outside = [i for i, value in enumerate(values) if value < -tolerance]
    beyond = {*inside, *outside}
    kept = [
        (point, tight if i in beyond else tight | bit)
        for i, (point, tight) in enumerate(corners)
        if not values[i] < -tolerance
    ]
    for i in inside:
        check()
        for j in outside:
            (start, tight), (end, other) = corners[i], corners[j]
            common = tight & other
            if sum(common & third == common for _, third in corners) == 2:
                share = values[i] / (values[i] - values[j])
                point = tuple(x + share * (y - x) for x, y in zip(start, end, strict=True))
                kept.append((point, common | bit))
    return kept
