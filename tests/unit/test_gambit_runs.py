"""Gambit's methods as solvers: what they hand over and claim, and when they stop."""

from __future__ import annotations

from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import eqbench as eqbench_command
from solver_cases import bimatrix, run

import eqbench
from eqbench.solver import Budget, Monitor, Report
from eqbench.verification import verify

pytest.importorskip("pygambit")


# -- what is handed over ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "count"),
    [
        ("gambit_enumpure", 2),
        ("gambit_enummixed", 3),
        ("gambit_enumpoly", 3),
        ("gambit_gnm", 3),
        ("gambit_lcp", 1),
        ("gambit_lcp(use_strategic=true)", 3),
        ("gambit_lcp(use_strategic=true,stop_after=2)", 2),
    ],
)
def test_battle_of_the_sexes_has_two_pure_equilibria_and_a_mixed_one(
    solver: str, count: int
) -> None:
    result = run(solver, "battle_of_sexes")
    assert result.termination.reason == "converged"
    assert [candidate.claim for candidate in result.candidates] == ["equilibrium"] * count
    for candidate in result.candidates:
        assert verify(result.game.tree, candidate.profile).max_regret <= 1e-8
    different = {tuple(c.profile.probabilities.round(6)) for c in result.candidates}
    assert len(different) == count


@pytest.mark.parametrize("solver", ["gambit_lp", "gambit_lcp", "gambit_enummixed"])
def test_rationals_are_handed_over_with_no_regret_and_floats_on_request(solver: str) -> None:
    result = run(solver, "matching_pennies")
    (candidate,) = result.candidates
    assert "steps" not in result.monitor.statistics, "they tell of none"
    assert candidate.profile.exact == (Fraction(1, 2),) * 4
    assert candidate.claimed_regret == 0
    (candidate,) = run(f"{solver}(rational=false)", "matching_pennies").candidates
    assert candidate.profile.exact is None
    np.testing.assert_allclose(candidate.profile.probabilities, 0.5, atol=1e-12)


@pytest.mark.parametrize(
    ("solver", "promised"),
    [
        ("gambit_logit", 1e-8),
        ("gambit_logit(use_strategic=true,maxregret=1e-3)", 1e-3),
        ("gambit_simpdiv", 1e-7),
        ("gambit_liap", 1e-4),
        ("gambit_enumpoly", 1e-8),
    ],
)
def test_claimed_regret_is_the_promised_share_of_the_payoff_range(
    solver: str, promised: float
) -> None:
    game = eqbench.load_game("prisoners_dilemma")
    result = run(solver, game)
    assert result.candidates
    for candidate in result.candidates:
        assert candidate.claimed_regret == pytest.approx(promised * game.tree.payoff_range)
        assert verify(game.tree, candidate.profile).max_regret <= candidate.claimed_regret


def test_regret_of_agents_is_promised_once_for_every_decision_in_turn() -> None:
    """On trees Gambit looks at deviations at single sets; here P1 may decide twice."""
    (candidate,) = run("gambit_logit", "kuhn2").candidates
    assert candidate.claimed_regret == pytest.approx(2 * 1e-8 * 4)


def test_points_that_gambit_wrongly_calls_equilibria_are_refuted() -> None:
    """pygambit 17.0.0b2 ends on a profile with a regret of 1, of which nothing is hidden."""
    result = eqbench.solve("rock_paper_scissors", "gambit_gnm", Budget())
    assert result.status == "refuted"
    assert result.max_regret == pytest.approx(1)


@pytest.mark.parametrize(
    ("solver", "game", "reason", "detail"),
    [
        ("gambit_enumpure", "matching_pennies", "not_found", ""),
        ("gambit_gnm", "kuhn2", "not_found", "no more boundaries"),
        ("gambit_hp", "matching_pennies", "failed", "Multiple best responses"),
    ],
)
def test_end_without_an_equilibrium_has_the_words_of_gambit(
    solver: str, game: str, reason: str, detail: str
) -> None:
    result = run(solver, game)
    assert (result.termination.reason, result.candidates) == (reason, [])
    assert detail in result.termination.detail


def test_what_is_no_profile_makes_the_run_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ("set", [("heads", 0.5), ("tails", 0.6)])

    def lp_solve(game: Any, nash_callback: Any, **options: Any) -> None:
        try:
            nash_callback([[row], [row]])
        except Exception as error:
            raise RuntimeError(f"{type(error).__name__}: {error}") from None  # as Gambit does

    monkeypatch.setattr("pygambit.nash.lp_solve", lp_solve)
    result = run("gambit_lp", "matching_pennies")
    assert result.termination.reason == "failed"
    assert "sum to 1.1" in result.termination.detail
    assert result.candidates == []


