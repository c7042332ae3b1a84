"""Every built-in solver on small games: what the contract promises to users and harness."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.model.game import Game
from eqbench.model.tree_files import content_hash
from eqbench.registry import default_registry
from eqbench.solver import Budget, Monitor, Report, Termination

SOLVERS = [entry.name for entry in default_registry().solvers() if entry.builtin]
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
@pytest.mark.parametrize("game", GAMES)
def test_solver_leaves_the_game_untouched(solver: str, game: str) -> None:
    loaded = eqbench.load_game(game)
    before, arrays = content_hash(loaded.tree), form_arrays(loaded)
    solve(solver, loaded, Budget(iterations=20))
    assert content_hash(loaded.tree) == before
    for old, new in zip(arrays, form_arrays(loaded), strict=True):
        assert np.array_equal(old, new)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("game", GAMES)
def test_same_seed_gives_the_same_bits(solver: str, game: str) -> None:
    loaded = eqbench.load_game(game)
    first, again = (
        solve(solver, loaded, Budget(iterations=30, target=0), seed=3)[1] for _ in range(2)
    )
    assert len(first) == len(again) > 0
    for one, other in zip(first, again, strict=True):
        assert (one.kind, one.work) == (other.kind, other.work)
        assert np.array_equal(
            one.candidate.profile.probabilities, other.candidate.profile.probabilities
        )


@pytest.mark.parametrize("solver", SOLVERS)
def test_deterministic_means_that_seeds_do_not_matter(solver: str) -> None:
    loaded = eqbench.load_game("kuhn2")
    instance = default_registry().load_solver(solver).instance
    results = [
        solve(solver, loaded, Budget(iterations=30), seed)[1][-1].candidate.profile.probabilities
        for seed in (0, 1)
    ]
    assert np.array_equal(*results) == instance.deterministic


@pytest.mark.parametrize("solver", SOLVERS)
def test_iteration_budget_is_honored_exactly(solver: str) -> None:
    termination, reports = solve(
        solver, eqbench.load_game("kuhn2"), Budget(iterations=37, target=0)
    )
    assert termination.reason == "limit"
    assert reports[-1].work == 37


@pytest.mark.parametrize("solver", SOLVERS)
def test_time_budget_ends_the_solver_with_something_in_hand(solver: str) -> None:
    termination, reports = solve(solver, eqbench.load_game("kuhn2"), Budget(time_s=0.05, target=0))
    assert termination.reason == "limit"
    assert any(report.kind == "candidate" for report in reports)


@pytest.mark.parametrize("solver", SOLVERS)
def test_target_is_reached_and_reported_as_converged(solver: str) -> None:
    result = eqbench.solve("rock_paper_scissors", solver, Budget(time_s=20, target=0.05))
    assert result.status == "ok", result.reason
    assert result.max_regret is not None
    assert result.max_regret <= 0.05


@pytest.mark.parametrize("solver", SOLVERS)
def test_candidates_are_distributions_with_a_claim(solver: str) -> None:
    for game in GAMES:
        loaded = eqbench.load_game(game)
        for report in solve(solver, loaded, Budget(iterations=10))[1]:
            rows = np.add.reduceat(
                report.candidate.profile.probabilities, loaded.tree.action_start[:-1]
            )
            assert rows == pytest.approx(1.0, abs=1e-12)
            assert report.candidate.claim in ("average", "iterate")


@pytest.mark.parametrize("solver", SOLVERS)
def test_solver_is_a_documented_frozen_dataclass(solver: str) -> None:
    registry = default_registry()
    loaded = registry.load_solver(solver)
    instance: Any = loaded.instance
    assert dataclasses.is_dataclass(instance)
    assert type(instance).__dataclass_params__.frozen
    assert type(instance).__doc__
    for option in registry.options(loaded.entry):
        assert option.doc, f"{solver}: the option {option.name} has no description"


@pytest.mark.parametrize("solver", SOLVERS)
def test_canonical_spec_names_all_options_and_loads_the_same_solver(solver: str) -> None:
    registry = default_registry()
    loaded = registry.load_solver(solver)
    again = registry.load_solver(loaded.spec)
    assert again.spec == loaded.spec
    assert again.instance == loaded.instance
    for field in dataclasses.fields(loaded.instance):
        assert f"{field.name}=" in loaded.spec
