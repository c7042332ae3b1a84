"""Real numbers of fields Q(alpha), with exact signs.

Those of Q are `fmpq`. In other fields a number is a polynomial in alpha of lower degree than the
minimal polynomial of alpha, and zero only if that polynomial is. The sign of any other is found
by narrowing the interval that isolates alpha until the interval of values excludes zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from flint import fmpq, fmpq_mat, fmpq_poly


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
