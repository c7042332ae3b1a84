"""Three-player Kuhn poker with N cards in Billingham 2018, sections 2 and 5.

How many solutions coexist depends on eps; each test says which one it uses.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from arclength_cases import EXACT, Trace, reduced_kuhn, trace

from eqbench.equilibria.kuhn_ranges import KuhnNodes, Range, strategy_ranges
from eqbench.model.profile import BehaviorProfile
from eqbench.verification import Verifier


@pytest.mark.parametrize(
    ("cards", "pot", "count", "window"),
    [
        (4, "419/100", 3, (2, 16)),  # section 5.1, "close to" a pot that the text has lost
        (5, "5202/1000", 5, (4, 16)),  # section 5.2: "multiplicity of up to five"
        (10, "7/2", 15, (2, 3.9)),  # section 5: "up to fifteen"
    ],
)
def test_as_many_solutions_coexist_as_published(
    cards: int, pot: str, count: int, window: tuple[float, float]
) -> None:
    """Crossings of one pot at eps = 1e-7 with the log barrier, polished and verified."""
    branch = trace(reduced_kuhn(cards), *window, 1e-7)
    at = branch.continuation.game_at(float(Fraction(pot)))
    verifier, payoffs = Verifier(at.tree), []
    for behavior in branch.polished_at(pot):
        measured = verifier.verify(BehaviorProfile.of(at.tree, behavior))
        assert float(measured.max_regret) <= EXACT
        payoffs.append([float(payoff) for payoff in measured.payoffs])
    assert len(np.unique(np.round(payoffs, 8), axis=0)) >= count


@pytest.mark.parametrize("cards", [4, 6, 13])
def test_profits_begin_at_a_pot_of_two_over_cards_less_three(cards: int) -> None:
    """Section 2: below P_min all expectations are zero, above it they are not.

    P_min is taken from the branch: it is the pot at which polished points leave zero payoffs.
    """
    smallest = 2 / (cards - 3)
    branch = trace(reduced_kuhn(cards), 0.8 * smallest, 1.3 * smallest, 1e-9)
    polished = [branch.continuation.polish(point) for point in branch.points]
    model = branch.continuation.system.model_at
    assert max(model(pot).regrets(behavior).max() for behavior, pot in polished) <= EXACT
    pots = np.array([pot for _, pot in polished])
    payoffs = np.array([branch.payoffs_of(behavior, pot) for behavior, pot in polished])
    idle = np.abs(payoffs).max(axis=1) <= EXACT
    last = np.flatnonzero(idle)[-1]
    assert pots[last] == pytest.approx(smallest, abs=1e-9)
    assert idle[: last + 1].all()
    assert pots[0] < 0.81 * smallest
    assert (pots[last + 1 :] > smallest).all()
    assert np.abs(payoffs[last + 1 :]).max(axis=1).min() > 1e-6
    assert pots[-1] > 1.29 * smallest


@pytest.mark.parametrize(
    ("cards", "before", "after", "both"),
    [(5, 16.3, 17, 43.5), (6, 25, 41.4, 49.5)],
)
def test_player_two_becomes_the_biggest_loser_with_five_or_more_cards(
    cards: int, before: float, after: float, both: float
) -> None:
    """Section 5: for smaller pots later players profit more; for large ones player 2 loses most
    and both others profit. Not so with four cards: see the tests of that game.

    Measured on the branch from a pot of 10 to one of 60; where there are several solutions
    they agree below the first pot and above the second and the third one.
    """
    branch = trace(reduced_kuhn(cards), 10, 60, 1e-7)
    pots, (first, second, third) = branch.values, branch.payoffs.T
    assert pots.min() < 10.01
    assert pots.max() > 60
    early, late, last = pots < before, pots > after, pots > both
    assert ((first < second) & (second < third))[early].all()
    assert ((second < first) & (first < third))[late].all()
    assert ((first > 0) & (third > 0))[last].all()
    assert not (first > 0)[~late].any()


def two_way_bets(branch: Trace) -> dict[tuple[int, int], int]:
    """How many points of a branch have a two-way bet, by node and card."""
    nodes = KuhnNodes.of(branch.continuation.system.game.tree)
    found: dict[tuple[int, int], int] = {}
    for point in branch.points:
        ranges = strategy_ranges(nodes.aggression(point.behavior)).aggressive
        for row, card in np.argwhere(ranges == Range.TWO_WAY_BET).tolist():
            found[row + 1, card + 1] = found.get((row + 1, card + 1), 0) + 1
    return found


def test_player_three_makes_two_way_bets_with_thirteen_cards() -> None:
    """Figure 10: at node 3 with mid-value cards, for value against one and a bluff against the
    other player. There with cards 5 and 6; its pot is not in the text.
    """
    branch = trace(reduced_kuhn(13), 5, 5.3, 1e-6)
    cards = {card for node, card in two_way_bets(branch) if node == 3}
    assert 6 in cards
    assert cards <= {5, 6, 7}


@pytest.mark.parametrize("cards", [4, 5])
def test_two_way_bets_need_more_than_five_cards(cards: int) -> None:
    """Sections 5.1 and 5.2: with so few cards ranges remain clearly distinct."""
    assert two_way_bets(trace(reduced_kuhn(cards), 2, 6, 1e-7)) == {}
