"""Rationals of plain Python integers: from outside, as floats, and for people."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from numbers import Rational

# Fraction("1e999999999") would fill the memory.
LARGEST_EXPONENT = 4000
# narrower than what Fraction reads: no underscores, foreign digits or spaces
_NUMBER = re.compile(r"[+-]?(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?)", re.ASCII)


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


def parse_rational(text: str) -> Fraction | None:
    """Rational of a decimal or ``p/q``; None if there is none, or none of reasonable size."""
    match = _NUMBER.fullmatch(text)
    try:
        if match is None or abs(int(match[1] or 0)) > LARGEST_EXPONENT:
            return None
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def not_to_zero(value: Fraction) -> float:
    """Float nearest to a rational, which is 0 only if that is."""
    return float(value) or math.copysign(math.ulp(0.0), value) * (value != 0)


def short_figure(value: float | Fraction, most: int = 20, digits: int = 6) -> str:
    """A fraction as it is, if it has at most `most` characters; else significant digits."""
    if not isinstance(value, Fraction):
        return f"{value:.{digits}g}"
    # what is much longer Python may not like to print at all
    is_long = max(value.numerator.bit_length(), value.denominator.bit_length()) > 4 * most
    text = "" if is_long else str(value)
    return text if 0 < len(text) <= most else f"{not_to_zero(value):.{digits}g}"
