"""The linear program over realization plans: exact where it applies, refused elsewhere."""

from __future__ import annotations

import importlib
import types
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from cfr_cases import lottery
from solver_cases import (
    bimatrix,
    constant_sum,
    odd_games,
    random_two_player_game,
    run,
    with_payoffs,
)

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.solver import refusal_of

SOLVER = eqbench.load_solver("sequence_lp")
GAMES = [
    "kuhn2",
    "rock_paper_scissors",
    "matching_pennies",
    "kuhn(players=2,cards=13)",
    "kuhn(players=2,cards=5,pot=7/3)",
]


@pytest.mark.parametrize("name", GAMES)
def test_both_plans_are_optimal_to_rounding(name: str) -> None:
    result = run("sequence_lp", name)
    assert result.termination.reason == "converged"
    assert [candidate.claim for candidate in result.candidates] == ["equilibrium"]
    assert result.max_regret <= 1e-12


@pytest.mark.parametrize("seed", range(25))
def test_random_constant_sum_trees_are_solved_to_rounding(seed: int) -> None:
    game = constant_sum(random_two_player_game(seed, depth=6 + seed % 3), total=7)
    assert refusal_of(SOLVER, game) is None
    result = run("sequence_lp", game)
    assert result.max_regret <= 1e-12
    payoffs = game.payoff_model().expected_payoffs(result.behavior)
    assert payoffs[0] == pytest.approx(result.monitor.statistics["value"], abs=1e-12)
    assert payoffs.sum() == pytest.approx(7)


@pytest.mark.parametrize("name", odd_games())
def test_odd_games_are_solved(name: str) -> None:
    game = odd_games()[name]
    assert refusal_of(SOLVER, game) is None
    assert run("sequence_lp", game).max_regret <= 1e-15


@pytest.mark.parametrize(("factor", "shift"), [(1e-9, 0.0), (1e9, 0.0), (1.0, 1e4), (1e-3, 10.0)])
def test_units_of_the_payoffs_do_not_matter(factor: float, shift: float) -> None:
    game = constant_sum(random_two_player_game(3, depth=8))
    payoffs = factor * game.tree.payoffs.table + np.array([shift, -shift])
    same = with_payoffs(game, payoffs)
    assert run("sequence_lp", same).max_regret <= 1e-12 * (factor + shift)


def test_frequencies_are_uniform_where_the_own_plan_does_not_lead() -> None:
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "enter", ["in", "out"])
    inside = builder.decision((root, 0), 0, "inside", ["a", "b", "c"])
    for move in range(3):
        builder.terminal((inside, move), [-1 - move, 1 + move])
    builder.terminal((root, 1), [0, 0])
    result = run("sequence_lp", Game("entry", builder.tree()))
    np.testing.assert_array_equal(result.behavior, [0, 1, 1 / 3, 1 / 3, 1 / 3])


def test_figures_of_the_program_are_recorded() -> None:
    result = run("sequence_lp", "kuhn2")
    figures = result.monitor.statistics
    assert figures["value"] == pytest.approx(-1 / 18, abs=1e-14)
    # 13 sequences and 6 information sets a player
    assert (figures["rows"], figures["columns"]) == (7 + 13, 13 + 7)
    assert 0 < figures["simplex_iterations"] == result.monitor.work


# -- refusals -----------------------------------------------------------------------------


def test_three_players_and_one_are_refused() -> None:
    assert "this game has 3 players" in str(refusal_of(SOLVER, eqbench.load_game("skp")))
    assert "this game has 1 player" in str(refusal_of(SOLVER, lottery()))


def test_general_sum_is_refused_with_the_variation_of_the_sum() -> None:
    reason = str(refusal_of(SOLVER, eqbench.load_game("prisoners_dilemma")))
    assert "varies by 4, from 2 to 6" in reason
    nearly = bimatrix([[1.0, 0.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, -1.0 + 1e-9]])
    assert "varies by 1e-09" in str(refusal_of(SOLVER, nearly))


def test_sum_may_be_constant_up_to_rounding() -> None:
    game = bimatrix([[0.1, 0.7]], [[0.2, 0.3 - 0.7]])
    first, second = game.tree.payoffs.table.sum(axis=1)
    assert first != second
    assert refusal_of(SOLVER, game) is None


def test_sum_may_depend_on_chance_alone() -> None:
    """A lottery ticket for both players changes nothing that they could do."""
    builder = TreeBuilder(["P1", "P2"])
    luck = builder.chance(None, [Fraction(1, 4), Fraction(3, 4)])
    for outcome, ticket in enumerate((9, -3)):
        node = builder.decision((luck, outcome), 0, "", ["heads", "tails"])
        for own in range(2):
            other = builder.decision((node, own), 1, "", ["heads", "tails"])
            for answer in range(2):
                win = 1 if own == answer else -1
                builder.terminal((other, answer), [win + ticket, -win + ticket])
    game = Game("pennies with a ticket", builder.tree())
    assert refusal_of(SOLVER, game) is None
    np.testing.assert_allclose(run("sequence_lp", game).behavior, 0.5)


# -- endings ------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [{"iterations": 3}, {"time_s": 1e-6}])
def test_budget_ends_the_program_with_nothing_in_hand(budget: dict[str, Any]) -> None:
    result = run("sequence_lp", "kuhn(players=2,cards=40)", **budget)
    assert result.termination.reason == "limit"
    assert "limit reached" in result.termination.detail
    assert result.reports == []


def test_numerical_failure_of_the_backend_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    maximin = importlib.import_module("eqbench.solvers.maximin")
    broken = types.SimpleNamespace(status=4, message="numerical difficulties", nit=5)
    monkeypatch.setattr(maximin, "linprog", lambda *args, **options: broken)
    result = run("sequence_lp", "kuhn2")
    assert result.termination.reason == "failed"
    assert "numerical difficulties" in result.termination.detail


def test_solution_that_is_no_plan_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    maximin = importlib.import_module("eqbench.solvers.maximin")
    solve = maximin.linprog

    def tampered(*args: Any, **options: Any) -> Any:
        solution = solve(*args, **options)
        solution.x[1] += 1e-6
        return solution

    monkeypatch.setattr(maximin, "linprog", tampered)
    result = run("sequence_lp", "kuhn2")
    assert result.termination.reason == "failed"
    assert "no realization plans" in result.termination.detail
    assert result.candidates == []
