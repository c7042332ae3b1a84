"""Equilibria of one case of all information sets, as polytopes.

What elimination leaves is a chart: all frequencies on a set of solutions, as polynomials in a few
that remain free. The equilibria on it are a polytope if the conditions there are affine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly

from .cases import ABOVE, EVEN, Gaps, Node
from .elimination import Elimination, System, bounds, used
from .polytope import (
    Affine,
    Field,
    Point,
    dimension_of,
    fields_of,
    middle,
    rationals,
    value_at,
    vertices,
)

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


class CurvedError(Exception):
    """The solutions are no polytope over a field Q(alpha), as far as can be told."""


@dataclass(frozen=True, eq=False)
class Chart:
    """Solutions of a triangular system, as functions of parameters.

    Attributes
    ----------
    context : of the polynomials
    relation : irreducible polynomial in the one frequency alpha, or None if there is no such
    parameters : frequencies that are free
    dependent : frequencies that are functions of alpha and the parameters, alpha among them
    values : all frequencies as polynomials in alpha and the parameters
    """

    context: fmpq_mpoly_ctx
    relation: fmpq_mpoly | None
    parameters: tuple[int, ...]
    dependent: tuple[int, ...]
    values: tuple[fmpq_mpoly, ...]

    @classmethod
    def of(cls, system: System, fixed: dict[int, fmpq], context: fmpq_mpoly_ctx) -> Chart | None:
        """Chart of what the elimination left, or None if that has no solution.

        Raises
        ------
        CurvedError
            If the system is not resolved, or a frequency is no polynomial in the others.
        """
        if len(system.equations) > 1 or any(len(used(e)) > 1 for e in system.equations):
            raise CurvedError
        relation = system.equations[0] if system.equations else None
        dependent = [step.variable for step in system.steps]
        if relation is not None:
            dependent += used(relation)
        free = [k for k in range(context.nvars()) if k not in fixed and k not in dependent]
        values = list(context.gens())
        for k, value in fixed.items():
            values[k] = context.constant(value)
        chart = cls(context, relation, tuple(free), tuple(dependent), tuple(values))
        for step in reversed(system.steps):
            slope, constant = chart.put_in(step.slope), chart.put_in(step.constant)
            if slope.is_zero():
                return None
            values[step.variable] = chart._quotient(-constant, slope)
            chart = cls(context, relation, tuple(free), tuple(dependent), tuple(values))
        return chart

    @property
    def modulus(self) -> fmpq_poly | None:
        """The relation as a polynomial in alpha alone."""
        return None if self.relation is None else self._in_alpha(self.relation.to_dict())

    def put_in(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """A polynomial in the frequencies as one in alpha and the parameters."""
        return self._reduced(polynomial.compose(*self.values, ctx=self.context))

    def affine(self, polynomial: fmpq_mpoly) -> Affine | None:
        """Slopes and constant over Q(alpha) in the parameters; None if it is not affine."""
        parts: list[dict[tuple[int, ...], fmpq]] = [{} for _ in (*self.parameters, None)]
        for powers, coefficient in polynomial.to_dict().items():
            degrees = [powers[k] for k in self.parameters]
            if sum(degrees) > 1:
                return None
            parts[degrees.index(1) if any(degrees) else -1][powers] = coefficient
        return [self._in_alpha(part) for part in parts]

    def is_number(self, polynomial: fmpq_mpoly) -> bool:
        """Whether no parameter occurs."""
        return not any(polynomial.degrees()[k] > 0 for k in self.parameters)

    def _in_alpha(self, terms: dict[tuple[int, ...], fmpq]) -> fmpq_poly:
        """Terms with one and the same product of parameters, as a polynomial in alpha."""
        if self.relation is None:
            return fmpq_poly(list(terms.values()))
        (alpha,) = used(self.relation)
        by_power = {powers[alpha]: coefficient for powers, coefficient in terms.items()}
        return fmpq_poly([by_power.get(i, 0) for i in range(max(by_power, default=-1) + 1)])

    def _reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        return polynomial if self.relation is None else divmod(polynomial, self.relation)[1]

    def _quotient(self, numerator: fmpq_mpoly, denominator: fmpq_mpoly) -> fmpq_mpoly:
        """Quotient of polynomials over Q(alpha).

        Raises
        ------
        CurvedError
            If there remains a rest.
        """
        inverse = self._inverse(self._leading(denominator))
        numerator, denominator = (self._reduced(p * inverse) for p in (numerator, denominator))
        quotient, rest = divmod(numerator, denominator)
        if not self._reduced(rest).is_zero():
            raise CurvedError
        return self._reduced(quotient)

    def _leading(self, polynomial: fmpq_mpoly) -> fmpq_poly:
        """Coefficient in Q(alpha) of the product of parameters that comes first."""
        by_product: dict[tuple[int, ...], dict[tuple[int, ...], fmpq]] = {}
        for powers, coefficient in polynomial.to_dict().items():
            product = tuple(powers[k] for k in self.parameters)
            by_product.setdefault(product, {})[powers] = coefficient
        return self._in_alpha(by_product[max(by_product)])

    def _inverse(self, number: fmpq_poly) -> fmpq_mpoly:
        """Inverse of an element of Q(alpha)."""
        if self.relation is None:
            return self.context.constant(1 / number[0])
        (alpha,) = used(self.relation)
        inverse = number.xgcd(self.modulus)[1] % self.modulus
        return _evaluated(inverse.coeffs(), self.context.gens()[alpha])


def _evaluated(coefficients: Sequence[fmpq], at: fmpq_mpoly) -> fmpq_mpoly:
    """Value of a polynomial in one variable, by Horner's scheme."""
    total = 0 * at
    for coefficient in reversed(coefficients):
        total = total * at + coefficient
    return total
