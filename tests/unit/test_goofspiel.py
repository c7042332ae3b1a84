"""Goofspiel: rules, labels and refusals."""

from __future__ import annotations

import pytest
from tree_path import label_at, payoffs_at

import eqbench
from eqbench.model.tree import GameTree


@pytest.fixture(scope="module")
def two() -> GameTree:
    return eqbench.load_game("goofspiel").tree


def test_labels_tell_own_bids_and_winners(two: GameTree) -> None:
    assert label_at(two, []) == ("P1", ":", ("1", "2", "3", "4"))
    assert label_at(two, ["3"]) == ("P2", ":", ("1", "2", "3", "4"))
    assert label_at(two, ["3", "4"]) == ("P1", "3:2", ("1", "2", "4"))
    assert label_at(two, ["3", "4", "1"]) == ("P2", "4:2", ("1", "2", "3"))
    assert label_at(two, ["3", "4", "1", "1"]) == ("P1", "31:2=", ("2", "4"))


def test_ascending_prizes_end_with_the_highest() -> None:
    """P1 wins the first prize and loses the other: 2 and then 1, or 1 and then 2."""
    for prizes, first in (("descending", 1), ("ascending", -1)):
        tree = eqbench.load_game(f"goofspiel(cards=2, prizes={prizes})").tree
        assert payoffs_at(tree, ["2", "1"]) == [first, -first]
