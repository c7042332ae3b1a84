"""Lemke's algorithm: equilibria exact to rounding, degenerate games, and the path to them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from helpers.solver_cases import bimatrix, random_two_player_game, run

import eqbench
from eqbench.model import realization as reference
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.realization import RealizationPlan

complementarity = importlib.import_module("eqbench.solvers.complementarity")


def begin(game: Game, seed: int) -> tuple[Any, Any]:
    """Problem with a random prior, and its first tableau."""
    prior = random_profile(game.tree, np.random.default_rng(seed))
    form = game.sequence_form
    problem = complementarity.Problem.of(form, reference.realization(form, prior))
    return problem, problem.first_tableau()


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
        result = run("lcp", bimatrix(rows.astype(int), columns.astype(int)))
        assert result.candidates[0].claim == "equilibrium"
        assert result.max_regret <= 1e-12


# -- the path -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kuhn2", "shapley", "random 2", "random 35"])
def test_plans_on_the_path_are_best_responses_to_the_mixtures_with_the_prior(name: str) -> None:
    if name.startswith("random"):
        game = random_two_player_game(int(name.split()[1]), depth=7)
    else:
        game = eqbench.load_game(name)
    problem, tableau = begin(game, 1)
    form, model = game.sequence_form, game.payoff_model()
    owner = np.append(np.arange(2), form.infoset_player[form.sequence_infoset[2:]])
    status, steps = complementarity.RUNNING, 0
    while status == complementarity.RUNNING:
        share = float(tableau.entries[tableau.place[-1], -1]) if tableau.is_basic[-1] else 0.0
        if share > 1e-9:
            steps += 1
            mixture = problem.plans(tableau)
            plans = (mixture - (1 - share) * problem.prior) / share
            for player in range(2):
                own = np.where(owner == player, plans, mixture)
                assert own.min() >= -1e-9
                behavior = RealizationPlan(np.maximum(own, 0)).to_behavior(form)
                assert model.regrets(behavior)[player] <= 1e-9
        _, status = complementarity.advance(tableau, 1)
    assert status == complementarity.SOLVED
    assert steps >= 4


def test_uniform_prior_of_a_regular_game_takes_no_detour() -> None:
    """In the order of the sequences, ties here lead along a path of 97,547 pivots."""
    result = run("lcp", "kuhn(players=2,cards=40)")
    assert result.max_regret <= 1e-12
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


# -- endings ------------------------------------------------------------------------------


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
        (lambda problem, _: problem.prior.copy(), "not an equilibrium", ["iterate"]),
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
