"""Polishing realization plans near an equilibrium to machine precision."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from solver_cases import bimatrix, odd_games

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.verification import verify

polishing = importlib.import_module("eqbench.solvers.polish.plans")
newton = importlib.import_module("eqbench.solvers.polish.plans")
plan_lp = importlib.import_module("eqbench.solvers.polish.plans")
plan_point = importlib.import_module("eqbench.solvers.polish.plan_game")

GAMES = (
    "kuhn2",
    "kuhn3",
    "kuhn3_reduced",
    "kuhn(players=3,cards=6)",
    "random_tree(players=3,depth=5,actions=3,seed=1)",
    "random(players=3,actions=3,seed=2)",
    "shapley",
    "jordan",
)


def plans_near_equilibrium(spec: str, seed: int = 0) -> tuple[Game, np.ndarray]:
    """A game, and plans (S,) of an equilibrium of moderate precision."""
    game = eqbench.load_game(spec)
    budget = eqbench.Budget(iterations=5000, target=1e-9)
    result = eqbench.solve(game, "arclength(starts=0,branch=false)", budget, seed=seed)
    behavior = result.equilibria[0].profile.probabilities
    return game, RealizationPlan.of(game.sequence_form, behavior).weights


def true_regret(game: Game, behavior: np.ndarray) -> float:
    """Max regret measured on the tree."""
    profile = BehaviorProfile.of(game.tree, behavior)
    return float(verify(game.tree, profile).max_regret)


def escape() -> Game:
    """P1 may leave at once; what they would do later, and P2 then, nobody reaches."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "start", ["leave", "stay"])
    builder.terminal((root, 0), [5, 0])
    reply = builder.decision((root, 1), 1, "reply", ["left", "right"])
    for move in range(2):
        later = builder.decision((reply, move), 0, f"later {move}", ["low", "high"])
        builder.terminal((later, 0), [1, 1 - move])
        builder.terminal((later, 1), [2, move])
    return Game("escape", builder.tree())


@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("spec", GAMES)
def test_noise_that_violates_flow_is_polished_away(spec: str, noise: float) -> None:
    game, plans = plans_near_equilibrium(spec)
    rng = np.random.default_rng(7)
    for _ in range(3):
        made = polishing.polish(game, plans + noise * rng.uniform(-1, 1, len(plans)))
        assert true_regret(game, made.behavior) <= 1e-14 * game.tree.payoff_range
        assert made.regret <= 1e-14 * game.tree.payoff_range


@pytest.mark.parametrize("seed", range(4))
def test_last_iterate_of_a_learning_method_is_polished(seed: int) -> None:
    game = eqbench.load_game("kuhn3")
    budget = eqbench.Budget(iterations=20_000, target=1e-6)
    run = eqbench.solve(game, "pcfr_plus(start=random)", budget, seed=seed)
    before = run.equilibria[0].profile.probabilities
    assert true_regret(game, before) > 1e-10
    weights = RealizationPlan.of(game.sequence_form, before).weights
    made = polishing.polish(game, weights)
    assert true_regret(game, made.behavior) <= 1e-15
    # the equilibrium nearby and not another one
    assert np.abs(made.weights - weights).max() <= 1e-2


def test_weights_and_behavior_say_the_same() -> None:
    game, plans = plans_near_equilibrium("kuhn3")
    made = polishing.polish(game, plans)
    again = RealizationPlan.of(game.sequence_form, made.behavior).weights
    np.testing.assert_allclose(again, made.weights, rtol=0, atol=1e-15)
    assert made.regret == game.payoff_model().regrets(made.behavior).max()


