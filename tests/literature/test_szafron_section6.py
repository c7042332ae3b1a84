"""Equilibrium selection in three-player Kuhn poker, in exact arithmetic.

Szafron, Gibson and Sturtevant 2013, "A parameterized family of equilibrium profiles for
three-player Kuhn poker", §6: what happens when every player follows a strategy of the family of
Tables 2 and 3, but not of the same member. One test per claim.

Symbols: kappa = 1/24; y = b23 (1 - b21), which is what b23 contributes to the realization plan of
player 2; beta = max(b11, b21).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
from szafron_strategies import (
    EIGHTH,
    HALF,
    HIGH,
    KAPPA,
    LOW,
    MOST_C33,
    ONE,
    QUARTER,
    ZERO,
    Corner,
    high_members,
    kuhn3,
    low_members,
    measured,
    most_b32,
    plan,
    profile,
    second,
    third,
)

from eqbench.studies.crossplay.measure import crossplay
from eqbench.verification import Verification


@pytest.mark.parametrize(("members", "base"), [(low_members, LOW), (high_members, HIGH)])
def test_plans_of_player_2_are_mixtures_of_the_corners(
    members: Callable[[], Iterator[tuple[Corner, list[Fraction]]]], base: list[Corner]
) -> None:
    plans = [plan(second(corner)) for corner in base]
    count = 0
    for corner, weights in members():
        assert min(weights) >= 0
        assert sum(weights) == 1
        mixture = [
            sum(w * x for w, x in zip(weights, xs, strict=True)) for xs in zip(*plans, strict=True)
        ]
        assert plan(second(corner)) == mixture
        count += 1
    assert count >= 30


@pytest.mark.parametrize(("c11", "base"), [(ZERO, LOW), (HALF, HIGH)])
def test_corners_of_player_2_belong_to_equilibria(c11: Fraction, base: list[Corner]) -> None:
    """§5, Table 3: with the right c33 each of them is part of a member of the family."""
    for b11, b21, y, b32 in base:
        least = max(ZERO, HALF - b32)
        most = most_b32(b11, b21) - b32
        for c33 in {least, most}:
            found = measured(second((b11, b21, y, b32)), third(c11, c33))
            assert found.max_regret == 0
            beta = max(b11, b21)
            assert found.payoffs == (-KAPPA * (HALF + beta), -KAPPA / 2, KAPPA * (1 + beta))


def third_sub_family(b11: Fraction) -> tuple[Fraction, Fraction]:
    """Table 3: the largest c11 and, at b32 = 0, the largest c33 where b21 = b11."""
    return min(HALF, (2 - b11) / (3 + 4 * b11)), most_b32(b11, b11)


@pytest.mark.parametrize("b11", [ZERO, Fraction(1, 12), Fraction(1, 5), QUARTER])
def test_strategies_for_c11_between_mix_those_of_the_other_sub_families_but_for_c33(
    b11: Fraction,
) -> None:
    """Player 2's plan is a mixture of corners with b11 = b21; player 3's c11 is one of 0 and 1/2.

    No payoff depends on c33, so worst cases over the family lie at corners of two sub-families.
    """
    most_c11, most_c33 = third_sub_family(b11)
    for share in (ZERO, Fraction(2, 7), ONE):
        two = second((b11, b11, ZERO, share * most_b32(b11, b11)))
        weights = {(ZERO, ZERO): 1 - 4 * b11, (QUARTER, QUARTER): 4 * b11}
        ends = [
            (weight * part, plan(second((*bluffs, ZERO, high * most_b32(*bluffs)))))
            for bluffs, weight in weights.items()
            for high, part in ((0, 1 - share), (1, share))
        ]
        assert plan(two) == [
            sum(weight * end[k] for weight, end in ends) for k in range(len(plan(two)))
        ]
    two = second((b11, b11, ZERO, ZERO))
    member = measured(two, third(most_c11, most_c33))
    assert member.max_regret == 0
    low, high = (measured(two, third(c11, HALF)).payoffs for c11 in (ZERO, HALF))
    assert member.payoffs == tuple(
        (1 - 2 * most_c11) * x + 2 * most_c11 * y for x, y in zip(low, high, strict=True)
    )


def test_c33_of_the_sub_family_between_is_not_always_a_mixture() -> None:
    """At b11 = 1/4, (c11, c33) may be (7/16, 15/16). Mixtures of the others stay below it."""
    highest = [max(most_b32(c[0], c[1]) for c in base) for base in (LOW, HIGH)]
    assert highest == [MOST_C33, Fraction(19, 24)]
    c11, c33 = third_sub_family(QUARTER)
    assert (c11, c33) == (Fraction(7, 16), Fraction(15, 16))
    assert c33 > (1 - 2 * c11) * highest[0] + 2 * c11 * highest[1]


# -- equilibria are not interchangeable ----------------------------------------------------


def test_switching_to_another_equilibrium_changes_payoffs() -> None:
    """§6: if all switch, payoffs can change. Here those of players 1 and 3 do, by kappa/4."""
    nothing = measured(second((ZERO, ZERO, ZERO, ZERO)), third(ZERO, HALF))
    everything = measured(second((QUARTER, QUARTER, ZERO, ZERO)), third(ZERO, HALF))
    assert nothing.max_regret == everything.max_regret == 0
    change = [b - a for a, b in zip(nothing.payoffs, everything.payoffs, strict=True)]
    assert change == [-KAPPA / 4, 0, KAPPA / 4]


def table_4(beta: Fraction, c33: Fraction) -> Verification:
    """Player 2 of c11 = 1/2 with b21 = 0 and the largest b23; player 3 of c11 = 0."""
    return measured(second((beta, ZERO, beta / 2, ZERO)), third(ZERO, c33))


def test_table_4_is_read_right() -> None:
    """§6, Table 4: b11 = 1/4, b23 = 1/8, b33 = 5/8, b41 = 1/2, the other b are 0."""
    two = second((QUARTER, ZERO, EIGHTH, ZERO))
    printed = {"11": QUARTER, "23": EIGHTH, "33": Fraction(5, 8), "41": HALF}
    assert {name: value for name, value in two.items() if value} == printed


@pytest.mark.parametrize("beta", [QUARTER, EIGHTH, Fraction(1, 7), ZERO])
def test_payoffs_of_table_4_hold_for_every_beta(beta: Fraction) -> None:
    """§6, Table 4: u1 = -kappa/2, u2 = -kappa (1/2 + beta), u3 = kappa (1 + beta)."""
    found = table_4(beta, QUARTER)
    assert found.payoffs == (-KAPPA / 2, -KAPPA * (HALF + beta), KAPPA * (1 + beta))


def test_two_players_gain_by_leaving_table_4() -> None:
    """§6 names player 2, who gains kappa beta. Player 1 gains 2 kappa, eight times as much.

    c33 = 1/4 is below 1/2 - b32 = 1/2, so that player 1 bets with cards 1 and 2.
    """
    assert table_4(QUARTER, QUARTER).regrets == (2 * KAPPA, KAPPA / 4, 0)


def test_gain_of_player_1_in_table_4_comes_from_c33_alone() -> None:
    """With c33 in [1/2, 11/16] only player 2 gains; no payoff depends on c33.

    Table 3 with these b allows up to 3/4, which is too much here: du1/da41 is kappa times
    (4 (b32 + c33) - 2 - 3 b11 - 4 b21 - 2 c11 (b11 - b21)) / 2, and c11 is 0, not 1/2.
    """
    gains = {HALF: ZERO, Fraction(11, 16): ZERO, HALF + QUARTER: KAPPA / 8}
    for c33, gain in gains.items():
        found = table_4(QUARTER, c33)
        assert found.regrets == (gain, KAPPA / 4, 0)
        assert found.payoffs == table_4(QUARTER, QUARTER).payoffs


def test_player_2_regains_all_by_a_strategy_for_c11_0() -> None:
    """§6: player 2 gains kappa beta by deviating to the c11 = 0 sub-family."""
    best = measured(second((ZERO, ZERO, ZERO, ZERO)), third(ZERO, QUARTER)).payoffs[1]
    assert best - table_4(QUARTER, QUARTER).payoffs[1] == KAPPA / 4


def test_exchange_of_players_between_two_equilibria_shows_the_same() -> None:
    """§6 as a cross-play: A is of the c11 = 1/2 sub-family, B of c11 = 0, both equilibria."""
    entries = [
        ("A", profile(second((QUARTER, ZERO, EIGHTH, ZERO)), third(HALF, HALF))),
        ("B", profile(second((ZERO, ZERO, ZERO, ZERO)), third(ZERO, HALF))),
    ]
    result = crossplay(kuhn3(), entries, exact=True)
    assert result.interchangeable[0].all(), "player 1 always plays the same"
    # player 2 of A among B is Table 4 but for c33; player 3 of B among A is that again
    assert result.interchangeable[1].tolist() == [[True, False], [True, True]]
    assert result.interchangeable[2].tolist() == [[True, True], [False, True]]
    assert result.swap_regrets[1, 0, 1].tolist() == [0, KAPPA / 4, 0]
    assert result.n_strategies == (1, 2, 2)
    assert result.n_equilibria == 3, "of 4; A's player 2 against B's player 3 is none"


# -- payoffs over the whole family -----------------------------------------------------


def test_payoffs_when_strategies_of_the_family_are_mixed() -> None:
    """Closed forms behind §6, proved by 24 exact values.

    With beta as a coordinate of its own, both sides are affine in (b11, b21, beta, y, b32), the
    other coordinates fixed, and affine in (c11, c33, c34). Such a function is determined by its
    values on 6 times 4 affinely independent points, whether or not these are in the family.
    """
    step = EIGHTH
    moves = [[step * (i == j) for i in range(5)] for j in range(5)]
    for b11, b21, beta, y, b32 in [[ZERO] * 5, *moves]:
        two = second((b11, b21, y, b32), beta)
        for c11, c33, c34 in [[ZERO] * 3, [HALF, ZERO, ZERO], [ZERO, ONE, ZERO], [ZERO, ZERO, ONE]]:
            transferred = (1 - 2 * c11) * b21 + 2 * c11 * b11
            lost = 2 * y * (1 - 2 * c11)
            assert measured(two, third(c11, c33, c34)).payoffs == (
                -KAPPA * (HALF + transferred),
                -KAPPA * (HALF + lost),
                KAPPA * (1 + transferred + lost),
            )
