"""The semismooth Newton method: its equations, and what it finds and hands over."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from helpers.solver_cases import max_regret, numerical_jacobian, run

import eqbench

system = importlib.import_module("eqbench.solvers.fischer_burmeister")

# -- the equations ------------------------------------------------------------------------------

GAMES = [
    "kuhn2",
    "kuhn3_reduced",
    "jordan",
    "random(players=4,actions=2)",
    "random_tree(players=3,depth=5)",
]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("where", ["at a profile", "outside of all bounds"])
def test_derivatives_are_those_of_the_residual(game: str, where: str) -> None:
    equations, rng = system.System(eqbench.load_game(game)), np.random.default_rng(1)
    point = equations.start(equations.random_behavior(rng))
    if where == "outside of all bounds":
        point = equations.at(point.unknowns + rng.normal(size=len(point.unknowns)))
    assert np.hypot(point.weights[equations.form.n_players :], point.slacks).min() > 1e-4
    numerical = numerical_jacobian(lambda x: equations.at(x).residual, point.unknowns, 1e-6)
    scale = np.abs(numerical).max()
    np.testing.assert_allclose(equations.derivatives(point), numerical, atol=1e-7 * scale)


def test_slopes_at_the_kink_are_a_limit_of_slopes_nearby() -> None:
    zero, near = np.zeros(1), np.full(1, 1e-200)
    at, beside = (system.fischer_burmeister_slopes(a, a) for a in (zero, near))
    np.testing.assert_allclose(at, beside, rtol=1e-14)
    np.testing.assert_allclose(at, 1 - np.sqrt(0.5), rtol=1e-14)


def test_function_is_zero_exactly_where_both_conditions_hold() -> None:
    a, b = np.array([0.0, 3.0, 0.0]), np.array([2.0, 0.0, 0.0])
    assert not system.fischer_burmeister(a, b).any()
    a, b = np.array([-1e-9, 1.0, 1e-9, -1.0]), np.array([2.0, -1e-9, 1e-9, -1.0])
    assert system.fischer_burmeister(a, b).all()


def test_function_keeps_the_digits_of_the_smaller_argument() -> None:
    """The series of a + b - sqrt(a^2 + b^2) for small b begins with b."""
    made = system.fischer_burmeister(np.ones(1), np.full(1, 1e-20))
    np.testing.assert_allclose(made, 1e-20, rtol=1e-14)


def test_steps_go_downhill_also_where_the_matrix_is_singular() -> None:
    rng = np.random.default_rng(3)
    singular = np.outer(rng.normal(size=5), rng.normal(size=5))
    for matrix in (singular, np.eye(5)):
        gradient = matrix.T @ rng.normal(size=5)
        direction = system._direction(matrix, gradient, 1e-30)
        assert np.isfinite(direction).all()
        assert direction @ gradient < 0


# -- what it finds ------------------------------------------------------------------------------


def test_all_hands_over_each_equilibrium_once() -> None:
    """The battle of the sexes has two equilibria in pure strategies and a mixed one."""
    result = run("semismooth(all=true,starts=60)", "battle_of_sexes")
    assert result.termination.reason == "converged"
    assert result.monitor.statistics["starts"] == 60
    found = sorted(candidate.profile.probabilities[0] for candidate in result.candidates)
    assert [0 < value < 1 for value in found] == [False, True, False]
    assert result.termination.detail == "3 different equilibria from 60 starts"
    assert max(result.regrets) <= 1e-12


# -- how it ends without an equilibrium ---------------------------------------------------------


def test_start_that_stalls_claims_nothing_and_further_starts_go_on() -> None:
    """Four of five starts stall here; which ones is rounding."""
    for seed in range(20):
        result = run("semismooth(starts=1)", "random(players=3,actions=6)", seed)
        if result.termination.reason == "not_found":
            break
    assert "1 start led to no equilibrium" in result.termination.detail
    assert [candidate.claim for candidate in result.candidates] == ["iterate"]
    assert result.max_regret > 1e-3
    assert result.monitor.statistics["converged_share"] == 0
    assert result.monitor.work < 200  # the most steps of a start
    further = run("semismooth", "random(players=3,actions=6)", seed)
    assert further.monitor.statistics["starts"] > 1
    assert further.max_regret <= 1e-12


def test_steps_of_a_start_are_bounded() -> None:
    result = run("semismooth(starts=3,steps=4)", "kuhn3")
    assert result.termination.reason == "not_found"
    assert result.monitor.work == 12


def test_snapshots_come_nearer() -> None:
    first = run("semismooth", "kuhn3")
    assert [report.work for report in first.reports] == [1, 8, first.monitor.work]
    regrets = [max_regret(first.game, each.profile.probabilities) for each in first.snapshots]
    assert regrets[0] > regrets[-1] > 1e-6
