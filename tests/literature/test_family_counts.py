"""Sizes and values of Leduc poker, Goofspiel and liar's dice, and the announced sizes of games."""

from __future__ import annotations

import importlib
from fractions import Fraction
from typing import Any

import pytest

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import BUILTIN_GAMES
from eqbench.verification import verify_exactly


def test_two_player_leduc_has_936_information_sets() -> None:
    """OpenSpiel's `leduc_poker` (Lanctot et al. 2019): 936; 288 with its `suit_isomorphism`."""
    tree = eqbench.load_game("leduc").tree
    assert (tree.n_nodes, tree.n_terminals, tree.n_infosets) == (9457, 5520, 936)
    ranks = {
        (player, label.replace("a", "").replace("b", ""))
        for player, label in zip(tree.infoset_player.tolist(), tree.infoset_labels, strict=True)
    }
    assert len(ranks) == 288


def test_three_player_leduc_has_a_million_terminals() -> None:
    """As many as the states of OpenSpiel's `leduc_poker(players=3)` (Lanctot et al. 2019)."""
    tree = eqbench.load_game("leduc3").tree
    assert (tree.n_terminals, tree.n_infosets) == (1_043_952, 25_800)


def test_uniform_play_in_leduc_has_nash_conv_1709_360ths() -> None:
    """OpenSpiel, `exploitability_test.py`: NashConv of the uniform policy is 4.747222…."""
    tree = eqbench.load_game("leduc").tree
    measured = verify_exactly(tree, BehaviorProfile.uniform(tree))
    assert measured.nash_conv == Fraction(1709, 360)
    assert measured.payoffs == (Fraction(-5, 64), Fraction(5, 64))


@pytest.mark.parametrize(
    ("spec", "terminals", "infosets"),
    [
        ("goofspiel", 576, 162),
        ("goofspiel(cards=5)", 14_400, 2_124),
        ("goofspiel(cards=3, players=3)", 216, 30),
        ("goofspiel(cards=4, players=3)", 13_824, 414),
        ("liars_dice", 147_420, 24_576),
    ],
)
def test_sizes_are_those_of_openspiel(spec: str, terminals: int, infosets: int) -> None:
    """Lanctot et al. 2019, OpenSpiel's turn-based Goofspiel with hidden bids and liar's dice."""
    tree = eqbench.load_game(spec).tree
    assert (tree.n_terminals, tree.n_infosets) == (terminals, infosets)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *[("kuhn", {"players": players}) for players in (2, 3, 4, 5)],
        ("kuhn", {"players": 2, "cards": 7, "raises": 3}),
        ("kuhn", {"players": 4, "raises": 1}),
        *[("kuhn", {"players": 3, "reduce": f"dominated{n}"}) for n in (21, 22, 25)],
        *[
            ("kuhn", {"players": 3, "cards": cards, "reduce": "billingham"})
            for cards in (3, 4, 5, 6, 9)
        ],
        ("skp", {}),
        ("leduc", {}),
        ("leduc", {"ranks": 3, "suits": 1, "raises": 4}),
        ("leduc", {"players": 3, "ranks": 2, "raises": 1}),
        ("leduc", {"players": 4, "ranks": 5, "suits": 1, "raises": 1}),
        ("goofspiel", {"cards": 5}),
        ("goofspiel", {"cards": 3, "players": 4}),
        ("liars_dice", {"sides": 3}),
        ("liars_dice", {"dice": 2, "sides": 2}),
        ("liars_dice", {"sides": 2, "players": 3}),
        ("random", {"players": 5, "actions": 5}),
        ("covariance", {"players": 3, "actions": 4}),
        ("dispersion", {"players": 4, "actions": 5}),
        ("minimum_effort", {"players": 4, "c": 0}),
        ("majority_voting", {"players": 5, "candidates": 4}),
        ("travelers_dilemma", {"players": 3, "highest": 12}),
        ("random_tree", {"players": 4, "depth": 5, "actions": 3}),
        ("random_signed", {"players": 3, "actions": 4}),
    ],
)
def test_number_of_nodes_is_known_before_the_tree_is_built(name: str, options: dict) -> None:
    module, _, cls = BUILTIN_GAMES[name].target.partition(":")
    game: Any = getattr(importlib.import_module(module), cls)(**options)
    assert game.expected_nodes() == game.build().n_nodes
