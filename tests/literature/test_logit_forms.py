"""Logit responses in normal form: the definition over all strategies listed, and Gambit's tracer.

McKelvey and Palfrey 1995, Games and Economic Behavior 10 (normal form). Strategies are enumerated
here and paid by the payoff model: nothing of the sequence form's recursion is used.
"""

from __future__ import annotations

import importlib
from itertools import pairwise, product

import numpy as np
import pytest
from random_trees import random_tree
from solver_cases import run

import eqbench
from eqbench.errors import SpecError
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.realization import RealizationPlan
from eqbench.verification import verify

LAMBDAS = (0.02, 0.5, 3.0, 50.0)


def loaded(name: str) -> Game:
    if name.startswith("grown"):
        return Game(name, random_tree(int(name.split()[1]), depth=5))
    return eqbench.load_game(name)


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
@pytest.mark.parametrize("name", ["kuhn2", "skp", "grown 2", "grown 9", "grown 11", "grown 14"])
def test_plans_are_those_of_responses_over_all_strategies_listed(name: str, options: str) -> None:
    """At every lambda asked for, to 1e-8; from the uniform prior of each form and from others."""
    game = loaded(name)
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
    ("name", "forms"),
    [
        ("random(players=3,actions=3)", ("agent", "normal", "reduced")),
        ("shapley", ("agent", "normal", "reduced")),
        ("jordan", ("agent", "normal", "reduced")),
        ("random_tree(players=2,depth=4)", ("reduced",)),
    ],
)
def test_branches_are_those_of_gambit(name: str, forms: tuple[str, ...]) -> None:
    """Gambit lists reduced strategies; in strategic forms all forms are the same."""
    pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")
    game = eqbench.load_game(name)
    theirs = importlib.import_module("eqbench.solvers.gambit").to_gambit(game)
    solved = pygambit.qre.logit_solve_lambda(theirs.game, list(LAMBDAS[:3]), use_strategic=True)
    for form in forms:
        path = eqbench.load_solver(f"logit(form={form},stop_lambda=3)").branch(game, at=LAMBDAS[:3])
        for point, found in zip(path.landings, solved, strict=True):
            expected = plan(game, theirs.behavior(found.profile).probabilities)
            np.testing.assert_allclose(plan(game, path.behavior[point]), expected, atol=1e-8)


@pytest.mark.parametrize(
    "name",
    ["kuhn3", "kuhn4"]
    + [f"random_tree(players=2,depth=5,seed={seed})" for seed in (2, 4, 9)]
    + [f"random_tree(players=3,depth=5,seed={seed})" for seed in (16, 17)],
)
def test_limits_of_agents_and_of_strategies_differ_and_are_equilibria(name: str) -> None:
    results = [run(f"logit(form={form})", name) for form in ("agent", "normal")]
    agent, normal = (result.candidates[1] for result in results)
    for found in (agent, normal):
        assert found.claim == "equilibrium"
        assert verify(results[0].game.tree, found.profile).max_regret <= 1e-9
    payoffs = [
        results[0].game.payoff_model().expected_payoffs(found.profile.probabilities)
        for found in (agent, normal)
    ]
    assert np.abs(payoffs[0] - payoffs[1]).max() > 1e-3
    assert normal.trembles is None, "its limit need not be sequential"


def test_two_turning_points_close_together_are_not_passed_over() -> None:
    """Between lambda 0.7 and 0.9 the branch folds; longer steps end at another equilibrium."""
    game = eqbench.load_game("random_tree(players=2,depth=5,seed=2)")
    path = eqbench.load_solver("logit(form=reduced)").branch(game)
    assert len(path.turns) == 2
    np.testing.assert_allclose(game.payoff_model().expected_payoffs(path.behavior[-1])[1], 28, 1e-4)


def test_form_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(SpecError, match="agent, normal"):
        eqbench.load_solver("logit(form=strategic)")
