"""Members of the family of Tables 2 and 3: at the ends of its ranges, and at random in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from eqbench.papers.szafron.notation import (
    HALF,
    QUARTER,
    SUB_FAMILIES,
    Values,
    is_profile,
    largest_b32,
    lowest_c33,
    member,
    violated,
)

GRID = 960  # of random parameters, which so stay short fractions
_ZERO, _ONE, _SIXTH = Fraction(0), Fraction(1), Fraction(1, 6)
# b11 and b21 at the corners of their ranges, for the sub-families in this order
_CORNERS = {
    SUB_FAMILIES[0]: [(_ZERO, _ZERO), (_ZERO, QUARTER), (QUARTER, QUARTER)],
    SUB_FAMILIES[1]: [(b, b) for b in (_ZERO, _SIXTH, Fraction(5, 24), QUARTER)],
    SUB_FAMILIES[2]: [(_ZERO, _ZERO), (_SIXTH, _SIXTH), (QUARTER, _ZERO)],
}


@dataclass(frozen=True)
class Member:
    """A member of the family.

    Attributes
    ----------
    sub_family : one of `SUB_FAMILIES`
    values : all 48 frequencies
    is_corner : whether its parameters are at ends of their ranges
    """

    sub_family: str
    values: Values
    is_corner: bool


def sample(count: int, seed: int) -> list[Member]:
    """The corners of all sub-families, and `count` members at random of each."""
    rng = np.random.default_rng(seed)
    inside = [
        Member(name, member(random_parameters(name, rng)), False)
        for name in SUB_FAMILIES
        for _ in range(count)
    ]
    return [*corner_members(), *inside]


def corner_members() -> list[Member]:
    """Members whose parameters are all at ends of their ranges, c34 too."""
    found = []
    for name in SUB_FAMILIES:
        for b11, b21 in _CORNERS[name]:
            for free in _ends(name, b11, b21):
                values = member(free)
                if is_profile(values) and not violated(values):
                    found.append(Member(name, values, True))
    return found


def largest_c11(b11: Fraction, b21: Fraction) -> Fraction:
    """Upper end of c11 in Table 3."""
    return min(HALF, (2 - b11) / (3 + 2 * b11 + 2 * b21))


def largest_b23(b11: Fraction, b21: Fraction) -> Fraction:
    """Upper end of b23 in Table 3 where c11 = 1/2."""
    return max(_ZERO, (b11 - b21) / (2 * (1 - b21)))


def largest_bluffs(sub_family: str) -> tuple[Fraction, Fraction]:
    """Largest b11 and b21 below 1 that Table 3 leaves, on a lattice with steps of 1/24."""
    lattice = [Fraction(k, 24) for k in range(24)]
    c11s = {
        SUB_FAMILIES[0]: [_ZERO],
        SUB_FAMILIES[1]: [Fraction(k, 16) for k in range(1, 8)],
        SUB_FAMILIES[2]: [HALF],
    }[sub_family]
    kept = [
        (b11, b21)
        for b11, b21, c11 in product(lattice, lattice, c11s)
        if not violated(member({"b11": b11, "b21": b21, "b32": HALF, "c11": c11, "c33": _ZERO}))
    ]
    return max(b11 for b11, _ in kept), max(b21 for _, b21 in kept)


def random_parameters(sub_family: str, rng: np.random.Generator) -> dict[str, Any]:
    """Free parameters of a member, strictly inside their ranges."""

    def between(low: Fraction, high: Fraction) -> Fraction:
        return low + (high - low) * Fraction(int(rng.integers(1, GRID)), GRID)

    b23 = _ZERO
    if sub_family == SUB_FAMILIES[0]:
        c11, b21 = _ZERO, between(_ZERO, QUARTER)
        b11 = between(_ZERO, b21)
    elif sub_family == SUB_FAMILIES[2]:
        c11, b11 = HALF, between(_ZERO, QUARTER)
        b21 = between(_ZERO, min(b11, HALF - 2 * b11))
        b23 = between(_ZERO, largest_b23(b11, b21))
    else:
        b11 = b21 = between(_ZERO, QUARTER)
        c11 = between(_ZERO, largest_c11(b11, b21))
    top = largest_b32(b11, b21)
    b32 = between(_ZERO, top)
    c33 = between(lowest_c33(b32), top - b32)
    names = ("b11", "b21", "b23", "b32", "c11", "c33", "c34")
    return dict(zip(names, (b11, b21, b23, b32, c11, c33, between(_ZERO, _ONE)), strict=True))


def _ends(sub_family: str, b11: Fraction, b21: Fraction) -> Iterator[dict[str, Fraction]]:
    top = largest_b32(b11, b21)
    high = largest_c11(b11, b21)
    c11s = {
        SUB_FAMILIES[0]: [_ZERO],
        # the ends are excluded, unless b11 keeps c11 below 1/2
        SUB_FAMILIES[1]: [Fraction(1, GRID), high if high < HALF else HALF - Fraction(1, GRID)],
        SUB_FAMILIES[2]: [HALF],
    }[sub_family]
    b23s = {_ZERO, largest_b23(b11, b21)} if sub_family == SUB_FAMILIES[2] else {_ZERO}
    for c11, b23, b32, c34 in product(c11s, sorted(b23s), (_ZERO, HALF, top), (_ZERO, _ONE)):
        for c33 in sorted({lowest_c33(b32), top - b32}):
            yield {
                **{"b11": b11, "b21": b21, "b23": b23, "b32": b32},
                **{"c11": c11, "c33": c33, "c34": c34},
            }
