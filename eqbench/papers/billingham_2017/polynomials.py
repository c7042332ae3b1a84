"""Polynomials in the eleven frequencies that are linear in each of them and in the pot.

A polynomial is a mapping from a product of frequencies, such as ``a1 b2``, to its coefficient,
``(base, slope)``, which stands for base + slope · P; zeros are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from eqbench.papers.stored import Stored

Polynomial = dict[str, tuple[Fraction, Fraction]]


def polynomial(stored: Stored, player: int) -> Polynomial:
    """24 E of a player, from the job ``polynomials``."""
    document = stored["polynomials"].summary["polynomials"][f"E{player}"]
    return {name: (Fraction(base), Fraction(slope)) for name, (base, slope) in document.items()}


def value(of: Polynomial, names: Mapping[str, Any]) -> Any:
    """Value at frequencies and a pot, in their kind of number."""
    return sum(
        (type(names["P"])(base) + type(names["P"])(slope) * names["P"])
        * math.prod(names[name] for name in key.split())
        for key, (base, slope) in of.items()
    )


def derivative(of: Polynomial, name: str) -> Polynomial:
    """Derivative by a frequency."""
    return {
        " ".join(other for other in key.split() if other != name): coefficient
        for key, coefficient in of.items()
        if name in key.split()
    }


def letters(of: Polynomial) -> list[str]:
    """The frequencies that occur."""
    return sorted({name for key in of for name in key.split()})


def text(of: Polynomial) -> str:
    """A polynomial for a page, such as ``(2P − 4) − (P + 1) c2``."""
    terms = []
    for key, (base, slope) in sorted(of.items(), key=lambda item: (len(item[0].split()), item[0])):
        sign = -1 if (slope or base) < 0 else 1
        number = f"{abs(slope)}P".removeprefix("1") if slope else str(abs(base))
        if slope and base:
            number = f"({number} {'+' if sign * base > 0 else '−'} {abs(base)})"
        number = "" if number == "1" and key else number
        terms.append(f"{'+' if sign > 0 else '−'} {' '.join(filter(None, [number, key]))}")
    joined = " ".join(terms)
    return f"−{joined[2:]}" if joined.startswith("−") else joined[2:] or "0"
