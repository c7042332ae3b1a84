"""The arclength solver as a run sees it: options, budgets, what it hands over."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from arclength_cases import EXACT, game
from solver_cases import Result, odd_games, run

import eqbench
from eqbench.equilibria import Identifier
from eqbench.errors import SpecError, UsageError
from eqbench.verification import Verifier


def regrets(result: Result) -> list[float]:
    verifier = Verifier(result.game.tree)
    return [float(verifier.verify(c.profile).max_regret) for c in result.candidates]


def profiles(result: Result) -> list[list[float]]:
    return [candidate.profile.probabilities.tolist() for candidate in result.candidates]


# -- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("option", ["epsilon", "window"])
def test_option_that_is_no_finite_number_is_refused(option: str, number: float) -> None:
    solver = type(eqbench.load_solver("arclength"))
    with pytest.raises(SpecError, match=f"{option}={number}"):
        solver(**{option: number})


def test_branch_needs_a_payoff_parameter() -> None:
    with pytest.raises(UsageError, match="no payoff parameter"):
        eqbench.load_solver("arclength").continuation(game("jordan"))


# -- budget -------------------------------------------------------------------------------------


def test_iterations_are_factorizations_and_never_exceeded() -> None:
    for limit in (1, 7, 60):
        result = run("arclength", "kuhn3", iterations=limit)
        assert result.monitor.work == limit
        assert result.monitor.statistics["factorizations"] == limit


def test_budget_that_ends_before_an_equilibrium_leaves_the_iterate() -> None:
    result = run("arclength", "kuhn3", iterations=8)
    assert result.termination.reason == "limit"
    (candidate,) = result.candidates
    assert candidate.claim == "iterate"
    assert ((candidate.profile.probabilities > 0) & (candidate.profile.probabilities < 1)).any()
    (regret,) = regrets(result)
    uniform = run("arclength", "kuhn3", iterations=1)  # the path begins at the center
    assert np.unique(profiles(uniform)).tolist() == [0.5]
    assert regret < regrets(uniform)[0]


def test_time_ends_the_search_with_what_was_found() -> None:
    spec = "arclength(starts=1000000)"
    eqbench.load_solver(spec).prepare(game("kuhn3"))
    result = run(spec, "kuhn3", time_s=1)
    assert result.termination.reason == "converged"
    assert "before the budget ended" in result.termination.detail
    assert result.candidates
    assert max(regrets(result)) <= EXACT


def test_game_that_does_not_fit_the_memory_is_refused_with_both_figures() -> None:
    result = run("arclength", "leduc", memory_bytes=10 * 2**20)
    assert result.termination.reason == "failed"
    text = r"the derivatives by 2,\d+ actions need \d\d+ MiB, more than the memory limit of 10 MiB"
    assert re.match(text, result.termination.detail)
    assert not result.candidates
    assert result.monitor.work == 0


# -- what it finds ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["log", "arctan", "rational"])
def test_all_three_solutions_of_skp_are_found(kind: str) -> None:
    """Billingham 2017: at a pot of 3.35 these are solutions 2, 3 and 4."""
    spec = "skp(pot=67/20)"
    result = eqbench.solve(spec, f"arclength(regularization={kind})", eqbench.Budget(time_s=600))
    assert result.status == "ok"
    assert max(e.max_regret for e in result.equilibria) <= EXACT
    names = {equilibrium.identity["name"] for equilibrium in result.equilibria}
    assert names == {"skp:2", "skp:3", "skp:4"}


def test_branch_finds_what_a_single_path_does_not() -> None:
    identifier = Identifier(game("skp(pot=67/20)"))

    def names(spec: str) -> set[str]:
        candidates = run(spec, "skp(pot=67/20)").candidates
        found = [identifier.identify(candidate.profile) for candidate in candidates]
        return {identity.name for identity in found if identity}

    assert len(names("arclength(starts=0,branch=false)")) == 1
    assert names("arclength(starts=0)") == {"skp:2", "skp:3", "skp:4"}
    assert len(names("arclength(starts=0,window=0.001)")) == 1


@pytest.mark.parametrize(
    "spec",
    [
        "rock_paper_scissors",
        "jordan",
        "random(players=3,actions=4)",
        "kuhn(players=2,cards=4,raises=1)",
        "random(players=4,actions=2)",
        "kuhn(players=3,cards=3,raises=1)",
    ],
)
def test_games_of_all_kinds_are_solved_exactly(spec: str) -> None:
    result = run("arclength(starts=2,branch=false)", spec)
    assert result.termination.reason == "converged"
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    assert max(regrets(result)) <= EXACT


@pytest.mark.parametrize("name", sorted(odd_games()))
def test_odd_games_are_solved(name: str) -> None:
    result = run("arclength", odd_games()[name])
    assert result.termination.reason == "converged"
    assert max(regrets(result)) <= EXACT


def test_every_equilibrium_is_handed_over_once() -> None:
    found = np.array(profiles(run("arclength", "skp(pot=67/20)")))
    apart = np.abs(found[:, None] - found[None]).max(axis=2) + np.eye(len(found))
    assert len(found) >= 10
    assert apart.min() > 1e-9
    # all weights lead to the only equilibrium
    assert len(run("arclength", "jordan").candidates) == 1


# -- seeds --------------------------------------------------------------------------------------


def test_same_seed_gives_the_same_profiles_and_another_seed_others() -> None:
    def solve(seed: int) -> Any:
        return profiles(run("arclength(starts=3,branch=false)", "kuhn3", seed))

    assert solve(1) == solve(1)
    assert solve(1)[0] == solve(2)[0]  # from uniform weights
    assert solve(1)[1:] != solve(2)[1:]


def test_without_random_starts_it_is_deterministic_and_says_so() -> None:
    first, second = (run("arclength(starts=0)", "skp(pot=67/20)", seed) for seed in (1, 2))
    assert profiles(first) == profiles(second)
    assert eqbench.load_solver("arclength(starts=0)").deterministic
    assert not eqbench.load_solver("arclength").deterministic


def test_snapshots_do_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The monitor drops some where it is slow, but never the first four."""

    def snapshots(share: float) -> list[tuple[int, str]]:
        monkeypatch.setattr("eqbench.solver.OVERHEAD_SHARE", share)
        reports = run("arclength(starts=3)", "kuhn3").reports
        return [(r.work, r.candidate.claim) for r in reports if r.kind == "snapshot"]

    assert snapshots(-1.0) == snapshots(np.inf)
    claims = [claim for _, claim in snapshots(np.inf)]
    assert claims == ["iterate", "iterate", "iterate", "equilibrium"]


def test_statistics_say_what_the_work_consisted_of() -> None:
    result = run("arclength(starts=2)", "skp(pot=67/20)")
    statistics = result.monitor.statistics
    # polishing evaluates derivatives too, and has least squares of its own
    assert 0.8 * result.monitor.work < statistics["factorizations"] < result.monitor.work
    assert statistics["found"] == len(result.candidates)
    assert statistics["steps"] > statistics["refused_steps"] > 0
    assert statistics["failures"] == 0
