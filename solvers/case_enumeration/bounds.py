"""Exact bounds of multilinear polynomials over boxes, and what constraints leave of a box.

A polynomial is a dictionary from monomials to rational coefficients; a monomial is an integer
whose bit k says whether it contains variable k. A box is given by the lowest and the highest
values of all variables, which are not negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flint import fmpq, fmpq_mpoly

Terms = dict[int, fmpq]
Values = Sequence[fmpq]
ZERO, ONE = fmpq(0), fmpq(1)


def terms_of(polynomial: fmpq_mpoly) -> Terms:
    """Terms of a multilinear polynomial."""
    return {
        sum(1 << k for k, power in enumerate(powers) if power): coefficient
        for powers, coefficient in polynomial.to_dict().items()
    }


def variables_of(terms: Terms) -> list[int]:
    """Variables that occur, in ascending order."""
    mask = 0
    for monomial in terms:
        mask |= monomial
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def negative(terms: Terms) -> Terms:
    """The polynomial times -1."""
    return {monomial: -coefficient for monomial, coefficient in terms.items()}


def substitute(terms: Terms, variable: int, value: fmpq) -> Terms:
    """The polynomial with a value in place of a variable."""
    bit, result = 1 << variable, Terms()
    for monomial, coefficient in terms.items():
        if monomial & bit:
            monomial ^= bit
            coefficient = coefficient * value
        result[monomial] = result.get(monomial, ZERO) + coefficient
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def lowest(terms: Terms, low: Values, high: Values) -> fmpq:
    """Exact minimum over a box.

    It lies at a corner. Variables in which the polynomial is monotone on the whole box go to
    their better end first, so that only the others are tried at both.
    """
    rest = variables_of(terms)
    while rest:
        mixed = []
        for k in rest:
            least, most = _range_of_slope(terms, k, low, high)
            if least < 0 < most:
                mixed.append(k)
            else:
                terms = substitute(terms, k, high[k] if least < 0 else low[k])
        if len(mixed) == len(rest):
            ends = (substitute(terms, rest[0], end[rest[0]]) for end in (low, high))
            return min(lowest(part, low, high) for part in ends)
        rest = mixed
    return terms.get(0, ZERO)


def highest(terms: Terms, low: Values, high: Values) -> fmpq:
    """Exact maximum over a box."""
    return -lowest(negative(terms), low, high)


def _range_of_slope(terms: Terms, variable: int, low: Values, high: Values) -> tuple[fmpq, fmpq]:
    """Bounds, not always sharp, of the derivative with respect to a variable over a box."""
    least = most = ZERO
    for monomial, coefficient in terms.items():
        if not monomial >> variable & 1:
            continue
        small = large = coefficient
        others = monomial ^ 1 << variable
        while others:
            k = others.bit_length() - 1
            small, large = small * low[k], large * high[k]
            others ^= 1 << k
        if coefficient < 0:
            small, large = large, small
        least, most = least + small, most + large
    return least, most


def tightened(terms: Terms, variable: int, low: Values, high: Values) -> tuple[fmpq, fmpq] | None:
    """Smallest interval of a variable with all points of a box where the polynomial is >= 0.

    At each corner of the other variables the polynomial is linear in this one, and its maximum
    over the others is the largest of these linear functions. None if there are no such points.
    """
    start, end = low[variable], high[variable]
    starts_below = highest(substitute(terms, variable, start), low, high) < 0
    ends_below = highest(substitute(terms, variable, end), low, high) < 0
    if starts_below and ends_below:  # a largest of linear functions is convex
        return None
    if not (starts_below or ends_below):
        return start, end
    zeros = [
        -constant / slope
        for slope, constant in _lines(terms, variable, low, high)
        if (slope > 0 if starts_below else slope < 0)
    ]
    return (min(zeros), end) if starts_below else (start, max(zeros))


def _lines(terms: Terms, variable: int, low: Values, high: Values) -> Iterator[tuple[fmpq, fmpq]]:
    """Slope and constant in a variable at all corners of the others."""
    others = [k for k in variables_of(terms) if k != variable]
    if not others:
        yield terms.get(1 << variable, ZERO), terms.get(0, ZERO)
        return
    for end in (low, high):
        yield from _lines(substitute(terms, others[0], end[others[0]]), variable, low, high)
