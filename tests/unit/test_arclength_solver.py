"""The arclength solver as a run sees it: options, budgets, what it hands over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arclength_cases import EXACT, game
from solver_cases import Result, odd_games, run

import eqbench
from eqbench.equilibria import Identifier
from eqbench.errors import SpecError, UsageError


def profiles(result: Result) -> list[list[float]]:
    return [candidate.profile.probabilities.tolist() for candidate in result.candidates]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("option", ["epsilon", "window"])
def test_option_that_is_no_finite_number_is_refused(option: str, number: float) -> None:
    solver = type(eqbench.load_solver("arclength"))
    with pytest.raises(SpecError, match=f"{option}={number}"):
        solver(**{option: number})


def test_branch_needs_a_payoff_parameter() -> None:
    with pytest.raises(UsageError, match="no payoff parameter"):
        eqbench.load_solver("arclength").continuation(game("jordan"))


def test_budget_of_factorizations_is_kept_and_leaves_the_iterate() -> None:
    center, early, later = (run("arclength", "kuhn3", iterations=limit) for limit in (1, 7, 60))
    for limit, result in ((1, center), (7, early), (60, later)):
        assert result.monitor.work == result.monitor.statistics["factorizations"] == limit
    assert np.unique(profiles(center)).tolist() == [0.5]  # the path begins at the center
    assert early.termination.reason == "limit"
    assert [candidate.claim for candidate in early.candidates] == ["iterate"]
    assert ((early.behavior > 0) & (early.behavior < 1)).any()
    assert early.max_regret < center.max_regret


SKP = "skp(pot=67/20)"


@pytest.mark.parametrize(
    ("options", "solutions"),
    [
        *((f"regularization={kind}", 3) for kind in ("log", "arctan", "rational")),
        ("starts=0", 3),
        ("starts=0,branch=false", 1),  # the branch finds what a single path does not
        ("starts=0,window=0.001", 1),
    ],
)
def test_solutions_of_skp_are_found(options: str, solutions: int) -> None:
    """Billingham 2017: at this pot they are solutions 2, 3 and 4."""
    result = run(f"arclength({options})", SKP)
    assert max(result.regrets) <= EXACT
    found = [Identifier(result.game).identify(each.profile) for each in result.candidates]
    names = {identity.name for identity in found if identity}
    assert names <= {"skp:2", "skp:3", "skp:4"}
    assert len(names) == solutions


@pytest.mark.parametrize(
    "of",
    [
        "rock_paper_scissors",
        "jordan",
        "random(players=3,actions=4)",
        "kuhn(players=2,cards=4,raises=1)",
        "random(players=4,actions=2)",
        "kuhn(players=3,cards=3,raises=1)",
        *odd_games().values(),
    ],
    ids=str,
)
def test_games_of_all_kinds_are_solved_exactly(of: Any) -> None:
    result = run("arclength(starts=2,branch=false)", of)
    assert result.termination.reason == "converged"
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    assert max(result.regrets) <= EXACT


def test_snapshots_do_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The monitor drops some where it is slow, but never the first four."""

    def snapshots(share: float) -> list[tuple[int, str]]:
        monkeypatch.setattr("eqbench.solver.OVERHEAD_SHARE", share)
        reports = run("arclength(starts=3)", "kuhn3").reports
        return [(r.work, r.candidate.claim) for r in reports if r.kind == "snapshot"]

    assert snapshots(-1.0) == snapshots(np.inf)
    claims = [claim for _, claim in snapshots(np.inf)]
    assert claims == ["iterate", "iterate", "iterate", "equilibrium"]
