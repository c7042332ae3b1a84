"""Runs of `ncp` and `mip`: backends that are wrong or cut short, and what is handed over.

Gurobi's size-limited license and SCIP are enough: both come with their wheels.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from solver_cases import with_payoffs

import eqbench
from eqbench.model.realization import RealizationPlan
from eqbench.solver import Availability

set_ups = importlib.import_module("eqbench.solvers.ncp.ncp")
runs = importlib.import_module("eqbench.solvers.ncp.ncp")
backend = importlib.import_module("eqbench.solvers.ncp.backends")
gurobi = importlib.import_module("eqbench.solvers.ncp.backends")

BACKENDS = ("gurobi", "scip")


def solve(game: Any, solver: str, seed: int = 0, **budget: Any) -> Any:
    return eqbench.solve(game, solver, eqbench.Budget(**{"time_s": 600} | budget), seed=seed)


# -- backends that are wrong -----------------------------------------------------------------------


@dataclass
class StandIn:
    """A backend that answers as it is told, from what a real one answers if `ask` is set."""

    answer: Callable[..., Any]
    ask: bool = True
    name: str = "stand-in"

    def solve(self, program: Any, limits: Any, found: Callable[[Any], None]) -> Any:
        real = gurobi.Gurobi().solve(program, limits, found) if self.ask else None
        return self.answer(program, real)


def use(monkeypatch: pytest.MonkeyPatch, stand_in: StandIn) -> None:
    monkeypatch.setattr(set_ups, "choose", lambda *_: (stand_in, Availability()))


@pytest.mark.parametrize(
    ("solver", "game"), [("ncp", "kuhn3_reduced"), ("ncp", "jordan"), ("mip", "shapley")]
)
def test_backend_that_reports_success_with_a_wrong_point_is_refuted(
    solver: str, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lie(program: Any, _: Any) -> Any:
        return backend.Answer("solved", "optimal", np.linspace(0, 1, len(program.lower)))

    use(monkeypatch, StandIn(lie, ask=False))
    result = solve(game, solver)
    assert result.status == "refuted"
    assert "claimed" in result.reason
    assert result.max_regret > 1e-2


def test_backend_that_is_off_by_more_than_its_tolerance_explains_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Points between an equilibrium and a wrong one: 100 tolerances times the range are excused."""

    def between(share: float) -> Any:
        def mixed(program: Any, real: Any) -> Any:
            wrong = np.linspace(0, 1, len(program.lower))
            return replace(real, values=(1 - share) * real.values + share * wrong)

        return mixed

    statuses = {}
    for share in (1e-6, 1e-2):
        use(monkeypatch, StandIn(between(share)))
        result = solve("kuhn3_reduced", "ncp(polish=false)")
        statuses[share] = result.status
        assert (result.max_regret > 6e-4) == (result.status == "refuted")
    assert statuses == {1e-6: "ok", 1e-2: "refuted"}


@pytest.mark.parametrize(
    ("ending", "status", "words"),
    [
        ("infeasible", "failed", "every finite game has an equilibrium"),
        ("failed", "failed", "numeric trouble"),
        ("limit", "limit", "no bound was proved"),
    ],
)
def test_backend_without_a_point_hands_over_nothing_and_says_why(
    monkeypatch: pytest.MonkeyPatch, ending: str, status: str, words: str
) -> None:
    use(monkeypatch, StandIn(lambda *_: backend.Answer(ending, "numeric trouble"), ask=False))
    result = solve("kuhn3_reduced", 'ncp(sense=max,of="P1")', time_s=30)
    assert (result.status, result.equilibria) == (status, [])
    assert words in result.reason
    assert result.statistics.get("bound") is None


