"""The verifier on the tree, the kernels on the arrays, and their NumPy twin tell the same.

All are held against :class:`tree_walk.TreeWalk`, a recursion in Fractions that shares no code
with them, so a floating-point profile is measured exactly there. Dealt games have every information
set at one depth and chance at the root; random trees have chance anywhere and information sets
across depths, so that a best response must go by the player's own decisions.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from helpers.made_games import inner_chance_nodes, random_tree, repeated_movers, spread_infosets
from helpers.walks import KINDS, TreeWalk, disagreement, draw_behavior

import eqbench
from eqbench.errors import UsageError
from eqbench.model import kernels
from eqbench.model import realization as reference
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, completed_rows, random_profile
from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import content_hash, load_tree, save_tree
from eqbench.verification import verify, verify_exactly

GAMES = ("kuhn2", "kuhn3", "kuhn4", "skp", "kuhn3_reduced", "jordan", "shapley")
SMALL = ("kuhn2", "kuhn3", "skp", "kuhn3_reduced", "jordan", "shapley")
TREES = tuple(f"tree {seed}" for seed in range(48))
# The last one leaves the range of int64, so payoffs become Python integers there.
POTS = (Fraction(2), Fraction(16, 5), Fraction(107, 33), Fraction(10**20 + 1, 3 * 10**19))


@cache
def game(spec: str) -> Game:
    kind, _, seed = spec.partition(" ")
    return Game(spec, random_tree(int(seed))) if kind == "tree" else eqbench.load_game(spec)


def random_exact(tree: GameTree, rng: np.random.Generator) -> BehaviorProfile:
    """Random rational profile; zeros included."""
    rows: list[Fraction] = []
    for actions in tree.infoset_actions:
        draws = rng.integers(0, 5, len(actions)).tolist()
        draws[rng.integers(len(draws))] += 1
        rows += [Fraction(x, sum(draws)) for x in draws]
    return BehaviorProfile.of_exact(tree, rows)


# -- values and regrets -------------------------------------------------------------------


def test_random_trees_have_no_regularity() -> None:
    """Guards the tests below: what they are about must be in the trees."""
    trees = [game(spec).tree for spec in TREES]
    assert sum(spread_infosets(tree) > 0 for tree in trees) > 30
    assert sum(inner_chance_nodes(tree) > 0 for tree in trees) > 30
    assert sum(repeated_movers(tree) >= 2 for tree in trees) > 20
    assert {tree.n_players for tree in trees} == {1, 2, 3, 4}
    assert any(np.any(tree.chance_probability == 0) for tree in trees)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", [*GAMES, *TREES])
def test_all_measures_agree(spec: str, kind: str) -> None:
    rng = np.random.default_rng(20)
    for _ in range(6 if spec in SMALL else 1):
        behavior = draw_behavior(game(spec).tree, rng, kind)
        assert max(disagreement(game(spec), behavior).values()) <= 1e-12


@pytest.mark.parametrize("spec", [*SMALL, *TREES])
def test_exact_mode_equals_the_walk_and_best_responses_every_pure_strategy(spec: str) -> None:
    tree, rng = game(spec).tree, np.random.default_rng(21)
    for draw in range(4 if spec in SMALL else 1):
        profile = random_exact(tree, rng)
        assert profile.exact is not None
        measured, walk = verify_exactly(tree, profile), TreeWalk(tree, profile.exact)
        assert list(measured.payoffs) == walk.payoffs()
        assert list(measured.regrets) == walk.regrets()
        for p in range(tree.n_players):
            if draw == 0 and walk.pure_strategies(p) <= 100:
                assert measured.payoffs[p] + measured.regrets[p] == walk.brute_force_value(p)


# -- counterfactual values, derivatives, realization ----------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", GAMES)
def test_counterfactual_values_agree_with_the_twin(spec: str, kind: str) -> None:
    behavior = draw_behavior(game(spec).tree, np.random.default_rng(23), kind)
    values = game(spec).payoff_model().counterfactual_values(behavior)
    twin = reference.counterfactual_values(game(spec).sequence_form, behavior)
    assert np.abs(values - twin).max() <= 1e-12


@pytest.mark.parametrize("spec", SMALL)
def test_counterfactual_value_times_own_reach_is_a_payoff_derivative(spec: str) -> None:
    """Payoffs are linear in each frequency: derivative = own reach x counterfactual value."""
    tree, rng = game(spec).tree, np.random.default_rng(24)
    model, form = game(spec).payoff_model(), game(spec).sequence_form
    behavior = random_profile(tree, rng)
    values, reach = model.counterfactual_values(behavior), reference.realization(form, behavior)
    for action in rng.choice(tree.n_actions, min(tree.n_actions, 12), replace=False):
        sequence = action + form.n_players
        infoset = form.sequence_infoset[sequence]
        owner, above = form.infoset_player[infoset], reach[form.parent[infoset]]
        shift = np.zeros_like(behavior)
        shift[action] = 0.5
        rise = model.expected_payoffs(behavior + shift) - model.expected_payoffs(behavior - shift)
        assert rise[owner] == pytest.approx(above * values[action], abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", [*GAMES, *TREES[:10]])
def test_jacobian_agrees_with_twin_and_central_differences(spec: str, kind: str) -> None:
    rng = np.random.default_rng(25)
    behavior = draw_behavior(game(spec).tree, rng, kind)
    model = game(spec).payoff_model()
    jacobian = model.jacobian(behavior)
    twin = reference.jacobian(game(spec).sequence_form, behavior)
    assert np.abs(jacobian - twin).max() <= 1e-12
    for action in rng.choice(len(behavior), min(len(behavior), 20), replace=False):
        shift = np.zeros_like(behavior)
        shift[action] = 0.25  # values are linear in a frequency: no step is too long
        ahead = model.counterfactual_values(behavior + shift)
        behind = model.counterfactual_values(behavior - shift)
        assert np.abs(jacobian[:, action] - 2 * (ahead - behind)).max() <= 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", GAMES)
def test_realization_kernel_multiplies_own_frequencies(spec: str, kind: str) -> None:
    tree, form = game(spec).tree, game(spec).sequence_form
    behavior = draw_behavior(tree, np.random.default_rng(26), kind)
    reach = np.full(form.n_sequences, np.nan)
    for p in range(form.n_players):
        kernels.realize(form.arrays, p, np.concatenate((np.ones(form.n_players), behavior)), reach)
    assert np.array_equal(reach, reference.realization(form, behavior))
    row = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    for action in range(tree.n_actions):
        product, last = 1.0, action
        while last >= 0:
            product *= behavior[last]
            last = tree.infoset_parent[row[last]]
        assert reach[form.n_players + action] == pytest.approx(product, rel=1e-14)


def test_realization_plans_play_like_their_behavior() -> None:
    for seed, spec in enumerate(TREES):
        tree, form = game(spec).tree, game(spec).sequence_form
        behavior = draw_behavior(tree, np.random.default_rng(seed), KINDS[seed % 3])
        plan = RealizationPlan.of(form, behavior)
        back = plan.to_behavior(form)
        assert np.abs(RealizationPlan.of(form, back).weights - plan.weights).max() <= 1e-15
        before = reference.expected_payoffs(form, behavior)
        assert reference.expected_payoffs(form, back) == pytest.approx(before, abs=1e-12)


def test_trees_survive_their_folder_of_arrays(tmp_path_factory: pytest.TempPathFactory) -> None:
    for tree in (game(spec).tree for spec in TREES[:4]):
        folder = tmp_path_factory.mktemp("tree")
        save_tree(tree, folder)
        loaded = load_tree(folder)
        assert content_hash(loaded) == content_hash(tree)
        uniform = BehaviorProfile.uniform(loaded)
        assert verify_exactly(loaded, uniform) == verify_exactly(tree, uniform)
        assert not loaded.parent.flags.writeable


# -- symmetries -----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SMALL)
def test_scaling_and_shifting_payoffs_scales_regrets(spec: str) -> None:
    tree, rng = game(spec).tree, np.random.default_rng(27)
    profile = random_exact(tree, rng)
    plain = verify_exactly(tree, profile)
    base, slope = tree.payoffs.base, tree.payoffs.slope
    scaled = replace(tree.payoffs, base=7 * base, slope=None if slope is None else 7 * slope)
    shifted = replace(tree.payoffs, base=base + 5 * tree.payoffs.denominator)
    seven = verify_exactly(replace(tree, payoffs=scaled), profile)
    assert seven.regrets == tuple(7 * x for x in plain.regrets)
    assert seven.payoffs == tuple(7 * x for x in plain.payoffs)
    five = verify_exactly(replace(tree, payoffs=shifted), profile)
    assert five.regrets == plain.regrets
    assert five.payoffs == tuple(x + 5 for x in plain.payoffs)


@pytest.mark.parametrize("spec", ["rock_paper_scissors", "prisoners_dilemma"])
def test_swapping_players_of_a_symmetric_game_swaps_regrets(spec: str) -> None:
    tree, rng = game(spec).tree, np.random.default_rng(28)
    half = tree.n_actions // 2
    for _ in range(5):
        exact = random_exact(tree, rng).exact
        assert exact is not None
        plain = verify_exactly(tree, BehaviorProfile.of_exact(tree, exact))
        swapped = BehaviorProfile.of_exact(tree, exact[half:] + exact[:half])
        assert verify_exactly(tree, swapped).regrets == plain.regrets[::-1]
        assert verify_exactly(tree, swapped).payoffs == plain.payoffs[::-1]


# -- the pot --------------------------------------------------------------------------------


@pytest.mark.parametrize("pot", POTS, ids=str)
@pytest.mark.parametrize("spec", ["skp(pot={})", "kuhn(players=2, pot={})", "kuhn3(pot={})"])
def test_game_at_a_pot_equals_the_game_built_there(spec: str, pot: Fraction) -> None:
    start, built = eqbench.load_game(spec.format(5)), eqbench.load_game(spec.format(pot))
    moved = start.at(pot=pot)
    assert moved.spec == built.spec
    assert np.abs(moved.tree.payoffs.table - built.tree.payoffs.table).max() <= 1e-15
    profile = random_exact(built.tree, np.random.default_rng(29))
    assert verify_exactly(moved.tree, profile) == verify_exactly(built.tree, profile)
    assert max(disagreement(moved, profile.probabilities).values()) <= 1e-12


def test_game_at_a_pot_shares_its_structure() -> None:
    start = eqbench.load_game("kuhn3")
    columns, incoming = start.sequence_form.columns, start.tree.incoming
    moved = start.at(pot=3.2)
    assert moved.spec == eqbench.load_game("kuhn3(pot=3.2)").spec, "a float means its decimal"
    for name in ("parent", "move", "player", "infoset", "chance", "infoset_parent"):
        assert getattr(moved.tree, name) is getattr(start.tree, name)
    assert moved.tree.payoffs.base is start.tree.payoffs.base
    assert moved.sequence_form.columns is columns
    assert moved.tree.incoming is incoming
    assert start.tree.payoffs.value == 3, "the game itself stays where it was"


@pytest.mark.parametrize("number", [3, np.int64(3), 3.0, np.float64(3), np.float32(3)])
def test_pot_may_be_any_sort_of_number(number: float) -> None:
    moved = game("kuhn2").at(pot=number)
    value = moved.tree.payoffs.value
    assert value == 3
    assert isinstance(value, Fraction)
    assert type(value.numerator) is int, "NumPy's integers would overflow in exact mode"
    assert moved.spec == "kuhn(players=2,cards=3,pot=3,reduce=none,raises=0)"


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_pot_must_be_finite(number: float) -> None:
    with pytest.raises(UsageError, match="pot="):
        game("kuhn2").at(pot=number)


def test_only_the_parameter_of_the_game_can_be_set() -> None:
    with pytest.raises(UsageError, match="'pot'"):
        game("kuhn2").at(stake=3)
    with pytest.raises(UsageError, match="parameter"):
        game("jordan").at(pot=3)


# -- the interchange form -------------------------------------------------------------------


@pytest.mark.parametrize("spec", SMALL)
def test_profiles_survive_their_json_form(spec: str) -> None:
    tree, rng = game(spec).tree, np.random.default_rng(30)
    exact, floats = random_exact(tree, rng), BehaviorProfile.of(tree, random_profile(tree, rng))
    for profile in (exact, floats):
        data = profile.on(tree).to_json(game(spec).spec)
        for back in (data, parse_profile(json.dumps(data))):
            again = profile_from_json(tree, back)
            # the largest frequency of a row of floats is what the others leave of 1
            assert np.abs(again.probabilities - profile.probabilities).max() <= 2e-16
            assert again.exact == completed_rows(tree, profile)
            assert profile.exact is None or verify(tree, again) == verify(tree, profile)
