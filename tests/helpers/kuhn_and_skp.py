"""Published equilibria of three-player Kuhn poker and of skp, transcribed for tests."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria.expressions import Relation, alternatives, evaluate
from eqbench.model.polytope import vertices

# -- Names that papers give to the frequencies of three-player Kuhn poker, as profiles


# Szafron, Gibson and Sturtevant 2013, §2: player and situations 1 to 4 of the letters a, b, c.
SITUATIONS = {
    "a": ("P1", ("", "KKB", "KBF", "KBC")),
    "b": ("P2", ("K", "B", "KKBF", "KKBC")),
    "c": ("P3", ("KK", "KB", "BF", "BC")),
}

# Billingham 2017, §2: player and information set of each of the eleven frequencies.
SKP_VARIABLES = {
    "a1": ("P1", "4:"),
    "b1": ("P1", "2:"),
    "a2": ("P2", "4:K"),
    "b2": ("P2", "2:K"),
    "b3": ("P3", "2:KK"),
    "c1": ("P1", "3:KKB"),
    "c2": ("P2", "3:B"),
    "c3": ("P3", "3:KB"),
    "d1": ("P1", "3:KBF"),
    "d2": ("P2", "3:KKBF"),
    "d3": ("P3", "3:BF"),
}


def aggressive_row(situation: str, frequency: Any, rest: Any) -> dict[str, Any]:
    """Row of an information set: the frequency of bet or call, then that of check or fold."""
    passive, aggressive = ("fold", "call") if "B" in situation else ("check", "bet")
    return {passive: rest, aggressive: frequency}


def szafron_profile(values: Mapping[str, Any]) -> dict[str, Any]:
    """Interchange form of a profile given as x_jk: card j, situation k of player a, b or c."""
    behavior: dict[str, dict[str, Any]] = {"P1": {}, "P2": {}, "P3": {}}
    for letter, (player, situations) in SITUATIONS.items():
        for k, situation in enumerate(situations, start=1):
            for card in range(1, 5):
                value = values[f"{letter}{card}{k}"]
                row = aggressive_row(situation, value, 1 - value)
                behavior[player][f"{card}:{situation}"] = row
    return {"behavior": behavior}


def skp_profile(values: Mapping[str, Any]) -> dict[str, Any]:
    """Interchange form of an SKP profile; sets with one action are left out."""
    behavior: dict[str, dict[str, Any]] = {"P1": {}, "P2": {}, "P3": {}}
    for name, (player, label) in SKP_VARIABLES.items():
        value = values[name]
        behavior[player][label] = aggressive_row(label, value, 1 - value)
    return {"behavior": behavior}


# -- Members of the family of Szafron, Gibson and Sturtevant 2013, from Tables 2 and 3 as printed


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


# -- The published solutions of SKP as points that tests can measure


TOLERANCE = 1e-12  # of constraints in floating point; exact ones hold exactly


@dataclass(frozen=True)
class Solution:
    """One row of the table; expressions stay texts until they are evaluated at a pot."""

    name: str
    ends: tuple[str, str]
    free: tuple[str, ...]
    fixed: dict[str, str]
    constraints: tuple[str, ...]
    payoffs24: tuple[str, ...]
    order: tuple[str, ...]

    def end(self, which: int) -> float:
        """Lower (0) or upper (1) end of the range of pots."""
        text = self.ends[which]
        return math.inf if text == "oo" else evaluate(text, {}, exact=False)

    def values(self, pot: Any, free: Sequence[Any], *, exact: bool = True) -> dict[str, Any]:
        """The pot and all eleven frequencies, in Fractions or floats."""
        names = {"P": pot} | dict(zip(self.free, free, strict=True))
        for name in self.order:
            if name not in names:
                names[name] = evaluate(self.fixed[name], names, exact=exact)
        return names

    def payoffs(self, values: dict[str, Any], *, exact: bool = True) -> list[Any]:
        """Published payoffs, as functions of the pot and the frequencies."""
        return [evaluate(text, values, exact=exact) / 24 for text in self.payoffs24]

    def choices(self, pot: Any, *, exact: bool = True) -> list[dict[str, Any]]:
        """Frequencies at the corners and the middle of the admissible choices; maybe none."""
        one, size, found = Fraction(1) if exact else 1.0, len(self.free), []
        for relations in itertools.product(*map(alternatives, self.constraints)):
            steps = [[one * (i == j) for j in range(size)] for i in range(-1, size)]
            slacks = [self._slacks(pot, free, relations, exact=exact) for free in steps]
            # they are affine in the free frequencies
            affine = [(*(b - a for b in ahead), a) for a, *ahead in zip(*slacks, strict=True)]
            corners = vertices(affine, size, one, tolerance=0 if exact else TOLERANCE)
            if len(corners) > 1:
                middle = [sum(axis) / len(corners) for axis in zip(*corners, strict=True)]
                corners.append(tuple(middle))
            found += [self.values(pot, corner, exact=exact) for corner in corners]
        return found

    def admits(self, pot: float, free: Sequence[float]) -> bool:
        """Whether a choice is admissible, up to rounding."""
        return any(
            min(self._slacks(pot, free, relations, exact=False)) >= -TOLERANCE
            for relations in itertools.product(*map(alternatives, self.constraints))
        )

    def _slacks(
        self, pot: Any, free: Sequence[Any], relations: Sequence[Relation], *, exact: bool
    ) -> list[Any]:
        """Numbers that are nonnegative where all relations hold and frequencies are in [0, 1]."""
        values = self.values(pot, free, exact=exact)
        slacks = [slack for name in self.order for slack in (values[name], 1 - values[name])]
        for left, relation, right in relations:
            gap = evaluate(right, values, exact=exact) - evaluate(left, values, exact=exact)
            slacks += {"<=": [gap], ">=": [-gap], "==": [gap, -gap]}[relation]
        return slacks


def load_solutions() -> list[Solution]:
    """All solutions, in the order of the table."""
    text = (Path(__file__).parents[1] / "data/skp.json").read_text("utf-8")
    return [
        Solution(
            name=row["name"],
            ends=(row["P_min"], row["P_max"]),
            free=tuple(row["free"]),
            fixed={name: text for name, text in row["expr"].items() if name not in row["free"]},
            constraints=tuple(row["constraints"]),
            payoffs24=tuple(row["E24"]),
            order=tuple(row["order_of_evaluation"]),
        )
        for row in json.loads(text)["solutions"]
    ]