def test_limit_keeps_best_point_and_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(_: Any, real: Any) -> Any:
        return replace(real, ending="limit", detail="time limit", bound=real.objective + 0.5)

    use(monkeypatch, StandIn(cut_short))
    result = solve("kuhn3_reduced", 'ncp(sense=min,of="P3")', time_s=30)
    assert result.status == "limit"
    assert result.reason.startswith("stopped after 30 s (time limit); the best point so far")
    assert "best 0.0416666667, proved to solver tolerance: all are >= 0.541666667" in result.reason
    assert result.max_regret <= 1e-12
    assert result.payoffs[2] == pytest.approx(1 / 24, abs=1e-6)
    figures = result.statistics
    assert figures["bound"] == pytest.approx(figures["objective"] + 0.5)
    assert figures["gap"] == pytest.approx(0.5 / figures["objective"])


@pytest.mark.parametrize("name", BACKENDS)
def test_time_limit_of_a_real_run_keeps_best_point_and_bound(name: str) -> None:
    # the largest payoff of player 2 takes either backend far longer than that
    result = solve("kuhn3_reduced", f'ncp(sense=max,of="P2",backend={name})', time_s=1.5)
    assert result.status == "limit"
    assert result.reason.startswith("stopped after 1.5 s (time")
    figures = result.statistics
    assert np.isfinite([figures["objective"], figures["bound"], figures["gap"]]).all()
    assert figures["bound"] > figures["objective"] - 1e-9
    assert figures["gap"] > 1e-4
    assert result.max_regret <= 1e-12
    assert result.payoffs[1] == pytest.approx(figures["objective"], abs=1e-4)


@pytest.mark.parametrize("name", BACKENDS)
def test_budget_of_nodes_is_honored(name: str) -> None:
    solver = f'ncp(sense=max,of="P2",backend={name})'
    result = solve("kuhn3_reduced", solver, iterations=5)
    assert result.status == "limit"
    assert result.iterations == 5
    assert result.reason.startswith("stopped after 5 nodes (")


# -- what is handed over ---------------------------------------------------------------------------


