"""How many eigenvalues of a rational matrix vanish or are imaginary, by exact arithmetic.

Polynomials are lists of coefficients, that of the lowest power first, without zeros at the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

Polynomial = list[Fraction]


def zeros_and_imaginary(matrix: Sequence[Sequence[Fraction]]) -> tuple[int, int]:
    """How many eigenvalues are zero, and how many are imaginary and simple, both exactly."""
    whole = characteristic(matrix)
    zeros = next(k for k, coefficient in enumerate(whole) if coefficient)
    rest = whole[zeros:]
    # at i w, with x = w^2, the even and the odd part vanish together
    even = _trimmed([c * (-1) ** k for k, c in enumerate(rest[0::2])])
    odd = _trimmed([c * (-1) ** k for k, c in enumerate(rest[1::2])])
    return zeros, 2 * positive_roots(common_divisor(even, odd))


def characteristic(matrix: Sequence[Sequence[Fraction]]) -> Polynomial:
    """Characteristic polynomial, by the method of Faddeev and LeVerrier."""
    size = len(matrix)
    coefficients = [Fraction(0)] * size + [Fraction(1)]
    power = [[Fraction(0)] * size for _ in range(size)]
    for k in range(1, size + 1):
        for i in range(size):
            power[i][i] += coefficients[size - k + 1]
        columns = list(zip(*power, strict=True))
        power = [
            [
                sum((a * b for a, b in zip(row, column, strict=True) if a and b), Fraction(0))
                for column in columns
            ]
            for row in matrix
        ]
        coefficients[size - k] = -sum((power[i][i] for i in range(size)), Fraction(0)) / k
    return coefficients


def common_divisor(first: Polynomial, second: Polynomial) -> Polynomial:
    """Greatest common divisor, by the method of Euclid."""
    while second:
        first, second = second, _remainder(first, second)
    return first


def positive_roots(polynomial: Polynomial) -> int:
    """Number of distinct positive roots, by the theorem of Sturm; zero must be none."""
    chain = [polynomial, [k * c for k, c in enumerate(polynomial)][1:]]
    while chain[-1]:
        chain.append([-c for c in _remainder(chain[-2], chain[-1])])
    at_zero = [each[0] for each in chain[:-1]]
    at_infinity = [each[-1] for each in chain[:-1]]
    return _changes(at_zero) - _changes(at_infinity)


def _remainder(dividend: Polynomial, divisor: Polynomial) -> Polynomial:
    rest = list(dividend)
    while len(rest) >= len(divisor):
        factor, shift = rest[-1] / divisor[-1], len(rest) - len(divisor)
        for k, coefficient in enumerate(divisor):
            rest[shift + k] -= factor * coefficient
        rest = _trimmed(rest[:-1])
    return rest


def _trimmed(polynomial: Polynomial) -> Polynomial:
    while polynomial and not polynomial[-1]:
        polynomial = polynomial[:-1]
    return polynomial


def _changes(values: Sequence[Fraction]) -> int:
    signs = [value > 0 for value in values if value]
    return sum(a != b for a, b in itertools.pairwise(signs))
