"""Equilibrium selection in three-player Kuhn poker, in exact arithmetic.

Szafron, Gibson and Sturtevant 2013, "A parameterized family of equilibrium profiles for
three-player Kuhn poker", §6: what happens when every player follows a strategy of the family of
Tables 2 and 3, but not of the same member. One test per claim.

Symbols: kappa = 1/24; y = b23 (1 - b21), which is what b23 contributes to the realization plan of
player 2; beta = max(b11, b21).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import pytest
from szafron_strategies import (
    EIGHTH,
    HALF,
    HIGH,
    LOW,
    MOST_C33,
    ONE,
    QUARTER,
    SECOND,
    THIRD,
    ZERO,
    Corner,
    Strategy,
    high_members,
    kuhn3,
    low_members,
    most_b32,
    plan,
    profile,
    second,
    third,
)

from eqbench.studies.crossplay import Crossplay, crossplay_exactly
from eqbench.verification import Verification, verify_exactly

KAPPA = Fraction(1, 24)


def measured(two: Strategy, three: Strategy) -> Verification:
    return verify_exactly(kuhn3().tree, profile(two, three))


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
    return crossplay_exactly(kuhn3(), entries)


def mixed_payoff(player: int, two: Corner, three: tuple[Fraction, ...]) -> Fraction:
    return mixed_family().payoffs[player, 0, SECOND.index(two), THIRD.index(three)]


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
    result = crossplay_exactly(kuhn3(), entries)
    assert result.interchangeable[0].all(), "player 1 always plays the same"
    # player 2 of A among B is Table 4 but for c33; player 3 of B among A is that again
    assert result.interchangeable[1].tolist() == [[True, False], [True, True]]
    assert result.interchangeable[2].tolist() == [[True, True], [False, True]]
    assert result.swap_regrets[1, 0, 1].tolist() == [0, KAPPA / 4, 0]
    assert result.n_equilibria == 6, "of 8; A's player 2 against B's player 3 fails twice"


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


# -- player 2 ------------------------------------------------------------------------------


def worst_of_player_2(two: Corner) -> Fraction:
    """Worst case of player 2 over the strategies of player 3 (player 1 has one)."""
    return min(mixed_payoff(1, two, three) for three in THIRD)


def test_player_2_with_equal_bluffs_is_sure_of_the_equilibrium_payoff() -> None:
    """§6: -kappa/2 is the best worst case, and b11 = b21 secures it (then y = 0)."""
    equal = [corner for corner in SECOND if corner[0] == corner[1]]
    assert len(equal) == 6
    assert {worst_of_player_2(corner) for corner in equal} == {-KAPPA / 2}
    assert max(map(worst_of_player_2, SECOND)) == -KAPPA / 2


def test_player_2_is_safe_exactly_when_b23_is_0() -> None:
    """§6, sharpened: by the closed form the worst case is -kappa (1/2 + 2 y), at c11 = 0.

    And y = 0 exactly when b23 = 0, since b21 <= 1/4 (Lemma 2). The corners with y = 0 include
    such with b11 < b21 and with b11 > b21.
    """
    for corner in SECOND:
        assert worst_of_player_2(corner) == -KAPPA * (HALF + 2 * corner[2])
    safe = [corner for corner in SECOND if worst_of_player_2(corner) == -KAPPA / 2]
    assert any(b11 < b21 for b11, b21, _, _ in safe)
    assert any(b11 > b21 for b11, b21, _, _ in safe)
    assert min(map(worst_of_player_2, SECOND)) == -KAPPA * Fraction(3, 4)


def test_payoff_of_player_2_need_not_grow_with_c11() -> None:
    """§6 has du2/dc11 > 0; it is 4 kappa b23 (1 - b21) >= 0, and 0 where b23 = 0."""
    for corner in SECOND:
        slope = (mixed_payoff(1, corner, (HALF, ZERO, ZERO)) - worst_of_player_2(corner)) / HALF
        assert slope == 4 * KAPPA * corner[2]
    assert {corner[2] for corner in SECOND} == {ZERO, EIGHTH}


def test_safe_strategy_of_player_2_meets_c11_0_in_an_equilibrium_but_for_c33() -> None:
    """§6: (sigma1, sigma2, sigma3) is an equilibrium except possibly at c33. The exception is
    real: with c33 out of range player 1 gains, though no payoff changes."""
    two = second((EIGHTH, EIGHTH, ZERO, ZERO))
    within, below = measured(two, third(ZERO, HALF)), measured(two, third(ZERO, QUARTER))
    above = measured(two, third(ZERO, MOST_C33))
    assert within.max_regret == 0
    assert below.regrets == (2 * KAPPA, 0, 0)
    assert above.regrets[0] > 0
    assert within.payoffs == below.payoffs == above.payoffs


# -- player 3 and player 1 -------------------------------------------------------------


def test_player_3_is_sure_of_kappa_with_c11_0() -> None:
    """§6: kappa is the best worst case of player 3, and c11 = 0 secures it."""
    for three in THIRD:
        if three[0] == 0:
            assert min(mixed_payoff(2, two, three) for two in SECOND) == KAPPA


def test_every_strategy_of_the_family_makes_player_3_sure_of_kappa() -> None:
    """§6, sharpened: c11 = 0 is not needed. All corners of the box have the worst case kappa,
    at b11 = b21 = b23 = 0, and so has every mixture of them."""
    nothing = (ZERO, ZERO, ZERO, ZERO)
    for three in THIRD:
        assert min(mixed_payoff(2, two, three) for two in SECOND) == KAPPA
        assert mixed_payoff(2, nothing, three) == KAPPA


def test_neither_c11_is_always_the_better_one_for_player_3() -> None:
    """Beside the worst case, c11 = 0 earns more where b21 > b11 and less where b11 > b21."""
    for two, gain in (((ZERO, QUARTER, ZERO, ZERO), 1), ((QUARTER, ZERO, ZERO, ZERO), -1)):
        none, half = (mixed_payoff(2, two, (c11, ZERO, ZERO)) for c11 in (ZERO, HALF))
        assert none - half == gain * KAPPA / 4


def test_payoff_of_player_3_falls_with_no_parameter_of_player_2_at_c11_0() -> None:
    """§6: at c11 = 0 no derivative of u3 by a free parameter of player 2 is negative.

    Moves that keep the dependent parameters b33 and b41 as Table 3 has them: u3 grows by kappa
    with b21 and by 2 kappa with y, and does not change with b11 and b32.
    """
    start = measured(second((ZERO, ZERO, ZERO, ZERO)), third(ZERO, HALF)).payoffs[2]
    slopes = []
    for k in range(4):
        moved = second(tuple(EIGHTH * (j == k) for j in range(4)))
        slopes.append((measured(moved, third(ZERO, HALF)).payoffs[2] - start) / EIGHTH)
    assert slopes == [0, KAPPA, 2 * KAPPA, 0]


def test_player_1_has_no_choice_and_loses_no_more_than_in_the_worst_equilibrium() -> None:
    """§6 fixes player 1's strategy. Mixing costs it nothing: -kappa (1/2 + 1/4) at worst, as in
    the equilibria with beta = 1/4."""
    payoffs = [mixed_payoff(0, two, three) for two in SECOND for three in THIRD]
    assert min(payoffs) == -KAPPA * Fraction(3, 4)
    assert max(payoffs) == -KAPPA / 2
    with_most = measured(second((QUARTER, QUARTER, ZERO, ZERO)), third(ZERO, HALF))
    assert with_most.max_regret == 0
    assert with_most.payoffs[0] == min(payoffs)


def test_no_corner_is_safe_from_others_who_act_as_one_outside_the_family() -> None:
    """The guarantees of §6 are against strategies of the family, and against these only."""
    guaranteed = mixed_family().guaranteed.payoffs
    assert set(guaranteed[0]) == {-5 * KAPPA}
    assert max(guaranteed[1]) == -3 * KAPPA < -KAPPA / 2
    assert max(guaranteed[2]) == -5 * KAPPA < KAPPA