def test_path_followed_to_its_end_is_an_iterate_and_no_equilibrium() -> None:
    result = run("gambit_logit_path(end=100)", "kuhn2")
    assert result.termination.reason == "limit"
    assert "lambda = 100" in result.termination.detail
    (candidate,) = result.candidates
    assert candidate.claim == "iterate"
    assert candidate.claimed_regret == pytest.approx(result.max_regret, abs=1e-12)
    assert 1e-4 < result.max_regret < 1e-2
    statistics = result.monitor.statistics
    assert statistics["lambda"] == pytest.approx(100, rel=1e-6)
    assert statistics["steps"] == result.monitor.work > 50
    assert statistics["strategies"] == [27, 64]
    assert statistics["pygambit"] == metadata.version("pygambit")


def test_paths_of_tree_and_strategic_form_agree_on_one_shot_games() -> None:
    tree, form = (
        run(f"gambit_logit_path(end=10,use_strategic={word})", "battle_of_sexes").behavior
        for word in ("false", "true")
    )
    np.testing.assert_allclose(tree, form, atol=1e-9)
    assert abs(tree - 0.5).max() > 0.1


# -- when they stop -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "steps"),
    [
        ("gambit_logit_path", 37),
        ("gambit_logit", 37),
        ("gambit_gnm", 5),
        ("gambit_enumpoly", 10),
    ],
)
def test_steps_of_a_method_are_counted_and_stop_at_the_budget(solver: str, steps: int) -> None:
    result = run(solver, "kuhn2", iterations=steps)
    assert result.termination.reason == "limit"
    assert f"after {steps} iterations" in result.termination.detail
    assert result.monitor.work == result.monitor.statistics["steps"] == steps


def test_stopped_path_hands_over_where_it_is() -> None:
    result = run("gambit_logit_path", "kuhn3", iterations=50)
    assert result.reports[-1].work == 50
    assert [candidate.claim for candidate in result.candidates] == ["iterate"]
    assert result.max_regret < 0.2
    assert 1 < result.monitor.statistics["lambda"] < 100


def test_path_stops_when_its_time_is_up() -> None:
    for time_s in (0.05, 0.5, 5.0):  # a slow machine may not even begin in the shortest
        result = run("gambit_logit_path(end=1e9,max_accel=1)", "kuhn3", time_s=time_s)
        assert result.termination.reason == "limit"
        assert result.termination.detail == f"stopped after {time_s:g} s"
        if result.candidates:
            break
    assert len(result.candidates) == 1


def test_path_stops_at_the_target() -> None:
    result = run("gambit_logit_path", "kuhn2", target=0.01)
    assert result.termination.reason == "converged"
    assert result.max_regret <= 0.01
    assert result.monitor.statistics["lambda"] < 100


def test_supports_that_are_passed_over_are_counted() -> None:
    statistics = run("gambit_enumpoly", "battle_of_sexes").monitor.statistics
    assert {"singular_supports", "abandoned_supports"} < statistics.keys()
    odd = run("gambit_enumpoly", bimatrix([[1, 1], [1, 1]], [[1, 1], [1, 1]])).monitor.statistics
    assert odd["singular_supports"] > 0


def test_game_is_converted_before_the_clock_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    game, solver = eqbench.load_game("kuhn2"), eqbench.load_solver("gambit_lp")
    solver.prepare(game)

    def read_efg(file: Any) -> None:
        raise ValueError("nothing is read any more")

    monkeypatch.setattr("pygambit.read_efg", read_efg)
    assert run("gambit_lp", game).termination.reason == "converged"
    other = eqbench.load_game("kuhn2")
    solver.prepare(other)
    late = run("gambit_lp", other).termination
    assert late.reason == "failed"
    assert "nothing is read any more" in late.detail


@pytest.mark.parametrize("solver", ["gambit_lp", "gambit_logit_path", "gambit_enumpure"])
def test_nothing_is_begun_without_a_budget(solver: str) -> None:
    result = run(solver, "kuhn2", iterations=0)
    assert result.termination.reason == "limit"
    assert result.reports == []


def test_method_that_never_calls_back_is_killed(tmp_path: Path) -> None:
    """Iterated polymatrix approximation goes on for ever on the prisoner's dilemma."""
    game, solver = ("--game", "prisoners_dilemma"), ("--solver", "gambit_ipa")
    ended = eqbench_command("run", *game, *solver, "--timeout", "0.1", "--json", cwd=tmp_path)
    (cell,) = ended.json["cells"]
    assert (ended.code, cell["status"]) == (0, "timeout")
    assert "killed" in cell["reason"]


def test_error_inside_a_callback_is_not_taken_for_one_of_gambit() -> None:
    def broken(report: Report) -> None:
        raise LookupError("nobody listens")

    game = eqbench.load_game("kuhn2")
    monitor = Monitor(game, Budget(target=0), broken)
    solver = eqbench.load_solver("gambit_logit_path")
    with pytest.raises(LookupError, match="nobody listens"):
        solver.solve(game, monitor, np.random.default_rng(0))
