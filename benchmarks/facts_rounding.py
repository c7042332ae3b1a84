"""Bounds as they are printed: rounded outward, so that what was measured lies within them."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from markdown_tables import power


def at_most(value: float, decimals: int = 2) -> str:
    """An upper bound with so many decimals, such as 0.03 for 0.0221."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_CEILING))


def power_at_most(value: float) -> str:
    """An upper bound on a tiny number with one digit, such as 4e-16 for 3.1e-16."""
    return _one_digit(value, ROUND_CEILING)


def power_at_least(value: float) -> str:
    """A lower bound on a tiny number with one digit, such as 3e-16 for 3.9e-16."""
    return _one_digit(value, ROUND_FLOOR)


def _one_digit(value: float, rounding: str) -> str:
    exact = Decimal(value)
    return power(float(exact.quantize(Decimal(1).scaleb(exact.adjusted()), rounding)))
