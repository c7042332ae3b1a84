"""Sums over ranks: which games get them, and that they give what generic kernels and deals give."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from agreement import KINDS, draw_behavior
from numpy.typing import NDArray

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.deals import Deals
from eqbench.model.dealt import DealtRules, PublicChance, build_dealt
from eqbench.model.game import Game
from eqbench.model.payoff_model import PayoffModel, SequenceFormModel
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.rank_sums import RankSums
from eqbench.model.tree import CHANCE, GameTree, Payoffs
from eqbench.verification import verify

REDUCED = [
    *(f"kuhn(players=3,cards={n},pot=16/5,reduce=billingham)" for n in (3, 4, 5, 7)),
    *(f"kuhn(players=3,cards=4,pot=5,reduce=dominated{n})" for n in (21, 22, 25)),
    "skp(pot=107/33)",
]
SPECS = [*(f"kuhn(players=3,cards={n},pot=3)" for n in (3, 4, 5, 7)), *REDUCED]


@cache
def game(spec: str) -> Game:
    """A game, loaded once."""
    return eqbench.load_game(spec)


def ranks(tree: GameTree) -> RankSums:
    """The model of a tree that is such a game."""
    model = RankSums.of(tree)
    assert model is not None
    return model


def distance(first: NDArray, second: NDArray) -> float:
    """Largest difference of two arrays of one shape."""
    assert first.shape == second.shape
    return float(np.abs(first - second).max())


def verified_regrets(tree: GameTree, behavior: NDArray) -> NDArray:
    """Regrets (3,) by the verifier."""
    return np.array(verify(tree, BehaviorProfile.of(tree, behavior)).regrets)


def without_pot(tree: GameTree) -> GameTree:
    """The tree with its present payoffs, which no parameter changes."""
    return replace(tree, payoffs=Payoffs(*tree.payoffs.rational()))


METHODS = (
    "expected_payoffs",
    "counterfactual_values",
    "best_response_values",
    "regrets",
    "jacobian",
)


# -- against the generic kernels ------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "independent"])
@pytest.mark.parametrize("spec", SPECS)
def test_all_methods_agree_with_the_generic_kernels(spec: str, kind: str) -> None:
    tree, rng = game(spec).tree, np.random.default_rng(40)
    mine, generic = ranks(tree), SequenceFormModel(game(spec).sequence_form)
    rounding = 4e-16 * tree.payoff_range
    for _ in range(4):
        if kind == "independent":  # values are defined for all frequencies, summing to 1 or not
            behavior = rng.random(tree.n_actions)
        else:
            behavior = draw_behavior(tree, rng, kind)
        for method in METHODS:
            values = getattr(mine, method)(behavior)
            assert distance(values, getattr(generic, method)(behavior)) <= rounding, method
        for ours, theirs in zip(mine.linearize(behavior), generic.linearize(behavior), strict=True):
            assert ours is not None
            assert theirs is not None
            assert distance(ours, theirs) <= rounding


def test_small_values_keep_their_digits() -> None:
    """Two players cannot both hold the one card that is ever played; what is left is tiny."""
    spec = "kuhn(players=3,cards=5,pot=3)"
    tree = game(spec).tree
    by_infoset = [1.0 if label.startswith("2:") else 1e-20 for label in tree.infoset_labels]
    behavior = np.repeat(by_infoset, np.diff(tree.action_start))
    ours = ranks(tree).counterfactual_values(behavior)
    theirs = SequenceFormModel(game(spec).sequence_form).counterfactual_values(behavior)
    fold = np.array([name == "fold" for actions in tree.infoset_actions for name in actions])
    assert np.all(theirs[fold] < 0)
    assert theirs[fold].max() > -1e-19
    assert np.abs(ours[fold] / theirs[fold] - 1).max() <= 1e-14


# -- one model, several pots ----------------------------------------------------------------


def test_model_at_another_pot_is_that_of_the_game_at_it() -> None:
    spec, behavior = SPECS[1], np.full(game(SPECS[1]).tree.n_actions, 0.5)
    model = ranks(game(spec).tree)
    before = model.regrets(behavior)
    there = game(spec).at(pot=Fraction(16, 5))
    for other in (model.at(3.2), ranks(there.tree), there.payoff_model()):
        assert distance(other.regrets(behavior), verified_regrets(there.tree, behavior)) <= 1e-15
    assert np.array_equal(model.regrets(behavior), before)
    assert not np.allclose(model.at(3.2).regrets(behavior), before)


def test_games_share_the_model_over_pots_and_compile_no_sequence_form() -> None:
    start = eqbench.load_game("kuhn(players=3,cards=5)")
    behavior = np.full(start.tree.n_actions, 0.5)
    start.payoff_model().linearize(behavior)
    there = start.at(pot=4)
    assert (
        distance(there.payoff_model().regrets(behavior), verified_regrets(there.tree, behavior))
        <= 1e-15
    )
    assert "sequence_form" not in start.__dict__
    assert "sequence_form" not in there.__dict__


# -- arguments and results --------------------------------------------------------------------


@pytest.mark.parametrize("method", [*METHODS, "linearize"])
def test_profiles_of_another_length_are_refused(method: str) -> None:
    model: PayoffModel = ranks(game("kuhn3").tree)
    for behavior in (np.ones(95), np.ones(97), np.ones((2, 48)), 0.5):
        with pytest.raises(ValueError, match="this game has 96 frequencies"):
            getattr(model, method)(behavior)


def test_results_belong_to_the_caller_and_arguments_stay_as_they_are() -> None:
    model, behavior = ranks(game("kuhn3").tree), np.full(96, 0.5)
    behavior.setflags(write=False)

    def results() -> list[NDArray]:
        return [
            *(getattr(model, method)(behavior) for method in METHODS),
            *(array for array in model.linearize(behavior) if array is not None),
        ]

    before = [result.copy() for result in results()]
    for result in results():
        result[...] = np.nan
    assert all(np.array_equal(x, y) for x, y in zip(results(), before, strict=True))
    assert np.all(behavior == 0.5)


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
    showdown = importlib.import_module("eqbench.games.kuhn").showdown
    letters = rules.LETTERS | {"head": "h", "tail": "t"}

    def turn(history: str) -> tuple[int, tuple[str, ...]] | None:
        if start + history == lottery:
            return CHANCE, ("head", "tail")
        found = rules.play_round((start + history).rstrip("ht"), 3, range(3)).turn(1)
        return (found[0], found[1][::-1]) if found and history == reverse else found

    tree = build_dealt(
        DealtRules(
            players=("P1", "P2", "P3"),
            deals=Deals(np.array(cards), np.ones(len(cards), dtype=np.int64)),
            turn=turn,
            after=lambda history, action: history + letters[action],
            payoffs=lambda history, cards: showdown((start + history).rstrip("ht"), cards),
            public_chance=PublicChance(2, lambda _, cards: np.ones(len(cards), dtype=bool)),
        ),
        lambda base, slope: Payoffs(base, 3, slope, "pot", Fraction(3)),
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
    with pytest.raises(ValueError, match="no payoff parameter"):
        model.at(3.0)


def test_three_players_who_never_move_get_the_generic_model() -> None:
    builder = TreeBuilder(["P1", "P2", "P3"])
    builder.terminal(None, [1, 2, 3])
    assert RankSums.of(builder.tree()) is None
