"""Numbers from outside as rationals of plain Python integers."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational


def rational(value: Rational | float) -> Fraction:
    """Rational of plain integers; a float means the decimal that it prints as.

    ``Fraction(numpy.int64(3))`` would keep NumPy's integer inside and overflow later.

    Raises
    ------
    ValueError
        If `value` is not a finite number.
    """
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(repr(float(value)))
