"""Lemke's algorithm: equilibria exact to rounding, degenerate games, and the path to them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from cfr_cases import lottery
from solver_cases import (
    Result,
    bimatrix,
    constant_sum,
    odd_games,
    random_two_player_game,
    run,
    with_payoffs,
)

import eqbench
from eqbench.model import reference
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.solver import is_deterministic, refusal_of

complementarity = importlib.import_module("eqbench.solvers.lcp.complementarity")
SOLVER = eqbench.load_solver("lcp")
NAMED = [
    "kuhn2",
    "kuhn(players=2,cards=13)",
    "prisoners_dilemma",
    "battle_of_sexes",
    "shapley",
    "rock_paper_scissors",
    "matching_pennies",
]


def begin(game: Game, seed: int) -> tuple[Any, Any]:
    """Problem with a random prior, and its first tableau."""
    prior = random_profile(game.tree, np.random.default_rng(seed))
    form = game.sequence_form
    problem = complementarity.Problem.of(form, reference.realization(form, prior))
    return problem, problem.first_tableau()


def assert_solved(result: Result, tolerance: float = 1e-12) -> None:
    assert result.termination.reason == "converged", result.termination.detail
    assert [candidate.claim for candidate in result.candidates] == ["equilibrium"]
    assert result.max_regret <= tolerance


# -- equilibria ---------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["uniform", "random"])
@pytest.mark.parametrize("name", NAMED)
def test_named_games_are_solved_to_rounding(name: str, start: str) -> None:
    assert_solved(run(f"lcp(start={start})", name))


@pytest.mark.parametrize("kind", ["general sum", "zero sum", "few payoffs", "rank one"])
@pytest.mark.parametrize("size", [2, 5, 20, 50])
def test_random_bimatrix_games_are_solved_to_rounding(kind: str, size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(5):
        rows, columns = rng.integers(-50, 51, (2, size, size + size % 3))
        if kind == "zero sum":
            columns = -rows
        elif kind == "few payoffs":
            rows, columns = rows > 30, columns > 30
        elif kind == "rank one":
            rows, columns = rows[:, :1] + 0 * rows, columns[:1] + 0 * columns
        assert_solved(run("lcp", bimatrix(rows.astype(int), columns.astype(int))))


@pytest.mark.parametrize("seed", range(40))
def test_random_extensive_games_are_solved_to_rounding(seed: int) -> None:
    game = random_two_player_game(seed, depth=6 + seed % 3)
    assert_solved(run("lcp", game))
    assert_solved(run("lcp(start=random)", game, seed))


@pytest.mark.parametrize("seed", range(5))
def test_value_of_a_constant_sum_game_is_that_of_the_linear_program(seed: int) -> None:
    game = constant_sum(random_two_player_game(seed, depth=7), total=3)
    found = game.payoff_model().expected_payoffs(run("lcp", game).behavior)
    assert found[0] == pytest.approx(run("sequence_lp", game).monitor.statistics["value"])


@pytest.mark.parametrize("name", odd_games())
def test_odd_games_are_solved(name: str) -> None:
    assert_solved(run("lcp", odd_games()[name]), 1e-15)


@pytest.mark.parametrize("factors", [(1e-9, 1e-9), (1e6, 1e6), (1e6, 1e-6)])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_units_of_the_payoffs_do_not_matter(factors: tuple[float, float], shift: float) -> None:
    game = random_two_player_game(7, depth=8)
    table = game.tree.payoffs.table
    same = with_payoffs(game, (table + shift) * np.array(factors))
    first, second = (run("lcp", g).behavior for g in (game, same))
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_starts_lead_to_different_equilibria() -> None:
    found = {
        tuple(run("lcp(start=random)", "battle_of_sexes", seed).behavior.tolist())
        for seed in range(20)
    }
    assert found == {(1, 0, 1, 0), (0, 1, 0, 1)}
    assert is_deterministic(SOLVER)
    assert not is_deterministic(eqbench.load_solver("lcp(start=random)"))


# -- the path -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kuhn2", "shapley", "random 2", "random 35"])
def test_plans_on_the_path_are_best_responses_to_the_mixtures_with_the_prior(name: str) -> None:
    if name.startswith("random"):
        game = random_two_player_game(int(name.split()[1]), depth=7)
    else:
        game = eqbench.load_game(name)
    problem, tableau = begin(game, 1)
    status, steps = complementarity.RUNNING, 0
    while status == complementarity.RUNNING:
        share = float(tableau.entries[tableau.place[-1], -1]) if tableau.is_basic[-1] else 0.0
        if share > 1e-9:
            steps += 1
            mixture = problem.plans(tableau)
            plans = (mixture - (1 - share) * problem.prior) / share
            payoffs, best = against(problem, mixture, plans)
            np.testing.assert_allclose(payoffs, best, atol=1e-9)
        _, status = complementarity.advance(tableau, 1)
    assert status == complementarity.SOLVED
    assert steps >= 4


def against(problem: Any, mixture: np.ndarray, plans: np.ndarray) -> tuple[list[float], np.ndarray]:
    """What `plans` of each player get against the mixture of the other, and the most there is."""
    form = problem.form
    values = problem.values @ mixture
    owner = np.append(np.arange(2), form.infoset_player[form.sequence_infoset[2:]])
    payoffs = [float(plans[owner == p] @ values[owner == p]) for p in range(2)]
    for i in reversed(range(form.n_infosets)):
        values[form.parent[i]] += values[form.block_start[i] : form.block_start[i + 1]].max()
    return payoffs, values[:2]


def test_uniform_prior_of_a_regular_game_takes_no_detour() -> None:
    """In the order of the sequences, ties here lead along a path of 97,547 pivots."""
    result = run("lcp", "kuhn(players=2,cards=40)")
    assert_solved(result)
    assert result.monitor.work < 1000


def test_ties_are_broken_as_if_the_first_basis_were_perturbed() -> None:
    """The row that leaves is the one that leaves when infinitesimals become small numbers."""
    rng, ties = np.random.default_rng(0), 0
    for seed in range(40):
        game = bimatrix(rng.integers(0, 2, (4, 4)), rng.integers(0, 2, (4, 4)))
        _, tableau = begin(game, seed)
        entries = tableau.entries
        entries[:, -1] = 0.0  # all rows tie
        for _ in range(3):
            column = int(rng.integers(len(tableau.basic) - 1))
            rows, step = complementarity.least_step(tableau, column)
            if len(rows) < 2:
                continue
            ties += 1
            assert step == 0.0
            expected = rows[np.argmin(perturbations(tableau)[rows] / -entries[rows, column])]
            chosen = complementarity.break_tie(tableau, column, rows)
            assert chosen == expected
            complementarity.pivot(tableau, chosen, column)
    assert ties > 20


def perturbations(tableau: Any) -> np.ndarray:
    """Values of the basic variables if those of the first basis are raised by 1e-2, 1e-4, …"""
    values = np.zeros(len(tableau.basic))
    for rank, variable in enumerate(tableau.first_basis):
        size, place = 1e-2 ** (rank + 1), tableau.place[variable]
        if tableau.is_basic[variable]:
            values[place] += size
        else:
            values -= size * tableau.entries[:, place]
    return values


def test_pivot_solves_the_same_equations() -> None:
    """With any values of the other variables, the basic ones are as before."""
    _, tableau = begin(random_two_player_game(2), 0)
    rng = np.random.default_rng(0)
    rows, variables = len(tableau.basic), 2 * len(tableau.basic) + 1
    values = np.zeros(variables)
    values[tableau.nonbasic] = rng.random(rows + 1)
    values[tableau.basic] = tableau.entries @ np.append(values[tableau.nonbasic], 1.0)
    row, column = np.argwhere(np.abs(tableau.entries[:, :-2]) > 0.1)[5]
    complementarity.pivot(tableau, row, column)
    again = tableau.entries @ np.append(values[tableau.nonbasic], 1.0)
    np.testing.assert_allclose(again, values[tableau.basic], atol=1e-12)
    for variable in range(variables):
        order = tableau.basic if tableau.is_basic[variable] else tableau.nonbasic
        assert order[tableau.place[variable]] == variable


def test_cutting_into_chunks_changes_no_bit() -> None:
    game = random_two_player_game(5, depth=8)
    _, whole = begin(game, 3)
    _, pieces = begin(game, 3)
    total, status = complementarity.advance(whole, 10_000)
    counts = []
    while True:
        done, ending = complementarity.advance(pieces, 3)
        counts.append(done)
        if ending != complementarity.RUNNING:
            break
    assert (sum(counts), ending) == (total, status)
    np.testing.assert_array_equal(whole.entries, pieces.entries)


# -- refusals and endings -----------------------------------------------------------------


def test_three_players_and_one_are_refused() -> None:
    assert "this game has 3 players" in str(refusal_of(SOLVER, eqbench.load_game("skp")))
    assert "this game has 1 player" in str(refusal_of(SOLVER, lottery()))


def test_tableau_beyond_the_memory_limit_is_refused_with_its_size() -> None:
    result = run("lcp", "kuhn(players=2,cards=100)", memory_bytes=2**20)
    assert result.termination.reason == "failed"
    assert "802 sequences" in result.termination.detail
    assert "need 15 MiB, more than the memory limit of 1 MiB" in result.termination.detail


@pytest.mark.parametrize("budget", [{"iterations": 0}, {"iterations": 7}, {"time_s": 1e-6}])
def test_budget_ends_the_path_with_the_mixture_in_hand(budget: dict[str, Any]) -> None:
    result = run("lcp", "kuhn(players=2,cards=20)", **budget)
    assert result.termination.reason == "limit"
    assert result.monitor.work == budget.get("iterations", result.monitor.work)
    assert [candidate.claim for candidate in result.candidates] == ["iterate"]
    assert result.max_regret > 1e-3


def test_pivots_and_size_are_recorded() -> None:
    result = run("lcp", "kuhn2")
    figures = result.monitor.statistics
    assert (figures["rows"], figures["columns"]) == (26, 28)
    assert figures["pivots"] == result.monitor.work == result.reports[-1].work > 0


def ray(tableau: Any, count: int) -> tuple[int, int]:
    return 0, complementarity.RAY


def singular(tableau: Any, count: int) -> tuple[int, int]:
    tableau.is_basic[:] = True
    return 1, complementarity.SOLVED


@pytest.mark.parametrize(("advance", "words"), [(ray, "ray"), (singular, "singular")])
def test_path_without_an_end_that_can_be_read_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, advance: Any, words: str
) -> None:
    monkeypatch.setattr(complementarity, "advance", advance)
    result = run("lcp", bimatrix(np.zeros((2, 2), int), np.zeros((2, 2), int)))
    assert (result.termination.reason, result.reports) == ("failed", [])
    assert words in result.termination.detail


SOLUTION = complementarity.Problem.solution


@pytest.mark.parametrize(
    ("spoiled", "words", "claims"),
    [
        (lambda *given: SOLUTION(*given) * 0.9, "a realization plan", []),
        (lambda *given: SOLUTION(*given) - 0.5, "a realization plan", []),
        (lambda problem, _: problem.prior.copy(), "no equilibrium", ["iterate"]),
    ],
)
def test_wrong_basis_is_not_called_an_equilibrium(
    monkeypatch: pytest.MonkeyPatch, spoiled: Any, words: str, claims: list[str]
) -> None:
    monkeypatch.setattr(complementarity.Problem, "solution", spoiled)
    result = run("lcp", "kuhn2")
    assert result.termination.reason == "failed"
    assert words in result.termination.detail
    assert [candidate.claim for candidate in result.candidates] == claims
