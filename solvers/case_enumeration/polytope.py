"""Polytopes over a real field: their vertices, and exact signs of algebraic numbers.

Elements of a field Q(alpha) are polynomials in alpha of lower degree than its minimal polynomial.
An element is zero only if that polynomial is; the sign of any other is found by narrowing the
interval that isolates alpha until the interval of values excludes zero.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpq_poly

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


def real_roots(modulus: fmpq_poly) -> list[tuple[fmpq, fmpq]]:
    """Disjoint intervals around the real roots of an irreducible polynomial, ascending."""
    balls = [root.real for root, _ in modulus.numer().complex_roots() if root.imag.is_zero()]
    ends = ((ball.mid().fmpq(), ball.rad().fmpq()) for ball in balls)
    return sorted((middle - radius, middle + radius) for middle, radius in ends)


class Field:
    """The field Q(alpha) of a real root alpha of an irreducible polynomial.

    Parameters
    ----------
    modulus : minimal polynomial of alpha, up to a factor
    low, high : ends of an interval with this root and no other
        It is narrowed whenever a sign asks for it; no result depends on how far.
    """

    def __init__(self, modulus: fmpq_poly, low: fmpq, high: fmpq) -> None:
        self.modulus = modulus
        self._low, self._high = low, high
        self._rises = modulus(high) > 0

    def reduce(self, element: fmpq_poly) -> fmpq_poly:
        """The same number as a polynomial of low degree."""
        return element % self.modulus

    def quotient(self, numerator: fmpq_poly, denominator: fmpq_poly) -> fmpq_poly:
        """Quotient of two elements, the second not zero."""
        return numerator * denominator.xgcd(self.modulus)[1] % self.modulus

    def sign(self, element: fmpq_poly) -> int:
        """-1, 0 or 1."""
        if element == 0:
            return 0
        while True:
            least, most = self._range(element)
            if least > 0 or most < 0:
                return 1 if least > 0 else -1
            self._narrow()

    def rounded(self, element: fmpq_poly) -> float:
        """The nearest float."""
        while True:
            least, most = (float(to_fraction(end)) for end in self._range(element))
            if least == most:
                return least
            self._narrow()

    def key(self, element: fmpq_poly) -> Hashable:
        """What this number shares with no other real number, whatever field it is given in.

        A rational itself; otherwise the integer coefficients of its minimal polynomial, and its
        rank among the real roots of that.
        """
        if element.degree() <= 0:
            return element[0]
        ((minimal, _),) = self._characteristic(element).factor()[1]
        roots = real_roots(minimal)
        while True:
            least, most = self._range(element)
            met = [i for i, (low, high) in enumerate(roots) if low <= most and least <= high]
            if len(met) == 1:
                return tuple(int(c) for c in minimal.numer().coeffs()), met[0]
            self._narrow()

    def _characteristic(self, element: fmpq_poly) -> fmpq_poly:
        """Characteristic polynomial of the multiplication with an element: a power of its own."""
        degree, rows = self.modulus.degree(), []
        for power in range(degree):
            product = element.left_shift(power) % self.modulus
            rows.append([product[i] for i in range(degree)])
        return fmpq_mat(rows).charpoly()

    def _range(self, element: fmpq_poly) -> tuple[fmpq, fmpq]:
        """Bounds of an element, by Horner's scheme on the interval of alpha."""
        least = most = fmpq(0)
        for coefficient in reversed(element.coeffs()):
            products = [a * b for a in (least, most) for b in (self._low, self._high)]
            least, most = min(products) + coefficient, max(products) + coefficient
        return least, most

    def _narrow(self) -> None:
        middle = (self._low + self._high) / 2
        if (self.modulus(middle) > 0) == self._rises:
            self._high = middle
        else:
            self._low = middle


def rationals() -> Field:
    """The field Q, with alpha = 0."""
    return Field(fmpq_poly([0, 1]), fmpq(0), fmpq(0))


def fields_of(modulus: fmpq_poly) -> Iterator[Field]:
    """The fields of all real roots of an irreducible polynomial of degree 2 or more."""
    for low, high in real_roots(modulus):
        yield Field(modulus, low, high)


def to_fraction(number: fmpq) -> Fraction:
    """The same rational in Python's own integers."""
    return Fraction(int(number.p), int(number.q))
