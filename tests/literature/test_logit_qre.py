"""Logit quantal response equilibria: closed forms, and Gambit's tracer.

McKelvey and Palfrey 1998, Experimental Economics 1 (agent form); Turocy 2005, Games and
Economic Behavior 51 and Turocy 2010, Economic Theory 42 (tracing branches; Gambit's method).
"""

from __future__ import annotations

import importlib
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.solver_cases import bimatrix, run

import eqbench
from eqbench.continuation import ResponsePath
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.realization import RealizationPlan
from eqbench.verification import verify

LAMBDAS = (1.0, 10.0, 100.0, 1000.0)
# Gambit's tracer ends on kuhn3 where reaches underflow, at 1.1e4.
NEAR_ITS_END = 1e4


def branch(game: Any, at: tuple[float, ...]) -> ResponsePath:
    game = eqbench.load_game(game) if isinstance(game, str) else game
    return eqbench.load_solver(f"logit(stop_lambda={at[-1]})").branch(game, at=at)


def row(path: ResponsePath, value: float) -> np.ndarray:
    """Frequencies (A,) at the only point with exactly this lambda."""
    (point,) = np.flatnonzero(path.lambdas == value)
    return path.behavior[point]


def test_symmetric_game_solves_its_one_equation() -> None:
    """In the game of chicken symmetric QRE satisfy z = lambda times the gain of daring at p(z)."""
    rows = np.array([[0, 7], [2, 6]])
    path = branch(bimatrix(rows, rows.T), (0.5, 3.0, 40.0))
    for value in (0.5, 3.0, 40.0):
        p = row(path, value)
        np.testing.assert_allclose(p[:2], p[2:], atol=1e-13)
        gain = p[0] * (rows[0, 0] - rows[1, 0]) + p[1] * (rows[0, 1] - rows[1, 1])
        np.testing.assert_allclose(np.log(p[0] / p[1]), value * gain, atol=1e-11)


def test_constant_gain_gives_logit_choice() -> None:
    """With a dominant action by 1 in each state the log-odds are lambda itself."""
    game = bimatrix([[4, 1], [3, 0]], [[4, 3], [1, 0]])
    path = branch(game, (0.25, 2.0, 500.0))
    logs = path.log_probabilities
    np.testing.assert_allclose(logs[:, 0] - logs[:, 1], path.lambdas, rtol=1e-12)


def test_branch_of_kuhn3_goes_on_where_reaches_underflow() -> None:
    """Regret falls like 0.215 / lambda as far as lambda = 1e7, though bets are exp(-6e5)."""
    path = branch("kuhn3", (1e4, 1e5, 1e6, 1e7))
    ends = path.landings
    np.testing.assert_array_equal(path.lambdas[ends], [1e4, 1e5, 1e6, 1e7])
    tree = eqbench.load_game("kuhn3").tree
    regrets = [verify(tree, BehaviorProfile.of(tree, path.behavior[k])).max_regret for k in ends]
    np.testing.assert_allclose(regrets, 0.2147 / path.lambdas[ends], rtol=5e-4)
    assert path.log_probabilities[-1].min() < -1e5
    assert len(path.turns) == 0


def test_principal_branch_of_leduc_is_followed_where_tangents_are_lost_in_rounding() -> None:
    """Hands that differ by a suit may mix in any shares in the limit: a continuum."""
    result = run("logit", "leduc(raises=1)")
    assert result.monitor.statistics["lambda_reached"] == 1e6
    assert result.monitor.statistics["path_regret"] <= 5e-7
    _, equilibrium = result.candidates
    assert eqbench.verify(result.game, equilibrium.profile).max_regret <= 1e-12


RATES = (0.02, 0.5, 3.0, 50.0)


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
    """At every requested lambda, to 1e-8; from the uniform prior of each form and from others."""
    grown = isinstance(name, int)
    game = Game("grown", random_tree(name, depth=5)) if grown else eqbench.load_game(name)
    solver = eqbench.load_solver(f"logit({options},stop_lambda={RATES[-1]})")
    path = solver.branch(game, at=RATES, rng=np.random.default_rng(5))
    prior = np.ones(game.tree.n_actions)
    if "random" in options:
        prior = random_profile(game.tree, np.random.default_rng(5))
    form = "reduced" if "reduced" in options else "normal"
    assert len(path.landings) >= len(RATES)
    for point in path.landings:
        behavior, rate = path.behavior[point], path.lambdas[point]
        for player in range(game.tree.n_players):
            own, expected = response(game, player, behavior, rate, form, prior)
            np.testing.assert_allclose(plan(game, behavior)[own], expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "forms", "lambdas"),
    [
        ("kuhn2", ["agent"], LAMBDAS),
        ("kuhn3", ["agent"], (*LAMBDAS, NEAR_ITS_END)),
        ("random_tree(players=2,depth=4)", ["reduced"], RATES[:3]),  # Gambit lists these strategies
        # in strategic forms all forms are the same
        ("random(players=3,actions=3)", ["agent", "normal", "reduced"], RATES[:3]),
        ("shapley", ["agent", "normal", "reduced"], RATES[:3]),
        ("jordan", ["agent", "normal", "reduced"], RATES[:3]),
    ],
)
def test_branches_are_those_of_gambit(
    name: str, forms: list[str], lambdas: tuple[float, ...]
) -> None:
    pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")
    game = eqbench.load_game(name)
    theirs = importlib.import_module("eqbench.solvers.gambit").to_gambit(game)
    agents = forms == ["agent"]
    solve = pygambit.qre.logit_solve_lambda
    solved = solve(theirs.game, list(lambdas), use_strategic=not agents)
    for form in forms:
        solver = eqbench.load_solver(f"logit(form={form},stop_lambda={lambdas[-1]})")
        path = solver.branch(game, at=lambdas)
        for point, found in zip(path.landings, solved, strict=True):
            expected, own = theirs.behavior(found.profile).probabilities, path.behavior[point]
            if agents:
                np.testing.assert_allclose(own, expected, rtol=0, atol=1e-9)
            np.testing.assert_allclose(plan(game, own), plan(game, expected), atol=1e-8)


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
