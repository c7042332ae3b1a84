"""Games of hands and showdowns as products, held against their trees."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from pickle import dumps, loads

import numpy as np
import pytest

import eqbench
from eqbench.errors import GameFormatError, GameTooLargeError
from eqbench.model import dealt_form
from eqbench.model.dealt import Hands, single_cards
from eqbench.model.dealt_form import Settlement, ShowdownRules, UnbuiltTree, promised
from eqbench.model.facts import sizes
from eqbench.model.game import Game
from eqbench.model.game_cache import mapped_game, store_game
from eqbench.model.tree import CHANCE, GameTree, Payoffs
from eqbench.model.tree_files import content_hash
from eqbench.registry import Registry

SPECS = [
    "kuhn2",
    "kuhn(players=3,cards=5,pot=7/2)",
    "kuhn(players=4,cards=4)",
    "kuhn(players=2,cards=4,raises=2)",
    "leduc",
    "leduc(ranks=2,suits=3)",
    "leduc(players=3,ranks=2)",
]
NODES = ("parent", "move", "player", "infoset", "chance")


def unbuilt(spec: str, most: int = 0) -> UnbuiltTree:
    form = Registry().describe_game(spec)[0].rules().product()
    assert form is not None
    tree = promised(form, most)
    assert tree is not None
    return tree


def pairs(weights: list[list[int]]) -> Hands:
    """Hands of two of four cards."""
    cards = np.array(list(itertools.combinations(range(4), 2)))
    return Hands(tuple(f"{a}{b}" for a, b in cards), cards, np.array(weights))


@pytest.mark.parametrize("spec", SPECS)
def test_all_but_the_nodes_is_known_without_building(spec: str) -> None:
    tree, known = eqbench.load_game(spec).tree, unbuilt(spec)
    for name in ("players", "n_nodes", "n_terminals", "infoset_labels", "infoset_actions"):
        assert getattr(known, name) == getattr(tree, name)
    for name in ("infoset_player", "infoset_parent", "action_start"):
        assert np.array_equal(getattr(known, name), getattr(tree, name))
    for name in ("payoff_range", "largest_payoff", "payoff_scale", "is_wide", "exact"):
        assert getattr(known, name) == getattr(tree, name)
    assert "built" not in known.__dict__


@pytest.mark.parametrize("spec", SPECS)
def test_nodes_that_are_needed_are_those_of_the_tree(spec: str) -> None:
    tree, known = eqbench.load_game(spec).tree, unbuilt(spec, most=10**5)
    assert all(np.array_equal(getattr(known, name), getattr(tree, name)) for name in NODES)
    assert np.array_equal(known.payoffs.base, tree.payoffs.base)
    assert content_hash(known.built) == content_hash(tree)


def test_nodes_beyond_the_limit_are_refused() -> None:
    with pytest.raises(GameTooLargeError, match=r"about 601 nodes.* allowed are 600"):
        unbuilt("kuhn3", most=600).parent  # noqa: B018


@pytest.mark.parametrize("spec", ["kuhn3", "leduc"])
def test_children_map_the_same_game(spec: str, tmp_path: Path) -> None:
    game = Game(spec, unbuilt(spec, most=10**5))
    store_game(game, tmp_path)
    mapped = mapped_game(spec, tmp_path)
    assert mapped.product is not None
    assert content_hash(mapped.tree) == content_hash(game.tree)
    assert content_hash(mapped.tree) != content_hash(eqbench.load_game(spec).tree)
    assert np.array_equal(mapped.tree.parent, eqbench.load_game(spec).tree.parent)


def test_what_a_game_takes_is_foreseen_and_grows_with_its_hands() -> None:
    few, many = (
        sizes(eqbench.load_game(f"kuhn(players=3,cards={cards})", max_nodes=600))
        for cards in (40, 400)
    )
    for name in ("MiB to solve, about", "ms an iteration of CFR, about"):
        assert many[name] > few[name] >= 0


def test_parameter_changes_the_payoffs_alone() -> None:
    known = unbuilt("kuhn3", most=1000).at(Fraction(7, 2))
    tree = eqbench.load_game("kuhn(players=3,pot=7/2)").tree
    assert known.payoff_range == tree.payoff_range
    assert np.array_equal(known.payoffs.table, tree.payoffs.table)


@pytest.mark.parametrize("pot", [10**15, 10**400])
def test_pot_far_from_the_stakes_needs_the_tree(pot: int) -> None:
    by_tree = eqbench.load_game("kuhn3").tree
    try:
        expected = by_tree.at(Fraction(pot)).is_wide
    except GameFormatError:
        with pytest.raises(GameFormatError, match="not finite"):
            _ = unbuilt("kuhn3", most=1000).at(Fraction(pot)).payoff_range
    else:
        assert unbuilt("kuhn3", most=1000).at(Fraction(pot)).is_wide == expected
    with pytest.raises(GameTooLargeError):
        unbuilt("kuhn3", most=600).at(Fraction(pot))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda t: loads(dumps(t))])
def test_copies_are_built_from_the_form(again: Callable[[GameTree], GameTree]) -> None:
    tree = again(unbuilt("leduc", most=10**5))
    assert isinstance(tree, UnbuiltTree)
    assert content_hash(tree.built) == content_hash(eqbench.load_game("leduc").tree)


def test_replaced_fields_make_a_plain_tree() -> None:
    tree = replace(unbuilt("kuhn2", most=100), players=("A", "B"))
    assert type(tree) is GameTree
    assert tree.players == ("A", "B")
    payoffs = replace(unbuilt("kuhn2", most=100).payoffs, denominator=4)
    assert type(payoffs) is Payoffs
    assert np.array_equal(payoffs.table * 2, tree.payoffs.table)


@pytest.mark.parametrize(
    "hands",
    [
        single_cards(5, 3),
        pairs([[1, 0, 2, 1, 0, 3], [0, 1, 1, 2, 5, 0]]),
        Hands(("a", "b"), np.zeros((2, 0), dtype=np.int64), np.array([[1, 2], [3, 1], [1, 1]])),
    ],
)
def test_weights_of_all_deals_are_summed_without_listing_them(hands: Hands) -> None:
    cards, weights = hands.deals()
    assert weights.sum() == hands.total()
    assert len(cards) == hands.total(count=True)
    rows = cards.tolist()
    assert rows == sorted(rows)
    held = [[c for hand in row for c in hands.cards[hand - 1].tolist()] for row in rows]
    assert all(len(set(cards)) == len(cards) for cards in held)


def test_hands_without_a_deal_are_refused() -> None:
    rules = ShowdownRules(
        pairs([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]),
        lambda history: None,
        lambda history, move: history,
        lambda history: Settlement((1, 1), (0, 1)),
        lambda history: np.arange(6),
    )
    with pytest.raises(GameFormatError, match="no deal is possible"):
        rules.product()


def test_moves_of_chance_without_public_cards_are_refused() -> None:
    rules = ShowdownRules(
        single_cards(3, 2),
        lambda history: None if history else (CHANCE, ("1", "2")),
        lambda history, move: move,
        lambda history: Settlement((1, 1), (0, 1)),
        lambda history: np.arange(3),
    )
    with pytest.raises(GameFormatError, match="no public cards"):
        rules.product()


def test_pot_that_cannot_be_shared_is_refused() -> None:
    rules = ShowdownRules(
        Hands(("a",), np.zeros((1, 0), dtype=np.int64), np.ones((2, 1), dtype=np.int64)),
        lambda history: None,
        lambda history, move: history,
        lambda history: Settlement((1, 2), (0, 1)),
        lambda history: np.zeros(1, dtype=np.int64),
    )
    with pytest.raises(GameFormatError, match="3 units cannot be shared by 2"):
        rules.tree()


@pytest.mark.parametrize(
    "spec",
    ["kuhn(cards=1e25)", "kuhn(cards=10001)", "leduc(ranks=1e17)", "leduc(ranks=10001,suits=1)"],
)
def test_too_many_hands_are_refused_before_any_is_made(spec: str) -> None:
    with pytest.raises(GameTooLargeError, match="hands are too many"):
        eqbench.load_game(spec)


@pytest.mark.parametrize(
    "spec", ["leduc(players=3,ranks=20,raises=40)", "kuhn(players=4,raises=20)"]
)
def test_too_many_public_nodes_are_refused_before_any_is_compiled(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealt_form, "compile_dealt", pytest.fail)
    with pytest.raises(GameTooLargeError, match="public nodes"):
        eqbench.load_game(spec)


def test_games_that_only_a_tree_can_have_are_no_products() -> None:
    rules = Registry().describe_game("kuhn2")[0].rules()
    alone = replace(rules.hands, weights=rules.hands.weights[:1])
    assert replace(rules, hands=alone).product() is None
    for spec in ("skp", "kuhn(players=3,cards=4,reduce=billingham)"):
        assert Registry().describe_game(spec)[0].rules().product() is None
    several = Hands(("ab",), np.array([[0, 1]]), np.ones((3, 1), dtype=np.int64))
    with pytest.raises(GameFormatError, match="two players only"):
        several.total()
