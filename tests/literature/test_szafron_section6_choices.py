"""Which strategy to choose in three-player Kuhn poker, player by player, in exact arithmetic.

Szafron, Gibson and Sturtevant 2013, §6: worst cases over what the others may play if all stay
within the family of Tables 2 and 3. One test per claim.

Symbols: kappa = 1/24; y = b23 (1 - b21), which is what b23 contributes to the realization plan of
player 2; beta = max(b11, b21).
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from szafron_strategies import (
    EIGHTH,
    HALF,
    KAPPA,
    MOST_C33,
    ONE,
    QUARTER,
    SECOND,
    THIRD,
    ZERO,
    Corner,
    measured,
    mixed_family,
    mixed_payoff,
    second,
    third,
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


@pytest.mark.parametrize("c34", [ZERO, ONE])
def test_worst_answer_to_c11_0_makes_an_equilibrium_with_c33_1_2_and_no_other(
    c34: Fraction,
) -> None:
    """§6: (sigma1, sigma2', sigma3), b11 = b21 = b23 = b32 = 0, is an equilibrium "except
    possibly at c33". Table 3 leaves c33 = 1/2 alone: 1/2 - b32 <= c33 <= 1/2 - b32.

    Below it player 1 bets with cards 1 and 2, above it with card 4. The gain is convex in c33.
    Its values at 0, 1/4 and 1/2 lie on a line, and so do those at 1/2, 3/4 and 1. Hence it is
    linear on both sides, and 0 at c33 = 1/2 only.
    """
    worst = second((ZERO, ZERO, ZERO, ZERO))
    gains = {
        ZERO: 4 * KAPPA,
        QUARTER: 2 * KAPPA,
        HALF: ZERO,
        Fraction(3, 4): KAPPA / 2,
        ONE: KAPPA,
    }
    for c33, gain in gains.items():
        found = measured(worst, third(ZERO, c33, c34))
        assert found.regrets == (gain, 0, 0)
        assert found.payoffs == (-KAPPA / 2, -KAPPA / 2, KAPPA)


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
