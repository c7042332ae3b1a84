"""Games and profiles go to Gambit and come back, by path and not by name."""

from __future__ import annotations

import importlib
from fractions import Fraction

import numpy as np
import pytest
from random_trees import random_tree, spread_infosets
from solver_cases import odd_games

import eqbench
from eqbench.errors import ProfileError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.verification import verify

pytest.importorskip("pygambit")
conversion = importlib.import_module("eqbench.solvers.gambit.conversion")
sizes = importlib.import_module("eqbench.solvers.gambit.conversion")
TREES = range(24)


def shuffled_labels() -> Game:
    """P2's sets are numbered Z, Y, X in the tree, and their actions differ in order only."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "root", ["c", "b", "a"])
    for move, (label, actions) in enumerate([("Z", "rl"), ("X", "lr"), ("Y", "rl")]):
        node = builder.decision((root, move), 1, label, list(actions))
        for reply in range(2):
            builder.terminal((node, reply), [move, 10 * move + reply])
    return Game("shuffled", builder.tree())


def random_behavior(game: Game, seed: int) -> BehaviorProfile:
    return BehaviorProfile.of(game.tree, random_profile(game.tree, np.random.default_rng(seed)))


def test_sets_and_actions_are_found_by_path() -> None:
    game = shuffled_labels()
    tree, gambit = game.tree, conversion.to_gambit(game)
    frequencies = np.zeros(tree.n_actions)
    for player, label, action in [(0, "root", 2), (1, "Z", 0), (1, "X", 1), (1, "Y", 1)]:
        frequencies[tree.action_start[tree.infoset_of(player, label)] + action] = 1
    profile = gambit.profile(BehaviorProfile.of(tree, frequencies))
    # the third move leads to Y, whose second action pays 2 and 21
    assert [float(profile.payoffs[player]) for player in gambit.game.players] == [2, 21]
    np.testing.assert_array_equal(gambit.behavior(profile).probabilities, frequencies)


def test_labels_that_files_cannot_hold_do_not_matter() -> None:
    builder = TreeBuilder(["P1"])
    labels = ["", " ", 'say "x"', "back\\", "ü"]
    root = builder.decision(None, 0, "", labels)
    for move in range(len(labels)):
        builder.terminal((root, move), [move])
    game = Game("labels", builder.tree())
    gambit = conversion.to_gambit(game)
    for move in range(len(labels)):
        pure = BehaviorProfile.of(game.tree, np.eye(len(labels))[move])
        assert float(gambit.profile(pure).payoffs["P1"]) == move


def test_random_trees_include_what_numbering_by_depth_gets_wrong() -> None:
    trees = [random_tree(seed) for seed in TREES]
    assert sum(spread_infosets(tree) > 0 for tree in trees) >= 5
    orders = [conversion.to_gambit(Game("random", tree)).infosets for tree in trees]
    assert sum(order != sorted(order) for order in orders) >= 5


@pytest.mark.parametrize("seed", TREES)
def test_gambit_agrees_on_payoffs_and_regrets_of_random_profiles(seed: int) -> None:
    game = Game("random", random_tree(seed))
    gambit = conversion.to_gambit(game)
    ours = random_behavior(game, seed)
    theirs = gambit.profile(ours)
    measured = verify(game.tree, ours)
    payoffs = [float(theirs.payoffs[player]) for player in gambit.game.players]
    np.testing.assert_allclose(payoffs, measured.payoffs, atol=1e-12)
    assert float(theirs.max_regret()) == pytest.approx(float(measured.max_regret), abs=1e-12)
    back = gambit.behavior(theirs).probabilities
    np.testing.assert_allclose(back, ours.probabilities, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", odd_games())
def test_odd_games_go_there_and_back(name: str) -> None:
    game = odd_games()[name]
    uniform = BehaviorProfile.uniform(game.tree)
    gambit = conversion.to_gambit(game)
    assert gambit.behavior(gambit.profile(uniform)).exact == uniform.exact


def test_rationals_stay_rationals() -> None:
    game = eqbench.load_game("kuhn2")
    gambit = conversion.to_gambit(game)
    thirds = [Fraction(1, 3), Fraction(2, 3)] * game.tree.n_infosets
    ours = BehaviorProfile.of_exact(game.tree, thirds)
    theirs = gambit.profile(ours)
    assert gambit.behavior(theirs).exact == ours.exact
    exact = verify(game.tree, ours)
    assert float(theirs.max_regret()) == pytest.approx(float(exact.max_regret), abs=1e-14)


def test_mixed_strategies_become_behavior_that_is_uniform_where_they_never_come() -> None:
    game = eqbench.load_game("kuhn2")
    gambit = conversion.to_gambit(game)
    for rational in (False, True):
        mixed = gambit.game.mixed_strategy_profile(rational=rational)
        strategies = gambit.game.get_strategies("P1")
        # the last strategy bets every card, so P1 never faces a bet
        mixed["P1"] = {name: int(name == strategies[-1]) for name in strategies}
        behavior = gambit.behavior(mixed)
        tree = game.tree
        for card in "123":
            opening = tree.action_start[tree.infoset_of(0, f"{card}:")]
            behind = tree.action_start[tree.infoset_of(0, f"{card}:KB")]
            assert behavior.probabilities[opening : opening + 2].tolist() == [0, 1]
            assert behavior.probabilities[behind : behind + 2].tolist() == [0.5, 0.5]
        regret = float(gambit.profile(behavior).max_regret())
        assert regret == pytest.approx(max(verify(tree, behavior).regrets), abs=1e-12)


def test_rounding_is_taken_out_of_floats_and_more_than_rounding_is_refused() -> None:
    gambit = conversion.to_gambit(eqbench.load_game("matching_pennies"))

    def behavior(*values: float) -> np.ndarray:
        """Frequencies of a profile as pygambit iterates over it: by player, set and action."""
        rows = [[("set", [("heads", values[k]), ("tails", values[k + 1])])] for k in (0, 2)]
        return gambit.behavior(rows).probabilities

    off = behavior(0.5 + 4e-9, 0.5, 1 + 1e-9, -1e-9)
    np.testing.assert_allclose(off, [0.5, 0.5, 1, 0], atol=5e-9)
    assert off.min() >= 0
    np.testing.assert_allclose(off.reshape(2, 2).sum(axis=1), 1, rtol=0, atol=1e-15)
    assert behavior(np.nan, np.nan, 0.0, 0.0).tolist() == [0.5] * 4
    with pytest.raises(ProfileError, match=r"sum to 1\.1"):
        behavior(0.5, 0.6, 1.0, 0.0)


@pytest.mark.parametrize("seed", TREES)
def test_counted_strategies_are_those_of_gambit(seed: int) -> None:
    game = Game("random", random_tree(seed))
    theirs = conversion.to_gambit(game).game
    counts = sizes.strategy_counts(game.sequence_form)
    assert counts == [len(theirs.get_strategies(player)) for player in theirs.players]
