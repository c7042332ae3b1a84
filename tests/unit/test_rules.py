"""Leduc poker, Goofspiel and liar's dice: labels, and rules beyond what OpenSpiel measures."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from tree_path import children, follow, label_at, payoffs_at

import eqbench
from eqbench.model.tree import TERMINAL, GameTree

# Moves of chance: with two players the cards are 1a 1b 2a 2b 3a 3b, less those already dealt.
LOW_AND_HIGH = (0, 4)  # P1 holds 1a, P2 holds 3b


@pytest.fixture(scope="module")
def two() -> GameTree:
    return eqbench.load_game("leduc").tree


@pytest.fixture(scope="module")
def three() -> GameTree:
    return eqbench.load_game("leduc(players=3, ranks=2, suits=3, raises=1)").tree


def test_labels_tell_card_betting_and_public_card(two: GameTree) -> None:
    deal = LOW_AND_HIGH
    assert label_at(two, deal) == ("P1", "1a:", ("check", "bet"))
    assert label_at(two, [*deal, "check"]) == ("P2", "3b:K", ("check", "bet"))
    assert label_at(two, [*deal, "bet"])[1:] == ("3b:B", ("fold", "call", "raise"))
    assert label_at(two, [*deal, "bet", "raise"])[1:] == ("1a:BR", ("fold", "call"))
    board_1b = [*deal, "bet", "call", 0]
    assert label_at(two, board_1b) == ("P1", "1a:BC/1b:", ("check", "bet"))
    assert label_at(two, [*board_1b, "check", "bet"])[1] == "1a:BC/1b:KB"


def test_folders_pay_for_those_who_split(three: GameTree) -> None:
    """1a, 2a, 2b; P1 calls and folds later, the twos share the pot: their stakes and P1's 3."""
    moves = [0, 2, 2, "bet", "call", "call", 0, "check", "bet", "call", "fold"]
    assert payoffs_at(three, moves) == [-3, Fraction(3, 2), Fraction(3, 2)]


def test_round_two_begins_with_the_first_player_in_the_hand(three: GameTree) -> None:
    moves = [0, 2, 2, "check", "bet", "call", "fold", 0]
    assert label_at(three, moves) == ("P2", "2a:KBCF/1b:", ("check", "bet"))


def test_hand_ends_when_one_player_is_left(three: GameTree) -> None:
    moves = [0, 2, 2, "bet", "fold", "fold"]
    assert three.player[follow(three, moves)] == TERMINAL
    assert payoffs_at(three, moves) == [2, -1, -1]


@pytest.mark.parametrize("raises", [1, 2, 3])
def test_a_round_has_at_most_so_many_bets_and_raises(raises: int) -> None:
    labels = eqbench.load_game(f"leduc(ranks=2, raises={raises})").tree.infoset_labels
    rounds = [letters for label in labels for letters in label.replace("/", ":").split(":")]
    assert max(sum(text.count(letter) for letter in "BR") for text in rounds) == raises


def test_suits_do_not_change_what_a_hand_is_worth() -> None:
    """Swapping the suits of all cards maps the game onto itself, so rows come in equal pairs."""
    tree = eqbench.load_game("leduc(ranks=2)").tree
    swap = str.maketrans("ab", "ba")
    known = set(zip(tree.infoset_player, tree.infoset_labels, strict=True))
    assert {(player, label.translate(swap)) for player, label in known} == known


def test_labels_tell_own_bids_and_winners() -> None:
    goofspiel = eqbench.load_game("goofspiel").tree
    assert label_at(goofspiel, []) == ("P1", ":", ("1", "2", "3", "4"))
    assert label_at(goofspiel, ["3"]) == ("P2", ":", ("1", "2", "3", "4"))
    assert label_at(goofspiel, ["3", "4"]) == ("P1", "3:2", ("1", "2", "4"))
    assert label_at(goofspiel, ["3", "4", "1"]) == ("P2", "4:2", ("1", "2", "3"))
    assert label_at(goofspiel, ["3", "4", "1", "1"]) == ("P1", "31:2=", ("2", "4"))


def test_ascending_prizes_end_with_the_highest() -> None:
    """P1 wins the first prize and loses the other: 2 and then 1, or 1 and then 2."""
    for prizes, first in (("descending", 1), ("ascending", -1)):
        tree = eqbench.load_game(f"goofspiel(cards=2, prizes={prizes})").tree
        assert payoffs_at(tree, ["2", "1"]) == [first, -first]


def test_labels_tell_roll_and_claims() -> None:
    tree = eqbench.load_game("liars_dice(sides=3)").tree
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
