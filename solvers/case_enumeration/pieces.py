"""Equilibria of one case of all information sets, as polytopes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq_mpoly

from .algebraic import Field, fields_of, rationals
from .charts import Chart, CurvedError
from .elimination import Elimination, System, bounds
from .gaps import Gaps
from .polytope import Point, dimension_of, middle, value_at, vertices
from .search import ABOVE, EVEN, Node

PointKey = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class Piece:
    """A polytope of equilibria: the convex hull of its corners, in the n frequencies.

    Attributes
    ----------
    field : that the coordinates are elements of
    corners : vertices
    interior : a point of its relative interior
    dimension : 0 for a point
    keys : of the corners; points are equal if their keys are, whatever their fields
    """

    field: Field
    corners: tuple[Point, ...]
    interior: Point
    dimension: int
    keys: tuple[PointKey, ...]

    def key(self, point: Point) -> PointKey:
        """Key of a point with coordinates in this field."""
        return tuple(self.field.key(x) for x in point)


def maximal(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces that are no faces of others, the largest dimension first.

    Closures of cases meet in faces, so a face shows in its corners.
    """
    kept: list[tuple[Piece, frozenset[PointKey]]] = []
    for piece in sorted(pieces, key=lambda piece: -piece.dimension):
        keys = frozenset(piece.keys)
        if not any(keys <= others for _, others in kept):
            kept.append((piece, keys))
    return [piece for piece, _ in kept]


def pieces_of(node: Node, gaps: Gaps, check: Callable[[], None]) -> tuple[list[Piece], bool]:
    """Closures of the polytopes of equilibria in a node without open cases.

    The second value says whether these are all equilibria there. Otherwise some are on no
    polytope over any field Q(alpha) that was found, or it could not be told that none are.
    """
    fixed = {k: low for k, low in enumerate(node.low) if low == node.high[k]}
    names = {f"f{k}": value for k, value in fixed.items()}
    even = [
        gap.subs(names)
        for gap, case in zip(gaps.polynomials, node.cases, strict=True)
        if case == EVEN
    ]
    positive = [
        gap if case == ABOVE else -gap
        for gap, case in zip(gaps.polynomials, node.cases, strict=True)
        if case != EVEN
    ]
    found: list[Piece] = []
    is_complete = True
    for system in Elimination(node.low, node.high, check).solve(System(tuple(even))):
        try:
            chart = Chart.of(system, fixed, gaps.context)
            if chart is not None and _is_solution(chart, even):
                found += _pieces_on(chart, node, positive, check)
        except CurvedError:
            is_complete = False
    return found, is_complete


def _is_solution(chart: Chart, equations: Sequence[fmpq_mpoly]) -> bool:
    """Whether the equations hold on a chart; pseudo-division may have added solutions.

    Raises
    ------
    CurvedError
        If they may hold on a part of it.
    """
    rests = [rest for rest in map(chart.put_in, equations) if not rest.is_zero()]
    if rests and not any(chart.is_number(rest) for rest in rests):
        raise CurvedError
    return not rests


def _pieces_on(
    chart: Chart, node: Node, positive: Sequence[fmpq_mpoly], check: Callable[[], None]
) -> Iterator[Piece]:
    """Pieces on a chart, given the gaps that must be positive.

    Raises
    ------
    CurvedError
        If there may be equilibria on the chart, and they are no polytope.
    """
    gaps = [chart.put_in(gap) for gap in positive]
    dependent = [chart.values[k] for k in chart.dependent]
    sides = [side for value in dependent for side in (value, 1 - value)]
    bent = [function for function in (*sides, *gaps) if chart.affine(function) is None]
    ranges = [bounds(function, node.low, node.high) for function in bent]
    if any(most < 0 for _, most in ranges):
        return
    # a bent gap that is positive on the whole box is no condition, but a bent frequency is
    is_curved = any(chart.affine(value) is None for value in dependent) or any(
        least <= 0 for least, _ in ranges
    )
    strict = [affine for affine in map(chart.affine, gaps) if affine is not None]
    weak = [affine for affine in map(chart.affine, sides) if affine is not None]
    modulus = chart.modulus
    for field in [rationals()] if modulus is None else fields_of(modulus):
        points = vertices(field, len(chart.parameters), [*weak, *strict], check)
        if not points:
            continue
        inner = middle(points)
        if any(field.sign(value_at(field, gap, inner)) <= 0 for gap in strict):
            continue  # some gap is zero on all of it, so it belongs to another case
        if is_curved:
            raise CurvedError
        yield _piece(field, chart, (points, inner), check)


def _piece(
    field: Field, chart: Chart, polytope: tuple[list[Point], Point], check: Callable[[], None]
) -> Piece:
    """The piece in all frequencies, from its vertices and a point inside in the parameters."""
    points, inner = polytope
    functions = [chart.affine(value) for value in chart.values]

    def lift(point: Point) -> Point:
        check()
        return tuple(value_at(field, function, point) for function in functions if function)

    corners = tuple(lift(point) for point in points)
    keys = tuple(tuple(field.key(x) for x in corner) for corner in corners)
    return Piece(field, corners, lift(inner), dimension_of(field, points), keys)
