"""The contract suites: every built-in passes them, and each promise can be broken.

At the end stands what holds for the built-in solvers beyond the suite that all solvers pass. It is
in the same file so that one process compiles the kernels of all solvers.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from helpers.command import PLUGINS
from helpers.command import eqbench_here as eqbench
from helpers.gambit_games import ENDS_ON, ends_on
from helpers.made_games import SPECS

import eqbench as package
from eqbench.builtin import BUILTIN_SOLVERS
from eqbench.model.game import Game
from eqbench.model.tree_files import content_hash
from eqbench.registry import default_registry
from eqbench.solver import Limits, Monitor, MonitorReport, Termination, refusal_of
from eqbench.testing import Result, check_game, check_solver
from eqbench.testing.solver_suite import GAMES as SUITE_GAMES

BREAKERS = [str(PLUGINS / "breakers.py")]
# What eqbench[all] does not bring, where it is not installed.
ABSENT = {name for name in ("LiteEFG", "cvxpy") if find_spec(name) is None}
SOLVERS = [
    entry.name
    for entry in default_registry().solvers()
    if entry.builtin and ABSENT.isdisjoint(entry.requires)
]
GAMES = [entry.name for entry in default_registry().games() if entry.builtin]
# Options that keep the suite short, for games whose defaults are large.
SMALLER = SPECS | {
    "leduc": "leduc(ranks=2)",
    "leduc3": "leduc(players=3,ranks=2,raises=1)",
    "liars_dice": "liars_dice(sides=3)",
}

BROKEN_BY_SOLVER = {
    "is_not_frozen": "frozen dataclass",
    "changes_its_options": "canonical spec",
    "raises_on_three_players": "never raises",
    "reports_nothing": "hands over behavior profiles",
    "claims_everything": "contradicts none of its claims",
    "calls_anything_converged": "says that it has converged",
    "draws_elsewhere": "the same bits",
    "denies_its_randomness": "calls itself deterministic",
    "ignores_iterations": "more iterations than allowed",
    "ignores_time": "its time is up",
    "writes_into_the_game": "does not change the game",
}
BROKEN_BY_GAME = {
    "is_no_game": "can be built",
    "is_not_frozen_game": "frozen dataclass",
    "changes_every_time": "the same game again",
    "announces_too_little": "as many nodes as it has",
}


def broken(results: list[Result]) -> list[str]:
    return [result.promise for result in results if result.passed is False]


@pytest.mark.parametrize("solver", SOLVERS)
def test_builtin_solver_keeps_every_promise(solver: str) -> None:
    results = list(check_solver(solver, games=ENDS_ON.get(solver, SUITE_GAMES)))
    assert [str(result) for result in results if result.passed is False] == []
    assert any(result.passed for result in results)
    assert "no description" not in results[0].detail


@pytest.mark.parametrize("game", GAMES)
def test_builtin_game_keeps_every_promise(game: str) -> None:
    results = list(check_game(SMALLER.get(game, game)))
    assert [str(result) for result in results if result.passed is False] == []
    assert not any("no description" in result.detail for result in results)
    announced = next(result for result in results if "as many nodes" in result.promise)
    # a game that changes another one is as large as that one announces
    assert announced.passed or game == "locked", "built-in games announce their size"


@pytest.mark.parametrize("solver", BROKEN_BY_SOLVER)
def test_broken_promise_of_a_solver_is_noticed(solver: str) -> None:
    games = ["matching_pennies", "prisoners_dilemma", "jordan"]
    found = broken(list(check_solver(solver, games=games, plugins=BREAKERS)))
    assert any(BROKEN_BY_SOLVER[solver] in promise for promise in found), found


@pytest.mark.parametrize("game", BROKEN_BY_GAME)
def test_broken_promise_of_a_game_is_noticed(game: str) -> None:
    found = broken(list(check_game(game, plugins=BREAKERS)))
    assert any(BROKEN_BY_GAME[game] in promise for promise in found), found


def test_error_of_a_game_that_cannot_be_built_is_said_once() -> None:
    first, *others = check_game("is_no_game", plugins=BREAKERS)
    assert first.passed is False
    assert "is_no_game" in first.detail
    assert {(result.passed, result.detail) for result in others} == {(None, "there is no game")}


def test_option_without_a_description_is_remarked_on() -> None:
    results = check_solver("documents_nothing", games=["kuhn2"], plugins=BREAKERS)
    first = next(iter(results))
    assert first.passed
    assert "of step" in first.detail


def test_command_reports_a_solver_that_crashes_and_lives_on(tmp_path: Path) -> None:
    ended = eqbench(
        *("check", "aborts", "--game", "matching_pennies", "--json"),
        *("--plugin", PLUGINS / "faults.py"),
        cwd=tmp_path,
    )
    assert ended.code == 1
    promises = {item["promise"]: item for item in ended.json["promises"]}
    crashed = promises["it solves a game or refuses it with a reason, and never raises"]
    assert crashed["passed"] is False
    assert "ended early" in crashed["detail"]


# -- beyond the suite of all solvers ---------------------------------------------------------------

# They refine a profile for as long as they may.
ITERATIVE = [
    solver
    for solver in SOLVERS
    if BUILTIN_SOLVERS[solver].module.removeprefix("eqbench.solvers.").partition(".")[0]
    in ("cfr", "fictitious_play", "replicator", "liteefg", "openspiel")
    and solver != "openspiel_sequential_lp"
]
STRATEGIC = {"openspiel_adidas": "rock_paper_scissors"}
# The first looks for pure equilibria only, the second needs a prior with one best reply.
EMPTY_HANDED = ["gambit_enumpure", "gambit_hp"]
ALL_KINDS = ["kuhn2", "kuhn3_reduced", "skp", "rock_paper_scissors", "jordan"]


def solve(solver: str, game: Game, budget: Limits, seed: int = 0) -> tuple[Termination, list]:
    reports: list[MonitorReport] = []
    instance = default_registry().load_solver(solver).instance
    monitor = Monitor(game, budget, reports.append)
    termination = instance.solve(game, monitor, np.random.default_rng(seed))
    return termination, reports


def form_arrays(game: Game) -> list[np.ndarray]:
    form = game.sequence_form
    arrays = [*form.arrays, form.columns, form.base, form.payoffs]
    return [array.copy() for array in arrays]


@pytest.mark.parametrize("solver", SOLVERS)
def test_solver_leaves_every_game_untouched(solver: str) -> None:
    for game in ALL_KINDS:
        loaded = package.load_game(game)
        before, arrays = content_hash(loaded.tree), form_arrays(loaded)
        refused = refusal_of(default_registry().load_solver(solver).instance, loaded) is not None
        if not refused and ends_on(solver, game):
            solve(solver, loaded, Limits(iterations=5))
        assert content_hash(loaded.tree) == before, game
        for old, new in zip(arrays, form_arrays(loaded), strict=True):
            assert np.array_equal(old, new), game


@pytest.mark.parametrize("solver", ITERATIVE)
def test_iteration_budget_is_honored_exactly(solver: str) -> None:
    game = package.load_game(STRATEGIC.get(solver, "kuhn2"))
    termination, reports = solve(solver, game, Limits(iterations=37, target=0))
    assert termination.reason == "limit"
    assert reports[-1].work == 37


@pytest.mark.parametrize("solver", ITERATIVE)
def test_time_budget_ends_the_solver_with_something_in_hand(solver: str) -> None:
    game = package.load_game(STRATEGIC.get(solver, "kuhn2"))
    termination, reports = solve(solver, game, Limits(timeout_s=0.05, target=0))
    assert termination.reason == "limit"
    assert any(report.kind == "candidate" for report in reports)


@pytest.mark.parametrize("solver", [s for s in SOLVERS if s not in EMPTY_HANDED])
def test_target_is_reached_and_reported_as_converged(solver: str) -> None:
    result = package.solve("matching_pennies", solver, Limits(timeout_s=600, target=0.05))
    assert result.status == "ok", result.reason
    assert result.max_regret is not None
    assert result.max_regret <= 0.05
