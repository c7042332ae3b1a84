"""Equilibria of one case of all information sets, as polytopes.

What elimination leaves is a chart: all frequencies on a set of solutions, as polynomials in a few
that remain free. The equilibria on it are a polytope if the conditions there are affine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mpoly, fmpq_poly

from eqbench.model.polytope import Point, value_at, vertices

from .algebraic import RealRoot, key, number, real_roots
from .cases import ABOVE, EVEN, CaseNode, frequencies
from .elimination import Elimination, PolynomialSystem, bounds, used


@dataclass(frozen=True, eq=False)
class EquilibriumPiece:
    """A polytope of equilibria: the convex hull of its corners, in the n frequencies."""

    # vertices by their keys; points are equal if their keys are, whatever their fields
    corners: dict[Hashable, Point]
    interior: Point  # a point of its relative interior
    dimension: int  # 0 for a point


def key_of(point: Point) -> Hashable:
    """What a point shares with no other one, whatever the fields of its coordinates."""
    return tuple(map(key, point))


def maximal(pieces: Sequence[EquilibriumPiece]) -> list[EquilibriumPiece]:
    """Pieces that are no faces of others, the largest dimension first.

    Closures of cases meet in faces, so a face shows in its corners.
    """
    kept: list[EquilibriumPiece] = []
    for piece in sorted(pieces, key=lambda piece: -piece.dimension):
        if not any(piece.corners.keys() <= other.corners.keys() for other in kept):
            kept.append(piece)
    return kept


def pieces_of(
    node: CaseNode, gaps: Sequence[fmpq_mpoly], check: Callable[[], None]
) -> tuple[list[EquilibriumPiece], bool]:
    """Closures of the polytopes of equilibria in a node without open cases.

    The second value says whether these are all equilibria there. Otherwise some are on no
    polytope over any field Q(alpha) that was found, or it could not be decided that none are.
    """
    variables = zip(frequencies(len(gaps)), node.low, node.high, strict=True)
    values = [own if low < high else low + 0 * own for own, low, high in variables]
    signed = list(zip(gaps, node.cases, strict=True))
    even = tuple(gap.compose(*values) for gap, case in signed if case == EVEN)
    positive = [gap if case == ABOVE else -gap for gap, case in signed if case != EVEN]
    found: list[EquilibriumPiece] = []
    is_complete = True
    for system in Elimination(node.low, node.high, check).solve(PolynomialSystem(even)):
        try:
            chart = SolutionChart.of(system, values)
            if chart is not None and is_solution(chart, even):
                found += _pieces_on(chart, node, positive, check)
        except CurvedError:
            is_complete = False
    return found, is_complete


def is_solution(chart: SolutionChart, equations: Sequence[fmpq_mpoly]) -> bool:
    """Whether the equations hold on a chart; pseudo-division may have added solutions.

    Raises CurvedError if they may hold on a part of it.
    """
    parts = (chart.coefficients(chart.put_in(equation)) for equation in equations)
    rests = list(filter(None, parts))
    if rests and all(any(map(any, rest)) for rest in rests):
        raise CurvedError
    return not rests


def _pieces_on(
    chart: SolutionChart, node: CaseNode, positive: Sequence[fmpq_mpoly], check: Callable[[], None]
) -> Iterator[EquilibriumPiece]:
    """Pieces on a chart, given the gaps that must be positive.

    Raises CurvedError if there may be equilibria on the chart, and they are no polytope.
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
    conditions_and_values = [
        [affine for affine in map(chart.affine, functions) if affine is not None]
        for functions in (sides, gaps, chart.values)
    ]
    for root in chart.roots:
        weak, strict, values = (
            [[number(part, root) for part in affine] for affine in functions]
            for functions in conditions_and_values
        )
        one = number(fmpq_poly([1]), root)
        points = vertices([*weak, *strict], len(chart.parameters), one, check)
        # the mean of the vertices lies in the relative interior of their convex hull
        share = fmpq(1, max(len(points), 1))
        inner = tuple(sum(rest, first) * share for first, *rest in zip(*points, strict=True))
        # where some gap is zero on all of it, it belongs to another case
        if points and all(value_at(gap, inner) > 0 for gap in strict):
            if is_curved:
                raise CurvedError
            check()
            lifted = [tuple(value_at(value, point) for value in values) for point in points]
            interior = tuple(value_at(value, inner) for value in values)
            yield EquilibriumPiece({key_of(p): p for p in lifted}, interior, dimension_of(points))


