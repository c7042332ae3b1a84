"""Logit responses in normal form: the definition over all strategies listed, and Gambit's tracer.

McKelvey and Palfrey 1995, Games and Economic Behavior 10. No recursion over sequences is used.
"""

from __future__ import annotations

import importlib
from itertools import pairwise, product

import numpy as np
import pytest
from random_trees import random_tree
from solver_cases import run

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.realization import RealizationPlan
from eqbench.verification import verify

LAMBDAS = (0.02, 0.5, 3.0, 50.0)


def plan(game: Game, behavior: np.ndarray) -> np.ndarray:
    return RealizationPlan.of(game.sequence_form, behavior).weights


def response(
    game: Game, player: int, behavior: np.ndarray, rate: float, form: str, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Own sequences, and their weights if strategies are played like prior exp(rate payoff)."""
    own = game.sequence_form.sequence_player == player
    rows = pairwise(game.tree.action_start.tolist())
    mine = [row for row, who in zip(rows, game.tree.infoset_player, strict=True) if who == player]
    weights: dict[object, tuple[np.ndarray, float]] = {}
    for number, choice in enumerate(product(*(range(*row) for row in mine))):
        pure = behavior.copy()
        for (first, end), action in zip(mine, choice, strict=True):
            pure[first:end] = np.arange(first, end) == action
        played = plan(game, pure)[own]
        payoff = game.payoff_model().expected_payoffs(pure)[player]
        share = rate * payoff + np.log(prior[list(choice)]).sum()
        weights[tuple(played) if form == "reduced" else number] = played, share
    shares = np.array([share for _, share in weights.values()])
    mixed = np.exp(shares - shares.max())
    return own, mixed @ np.array([played for played, _ in weights.values()]) / mixed.sum()


@pytest.mark.parametrize("options", ["form=normal", "form=reduced", "form=normal,prior=random"])
@pytest.mark.parametrize("name", ["kuhn2", "skp", 2, 9, 11, 14])
def test_plans_are_those_of_responses_over_all_strategies_listed(
    name: str | int, options: str
) -> None:
    """At every lambda asked for, to 1e-8; from the uniform prior of each form and from others."""
    grown = isinstance(name, int)
    game = Game("grown", random_tree(name, depth=5)) if grown else eqbench.load_game(name)
    solver = eqbench.load_solver(f"logit({options},stop_lambda={LAMBDAS[-1]})")
    path = solver.branch(game, at=LAMBDAS, rng=np.random.default_rng(5))
    prior = np.ones(game.tree.n_actions)
    if "random" in options:
        prior = random_profile(game.tree, np.random.default_rng(5))
    form = "reduced" if "reduced" in options else "normal"
    assert len(path.landings) >= len(LAMBDAS)
    for point in path.landings:
        behavior, rate = path.behavior[point], path.lambdas[point]
        for player in range(game.tree.n_players):
            own, expected = response(game, player, behavior, rate, form, prior)
            np.testing.assert_allclose(plan(game, behavior)[own], expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "name", ["random(players=3,actions=3)", "shapley", "jordan", "random_tree(players=2,depth=4)"]
)
def test_branches_are_those_of_gambit(name: str) -> None:
    """Gambit lists reduced strategies; in strategic forms all forms are the same."""
    pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")
    game = eqbench.load_game(name)
    theirs = importlib.import_module("eqbench.solvers.gambit").to_gambit(game)
    solved = pygambit.qre.logit_solve_lambda(theirs.game, list(LAMBDAS[:3]), use_strategic=True)
    for form in ["reduced"] if "tree" in name else ["agent", "normal", "reduced"]:
        path = eqbench.load_solver(f"logit(form={form},stop_lambda=3)").branch(game, at=LAMBDAS[:3])
        for point, found in zip(path.landings, solved, strict=True):
            expected = plan(game, theirs.behavior(found.profile).probabilities)
            np.testing.assert_allclose(plan(game, path.behavior[point]), expected, atol=1e-8)


@pytest.mark.parametrize(
    "name",
    ["kuhn3", "kuhn4", *(f"random_tree(players=3,depth=5,seed={seed})" for seed in (16, 17, 28))],
)
def test_limits_of_agents_and_of_strategies_differ_and_are_equilibria(name: str) -> None:
    game, payoffs = eqbench.load_game(name), []
    for form in ("agent", "normal"):
        found = run(f"logit(form={form})", name).candidates[1]
        measured = verify(game.tree, found.profile)
        assert (found.claim, measured.max_regret <= 1e-9) == ("equilibrium", True)
        payoffs.append(np.array(measured.payoffs))
    assert np.abs(payoffs[0] - payoffs[1]).max() > 1e-3
    assert found.trembles is None, "the limit of strategies need not be sequential"


def test_two_turning_points_close_together_are_not_passed_over() -> None:
    """Between lambda 0.7 and 0.9 the branch folds; longer steps end at another equilibrium."""
    game = eqbench.load_game("random_tree(players=2,depth=5,seed=2)")
    path = eqbench.load_solver("logit(form=reduced)").branch(game)
    assert len(path.turns) == 2
    np.testing.assert_allclose(game.payoff_model().expected_payoffs(path.behavior[-1])[1], 28, 1e-4)
