"""Liar's dice: rules, labels and refusals."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from tree_path import children, label_at, payoffs_at

import eqbench
from eqbench.model.tree import GameTree


@pytest.fixture(scope="module")
def tree() -> GameTree:
    return eqbench.load_game("liars_dice(sides=3)").tree


def test_labels_tell_roll_and_claims(tree: GameTree) -> None:
    claims = ("1x1", "1x2", "1x3", "2x1", "2x2", "2x3")
    assert label_at(tree, [5]) == ("P1", "2:", claims)  # rolls 11 12 13 21 22 23
    assert label_at(tree, [5, "1x2"]) == ("P2", "3:1x2", (*claims[2:], "liar"))
    assert label_at(tree, [5, "1x2", "2x1"]) == ("P1", "2:1x2,2x1", ("2x2", "2x3", "liar"))
    assert label_at(tree, [0, "2x3"]) == ("P2", "1:2x3", ("liar",))


def test_rolls_of_several_dice_are_unordered_with_their_probabilities() -> None:
    tree = eqbench.load_game("liars_dice(dice=2, sides=3)").tree
    orders = Counter(tuple(sorted(roll)) for roll in product((1, 2, 3), repeat=2))
    expected = [
        Fraction(first * second, 81)
        for first, second in product([orders[roll] for roll in sorted(orders)], repeat=2)
    ]
    numerators = tree.chance[list(children(tree, 0))].tolist()
    assert [Fraction(value, tree.chance_denominator) for value in numerators] == expected
    assert label_at(tree, [0, "1x2"])[1] == "1,1:1x2"
    assert label_at(tree, [6])[1] == "1,2:"


def test_three_players_pay_only_caller_and_claimant() -> None:
    tree = eqbench.load_game("liars_dice(sides=2, players=3)").tree
    assert label_at(tree, [0, "1x1", "2x1"]) == ("P3", "1:1x1,2x1", ("2x2", "3x1", "3x2", "liar"))
    assert payoffs_at(tree, [0, "3x1", "liar"]) == [1, -1, 0]
    assert payoffs_at(tree, [0, "1x1", "3x2", "liar"]) == [0, -1, 1]
    assert payoffs_at(tree, [0, "1x1", "2x1", "3x1", "liar"]) == [-1, 0, 1]
