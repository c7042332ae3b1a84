"""Sizes, labels and values of the built-in games, as their sources state them."""

from __future__ import annotations

import importlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.kuhn_and_skp import SITUATIONS, SKP_VARIABLES

import eqbench
from eqbench.builtin import BUILTIN_GAMES
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.verification import verify_exactly


def load_tree(spec: str) -> GameTree:
    return eqbench.load_game(spec).tree


def node_counts(tree: GameTree) -> dict[str, int]:
    return {
        "all": len(tree.player),
        "chance": int(np.sum(tree.player == CHANCE)),
        "decision": int(np.sum(tree.player >= 0)),
        "terminal": int(np.sum(tree.player == TERMINAL)),
    }


def free_frequencies(tree: GameTree) -> int:
    return sum(len(actions) - 1 for actions in tree.infoset_actions)


def labels(tree: GameTree, player: str) -> dict[str, tuple[str, ...]]:
    index = tree.players.index(player)
    rows = zip(tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True)
    return {label: actions for owner, label, actions in rows if owner == index}


# -- sizes --------------------------------------------------------------------------------

# Nodes, information sets and free frequencies; None where the source does not say.
SIZES = {
    # Ganzfried 2025, §4: 601 nodes, of them 1 chance, 288 decision and 312 terminal nodes
    "kuhn3": ((601, 1, 288, 312), 48, None),
    # §4: 415 nodes after 22 deletions; by its rows (72 = 51 + 21) the paper speaks of 21, but the
    # 415 nodes need the twenty-second, player 3 betting the highest card after two checks
    "kuhn3_reduced": ((415, 1, 252, 162), 48, 48 - 22),
    # Szafron et al. 2013, §4, Table 2: 9 + 9 + 3 = 21 of the 48 are dominated
    "kuhn(players=3, reduce=dominated21)": ((421, None, None, None), 48, 48 - 21),
    # Billingham 2018, §2: dominance fixes 22 of the 12 N frequencies, for N cards
    **{
        f"kuhn(players=3, cards={n}, reduce=billingham)": (None, 12 * n, 12 * n - 22)
        for n in (4, 5, 6, 7, 8, 9, 10, 13)
    },
    # Billingham 2018, §1 and §2: with N = 4 also no opening bet with card 3
    "kuhn(players=3, cards=4, reduce=dominated25)": (None, 48, 23),
    # Kuhn 1950: three cards, two players; 6 information sets each, 6 deals of 5 plays
    "kuhn2": ((None, None, None, 30), 12, None),
    # Rules of Szafron et al. 2013, §2 for k players: N k 2^(k-1) sets, 120 deals x 33 plays
    "kuhn(players=4, cards=5)": ((None, None, None, 3960), 5 * 4 * 2**3, None),
}


@pytest.mark.parametrize("spec", SIZES)
def test_sizes_are_those_of_the_sources(spec: str) -> None:
    tree = load_tree(spec)
    nodes, infosets, free = SIZES[spec]
    found = tuple(node_counts(tree).values())
    for ours, theirs in zip(
        (*found, free_frequencies(tree)), (*(nodes or (None,) * 4), free), strict=True
    ):
        assert theirs in (None, ours)
    assert tree.n_infosets == infosets


def test_skp_has_eleven_free_frequencies() -> None:
    """Billingham 2017, §2: eleven frequencies a1 … d3 decide the game; the rest is forced."""
    tree = load_tree("skp")
    free = {
        (player, label)
        for player in tree.players
        for label, actions in labels(tree, player).items()
        if len(actions) > 1
    }
    assert free == set(SKP_VARIABLES.values())
    assert free_frequencies(tree) == 11
    assert tree.n_infosets == 48, "single-action information sets stay"


# -- labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn3_reduced", "skp", "kuhn(players=3,cards=6)"])
def test_each_player_has_four_situations_per_card(spec: str) -> None:
    """Szafron et al. 2013, §2, Table 1: four situations for each player with each card."""
    tree = load_tree(spec)
    cards = tree.n_infosets // 12
    assert tree.players == ("P1", "P2", "P3")
    for player, situations in SITUATIONS.values():
        expected = {f"{card}:{history}" for card in range(1, cards + 1) for history in situations}
        assert set(labels(tree, player)) == expected


def test_actions_open_with_check_or_bet_and_answer_with_fold_or_call() -> None:
    tree = load_tree("kuhn3")
    for player, situations in SITUATIONS.values():
        for label, actions in labels(tree, player).items():
            assert label.split(":")[1] in situations
            assert actions == (("fold", "call") if "B" in label else ("check", "bet"))


def test_two_player_labels_follow_the_history() -> None:
    tree = load_tree("kuhn2")
    assert set(labels(tree, "P1")) == {f"{card}:{h}" for card in (1, 2, 3) for h in ("", "KB")}
    assert set(labels(tree, "P2")) == {f"{card}:{h}" for card in (1, 2, 3) for h in ("K", "B")}


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
