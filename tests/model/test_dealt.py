"""Deals, and trees built from them in bulk."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from helpers.walks import children, follow

from eqbench.errors import GameFormatError, GameTooLargeError
from eqbench.model.assemble import check_tree
from eqbench.model.dealt import (
    Deals,
    DealtRules,
    PublicChance,
    all_deals,
    build_dealt,
    independent_deals,
)
from eqbench.model.profile import BehaviorProfile
from eqbench.model.size_limit import node_limit
from eqbench.model.tree import CHANCE, GameTree, Payoffs
from eqbench.verification import verify_exactly


def guessing_game(deals: Deals, public: PublicChance | None = None) -> GameTree:
    """P1 stops, and loses the own card, or continues and wins it; before, a card may come up."""

    def turn(history: str) -> tuple[int, tuple[str, ...]] | None:
        if public and not history:
            return CHANCE, ("1", "2", "3", "4")
        return None if history.endswith(("s", "c")) else (0, ("stop", "continue"))

    def payoffs(history: str, cards: np.ndarray) -> tuple[np.ndarray]:
        return (cards * (1 if history.endswith("c") else -1),)

    rules = DealtRules(
        deals=deals,
        turn=turn,
        after=lambda history, move: history + move[0],
        payoffs=payoffs,
        public_chance=public,
    )
    return build_dealt(rules, Payoffs)


def chances(tree: GameTree, node: int) -> list[Fraction]:
    below = list(children(tree, node))
    return [Fraction(n, tree.chance_denominator) for n in tree.chance[below].tolist()]


def one_by_one(deals: Deals) -> Deals:
    return Deals(deals.cards, deals.weights, one_by_one=True)


def test_all_deals_are_permutations_in_order() -> None:
    deals = all_deals(3, 2)
    assert deals.cards.tolist() == [[1, 2], [1, 3], [2, 1], [2, 3], [3, 1], [3, 2]]
    assert deals.weights.tolist() == [1] * 6


def test_independent_draws_multiply_their_weights() -> None:
    deals = independent_deals([1, 3], 2)
    assert deals.cards.tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    assert deals.weights.tolist() == [1, 3, 3, 9]


@pytest.mark.parametrize("make", [lambda: all_deals(200, 3), lambda: independent_deals([1] * 9, 7)])
def test_too_many_deals_are_refused(make: Callable[[], Deals]) -> None:
    with pytest.raises(GameFormatError, match="2,000,000"):
        make()


def test_joint_deal_is_one_chance_move_with_its_probabilities() -> None:
    tree = guessing_game(independent_deals([1, 3], 2))
    assert chances(tree, 0) == [Fraction(n, 16) for n in (1, 3, 3, 9)]


def test_cards_dealt_one_by_one_have_conditional_probabilities() -> None:
    cards = np.array([[1, 1], [1, 2], [2, 1], [2, 2], [2, 3]])
    weights = np.array([1, 2, 3, 3, 1])
    tree = guessing_game(Deals(cards, weights, one_by_one=True))
    assert chances(tree, 0) == [Fraction(3, 10), Fraction(7, 10)]
    assert chances(tree, 1) == [Fraction(1, 3), Fraction(2, 3)]
    assert chances(tree, 2) == [Fraction(3, 7), Fraction(3, 7), Fraction(1, 7)]


@pytest.mark.parametrize("deals", [all_deals(4, 2), independent_deals([1, 3, 2], 2)])
def test_dealing_one_by_one_or_at_once_is_the_same_game(deals: Deals) -> None:
    joint, stepwise = guessing_game(deals), guessing_game(one_by_one(deals))
    behavior = np.tile([0.25, 0.75], joint.n_infosets)
    measured = [
        verify_exactly(tree, BehaviorProfile.of(tree, behavior)) for tree in (joint, stepwise)
    ]
    assert joint.infoset_labels == stepwise.infoset_labels
    assert measured[0] == measured[1]
    assert stepwise.n_nodes > joint.n_nodes


def is_left(card: str, cards: np.ndarray) -> np.ndarray:
    return np.all(cards != int(card), axis=1)


def test_public_card_is_uniform_over_what_is_left() -> None:
    tree = guessing_game(all_deals(4, 2), PublicChance(2, is_left))
    assert chances(tree, follow(tree, [0])) == [Fraction(1, 2)] * 2
    deal_1_3 = [tree.infoset_labels[tree.infoset[follow(tree, [1, k])]] for k in (0, 1)]
    assert deal_1_3 == ["1:2", "1:4"]
    assert tree.n_infosets == 4 * 3


def test_wrong_number_of_public_cards_is_refused() -> None:
    with pytest.raises(GameFormatError, match="sum to"):
        check_tree(guessing_game(all_deals(4, 2), PublicChance(3, is_left)))


def test_games_with_too_many_nodes_are_refused() -> None:
    rules = DealtRules(
        deals=all_deals(3, 2),
        turn=lambda history: (0, ("on",)),
        after=lambda history, move: history + "o",
        payoffs=lambda history, cards: (cards,),
    )
    with node_limit(1000), pytest.raises(GameTooLargeError, match="1,000"):
        build_dealt(rules, Payoffs)
