"""Trees without any regularity: chance anywhere, information sets across depths.

Dealt games put every information set at one depth and chance at the root. Here nothing of the
kind helps: a best response must go by the player's own decisions, never by tree depth.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from agreement import KINDS, disagreement, draw_behavior
from random_trees import inner_chance_nodes, random_tree, repeated_movers, spread_infosets
from tree_walk import TreeWalk

from eqbench.model import reference
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import compile_sequence_form
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import content_hash, load_tree, save_tree
from eqbench.verification import verify, verify_exactly

SEEDS = range(48)


@cache
def tree_of(seed: int) -> GameTree:
    return random_tree(seed)


def test_random_trees_have_no_regularity() -> None:
    """Guards the tests below: what they are about must be in the trees."""
    trees = [tree_of(seed) for seed in SEEDS]
    assert sum(spread_infosets(tree) > 0 for tree in trees) > 30
    assert sum(inner_chance_nodes(tree) > 0 for tree in trees) > 30
    assert sum(repeated_movers(tree) >= 2 for tree in trees) > 20
    assert {tree.n_players for tree in trees} == {1, 2, 3, 4}
    assert any(np.any(tree.chance_probability == 0) for tree in trees)


@pytest.mark.parametrize("kind", KINDS)
def test_all_measures_agree(kind: str) -> None:
    for seed in SEEDS:
        tree = tree_of(seed)
        behavior = draw_behavior(tree, np.random.default_rng(seed), kind)
        worst = max(disagreement(Game("random", tree), behavior).values())
        assert worst <= 1e-12, f"seed {seed}: {worst}"


def test_exact_mode_equals_the_walk() -> None:
    for seed in SEEDS:
        tree, uniform = tree_of(seed), BehaviorProfile.uniform(tree_of(seed))
        assert uniform.exact is not None
        measured, walk = verify_exactly(tree, uniform), TreeWalk(tree, uniform.exact)
        assert list(measured.payoffs) == walk.payoffs(), f"seed {seed}"
        assert list(measured.regrets) == walk.regrets(), f"seed {seed}"


def test_best_response_is_the_best_pure_strategy() -> None:
    tried = 0
    for seed in SEEDS:
        tree = tree_of(seed)
        behavior = random_profile(tree, np.random.default_rng(seed))
        measured = verify(tree, BehaviorProfile.of(tree, behavior))
        walk = TreeWalk(tree, behavior.tolist())
        for p in range(tree.n_players):
            if walk.pure_strategies(p) <= 100:
                tried += 1
                best = float(walk.brute_force_value(p))
                assert measured.payoffs[p] + measured.regrets[p] == pytest.approx(best, abs=1e-12)
    assert tried > 20


def test_jacobians_agree() -> None:
    for seed in SEEDS[:10]:
        tree = tree_of(seed)
        form = compile_sequence_form(tree)
        behavior = random_profile(tree, np.random.default_rng(seed))
        jacobian = Game("random", tree).payoff_model().jacobian(behavior)
        assert np.abs(jacobian - reference.jacobian(form, behavior)).max() <= 1e-12, f"seed {seed}"


def test_realization_plans_play_like_their_behavior() -> None:
    for seed in SEEDS:
        tree = tree_of(seed)
        form = compile_sequence_form(tree)
        behavior = draw_behavior(tree, np.random.default_rng(seed), KINDS[seed % 3])
        plan = RealizationPlan.of(form, behavior)
        back = plan.to_behavior(form)
        assert np.abs(RealizationPlan.of(form, back).weights - plan.weights).max() <= 1e-15
        before = reference.expected_payoffs(form, behavior)
        assert reference.expected_payoffs(form, back) == pytest.approx(before, abs=1e-12)


def test_trees_survive_their_folder_of_arrays(tmp_path_factory: pytest.TempPathFactory) -> None:
    for seed in SEEDS[:4]:
        folder = tmp_path_factory.mktemp("tree")
        save_tree(tree_of(seed), folder)
        loaded = load_tree(folder)
        assert content_hash(loaded) == content_hash(tree_of(seed))
        uniform = BehaviorProfile.uniform(loaded)
        assert verify_exactly(loaded, uniform) == verify_exactly(tree_of(seed), uniform)
        assert not loaded.parent.flags.writeable
