"""What holds for the built-in solvers beyond the contract suite that all solvers pass."""

from __future__ import annotations

import numpy as np
import pytest
from gambit_cases import ends_on

import eqbench
from eqbench.model.game import Game
from eqbench.model.tree_files import content_hash
from eqbench.registry import default_registry
from eqbench.solver import Budget, Monitor, Report, Termination, refusal_of

SOLVERS = [entry.name for entry in default_registry().solvers() if entry.builtin]
EXACT = ["sequence_lp", "lcp", "case_enumeration", "arclength", "semismooth", "ncp", "mip", "logit"]
GAMBIT = [solver for solver in SOLVERS if solver.startswith("gambit_")]
# They refine a profile for as long as they may.
ITERATIVE = [solver for solver in SOLVERS if solver not in (*EXACT, *GAMBIT)]
# The first looks for pure equilibria only, the second needs a prior with one best reply.
EMPTY_HANDED = ["gambit_enumpure", "gambit_hp"]
GAMES = ["kuhn2", "kuhn3_reduced", "skp", "rock_paper_scissors", "jordan"]


def solve(solver: str, game: Game, budget: Budget, seed: int = 0) -> tuple[Termination, list]:
    reports: list[Report] = []
    instance = default_registry().load_solver(solver).instance
    monitor = Monitor(game, budget, reports.append)
    termination = instance.solve(game, monitor, np.random.default_rng(seed))
    return termination, reports


def form_arrays(game: Game) -> list[np.ndarray]:
    form = game.sequence_form
    arrays = [*form.arrays[:-1], form.columns, form.base, form.payoffs]
    return [array.copy() for array in arrays]


@pytest.mark.parametrize("solver", SOLVERS)
def test_solver_leaves_every_game_untouched(solver: str) -> None:
    for game in GAMES:
        loaded = eqbench.load_game(game)
        before, arrays = content_hash(loaded.tree), form_arrays(loaded)
        refused = refusal_of(default_registry().load_solver(solver).instance, loaded) is not None
        if not refused and ends_on(solver, game):
            solve(solver, loaded, Budget(iterations=5))
        assert content_hash(loaded.tree) == before, game
        for old, new in zip(arrays, form_arrays(loaded), strict=True):
            assert np.array_equal(old, new), game


@pytest.mark.parametrize("solver", ITERATIVE)
def test_iteration_budget_is_honored_exactly(solver: str) -> None:
    termination, reports = solve(
        solver, eqbench.load_game("kuhn2"), Budget(iterations=37, target=0)
    )
    assert termination.reason == "limit"
    assert reports[-1].work == 37


@pytest.mark.parametrize("solver", ITERATIVE)
def test_time_budget_ends_the_solver_with_something_in_hand(solver: str) -> None:
    termination, reports = solve(solver, eqbench.load_game("kuhn2"), Budget(time_s=0.05, target=0))
    assert termination.reason == "limit"
    assert any(report.kind == "candidate" for report in reports)


@pytest.mark.parametrize("solver", [s for s in SOLVERS if s not in EMPTY_HANDED])
def test_target_is_reached_and_reported_as_converged(solver: str) -> None:
    result = eqbench.solve("matching_pennies", solver, Budget(time_s=600, target=0.05))
    assert result.status == "ok", result.reason
    assert result.max_regret is not None
    assert result.max_regret <= 0.05
