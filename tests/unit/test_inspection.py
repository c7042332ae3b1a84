"""Reach and gaps of a profile, against the definitions on small games."""

from __future__ import annotations

import numpy as np
import pytest

import eqbench
from eqbench.model.inspection import inspect_profile
from eqbench.model.profile import random_profile
from eqbench.model.tree import CHANCE


@pytest.mark.parametrize(
    "spec", ["kuhn2", "kuhn3_reduced", "random_tree(players=3,depth=5,seed=4)"]
)
def test_reach_is_that_of_a_walk_over_the_tree(spec: str) -> None:
    game = eqbench.load_game(spec)
    tree, profile = game.tree, random_profile(game.tree, np.random.default_rng(1))
    reach = np.zeros((3, tree.n_infosets))  # everybody, the owner, the others with chance
    parts = np.ones((tree.n_nodes, tree.n_players + 1))  # by player, chance last
    for node in range(tree.n_nodes):
        if node:
            parent = tree.parent[node]
            parts[node] = parts[parent]
            mover = tree.player[parent]
            move = (
                tree.chance_probability[node] if mover == CHANCE else profile[tree.incoming[node]]
            )
            parts[node, mover] *= move  # CHANCE is -1, the last column
        if (i := tree.infoset[node]) >= 0:
            owner = tree.player[node]
            reach[0, i] += parts[node].prod()
            reach[1, i] = parts[node, owner]
            reach[2, i] += np.delete(parts[node], owner).prod()
    seen = inspect_profile(game, profile)
    assert seen.reach == pytest.approx(reach[0], abs=1e-14)
    assert seen.own_reach == pytest.approx(reach[1], abs=1e-14)
    assert seen.counterfactual_reach == pytest.approx(reach[2], abs=1e-14)


def test_gaps_are_what_an_action_loses_once_play_is_there() -> None:
    game = eqbench.load_game("kuhn2")
    uniform = eqbench.BehaviorProfile.uniform(game.tree).probabilities
    seen = inspect_profile(game, uniform)
    place = game.tree.infoset_of(0, "3:KB")
    fold, call = seen.gaps[game.tree.action_start[place] :][:2]
    assert (fold, call) == (3.0, 0.0), "the best card loses 1 by folding and wins 2 by calling"


def test_gap_is_unknown_where_the_others_never_go() -> None:
    game = eqbench.load_game("kuhn2")
    tree = game.tree
    profile = eqbench.BehaviorProfile.uniform(tree).probabilities.copy()
    for card in (1, 2, 3):
        start = tree.action_start[tree.infoset_of(1, f"{card}:K")]
        profile[start : start + 2] = [1, 0]  # player 2 never bets
    seen = inspect_profile(game, profile)
    unreached = tree.infoset_of(0, "2:KB")
    start, stop = tree.action_start[unreached : unreached + 2]
    assert seen.reach[unreached] == 0
    assert np.isnan(seen.gaps[start:stop]).all()
