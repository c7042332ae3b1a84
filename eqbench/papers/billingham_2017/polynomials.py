"""Polynomials in the eleven frequencies that are linear in each of them and in the pot.

A polynomial is a mapping from a product of frequencies, such as ``a1 b2``, to its coefficient,
which is ``base + slope · P``. Products are in the order of :data:`NAMES`; zeros are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from eqbench.equilibria.expressions import compile_expression
from eqbench.papers.billingham_2017.found import NAMES

Polynomial = dict[str, tuple[Fraction, Fraction]]
POTS = (Fraction(2), Fraction(3))  # two points of a line


def coefficients(values: Mapping[tuple[int, ...], Any], names: Sequence[str]) -> dict[str, Any]:
    """Coefficients of the polynomial with these values at all corners of the unit cube.

    Parameters
    ----------
    values : by frequencies, each 0 or 1, in the order of `names`
    """
    found = dict(values)
    for axis in range(len(names)):
        for corner in product((0, 1), repeat=len(names)):
            if corner[axis]:
                below = (*corner[:axis], 0, *corner[axis + 1 :])
                found[corner] = found[corner] - found[below]
    return {
        " ".join(name for name, used in zip(names, corner, strict=True) if used): value
        for corner, value in found.items()
        if value
    }


def interpolated(at_pots: Sequence[Mapping[str, Any]]) -> Polynomial:
    """The polynomial whose coefficients at the two :data:`POTS` are given."""
    first, second = at_pots
    found: Polynomial = {}
    for name in {**first, **second}:
        one, other = Fraction(first.get(name, 0)), Fraction(second.get(name, 0))
        slope = (other - one) / (POTS[1] - POTS[0])
        found[name] = (one - slope * POTS[0], slope)
    return found


def printed(text: str) -> Polynomial:
    """The polynomial that an arithmetic text in frequencies and P stands for.

    The text may divide, as long as what comes out is such a polynomial.
    """
    used = {
        node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)
    }
    names = [name for name in NAMES if name in used]
    function: Callable[[Mapping[str, Any]], Any] = compile_expression(text, exact=True)
    return interpolated(
        [
            coefficients(
                {
                    corner: function(
                        dict(zip(names, map(Fraction, corner), strict=True)) | {"P": pot}
                    )
                    for corner in product((0, 1), repeat=len(names))
                },
                names,
            )
            for pot in POTS
        ]
    )


def read(document: Mapping[str, Sequence[str]]) -> Polynomial:
    """A polynomial from JSON values."""
    return {name: (Fraction(base), Fraction(slope)) for name, (base, slope) in document.items()}


def to_json(polynomial: Polynomial) -> dict[str, list[str]]:
    """JSON values of a polynomial."""
    return {name: [str(base), str(slope)] for name, (base, slope) in polynomial.items()}


def derivative(polynomial: Polynomial, name: str) -> Polynomial:
    """Derivative by a frequency."""
    return {
        " ".join(other for other in key.split() if other != name): value
        for key, value in polynomial.items()
        if name in key.split()
    }


def without(polynomial: Polynomial, names: Sequence[str]) -> Polynomial:
    """The terms in which none of these frequencies occurs."""
    return {key: value for key, value in polynomial.items() if not set(names) & set(key.split())}


def text(polynomial: Polynomial) -> str:
    """A polynomial for a page, such as ``2P − 4 − (P + 1)·c2``."""
    terms = [_term(*item) for item in sorted(polynomial.items(), key=_order)]
    joined = "".join(f" {sign} {body}" for sign, body in terms)
    return (
        joined.removeprefix(" + ").lstrip().replace("− ", "−", int(joined.startswith(" −"))) or "0"
    )


def _order(item: tuple[str, Any]) -> tuple[int, str]:
    return len(item[0].split()), item[0]


def _term(key: str, coefficient: tuple[Fraction, Fraction]) -> tuple[str, str]:
    """Sign and body of a term."""
    base, slope = coefficient
    negative = slope < 0 or (slope == 0 and base < 0)
    base, slope = (-base, -slope) if negative else (base, slope)
    factors = key.split()
    if slope == 0:
        number = "" if base == 1 and factors else str(base)
    else:
        number = "P" if slope == 1 else f"{slope}P"
        if base:
            number = f"({number} {'+' if base > 0 else '−'} {abs(base)})"
    return ("−" if negative else "+"), "·".join(filter(None, [number, *factors]))
