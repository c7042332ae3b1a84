"""Real algebraic numbers: a field Q(alpha) with exact signs.

Elements are polynomials in alpha of lower degree than its minimal polynomial. An element is zero
only if that polynomial is; the sign of any other is found by narrowing the interval that isolates
alpha until the interval of values excludes zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpq_poly


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
