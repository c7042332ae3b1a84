"""Goofspiel: rules, labels and refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tree_path import label_at, payoffs_at

import eqbench
from eqbench.model.tree import GameTree


@pytest.fixture(scope="module")
def two() -> GameTree:
    return eqbench.load_game("goofspiel").tree


@pytest.fixture(scope="module")
def three() -> GameTree:
    return eqbench.load_game("goofspiel(cards=3, players=3)").tree


def test_labels_tell_own_bids_and_winners(two: GameTree) -> None:
    assert label_at(two, []) == ("P1", ":", ("1", "2", "3", "4"))
    assert label_at(two, ["3"]) == ("P2", ":", ("1", "2", "3", "4"))
    assert label_at(two, ["3", "4"]) == ("P1", "3:2", ("1", "2", "4"))
    assert label_at(two, ["3", "4", "1"]) == ("P2", "4:2", ("1", "2", "3"))
    assert label_at(two, ["3", "4", "1", "1"]) == ("P1", "31:2=", ("2", "4"))


def test_bids_of_others_stay_hidden(two: GameTree) -> None:
    assert label_at(two, ["1", "3"]) == label_at(two, ["1", "4"])
    assert label_at(two, ["2", "1"]) != label_at(two, ["2", "3"])


@pytest.mark.parametrize(
    ("bids", "first"),
    [
        ("43 34 21", 1),  # wins 4 and 2, loses 3 and, with the last card, 1
        ("12 23 34", -1),  # wins only the last prize
        ("21 12 34", 0),  # the last prize makes it 5 to 5
        ("11 22 33", 0),  # nobody wins anything
    ],
)
def test_prizes_fall_from_the_highest(two: GameTree, bids: str, first: int) -> None:
    assert payoffs_at(two, bids.replace(" ", "")) == [first, -first]


def test_ascending_prizes_end_with_the_highest() -> None:
    """P1 wins the first prize and loses the other: 2 and then 1, or 1 and then 2."""
    for prizes, first in (("descending", 1), ("ascending", -1)):
        tree = eqbench.load_game(f"goofspiel(cards=2, prizes={prizes})").tree
        assert payoffs_at(tree, ["2", "1"]) == [first, -first]


@pytest.mark.parametrize(
    ("bids", "payoffs"),
    [
        ("322 213", (1, "-1/2", "-1/2")),  # P1 wins 3, P3 wins 2, P2 wins 1
        ("332 211", (1, "-1/2", "-1/2")),  # nobody wins 3, P1 wins 2, P3 wins 1
        ("111 222", (0, 0, 0)),  # nobody wins anything
    ],
)
def test_winners_share_what_the_losers_pay(three: GameTree, bids: str, payoffs: tuple) -> None:
    found = payoffs_at(three, bids.replace(" ", ""))
    assert found == [Fraction(value) for value in payoffs]


def test_two_winners_halve_the_payoff() -> None:
    """P3 wins 4, P1 wins 3 and, with the last card, 1; nobody wins 2."""
    tree = eqbench.load_game("goofspiel(players=3)").tree
    assert payoffs_at(tree, "123211344") == [Fraction(1, 2), -1, Fraction(1, 2)]


def test_payoffs_sum_to_zero(three: GameTree) -> None:
    assert not np.any(three.payoffs.base.sum(axis=1))
