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


def labels(tree: GameTree, player: str) -> dict[str, tuple[str, ...]]:
    index = tree.players.index(player)
    rows = zip(tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True)
    return {label: actions for owner, label, actions in rows if owner == index}


# Nodes (all, chance, decision, terminal), information sets, free frequencies, as far as sources go.
SIZES: dict[str, dict[str, int]] = {
    # Ganzfried 2025, §4: 601 nodes, of them 1 chance, 288 decision and 312 terminal nodes
    "kuhn3": {"all": 601, "chance": 1, "decision": 288, "terminal": 312, "sets": 48},
    # §4: 415 nodes after 22 deletions; by its rows (72 = 51 + 21) the paper speaks of 21, but the
    # 415 nodes need the twenty-second, player 3 betting the highest card after two checks
    "kuhn3_reduced": {"all": 415, "decision": 252, "terminal": 162, "sets": 48, "free": 48 - 22},
    # Szafron et al. 2013, §4, Table 2: 9 + 9 + 3 = 21 of the 48 are dominated
    "kuhn(players=3, reduce=dominated21)": {"all": 421, "sets": 48, "free": 48 - 21},
    # Billingham 2018, §2: dominance fixes 22 of the 12 N frequencies, for N cards
    **{
        f"kuhn(players=3, cards={n}, reduce=billingham)": {"sets": 12 * n, "free": 12 * n - 22}
        for n in (4, 5, 6, 7, 8, 9, 10, 13)
    },
    # Billingham 2018, §1 and §2: with N = 4 also no opening bet with card 3
    "kuhn(players=3, cards=4, reduce=dominated25)": {"sets": 48, "free": 23},
    # Billingham 2017, §2: eleven frequencies a1 … d3 decide the game; the rest is forced
    "skp": {"sets": 48, "free": 11},
    # Kuhn 1950: three cards, two players; 6 information sets each, 6 deals of 5 plays
    "kuhn2": {"terminal": 30, "sets": 12},
    # Rules of Szafron et al. 2013, §2 for k players: N k 2^(k-1) sets, 120 deals x 33 plays
    "kuhn(players=4, cards=5)": {"terminal": 3960, "sets": 5 * 4 * 2**3},
    # OpenSpiel (Lanctot et al. 2019): Leduc, turn-based Goofspiel with hidden bids, liar's dice
    "leduc": {"all": 9457, "terminal": 5520, "sets": 936},
    "leduc3": {"terminal": 1_043_952, "sets": 25_800},
    "goofspiel": {"terminal": 576, "sets": 162},
    "goofspiel(cards=5)": {"terminal": 14_400, "sets": 2_124},
    "goofspiel(cards=3, players=3)": {"terminal": 216, "sets": 30},
    "goofspiel(cards=4, players=3)": {"terminal": 13_824, "sets": 414},
    "liars_dice": {"terminal": 147_420, "sets": 24_576},
}


@pytest.mark.parametrize("spec", SIZES)
def test_sizes_are_those_of_the_sources(spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    found = {
        "all": tree.n_nodes,
        "chance": int(np.sum(tree.player == CHANCE)),
        "decision": int(np.sum(tree.player >= 0)),
        "terminal": int(np.sum(tree.player == TERMINAL)),
        "sets": tree.n_infosets,
        "free": sum(len(actions) - 1 for actions in tree.infoset_actions),
    }
    assert found | SIZES[spec] == found


def test_free_frequencies_of_skp_are_those_that_have_names() -> None:
    """Billingham 2017, §2."""
    tree = eqbench.load_game("skp").tree
    sets = {(p, label): own for p in tree.players for label, own in labels(tree, p).items()}
    assert {at for at, own in sets.items() if len(own) > 1} == set(SKP_VARIABLES.values())


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn3_reduced", "skp", "kuhn(players=3,cards=6)"])
def test_each_player_has_four_situations_per_card(spec: str) -> None:
    """Szafron et al. 2013, §2, Table 1: four situations for each player with each card."""
    tree = eqbench.load_game(spec).tree
    cards = range(1, tree.n_infosets // 12 + 1)
    for player, situations in SITUATIONS.values():
        found = labels(tree, player)
        assert set(found) == {f"{card}:{history}" for card in cards for history in situations}
        for label, actions in found.items() if spec == "kuhn3" else ():
            assert actions == (("fold", "call") if "B" in label else ("check", "bet"))


def test_two_player_labels_follow_the_history() -> None:
    tree = eqbench.load_game("kuhn2").tree
    for player, histories in (("P1", ("", "KB")), ("P2", ("K", "B"))):
        assert set(labels(tree, player)) == {f"{card}:{h}" for card in (1, 2, 3) for h in histories}


def test_leduc_has_288_information_sets_without_suits() -> None:
    """OpenSpiel's `leduc_poker` with `suit_isomorphism` (Lanctot et al. 2019)."""
    tree = eqbench.load_game("leduc").tree
    ranks = [label.replace("a", "").replace("b", "") for label in tree.infoset_labels]
    assert len(set(zip(tree.infoset_player.tolist(), ranks, strict=True))) == 288


def test_uniform_play_in_leduc_has_nash_conv_1709_360ths() -> None:
    """OpenSpiel, `exploitability_test.py`: NashConv of the uniform policy is 4.747222…."""
    tree = eqbench.load_game("leduc").tree
    measured = verify_exactly(tree, BehaviorProfile.uniform(tree))
    assert measured.nash_conv == Fraction(1709, 360)
    assert measured.payoffs == (Fraction(-5, 64), Fraction(5, 64))


@pytest.mark.parametrize(
    "spec",
    [
        *(f"kuhn(players={players})" for players in (2, 3, 4, 5)),
        *("kuhn(players=2,cards=7,raises=3)", "kuhn(players=4,raises=1)"),
        *(f"kuhn(players=3,reduce=dominated{n})" for n in (21, 22, 25)),
        *(f"kuhn(players=3,cards={cards},reduce=billingham)" for cards in (3, 4, 5, 6, 9)),
        *("skp()", "leduc()", "leduc(ranks=3,suits=1,raises=4)"),
        *("leduc(players=3,ranks=2,raises=1)", "leduc(players=4,ranks=5,suits=1,raises=1)"),
        *("goofspiel(cards=5)", "goofspiel(cards=3,players=4)", "liars_dice(sides=3)"),
        *("liars_dice(dice=2,sides=2)", "liars_dice(sides=2,players=3)"),
        *("random(players=5,actions=5)", "covariance(players=3,actions=4)"),
        *("dispersion(players=4,actions=5)", "minimum_effort(players=4,c=0)"),
        *("majority_voting(players=5,candidates=4)", "travelers_dilemma(players=3,highest=12)"),
        *("random_tree(players=4,depth=5,actions=3)", "random_signed(players=3,actions=4)"),
    ],
)
def test_number_of_nodes_is_known_before_the_tree_is_built(spec: str) -> None:
    name, given = spec.removesuffix(")").split("(")
    module, _, cls = BUILTIN_GAMES[name].target.partition(":")
    options = [option.split("=") for option in given.split(",") if option]
    numbers = {key: int(text) if text.isdigit() else text for key, text in options}
    game: Any = getattr(importlib.import_module(module), cls)(**numbers)
    assert game.expected_nodes() == game.build().n_nodes
