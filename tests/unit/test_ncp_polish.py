"""Polishing realization plans near an equilibrium to machine precision."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from solver_cases import bimatrix, max_regret, odd_games, plans_of, solved

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game

polishing = importlib.import_module("eqbench.solvers.polish.plans")
PlanGame = polishing.PlanGame

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


def noisy(plans: np.ndarray, noise: float, seed: int = 3) -> np.ndarray:
    """Weights (S,) near plans, which violate flow."""
    return plans + noise * np.random.default_rng(seed).uniform(-1, 1, len(plans))


# -- what comes out --------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("spec", GAMES)
def test_noise_that_violates_flow_is_polished_away(spec: str, noise: float) -> None:
    game, plans = solved(spec)
    given = noisy(plans, noise)
    kept = given.copy()
    made = polishing.polish(game, given)
    np.testing.assert_array_equal(given, kept)
    assert max(max_regret(game, made.behavior), made.regret) <= 1e-14 * game.tree.payoff_range
    assert made.regret == game.payoff_model().regrets(made.behavior).max()
    np.testing.assert_allclose(plans_of(game, made.behavior), made.weights, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("others", "later", "played"),
    [
        ([0.5, 0.5], "later 0", [0, 1]),  # P2 leads there: a best response
        ([0.5, 0.5], "later 1", [0, 1]),
        ([1, 0], "later 1", [0.5, 0.5]),  # nobody does
    ],
)
def test_behavior_where_the_own_plan_does_not_lead(
    others: list[float], later: str, played: list[float]
) -> None:
    """P1 leaves at once; what they would do later, and P2 then, nobody reaches."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "start", ["leave", "stay"])
    builder.terminal((root, 0), [5, 0])
    reply = builder.decision((root, 1), 1, "reply", ["left", "right"])
    for move in range(2):
        node = builder.decision((reply, move), 0, f"later {move}", ["low", "high"])
        builder.terminal((node, 0), [1, 1 - move])
        builder.terminal((node, 1), [2, move])
    game = Game("escape", builder.tree())
    behavior = np.array([1, 0, 0.5, 0.5, 0.5, 0.5, *others])
    made = polishing.polish(game, plans_of(game, behavior))
    start = game.tree.action_start[game.tree.infoset_of(0, later)]
    assert made.behavior[start : start + 2].tolist() == played
    assert made.behavior[-2:].tolist() == others


@pytest.mark.parametrize("name", odd_games())
def test_singular_and_empty_games_are_polished_without_complaint(name: str) -> None:
    game = odd_games()[name]
    weights = np.random.default_rng(0).uniform(-1, 1, game.sequence_form.n_sequences)
    made = polishing.polish(game, weights)
    assert max_regret(game, made.behavior) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("weights", [np.ones(3), np.full(8, np.nan), np.full(8, np.inf)])
def test_weights_that_are_none_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(UsageError, match="one finite weight for each of the 8 sequences"):
        polishing.polish(eqbench.load_game("shapley"), weights)


def test_weights_are_shared_out_also_if_negative_or_too_small_for_frequencies() -> None:
    game = bimatrix([[1, 0], [0, 1]], [[0, 1], [1, 0]])
    feasible = PlanGame(game).feasible(np.array([9, 1, -3, 1, 1, 3]))
    assert feasible.tolist() == [1, 1, 0, 1, 0.25, 0.75]
    made = polishing.polish(game, np.array([1, 1, 0.5, 0.5, 1e-320, 1e-320]))
    assert made.behavior.tolist() == [0.5] * 4
    assert made.regret == 0


# -- the steps -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn3", "random(players=3,actions=3,seed=2)"])
def test_steps_that_make_things_worse_are_discarded(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, plans = solved(spec)
    plan_game = PlanGame(game)
    start = polishing.measured(plan_game, plan_game.feasible(noisy(plans, 1e-6)))
    proposals = []

    def worse(_: object, weights: np.ndarray, *__: object) -> np.ndarray:
        made = plan_game.feasible(weights + np.abs(noisy(0 * weights, 0.1)))
        proposals.append(polishing.measured(plan_game, made).regret)
        return made

    for step in ("solve_on", "linearized", "descended"):
        monkeypatch.setattr(polishing, step, worse)
    made = polishing.polish(game, noisy(plans, 1e-6))
    assert min(proposals) > start.regret  # the broken steps were there to be taken
    assert made.regret == start.regret
    np.testing.assert_array_equal(made.weights, start.weights)


NEWTON, SEMISMOOTH = {"corrected": lambda *_: []}, {"MOST_ACTIONS": 0}
LINEAR = {"closer": lambda *_: None}


@pytest.mark.parametrize(
    "others",
    [SEMISMOOTH | LINEAR, NEWTON | LINEAR, NEWTON | SEMISMOOTH],
    ids=["newton", "semismooth", "linear"],
)
def test_steps_of_one_kind_alone_reach_the_equilibrium(
    monkeypatch: pytest.MonkeyPatch, others: dict[str, object]
) -> None:
    game, plans = solved("kuhn3")
    for name, value in others.items():
        monkeypatch.setattr(polishing, name, value)
    plan_game = PlanGame(game)
    start = plan_game.feasible(noisy(plans, 1e-5))
    assert polishing.measured(plan_game, start).regret > 1e-7
    assert polishing.polish(game, start).regret <= 1e-13
