"""Vertices of polytopes over a real field, by clipping the unit cube."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import fmpq, fmpq_poly

from .algebraic import Field

# k coordinates, elements of the field.
Point = tuple[fmpq_poly, ...]
# The k slopes and the constant of an affine function.
Affine = Sequence[fmpq_poly]


def value_at(field: Field, function: Affine, point: Point) -> fmpq_poly:
    """Value of an affine function."""
    products = (slope * x for slope, x in zip(function, point, strict=False))
    return field.reduce(sum(products, function[-1]))


def vertices(
    field: Field, dimension: int, constraints: Sequence[Affine], check: Callable[[], None]
) -> list[Point]:
    """Vertices of the points of the unit cube at which all affine functions are >= 0.

    `check` is called now and then and may raise to break off.
    """
    corners = [
        (
            tuple(fmpq_poly([bits >> k & 1]) for k in range(dimension)),
            sum(1 << 2 * k + (bits >> k & 1) for k in range(dimension)),
        )
        for bits in range(1 << dimension)
    ]
    for i, function in enumerate(constraints):
        corners = _clip(field, corners, function, 1 << 2 * dimension + i, check)
    return [point for point, _ in corners]


def _clip(
    field: Field,
    corners: list[tuple[Point, int]],
    function: Affine,
    bit: int,
    check: Callable[[], None],
) -> list[tuple[Point, int]]:
    """Vertices, each with the set of constraints that are tight there, after one more cut.

    New ones lie on edges. Two vertices share an edge if no third one has all constraints tight
    that both have (double description; Fukuda and Prodon 1996).
    """
    check()
    values = [value_at(field, function, point) for point, _ in corners]
    signs = [field.sign(value) for value in values]
    inside = [i for i, sign in enumerate(signs) if sign > 0]
    outside = [i for i, sign in enumerate(signs) if sign < 0]
    kept = [
        (point, tight if sign else tight | bit)
        for (point, tight), sign in zip(corners, signs, strict=True)
        if sign >= 0
    ]
    for i in inside:
        check()
        for j in outside:
            (start, tight), (end, other) = corners[i], corners[j]
            common = tight & other
            if sum(common & third == common for _, third in corners) == 2:
                share = field.quotient(values[i], values[i] - values[j])
                point = tuple(
                    field.reduce(x + share * (y - x)) for x, y in zip(start, end, strict=True)
                )
                kept.append((point, common | bit))
    return kept


def middle(points: Sequence[Point]) -> Point:
    """Mean of the vertices, which lies in the relative interior of their convex hull."""
    share = fmpq(1, len(points))
    return tuple(sum(axis, fmpq_poly([])) * share for axis in zip(*points, strict=True))


def dimension_of(field: Field, points: Sequence[Point]) -> int:
    """Dimension of the convex hull of points."""
    basis: list[tuple[int, list[fmpq_poly]]] = []  # rows, each 1 at a pivot of its own
    for point in points[1:]:
        if len(basis) == len(point):
            break
        row = [a - b for a, b in zip(point, points[0], strict=True)]
        for pivot, known in basis:
            row = [field.reduce(a - row[pivot] * b) for a, b in zip(row, known, strict=True)]
        pivot = next((k for k, entry in enumerate(row) if entry != 0), -1)
        if pivot >= 0:
            basis.append((pivot, [field.quotient(entry, row[pivot]) for entry in row]))
    return len(basis)