@pytest.mark.parametrize(("solver", "game"), [("ncp", "kuhn3_reduced"), ("mip", "jordan")])
def test_raw_result_is_reported_beside_the_polished_one(
    solver: str, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blur(_: Any, real: Any) -> Any:
        noise = np.random.default_rng(0).uniform(-1e-6, 1e-6, len(real.values))
        return replace(real, values=real.values + noise)

    use(monkeypatch, StandIn(blur))
    result = solve(game, solver)
    assert result.status == "ok"
    polished, raw = result.equilibria
    assert (polished.claim, raw.claim) == ("equilibrium", "iterate")
    assert polished.max_regret <= 1e-12
    assert 1e-9 < raw.max_regret < 1e-4
    assert raw.max_regret == pytest.approx(result.statistics["raw_max_regret"], abs=1e-14)


def test_polish_that_makes_things_worse_is_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    uniform = eqbench.BehaviorProfile.uniform(eqbench.load_game("kuhn3").tree).probabilities
    made = []

    def worse(game: Any, weights: Any) -> Any:
        plans = runs.PlanGame(game).feasible(weights)
        raw = runs.measured(runs.PlanGame(game), plans)
        made.append(raw)
        return replace(raw, behavior=uniform, regret=0.3)

    monkeypatch.setattr(runs, "warm_up_polish", lambda *_: None)
    monkeypatch.setattr(runs, "polish", worse)
    result = solve("kuhn3", "ncp(backend=scip)")
    assert result.status == "ok"
    (found,) = result.equilibria
    assert found.claim == "equilibrium"
    np.testing.assert_array_equal(found.profile.probabilities, made[-1].behavior)
    assert found.max_regret == pytest.approx(result.statistics["raw_max_regret"], abs=1e-14)
    assert found.claimed_regret > found.max_regret


def test_point_that_is_no_equilibrium_is_not_polished_into_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spoil(_: Any, real: Any) -> Any:
        return replace(real, values=real.values + 0.2)

    use(monkeypatch, StandIn(spoil))
    assert solve("kuhn3_reduced", "ncp").status == "refuted"


@pytest.mark.parametrize("name", BACKENDS)
def test_claims_without_polish_count_the_size_of_payoffs(name: str) -> None:
    game = eqbench.load_game("kuhn3")
    payoffs, denominator = game.tree.payoffs.rational()
    large = with_payoffs(game, payoffs * 10**5, denominator)
    result = solve(large, f"ncp(backend={name},polish=false)")
    assert result.status == "ok"
    (found,) = result.equilibria
    assert found.max_regret <= found.claimed_regret


@pytest.mark.parametrize("name", BACKENDS)
def test_tiny_payoffs_are_solved_and_optima_come_in_their_units(name: str) -> None:
    game = eqbench.load_game("kuhn3_reduced")
    payoffs, denominator = game.tree.payoffs.rational()
    small = with_payoffs(game, payoffs, denominator * 10**6)
    found = solve(small, f"ncp(backend={name})")
    assert found.status == "ok"
    assert found.max_regret <= 1e-18
    largest = solve(small, f'ncp(sense=max,of="P1",backend={name})')
    assert largest.status == "ok"
    assert largest.statistics["bound"] == pytest.approx(-1e-6 / 48, rel=1e-3)


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("solver", ["ncp", "mip"])
def test_same_seed_gives_the_same_result(solver: str, name: str) -> None:
    def once() -> np.ndarray:
        result = solve("random(players=3,actions=3,seed=5)", f"{solver}(backend={name})", seed=3)
        return result.equilibria[0].profile.probabilities

    np.testing.assert_array_equal(once(), once())


@pytest.mark.parametrize("name", BACKENDS)
def test_every_formulation_solves_two_player_games(name: str) -> None:
    for formulation in ("paper", "elimination", "aggregated"):
        for game in ("kuhn2", "shapley"):
            result = solve(game, f"ncp(backend={name},formulation={formulation})")
            assert result.status == "ok"
            assert result.max_regret <= 1e-12
            assert result.statistics["formulation"] == formulation


@pytest.mark.parametrize("name", BACKENDS)
def test_largest_payoff_of_a_strategic_form_is_proved(name: str) -> None:
    solver = f'ncp(sense=max,of="P1",backend={name})'
    result = solve("random(players=3,actions=3,seed=2)", solver)
    assert result.status == "ok"
    figures = result.statistics
    assert figures["bound"] == pytest.approx(figures["objective"], rel=1e-4)
    assert result.payoffs[0] == pytest.approx(figures["objective"], abs=1e-5)


def test_payoff_without_bounds_is_not_called_proved() -> None:
    solver = 'ncp(sense=max,of="P1",bounds=off,backend=gurobi)'
    result = solve("random(players=3,actions=3,seed=2)", solver)
    assert result.statistics["bound"] is None or np.isfinite(result.statistics["bound"])


# -- equilibria in fractions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regret", "left_s", "said"),
    [
        (1e-7, 1.0, "not tried, since the max regret here is 1e-07"),
        (0.0, 1.0, "no rational equilibrium"),
        (0.0, -1.0, "not found within the time limit"),
    ],
)
def test_exact_search_that_ends_empty_handed_says_why(
    regret: float, left_s: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "exact_equilibrium", lambda *_, **__: None)
    game = eqbench.load_game("kuhn2")

    class Watch:
        remaining_s = left_s

    run = runs.ProgramRun(None, game, Watch(), np.random.default_rng(0))
    size = game.sequence_form.n_sequences
    near = runs.Polished(np.ones(size), np.ones(game.tree.n_actions), regret)
    assert said in run._hand_over_exact(near)


def test_exact_search_stops_when_it_is_told_to() -> None:
    rational = importlib.import_module("eqbench.solvers.ncp.rational")
    spec = "kuhn(players=3,cards=5)"
    result = solve(spec, "semismooth")
    asked = []

    def stop() -> bool:
        asked.append(1)
        return True

    game = eqbench.load_game(spec)
    plans = RealizationPlan.of(game.sequence_form, result.equilibria[0].profile.probabilities)
    assert rational.exact_equilibrium(game, plans.weights, stop) is None
    assert len(asked) == 1
