"""Corners of polytopes in the unit cube, in any exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from operator import mul
from typing import Any

Number = Any  # can be added, multiplied, divided and compared with 0, such as a Fraction
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

    The cube is cut by one constraint after the other, and new vertices lie on edges. Two vertices
    share an edge if no third one has all constraints tight that both have (double description;
    Fukuda and Prodon 1996).

    Parameters
    ----------
    one : number of the kind of all coordinates
    check : called now and then; may raise to break off
    tolerance : values of no larger size count as 0; for floats only
    """
    corners = []  # each with the set of constraints that are tight there
    for choice in product((0, 1), repeat=dimension):
        ends = choice[::-1]
        tight = sum(1 << 2 * k + end for k, end in enumerate(ends))
        corners.append((tuple(one if end else one - one for end in ends), tight))
    for i, function in enumerate(constraints):
        bit = 1 << 2 * dimension + i
        values = [value_at(function, point) for point, _ in corners]
        signs = [(value > tolerance) - (value < -tolerance) for value in values]
        kept = [
            (point, tight if sign else tight | bit)
            for (point, tight), sign in zip(corners, signs, strict=True)
            if sign >= 0
        ]
        inside, outside = ([k for k, own in enumerate(signs) if own == sign] for sign in (1, -1))
        for a, b in product(inside, outside):
            check()
            (start, tight), (end, other) = corners[a], corners[b]
            common = tight & other
            if sum(common & third == common for _, third in corners) == 2:
                share = values[a] / (values[a] - values[b])
                point = tuple(x + share * (y - x) for x, y in zip(start, end, strict=True))
                kept.append((point, common | bit))
        corners = kept
    return [point for point, _ in corners]
