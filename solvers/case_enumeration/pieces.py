"""Equilibria of one case of all information sets, as polytopes.

What elimination leaves is a chart: all frequencies on a set of solutions, as polynomials in a few
that remain free. The equilibria on it are a polytope if the conditions there are affine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat, fmpq_mpoly, fmpq_poly

from eqbench.model.polytope import Point, value_at, vertices

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


# -- real numbers of fields Q(alpha), with exact signs ---------------------------------------------

# Those of Q are `fmpq`. In other fields a number is a polynomial in alpha of lower degree than the
# minimal polynomial of alpha, and zero only if that polynomial is. The sign of any other is found
# by narrowing the interval that isolates alpha until the interval of values excludes zero.


@dataclass(eq=False)
class RealRoot:
    """A real root alpha of an irreducible polynomial."""

    modulus: fmpq_poly  # minimal polynomial of alpha, up to a factor
    # ends of an interval with this root and no other: it is narrowed whenever a sign asks for it;
    # no result depends on how far
    low: fmpq
    high: fmpq

    def narrow(self) -> None:
        """Halve the interval."""
        middle = (self.low + self.high) / 2
        if (self.modulus(middle) > 0) == (self.modulus(self.high) > 0):
            self.high = middle
        else:
            self.low = middle


class Algebraic:
    """An element of the field of a root.

    Parameters
    ----------
    polynomial : its value at alpha
    """

    def __init__(self, polynomial: fmpq_poly, root: RealRoot) -> None:
        self.polynomial, self.root = polynomial % root.modulus, root

    def __add__(self, other: Algebraic) -> Algebraic:
        return Algebraic(self.polynomial + other.polynomial, self.root)

    def __sub__(self, other: Algebraic) -> Algebraic:
        return Algebraic(self.polynomial - other.polynomial, self.root)

    def __rsub__(self, other: int) -> Algebraic:
        return Algebraic(other - self.polynomial, self.root)

    def __mul__(self, other: Algebraic | fmpq) -> Algebraic:
        factor = other.polynomial if isinstance(other, Algebraic) else other
        return Algebraic(self.polynomial * factor, self.root)

    def __truediv__(self, other: Algebraic) -> Algebraic:
        inverse = other.polynomial.xgcd(self.root.modulus)[1]
        return Algebraic(self.polynomial * inverse, self.root)

    def __bool__(self) -> bool:
        return bool(self.polynomial != 0)

    def __gt__(self, other: int) -> bool:
        return Algebraic(self.polynomial - other, self.root)._sign() > 0

    def __lt__(self, other: int) -> bool:
        return Algebraic(self.polynomial - other, self.root)._sign() < 0

    def __float__(self) -> float:
        """The nearest float."""
        ends = (map(float, bounds) for bounds in self.enclosures())
        return next(least for least, most in ends if least == most)

    def _sign(self) -> int:
        signs = (1 if least > 0 else -(most < 0) for least, most in self.enclosures())
        return next(filter(None, signs)) if self else 0

    def enclosures(self) -> Iterator[tuple[fmpq, fmpq]]:
        """Ever narrower bounds, by Horner's scheme on the interval of alpha."""
        while True:
            least = most = fmpq(0)
            for coefficient in reversed(self.polynomial.coeffs()):
                products = [a * b for a in (least, most) for b in (self.root.low, self.root.high)]
                least, most = min(products) + coefficient, max(products) + coefficient
            yield least, most
            self.root.narrow()


def number(polynomial: fmpq_poly, root: RealRoot | None) -> fmpq | Algebraic:
    """Value of a polynomial at a root; that of a constant if there is none."""
    return polynomial[0] if root is None else Algebraic(polynomial, root)


def rational(value: fmpq | Algebraic) -> fmpq | None:
    """The number itself if it is rational."""
    if isinstance(value, fmpq):
        return value
    return value.polynomial[0] if value.polynomial.degree() <= 0 else None


def key(value: fmpq | Algebraic) -> Hashable:
    """What a number shares with no other real number, whatever field it is given in.

    A rational itself; otherwise the integer coefficients of its minimal polynomial, and its
    rank among the real roots of that.
    """
    if (exact := rational(value)) is not None:
        return exact
    modulus = value.root.modulus
    products = [value.polynomial.left_shift(i) % modulus for i in range(modulus.degree())]
    matrix = fmpq_mat([[product[i] for i in range(modulus.degree())] for product in products])
    # the characteristic polynomial of a multiplication is a power of the minimal polynomial
    ((minimal, _),) = matrix.charpoly().factor()[1]
    roots = real_roots(minimal)
    near = (
        [rank for rank, root in enumerate(roots) if root.low <= most and least <= root.high]
        for least, most in value.enclosures()
    )
    coefficients = tuple(int(c) for c in minimal.numer().coeffs())
    return coefficients, *next(ranks for ranks in near if len(ranks) == 1)


def real_roots(polynomial: fmpq_poly) -> list[RealRoot]:
    """Real roots of an irreducible polynomial, ascending."""
    balls = [root.real for root, _ in polynomial.numer().complex_roots() if root.imag.is_zero()]
    ends = ((ball.mid().fmpq(), ball.rad().fmpq()) for ball in balls)
    intervals = sorted((middle - radius, middle + radius) for middle, radius in ends)
    return [RealRoot(polynomial, low, high) for low, high in intervals]
