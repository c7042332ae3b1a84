"""Only three-player Kuhn poker decided by ranks gets the model of sums over ranks."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from helpers.study_cases import SPECS, distance, game, ranks, verified_regrets, without_pot
from numpy.typing import NDArray

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.dealt import (
    DealtLayout,
    DealtRules,
    Hands,
    PublicCards,
    public_tree,
    single_cards,
)
from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.profile import random_profile
from eqbench.model.rank_sums import RankSums
from eqbench.model.tree import CHANCE, GameTree, Payoffs


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn3_reduced", *SPECS])
def test_three_player_kuhn_poker_has_this_model(spec: str) -> None:
    assert isinstance(eqbench.load_game(spec).payoff_model(), RankSums)


@pytest.mark.parametrize(
    "spec",
    [
        "kuhn(players=2,cards=4)",
        "kuhn(players=4)",
        "kuhn(players=3,cards=4,raises=1)",
        "jordan",
        "leduc(players=3,ranks=2)",
    ],
)
def test_other_games_have_the_generic_model(spec: str) -> None:
    assert isinstance(eqbench.load_game(spec).payoff_model(), SequenceFormModel)


def paid(tree: GameTree, change: Callable[[NDArray], None], name: str = "base") -> GameTree:
    table = getattr(tree.payoffs, name).copy()
    change(table)
    return replace(tree, payoffs=replace(tree.payoffs, **{name: table}))


def raised(table: NDArray) -> None:
    table[77, 1] += 1


def relabeled(tree: GameTree, names: dict[str, str]) -> GameTree:
    labels = tuple(names.get(label, label) for label in tree.infoset_labels)
    return replace(tree, infoset_labels=labels)


def dealt_unevenly(tree: GameTree) -> GameTree:
    chance = tree.chance.copy()
    chance[1:3] += [1, -1]
    return replace(tree, chance=chance)


def renamed(tree: GameTree, old: str, new: str) -> GameTree:
    actions = [tuple(new if a == old else a for a in some) for some in tree.infoset_actions]
    return replace(tree, infoset_actions=tuple(actions))


def watched(tree: GameTree) -> GameTree:
    """The tree with a fourth player, who only looks on."""
    tables = {
        name: np.pad(getattr(tree.payoffs, name), ((0, 0), (0, 1))) for name in ("base", "slope")
    }
    players = (*tree.players, "P4")
    return replace(tree, players=players, payoffs=replace(tree.payoffs, **tables))


def moved(tree: GameTree, names: dict[str, str], deals: slice = slice(None)) -> GameTree:
    """The tree with its nodes in other information sets, in all deals or in some."""
    labels = list(tree.infoset_labels)
    there = np.array([labels.index(names.get(label, label)) for label in labels])
    chosen = np.zeros(tree.n_nodes, dtype=bool)
    chosen[1:25][deals] = True
    for level in tree.levels[2:]:
        chosen[level] = chosen[tree.parent[level]]
    infoset = np.where(chosen & (tree.infoset >= 0), there[tree.infoset], tree.infoset)
    return replace(tree, infoset=infoset.astype(np.int32))


def poker(
    cards: NDArray, *, start: str = "", reverse: str = "none", lottery: str = "none"
) -> GameTree:
    """Three-player Kuhn poker with these deals.

    Play begins in `start`; in `reverse` the active action is the first one; where the play ends
    with `lottery`, a coin is thrown for nothing. Labels are those of the whole history.
    """
    rules = importlib.import_module("eqbench.games.betting")
    kuhn = importlib.import_module("eqbench.games.kuhn").kuhn_rules(3, 4, Fraction(3), None)
    form = kuhn.product()

    def in_order(cards: NDArray) -> NDArray:  # equal cards count as the later player's win
        return cards.argsort(axis=1, kind="stable").argsort(axis=1) + 1

    letters = rules.LETTERS | {"head": "h", "tail": "t"}

    def turn(history: str) -> tuple[int, tuple[str, ...]] | None:
        if start + history == lottery:
            return CHANCE, ("head", "tail")
        found = rules.play_round((start + history).rstrip("ht"), 3, range(3)).turn(1)
        return (found[0], found[1][::-1]) if found and history == reverse else found

    class Listed(Hands):
        def deals(self) -> tuple[NDArray, NDArray]:
            return np.array(cards), np.ones(len(cards), dtype=np.int64)

    usual = single_cards(4, 3)
    hands = Listed(usual.labels, usual.cards, usual.weights)
    coin = PublicCards(2, lambda _: np.zeros(4, dtype=bool))
    public = public_tree(
        DealtRules(hands, turn, lambda history, action: history + letters[action], public=coin)
    )

    def paid(nodes: NDArray, cards: NDArray) -> tuple[NDArray, ...]:
        ends = [(start + public.histories[v]).rstrip("ht") for v in nodes.tolist()]
        return form.profits(np.array([form.histories.index(end) for end in ends]), in_order(cards))

    tree = DealtLayout(public, paid).build(
        lambda base, slope: Payoffs(base, 3, slope, "pot", Fraction(3))
    )
    return relabeled(tree, {x: x.replace(":", f":{start}") for x in tree.infoset_labels})


def same_everywhere(tree: GameTree) -> GameTree:
    """The tree with payoffs that do not depend on the play."""

    def change(table: NDArray) -> None:
        table[:] = [1, 2, 3]

    return paid(paid(tree, change), change, "slope")


DEALS = np.array(list(itertools.permutations(range(1, 5), 3)))
HISTORIES_OF_P2, HISTORIES_OF_P3 = ("K", "B", "KKBF", "KKBC"), ("KK", "KB", "BF", "BC")
UNLIKE: dict[str, Callable[[GameTree], GameTree]] = {
    "one payoff": lambda tree: paid(tree, raised),
    "one slope": lambda tree: paid(tree, raised, "slope"),
    "one more player": watched,
    "uneven deals": dealt_unevenly,
    "a deal is missing": lambda _: poker(DEALS[1:]),
    "a deal occurs twice": lambda tree: moved(
        tree, {f"4:{h}": f"3:{h}" for h in HISTORIES_OF_P3}, slice(1, 2)
    ),
    "a card is dealt twice": lambda _: same_everywhere(poker([[1, 1, 2], *DEALS[1:]])),
    "a coin at the end": lambda _: same_everywhere(poker(DEALS, lottery="KKK")),
    "a later start": lambda _: poker(DEALS, start="K"),
    "the call comes first": lambda _: poker(DEALS, reverse="BC"),
    "another action": lambda tree: renamed(tree, "bet", "shove"),
    "actions with wrong names": lambda tree: renamed(
        renamed(renamed(tree, "bet", "x"), "check", "bet"), "x", "check"
    ),
    "a card without number": lambda tree: relabeled(tree, {"4:KB": "A:KB"}),
    "a card beyond the deck": lambda tree: relabeled(tree, {"4:KB": "9:KB"}),
    "an unknown history": lambda tree: relabeled(tree, {"4:KB": "4:KC"}),
    "another order": lambda tree: relabeled(tree, {"3:KKB": "4:KKB", "4:KKB": "3:KKB"}),
    "the card changes": lambda tree: moved(tree, {"3:BF": "4:BF", "4:BF": "3:BF"}),
    "another player's cards": lambda tree: moved(
        tree, {f"{c}:{h}": f"{5 - c}:{h}" for c in range(1, 5) for h in HISTORIES_OF_P2}
    ),
    "other histories": lambda tree: moved(
        tree, {f"{c}:B{a}": f"{c}:B{b}" for c in range(1, 5) for a, b in ("FC", "CF")}
    ),
}


@pytest.mark.parametrize("change", UNLIKE)
def test_tree_that_differs_in_anything_gets_the_generic_model(change: str) -> None:
    tree = UNLIKE[change](game("kuhn3").tree)
    model = Game("changed", tree).payoff_model()
    assert isinstance(model, SequenceFormModel)
    behavior = random_profile(tree, np.random.default_rng(45))
    assert distance(model.regrets(behavior), verified_regrets(tree, behavior)) <= 1e-14


def test_rules_of_these_tests_make_the_game_if_nothing_is_changed() -> None:
    behavior = np.full(96, 0.5)
    ours, theirs = ranks(poker(DEALS)), game("kuhn3").payoff_model()
    assert np.array_equal(ours.regrets(behavior), theirs.regrets(behavior))


def test_one_changed_payoff_among_many_is_noticed() -> None:
    tree = game("kuhn(players=3,cards=20)").tree
    assert RankSums.of(tree) is not None
    assert RankSums.of(paid(tree, raised)) is None


def test_payoffs_are_those_of_the_tree() -> None:
    """Any payoffs by ranks will do, here of a game in which the losers pay double."""

    def double_losses(table: NDArray) -> None:
        table[table < 0] *= 2

    tree = paid(game("kuhn3").tree, double_losses)
    behavior = random_profile(tree, np.random.default_rng(46))
    assert distance(ranks(tree).regrets(behavior), verified_regrets(tree, behavior)) <= 1e-14


def test_tree_without_a_pot_has_no_slope_and_no_other_pot() -> None:
    tree = without_pot(game("skp(pot=107/33)").tree)
    behavior = random_profile(tree, np.random.default_rng(47))
    model = ranks(tree)
    assert distance(model.regrets(behavior), verified_regrets(tree, behavior)) <= 1e-14
    assert model.linearize(behavior).slope is None
    with pytest.raises(ValueError, match="parameter"):
        model.at(3.0)


def test_information_sets_in_another_order_get_the_generic_model() -> None:
    """Put together deal by deal, so that the order of the cards is that of their first use."""
    tree = game("kuhn3").tree
    builder, numbers = TreeBuilder(tree.players), {}
    payoffs = iter(tree.payoffs.table.tolist())
    for node in range(tree.n_nodes):
        parent, infoset = int(tree.parent[node]), int(tree.infoset[node])
        place = (numbers[parent], int(tree.move[node])) if node else None
        if node == 0:
            numbers[node] = builder.chance(None, [Fraction(1, 24)] * 24)
        elif infoset < 0:
            builder.terminal(place, next(payoffs))
        else:
            label, actions = tree.infoset_labels[infoset], tree.infoset_actions[infoset]
            numbers[node] = builder.decision(place, int(tree.player[node]), label, actions)
    again = builder.tree()
    assert sorted(again.infoset_labels) == sorted(tree.infoset_labels)
    model = Game("again", again).payoff_model()
    assert isinstance(model, SequenceFormModel)
    behavior = random_profile(again, np.random.default_rng(48))
    assert distance(model.regrets(behavior), verified_regrets(again, behavior)) <= 1e-14


def test_three_players_who_never_move_get_the_generic_model() -> None:
    builder = TreeBuilder(["P1", "P2", "P3"])
    builder.terminal(None, [1, 2, 3])
    assert RankSums.of(builder.tree()) is None