def test_where_the_own_plan_does_not_lead_behavior_is_a_best_response() -> None:
    game = escape()
    form = game.sequence_form
    behavior = np.array([1, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    made = polishing.polish(game, RealizationPlan.of(form, behavior).weights)
    later = [game.tree.infoset_of(0, f"later {move}") for move in range(2)]
    for infoset in later:  # P2 leads there with both moves
        start = game.tree.action_start[infoset]
        assert made.behavior[start : start + 2].tolist() == [0, 1]


def test_where_nobody_leads_behavior_is_uniform() -> None:
    game = escape()
    left = [1, 0, 0.5, 0.5, 0.5, 0.5, 1, 0]  # P2 never goes right
    weights = RealizationPlan.of(game.sequence_form, np.array(left)).weights
    made = polishing.polish(game, weights)
    played = made.behavior[game.tree.action_start[game.tree.infoset_of(1, "reply")] :][:2]
    start = game.tree.action_start[game.tree.infoset_of(0, "later 1")]
    assert played.tolist() == [1, 0]
    assert made.behavior[start : start + 2].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("spec", ["kuhn3", "random(players=3,actions=3,seed=2)"])
def test_steps_that_make_things_worse_are_discarded(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, plans = plans_near_equilibrium(spec)
    noisy = plans + 1e-6 * np.random.default_rng(0).uniform(-1, 1, len(plans))
    plan_game = plan_point.PlanGame(game)
    before = polishing.measured(plan_game, plan_game.feasible(noisy))
    proposals = []

    def worse(_: object, weights: np.ndarray, *__: object) -> np.ndarray:
        made = weights + 0.1 * np.random.default_rng(1).uniform(0, 1, len(weights))
        proposals.append(polishing.measured(plan_game, plan_game.feasible(made)).regret)
        return made

    monkeypatch.setattr(newton, "solve_on", worse)
    monkeypatch.setattr(plan_lp, "linearized", worse)
    monkeypatch.setattr(
        polishing, "descended", lambda game, weights: game.feasible(worse(game, weights))
    )
    made = polishing.polish(game, noisy)
    assert min(proposals) > before.regret  # the broken steps were there to be taken
    assert made.regret == before.regret
    np.testing.assert_array_equal(made.weights, before.weights)


@pytest.mark.parametrize(
    "other_steps", [{"MOST_ACTIONS": 0}, {"closer": lambda *_: None}], ids=["linear", "semismooth"]
)
def test_steps_of_one_kind_alone_reach_the_equilibrium(
    monkeypatch: pytest.MonkeyPatch, other_steps: dict[str, object]
) -> None:
    game, plans = plans_near_equilibrium("kuhn3")
    noisy = plans + 1e-5 * np.random.default_rng(3).uniform(-1, 1, len(plans))
    for name, value in ({"corrected": lambda *_: []} | other_steps).items():
        monkeypatch.setattr(polishing, name, value)
    plan_game = plan_point.PlanGame(game)
    assert polishing.measured(plan_game, plan_game.feasible(noisy)).regret > 1e-7
    assert polishing.polish(game, noisy).regret <= 1e-13


@pytest.mark.parametrize("price", plan_lp.PRICES)
def test_linear_program_keeps_to_the_constraints(price: float) -> None:
    game, plans = plans_near_equilibrium("kuhn3")
    plan_game = plan_point.PlanGame(game)
    noisy = plan_game.feasible(plans + 1e-4 * np.random.default_rng(5).uniform(0, 1, len(plans)))
    made = plan_lp.linearized(plan_game, noisy, price)
    assert made.min() >= 0
    np.testing.assert_allclose(plan_game.flow @ made, 0, atol=1e-11)
    assert plan_lp.gap(plan_game, plan_game.feasible(made)) < plan_lp.gap(plan_game, noisy)


def test_slacks_are_zero_where_an_equilibrium_plays_and_gap_is_the_sum_of_regrets() -> None:
    game, plans = plans_near_equilibrium("kuhn3")
    plan_game = plan_point.PlanGame(game)
    exact = polishing.polish(game, plans)
    slacks = plan_game.slacks(exact.weights)
    assert slacks.min() >= 0
    assert np.abs(slacks[exact.weights > 0]).max() <= 1e-15
    assert slacks.max() > 1e-3
    behavior = np.random.default_rng(2).dirichlet([1, 1], game.tree.n_infosets).ravel()
    weights = RealizationPlan.of(game.sequence_form, behavior).weights
    nash_conv = game.payoff_model().regrets(behavior).sum()
    assert plan_lp.gap(plan_game, weights) == pytest.approx(nash_conv, abs=1e-14)


@pytest.mark.parametrize("name", odd_games())
def test_singular_and_empty_games_are_polished_without_complaint(name: str) -> None:
    game = odd_games()[name]
    weights = np.random.default_rng(0).uniform(-1, 1, game.sequence_form.n_sequences)
    made = polishing.polish(game, weights)
    start = plan_point.PlanGame(game).feasible(weights)
    assert made.regret <= polishing.measured(plan_point.PlanGame(game), start).regret
    assert true_regret(game, made.behavior) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("seed", range(1, 6))
def test_result_is_never_worse_than_the_input_made_feasible(seed: int) -> None:
    game = eqbench.load_game(f"random_tree(players=3,depth=5,actions=3,seed={seed})")
    plan_game = plan_point.PlanGame(game)
    weights = np.random.default_rng(seed).normal(size=game.sequence_form.n_sequences)
    start = polishing.measured(plan_game, plan_game.feasible(weights))
    made = polishing.polish(game, weights)
    assert made.regret <= start.regret
    assert true_regret(game, made.behavior) == pytest.approx(made.regret, abs=1e-12)


def test_input_is_left_alone() -> None:
    game, plans = plans_near_equilibrium("shapley")
    given = plans + 1e-6
    kept = given.copy()
    polishing.polish(game, given)
    np.testing.assert_array_equal(given, kept)


@pytest.mark.parametrize("weights", [np.ones(3), np.full(8, np.nan), np.full(8, np.inf)])
def test_weights_that_are_none_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(UsageError, match="one finite weight for each of the 8 sequences"):
        polishing.polish(eqbench.load_game("shapley"), weights)


def test_weights_too_small_for_frequencies_are_no_problem() -> None:
    game = bimatrix([[1, 0], [0, 1]], [[0, 1], [1, 0]])
    tiny = np.array([1, 1, 0.5, 0.5, 1e-320, 1e-320])
    made = polishing.polish(game, tiny)
    assert made.behavior.tolist() == [0.5] * 4
    assert made.regret == 0