def dimension_of(points: Sequence[Point]) -> int:
    """Dimension of the convex hull of points."""
    basis: list[tuple[int, Point]] = []  # rows, each 1 at a pivot of its own
    for point in points[1:]:
        if len(basis) == len(point):
            break
        row = tuple(a - b for a, b in zip(point, points[0], strict=True))
        for pivot, known in basis:
            row = tuple(a - row[pivot] * b for a, b in zip(row, known, strict=True))
        pivot = next((k for k, entry in enumerate(row) if entry), -1)
        if pivot >= 0:
            basis.append((pivot, tuple(entry / row[pivot] for entry in row)))
    return len(basis)


class CurvedError(Exception):
    """The solutions are no polytope over a field Q(alpha), as far as can be known."""


@dataclass(frozen=True, eq=False)
class SolutionChart:
    """Solutions of a triangular system, as functions of parameters."""

    # irreducible polynomial in the one frequency alpha, or None if there is no such
    relation: fmpq_mpoly | None
    alpha: int  # position of that frequency
    parameters: list[int]  # frequencies that are free
    # frequencies that are functions of alpha and the parameters, alpha among them
    dependent: list[int]
    values: list[fmpq_mpoly]  # all frequencies as polynomials in alpha and the parameters

    @classmethod
    def of(
        cls, system: PolynomialSystem, frequencies: Sequence[fmpq_mpoly]
    ) -> SolutionChart | None:
        """Chart of what elimination left of constants and variables; None if it has no solution.

        Raises CurvedError if the system is not resolved, or a frequency is no polynomial in the
        others.
        """
        if len(system.equations) > 1 or any(len(used(e)) > 1 for e in system.equations):
            raise CurvedError
        relation = next(iter(system.equations), None)
        alpha = [] if relation is None else used(relation)
        dependent = [variable for variable, _ in system.steps] + alpha
        values = list(frequencies)
        free = [k for k in range(len(values)) if used(values[k]) and k not in dependent]
        chart = cls(relation, alpha[0] if alpha else -1, free, dependent, values)
        for variable, equation in reversed(system.steps):
            equation = chart.put_in(equation)
            slope = equation.derivative(variable)
            if slope.is_zero():
                return None
            values[variable] = chart._quotient(slope * values[variable] - equation, slope)
        return chart

    @property
    def roots(self) -> Sequence[RealRoot | None]:
        """The real roots that alpha may be; None for Q if there is no relation."""
        return [None] if self.relation is None else real_roots(self._modulus)

    def put_in(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """A polynomial in the frequencies as one in alpha and the parameters."""
        return self._reduced(polynomial.compose(*self.values))

    def coefficients(self, polynomial: fmpq_mpoly) -> dict[tuple[int, ...], fmpq_poly]:
        """Polynomials in alpha by the powers of the parameters that they are multiplied with."""
        parts: dict[tuple[int, ...], dict[int, fmpq]] = {}
        for powers, coefficient in polynomial.to_dict().items():
            part = parts.setdefault(tuple(powers[k] for k in self.parameters), {})
            part[0 if self.relation is None else powers[self.alpha]] = coefficient
        return {
            powers: fmpq_poly([part.get(i, 0) for i in range(max(part) + 1)])
            for powers, part in parts.items()
        }

    def affine(self, polynomial: fmpq_mpoly) -> list[fmpq_poly] | None:
        """Slopes and constant in the parameters, polynomials in alpha; None if it is not affine."""
        parts = self.coefficients(polynomial)
        if any(sum(powers) > 1 for powers in parts):
            return None
        size = len(self.parameters)
        units = [tuple(int(i == k) for k in range(size)) for i in range(size + 1)]
        return [parts.get(unit, fmpq_poly([])) for unit in units]

    @property
    def _modulus(self) -> fmpq_poly:
        """The relation as a polynomial in alpha alone."""
        (modulus,) = self.coefficients(self.relation).values()
        return modulus

    def _reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        return polynomial if self.relation is None else divmod(polynomial, self.relation)[1]

    def _quotient(self, numerator: fmpq_mpoly, denominator: fmpq_mpoly) -> fmpq_mpoly:
        """Quotient of polynomials over Q(alpha).

        Raises CurvedError if there remains a rest.
        """
        leading = max(self.coefficients(denominator).items())[1]
        if self.relation is None:
            inverse = 1 / leading[0]
        else:
            alpha = self.relation.context().gen(self.alpha)
            powers = enumerate(leading.xgcd(self._modulus)[1].coeffs())
            inverse = sum(coefficient * alpha**power for power, coefficient in powers)
        numerator, denominator = (self._reduced(p * inverse) for p in (numerator, denominator))
        quotient, rest = divmod(numerator, denominator)
        if not self._reduced(rest).is_zero():
            raise CurvedError
        return self._reduced(quotient)
