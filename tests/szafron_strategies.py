"""The family of equilibria of three-player Kuhn poker, player by player, in Fractions.

Szafron, Gibson and Sturtevant 2013, Tables 2 and 3. Symbols: y = b23 (1 - b21), which is what b23
contributes to the realization plan of player 2; beta = max(b11, b21).

Why corners suffice. A payoff is linear in the realization plan of each player. Player 2 moves at
most twice, and a plan of the family holds b11, b21, y, b32, b33 (times 1 - b31 = 1) and b41, where
b33 = (1 + b11 + b21 + beta) / 2 - y and b41 = 2 b11 + 2 b21. So within each half of the family,
where beta is b21 or b11, the plan is affine in (b11, b21, y, b32). Player 3 moves once, and the
plan is affine in (c11, c33, c34), with c21 = 1/2 - c11. The plans of player 2 form two polytopes,
those of player 3 lie in a box, and a function that is linear in a plan takes its extremes over
these at corners.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache

from three_player_kuhn import szafron_profile

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.studies.crossplay.measure import Crossplay, crossplay
from eqbench.verification import Verification, verify_exactly

HALF, QUARTER, EIGHTH = Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)
ZERO, ONE = Fraction(0), Fraction(1)
KAPPA = Fraction(1, 24)  # probability of a deal
# Table 2, the same for all three players.
NECESSARY = {"12": 0, "13": 0, "14": 0, "24": 0, "42": 1, "43": 1, "44": 1}
Strategy = Mapping[str, Fraction]
Corner = tuple[Fraction, Fraction, Fraction, Fraction]  # b11, b21, y, b32

# Player 1 has no free parameter.
FIRST = dict.fromkeys(("11", "21", "22", "23", "31", "32", "34", "41"), ZERO) | {"33": HALF}


@cache
def kuhn3() -> Game:
    return eqbench.load_game("kuhn3")


def most_b32(b11: Fraction, b21: Fraction) -> Fraction:
    """Table 3: upper bound of b32."""
    return HALF + Fraction(3, 4) * (b11 + b21) + max(b11, b21) / 4


def second(corner: Corner, beta: Fraction | None = None) -> Strategy:
    """Strategy of player 2 in Table 3; `beta` is the larger of b11 and b21 unless given."""
    b11, b21, y, b32 = corner
    beta = max(b11, b21) if beta is None else beta
    b33 = (1 + b11 + b21 + beta) / 2 - y
    rest = dict.fromkeys(("22", "31", "34"), ZERO)
    own = {"11": b11, "21": b21, "23": y / (1 - b21), "32": b32, "33": b33}
    return rest | own | {"41": 2 * b11 + 2 * b21}


def third(c11: Fraction, c33: Fraction, c34: Fraction = ZERO) -> Strategy:
    """Strategy of player 3 in Table 3."""
    rest = dict.fromkeys(("22", "23", "31", "32"), ZERO)
    return rest | {"11": c11, "21": HALF - c11, "33": c33, "34": c34, "41": ONE}


def profile(two: Strategy, three: Strategy) -> BehaviorProfile:
    """All three together, with Table 2."""
    values = {
        f"{letter}{name}": Fraction(value)
        for letter, own in zip("abc", (FIRST, two, three), strict=True)
        for name, value in (NECESSARY | dict(own)).items()
    }
    return profile_from_json(kuhn3().tree, szafron_profile(values))


# -- the strategies of the family ------------------------------------------------------------------

# c11 = 0: b11 <= b21 <= 1/4 and y = 0. Below 0 < c11 < 1/2, b11 = b21, which is part of it.
LOW_BASE = [(ZERO, ZERO, ZERO), (ZERO, QUARTER, ZERO), (QUARTER, QUARTER, ZERO)]
# c11 = 1/2: b21 <= min(b11, 1/2 - 2 b11) and y <= (b11 - b21) / 2.
SIXTH = Fraction(1, 6)
HIGH_BASE = [
    (ZERO, ZERO, ZERO),
    (SIXTH, SIXTH, ZERO),
    (QUARTER, ZERO, ZERO),
    (QUARTER, ZERO, EIGHTH),
]


def corners(base: list[tuple[Fraction, Fraction, Fraction]]) -> list[Corner]:
    """The base with b32 = 0, then with the largest b32, which is affine in b11 and b21."""
    return [(*c, ZERO) for c in base] + [(*c, most_b32(c[0], c[1])) for c in base]


LOW, HIGH = corners(LOW_BASE), corners(HIGH_BASE)
SECOND = list(dict.fromkeys(LOW + HIGH))
# The largest c33 is 1/2 + (3/4)(1/4 + 1/4) + 1/16, at b32 = 0 and b11 = b21 = 1/4.
MOST_C33 = Fraction(15, 16)
THIRD = list(itertools.product((ZERO, HALF), (ZERO, MOST_C33), (ZERO, ONE)))


def low_members() -> Iterator[tuple[Corner, list[Fraction]]]:
    """Plans of player 2 for c11 = 0, and their weights on the corners `LOW`."""
    steps = [Fraction(k, 12) for k in range(4)]
    for b21, b11, share in itertools.product(steps, steps, (ZERO, Fraction(2, 7), ONE)):
        if b11 <= b21:
            weights = [1 - 4 * b21, 4 * (b21 - b11), 4 * b11]
            yield (b11, b21, ZERO, share * most_b32(b11, b21)), _split(weights, share)


def high_members() -> Iterator[tuple[Corner, list[Fraction]]]:
    """Plans of player 2 for c11 = 1/2, and their weights on the corners `HIGH`."""
    steps = [Fraction(k, 24) for k in range(7)]
    shares = (ZERO, Fraction(2, 7), ONE)
    for b11, b21, deep, share in itertools.product(steps, steps, shares, shares):
        if b21 <= min(b11, HALF - 2 * b11):
            edge = 4 * (b11 - b21)
            weights = [1 - 4 * b11 - 2 * b21, 6 * b21, edge * (1 - deep), edge * deep]
            y = deep * (b11 - b21) / 2
            yield (b11, b21, y, share * most_b32(b11, b21)), _split(weights, share)


def _split(weights: list[Fraction], share: Fraction) -> list[Fraction]:
    return [w * (1 - share) for w in weights] + [w * share for w in weights]


def plan(two: Strategy) -> list[Fraction]:
    """Realization plan of player 2: situations 3 and 4 follow an own check."""
    values = {name: Fraction(value) for name, value in (NECESSARY | dict(two)).items()}
    weights = []
    for card, situation in itertools.product("1234", "1234"):
        before = 1 - values[f"{card}1"] if situation in "34" else ONE
        aggressive = before * values[f"{card}{situation}"]
        weights += [aggressive, before - aggressive]
    return weights


# -- figures -----------------------------------------------------------------------------------


def measured(two: Strategy, three: Strategy) -> Verification:
    return verify_exactly(kuhn3().tree, profile(two, three))


@cache
def mixed_family() -> Crossplay:
    """Every corner of player 2 with every corner of player 3, in exact arithmetic.

    Entries only carry strategies here: entry k holds corner k of both lists, repeated as needed.
    """
    twos, threes = itertools.cycle(SECOND), itertools.cycle(THIRD)
    entries = [
        (f"{k}", profile(second(next(twos)), third(*next(threes))))
        for k in range(max(len(SECOND), len(THIRD)))
    ]
    return crossplay(kuhn3(), entries, exact=True)


def mixed_payoff(player: int, two: Corner, three: tuple[Fraction, ...]) -> Fraction:
    return mixed_family().payoffs[player, 0, SECOND.index(two), THIRD.index(three)]
