"""Deals, and trees built from them in bulk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from helpers.walks import children, follow

from eqbench.errors import GameFormatError, GameTooLargeError
from eqbench.model.assemble import check_tree
from eqbench.model.dealt import (
    DealtLayout,
    DealtRules,
    Hands,
    PublicCards,
    public_tree,
    single_cards,
)
from eqbench.model.profile import BehaviorProfile
from eqbench.model.size_limit import node_limit
from eqbench.model.tree import CHANCE, GameTree, Payoffs
from eqbench.verification import verify_exactly


def build(rules: DealtRules, paid: Callable[[str, np.ndarray], np.ndarray]) -> GameTree:
    """The tree of rules, with payoffs by histories and deals."""
    public = public_tree(rules)

    def of_nodes(nodes: np.ndarray, cards: np.ndarray) -> tuple[np.ndarray]:
        ends = [paid(public.histories[v], cards) for v in nodes.tolist()]
        return (np.stack(ends, axis=1),)

    return DealtLayout(public, of_nodes).build(Payoffs)


def guessing_game(hands: Hands, public: PublicCards | None = None) -> GameTree:
    """P1 stops, and loses the own card, or continues and wins it; before, a card may come up."""

    def turn(history: str) -> tuple[int, tuple[str, ...]] | None:
        if public and not history:
            return CHANCE, ("1", "2", "3", "4")
        return None if history.endswith(("s", "c")) else (0, ("stop", "continue"))

    rules = DealtRules(hands, turn, lambda history, move: history + move[0], public=public)
    return build(rules, lambda history, cards: cards * (1 if history.endswith("c") else -1))


def chances(tree: GameTree, node: int) -> list[Fraction]:
    below = list(children(tree, node))
    return [Fraction(n, tree.chance_denominator) for n in tree.chance[below].tolist()]


def independent(weights: list[int], *, one_by_one: bool = False) -> Hands:
    """Cards that two players draw independently of each other."""
    cards = np.zeros((len(weights), 0), dtype=np.int64)
    return Hands(tuple("123"[: len(weights)]), cards, np.array([weights] * 2), one_by_one)


def test_all_deals_are_permutations_in_order() -> None:
    cards, weights = single_cards(3, 2).deals()
    assert cards.tolist() == [[1, 2], [1, 3], [2, 1], [2, 3], [3, 1], [3, 2]]
    assert weights.tolist() == [1] * 6


def test_independent_draws_multiply_their_weights() -> None:
    cards, weights = independent([1, 3]).deals()
    assert cards.tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    assert weights.tolist() == [1, 3, 3, 9]


def test_too_many_deals_are_refused() -> None:
    with pytest.raises(GameFormatError, match="2,000,000"):
        single_cards(200, 3).deals()


def test_joint_deal_is_one_chance_move_with_its_probabilities() -> None:
    tree = guessing_game(independent([1, 3]))
    assert chances(tree, 0) == [Fraction(n, 16) for n in (1, 3, 3, 9)]


def test_cards_dealt_one_by_one_have_conditional_probabilities() -> None:
    hands = Hands(
        ("a", "b", "c"), np.array([[0], [1], [2]]), np.array([[3, 1, 0], [0, 2, 1]]), True
    )
    tree = guessing_game(hands)  # a meets b or c, b only c
    assert chances(tree, 0) == [Fraction(9, 10), Fraction(1, 10)]
    assert chances(tree, 1) == [Fraction(2, 3), Fraction(1, 3)]
    assert chances(tree, 2) == [1]


@pytest.mark.parametrize("hands", [single_cards(4, 2), independent([1, 3, 2])])
def test_dealing_one_by_one_or_at_once_is_the_same_game(hands: Hands) -> None:
    joint, stepwise = guessing_game(hands), guessing_game(replace(hands, one_by_one=True))
    behavior = np.tile([0.25, 0.75], joint.n_infosets)
    measured = [
        verify_exactly(tree, BehaviorProfile.of(tree, behavior)) for tree in (joint, stepwise)
    ]
    assert joint.infoset_labels == stepwise.infoset_labels
    assert measured[0] == measured[1]
    assert stepwise.n_nodes > joint.n_nodes


def taken(card: str) -> np.ndarray:
    return np.arange(1, 5) == int(card)


def test_public_card_is_uniform_over_what_is_left() -> None:
    tree = guessing_game(single_cards(4, 2), PublicCards(2, taken))
    assert chances(tree, follow(tree, [0])) == [Fraction(1, 2)] * 2
    deal_1_3 = [tree.infoset_labels[tree.infoset[follow(tree, [1, k])]] for k in (0, 1)]
    assert deal_1_3 == ["1:2", "1:4"]
    assert tree.n_infosets == 4 * 3


def test_wrong_number_of_public_cards_is_refused() -> None:
    with pytest.raises(GameFormatError, match="sum to"):
        check_tree(guessing_game(single_cards(4, 2), PublicCards(3, taken)))


def test_games_with_too_many_nodes_are_refused() -> None:
    def turn(history: str) -> tuple[int, tuple[str, ...]] | None:
        return None if len(history) == 300 else (0, ("on",))

    rules = DealtRules(single_cards(3, 2), turn, lambda history, move: history + "o")
    with node_limit(1000), pytest.raises(GameTooLargeError, match="1,000"):
        build(rules, lambda history, cards: cards)


def test_public_trees_without_end_are_refused() -> None:
    rules = DealtRules(single_cards(3, 2), lambda _: (0, ("on",)), lambda history, _: history + "o")
    with pytest.raises(GameTooLargeError, match="more than"):
        public_tree(rules, 1000)


# the third player always has the first card; the first card comes up only if the first player lacks
# it; hands of three players share cards
DEALT = {
    "first hands that leave none": (["0", "1", "2"], [[1, 1, 1], [1, 1, 1], [1, 0, 0]], None),
    "boards that never come up": (["0", "1", "2"], [[1, 0, 0], [0, 1, 1]], "012"),
    "hands with a card in common": (["0", "1", "2", "2"], [[1, 1, 1, 1]] * 3, None),
}


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("case", DEALT)
def test_nodes_are_counted_as_the_tree_has_them(case: str, *, one_by_one: bool) -> None:
    held, weights, board = DEALT[case]
    numbers = np.array(held, dtype=np.int64)
    hands = Hands(tuple("abcd"[: len(held)]), numbers[:, None], np.array(weights), one_by_one)
    drawn = PublicCards(1, lambda name: numbers == int(name)) if board else None

    def turn(history: str) -> tuple[int, tuple[str, ...]] | None:
        if board and not history:
            return CHANCE, tuple(board)
        return None if history.endswith("s") else (0, ("stop",))

    rules = DealtRules(hands, turn, lambda history, move: history + move[0], public=drawn)
    tree = build(rules, lambda _, cards: cards)
    public = public_tree(rules)
    assert (public.n_nodes, public.n_terminals) == (tree.n_nodes, tree.n_terminals)
    assert hands.total(count=True) == len(hands.deals()[0])


def test_games_without_a_deal_are_refused() -> None:
    hands = Hands(("a", "b"), np.array([[0], [0]]), np.ones((2, 2), dtype=np.int64))
    with pytest.raises(GameFormatError, match="no deal is possible"):
        guessing_game(hands)
