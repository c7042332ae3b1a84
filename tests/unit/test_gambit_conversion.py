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


def test_sets_and_actions_are_found_by_path_whatever_their_labels_are() -> None:
    """Actions of P2 stand in different orders; files cannot hold some of the labels."""
    sets = ['say "x"', " ", "back\\"]
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "", ["c", "b", "a"])
    for move, (label, actions) in enumerate(zip(sets, ["rl", "lr", "rl"], strict=True)):
        names = [{"r": "", "l": "ü"}[action] for action in actions]
        node = builder.decision((root, move), 1, label, names)
        for reply in range(2):
            builder.terminal((node, reply), [move, 10 * move + reply])
    tree = builder.tree()
    gambit = conversion.to_gambit(Game("shuffled", tree))
    for move in range(3):
        frequencies = np.zeros(tree.n_actions)
        for player, label, action in [(0, "", move), *((1, label, 1) for label in sets)]:
            frequencies[tree.action_start[tree.infoset_of(player, label)] + action] = 1
        profile = gambit.profile(BehaviorProfile.of(tree, frequencies))
        payoffs = [float(profile.payoffs[player]) for player in gambit.game.players]
        assert payoffs == [move, 10 * move + 1]
        np.testing.assert_array_equal(gambit.behavior(profile).probabilities, frequencies)


def test_random_trees_have_the_same_payoffs_regrets_and_strategies() -> None:
    spread = reordered = 0
    for seed in range(24):
        game = Game("random", random_tree(seed))
        gambit = conversion.to_gambit(game)
        rng = np.random.default_rng(seed)
        ours = BehaviorProfile.of(game.tree, random_profile(game.tree, rng))
        theirs, measured = gambit.profile(ours), verify(game.tree, ours)
        payoffs = [float(theirs.payoffs[player]) for player in gambit.game.players]
        np.testing.assert_allclose(payoffs, measured.payoffs, atol=1e-12)
        assert float(theirs.max_regret()) == pytest.approx(float(measured.max_regret), abs=1e-12)
        back = gambit.behavior(theirs).probabilities
        np.testing.assert_allclose(back, ours.probabilities, rtol=0, atol=1e-15)
        strategies = [len(gambit.game.get_strategies(player)) for player in gambit.game.players]
        assert conversion.strategy_counts(game.sequence_form) == strategies
        spread += spread_infosets(game.tree) > 0
        reordered += gambit.infosets != sorted(gambit.infosets)
    assert min(spread, reordered) >= 5, "trees that numbering by depth gets wrong are missing"


@pytest.mark.parametrize("name", [*odd_games(), "kuhn2"])
def test_rationals_stay_rationals(name: str) -> None:
    game = odd_games().get(name) or eqbench.load_game(name)
    profile = BehaviorProfile.uniform(game.tree)
    if name == "kuhn2":
        thirds = [Fraction(1, 3), Fraction(2, 3)] * game.tree.n_infosets
        profile = BehaviorProfile.of_exact(game.tree, thirds)
    gambit = conversion.to_gambit(game)
    theirs = gambit.profile(profile)
    assert gambit.behavior(theirs).exact == profile.exact is not None
    regret = float(verify(game.tree, profile).max_regret)
    assert float(theirs.max_regret()) == pytest.approx(regret, abs=1e-14)


@pytest.mark.parametrize("rational", [False, True])
def test_mixed_strategies_become_behavior_that_is_uniform_where_they_never_come(
    rational: bool,
) -> None:
    tree = eqbench.load_game("kuhn2").tree
    gambit = conversion.to_gambit(eqbench.load_game("kuhn2"))
    mixed = gambit.game.mixed_strategy_profile(rational=rational)
    strategies = gambit.game.get_strategies("P1")
    # the last strategy bets every card, so P1 never faces a bet
    mixed["P1"] = {name: int(name == strategies[-1]) for name in strategies}
    behavior = gambit.behavior(mixed)
    for card in "123":
        for history, expected in (("", [0, 1]), ("KB", [0.5, 0.5])):
            start = tree.action_start[tree.infoset_of(0, f"{card}:{history}")]
            assert behavior.probabilities[start : start + 2].tolist() == expected
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
