"""Members of the family of Szafron, Gibson and Sturtevant 2013, from Tables 2 and 3 as printed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

SUB_FAMILIES = ("c11=0", "0<c11<1/2", "c11=1/2")
GRID = 960  # of random parameters, which so stay exact

ALWAYS = {
    **{f"{letter}{jk}": 0 for letter in "abc" for jk in ("12", "13", "14", "24")},
    **{f"{letter}{jk}": 1 for letter in "abc" for jk in ("42", "43", "44")},
}


def member(
    *, b11: Any, b21: Any, b32: Any, c11: Any, c33: Any, b23: Any = 0, c34: Any = 0
) -> dict[str, Fraction]:
    """All 48 frequencies by Tables 2 and 3; whether the ranges are kept is not checked."""
    half, beta = Fraction(1, 2), max(b11, b21)
    values = ALWAYS | {
        **dict.fromkeys(("a11", "a21", "a22", "a23", "a31", "a32", "a34", "a41"), 0),
        **dict.fromkeys(("b22", "b31", "b34", "c22", "c23", "c31", "c32"), 0),
        "a33": half,
        "b11": b11,
        "b21": b21,
        "b23": b23,
        "b32": b32,
        "b33": half + (b11 + b21) * half + beta * half - b23 * (1 - b21),
        "b41": 2 * b11 + 2 * b21,
        "c11": c11,
        "c21": half - c11,
        "c33": c33,
        "c34": c34,
        "c41": 1,
    }
    return {name: Fraction(value) for name, value in values.items()}


def largest_b32(b11: Any, b21: Any) -> Any:
    """Upper end of b32 in Table 3; that of c33 lies b32 below it."""
    return Fraction(1, 2) + Fraction(3, 4) * (b11 + b21) + max(b11, b21) / Fraction(4)


def random_member(sub_family: str, rng: np.random.Generator) -> dict[str, Fraction]:
    """A member with random parameters strictly inside the ranges of Table 3."""

    def between(low: Any, high: Any) -> Fraction:
        return low + (high - low) * Fraction(int(rng.integers(1, GRID)), GRID)

    quarter, half = Fraction(1, 4), Fraction(1, 2)
    b23 = Fraction(0)
    if sub_family == "c11=0":
        c11, b21 = Fraction(0), between(0, quarter)
        b11 = between(0, b21)
    elif sub_family == "c11=1/2":
        c11, b11 = half, between(0, quarter)
        b21 = between(0, min(b11, half - 2 * b11))
        b23 = between(0, (b11 - b21) / (2 * (1 - b21)))
    else:
        b11 = b21 = between(0, quarter)
        c11 = between(0, min(half, (2 - b11) / (3 + 4 * b11)))
    top = largest_b32(b11, b21)
    b32 = between(0, min(top, Fraction(1)))
    c33 = between(max(half - b32, Fraction(0)), min(top - b32, Fraction(1)))
    return member(b11=b11, b21=b21, b23=b23, b32=b32, c11=c11, c33=c33, c34=between(0, 1))
