"""The solvers `ncp` and `mip`: options, backends that are missing or wrong, what is handed over.

Gurobi's size-limited license and SCIP are enough: both come with their wheels.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.solver_cases import with_payoffs

import eqbench
from eqbench.solver import Availability, availability_for

ncp = importlib.import_module("eqbench.solvers.ncp.ncp")
backends = importlib.import_module("eqbench.solvers.ncp.backends")

BACKENDS = ("gurobi", "scip")


def solve(game: Any, solver: str, seed: int = 0, **budget: Any) -> Any:
    return eqbench.solve(game, solver, eqbench.Limits(**{"timeout_s": 600} | budget), seed=seed)


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("feasibility", ["1e-9", "1e-3"])
def test_both_backends_take_tolerances_at_the_ends_of_the_range(
    name: str, feasibility: str
) -> None:
    assert solve("kuhn2", f"ncp(backend={name},feasibility={feasibility})").status == "ok"


@pytest.mark.parametrize(
    ("solver", "game", "message"),
    [
        ("ncp(formulation=constant_sum)", "shapley", "sum varies from 0 to 1 .*elimination"),
        ("ncp(formulation=paper,dominated=remove)", "kuhn3", "use dominated=keep"),
        ("ncp(formulation=sos1)", "jordan", "takes two players, this game has 3"),
        ("ncp(formulation=paper,bounds=on)", "kuhn3", "use bounds=auto or off"),
        ("mip", "kuhn2", "strategic form.* this game has 12 information sets .*ncp takes any game"),
        ("ncp(exact=true)", "random(players=3,actions=2)", "needs payoffs .* in fractions"),
        ("mip(exact=true)", "random(players=3,actions=2)", "needs payoffs .* in fractions"),
        ('ncp(sense=max,of="P4")', "kuhn3", "no player 'P4'; did you mean P"),
        ('ncp(sense=max,of="P1|4:KB|bet")', "kuhn3", "no information set '4:KB'; .*'4:KKB'"),
        ("ncp(sense=min,of=smallest)", "kuhn3", "sense=max only"),
        ("ncp(sense=max,of=spread)", "kuhn3", "sense=min only"),
        ('ncp(sense=max,of="nearest:a.json")', "kuhn3", "sense=min only"),
        ('ncp(sense=min,of="nearest:")', "kuhn3", "name the JSON file"),
        ('ncp(sense=min,of="nearest:/dev/zero")', "kuhn3", "cannot read the profile"),
        ('ncp(sense=max,of="sum:P1")', "kuhn3", "no player 'sum:P1'"),
        ('ncp(sense=max,of="P1|4:|raise")', "kuhn3", "no action 'raise'; .*'bet'"),
        ('ncp(sense=max,of="P1|1:KKB|fold")', "kuhn3_reduced", "the only action there"),
    ],
)
def test_what_does_not_fit_the_game_is_unsupported_with_the_reason(
    solver: str, game: str, message: str
) -> None:
    result = solve(game, solver)
    assert result.status == "unsupported"
    assert re.search(message, result.reason)


@pytest.mark.parametrize(
    ("solver", "game", "limit", "most", "words"),
    [
        ("ncp", "kuhn2", "MOST_TERMS", 10, "bilinear terms; at most 10 are taken"),
        ("mip", "shapley", "MOST_TERMS", 10, "bilinear terms; at most 10 are taken"),
        ("ncp", "kuhn3", "MOST_BYTES", 2**18, "99 sequences"),
    ],
)
def test_games_beyond_a_limit_are_unsupported(
    monkeypatch: pytest.MonkeyPatch, solver: str, game: str, limit: str, most: int, words: str
) -> None:
    monkeypatch.setattr(ncp, limit, most)
    result = solve(game, solver)
    assert result.status == "unsupported"
    assert words in result.reason


@pytest.mark.parametrize(
    ("solver", "game", "expected"),
    [
        ("ncp", "kuhn3", "constant_sum"),
        ("ncp", "jordan", "aggregated"),
        ("ncp", "shapley", "sos1"),
        ("ncp", "random_tree(players=3,depth=3,actions=2)", "elimination"),
        ('ncp(sense=max,of="P1")', "kuhn3", "elimination"),
        ('ncp(sense=max,of="P1")', "jordan", "elimination"),
        ("ncp(formulation=paper)", "kuhn3", "paper"),
        ('ncp(sense=min,of="P3|3:KB|call")', "kuhn3", "elimination"),
        ("mip", "shapley", "mip"),
    ],
)
def test_auto_chooses_the_formulation_by_game_and_objective(
    solver: str, game: str, expected: str
) -> None:
    options, loaded = eqbench.load_solver(solver), eqbench.load_game(game)
    assert options.supports(loaded) is True
    assert ncp.set_up(options, loaded).figures["formulation"] == expected


# -- packages and licenses -------------------------------------------------------------------------


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """For tests that change what is installed: forgets what was found out about Gurobi."""
    backends.Gurobi.availability.cache_clear()
    backends.is_restricted.cache_clear()
    yield monkeypatch
    backends.Gurobi.availability.cache_clear()
    backends.is_restricted.cache_clear()


class StandInError(Exception):
    """As gurobipy raises them."""

    errno = 10009


def no_license(**_: Any) -> Any:
    raise StandInError("No Gurobi license found")


@pytest.mark.parametrize(
    ("gurobipy", "said", "instead"),
    [
        (
            None,
            "missing: gurobipy is not installed",
            "pip install 'eqbench[gurobi]', or backend=scip",
        ),
        (
            SimpleNamespace(Env=no_license, GurobiError=StandInError),
            "licence: Gurobi: No Gurobi license found",
            "backend=scip needs no license",
        ),
    ],
)
def test_missing_packages_and_licenses_are_named_and_scip_takes_over(
    uncached: pytest.MonkeyPatch, gurobipy: Any, said: str, instead: str
) -> None:
    uncached.setitem(sys.modules, "gurobipy", gurobipy)
    result = solve("kuhn2", "ncp(backend=gurobi)")
    assert result.status == "unavailable"
    assert result.reason.startswith(said)
    assert instead in result.reason
    auto = solve("kuhn2", "ncp")
    assert (auto.status, auto.statistics["backend"]) == ("ok", "scip")
    uncached.setitem(sys.modules, "pyscipopt", None)
    for solver in ("ncp(backend=scip)", "mip(backend=scip)"):
        scip_only = solve("shapley", solver)
        assert scip_only.status == "unavailable"
        assert "[scip]" in scip_only.reason
    neither = solve("kuhn2", "ncp")
    assert neither.status == "unavailable"
    assert said.partition(": ")[2] in neither.reason
    assert "[scip]" in neither.reason


@pytest.mark.parametrize(
    ("solver", "game", "variables", "ways"),
    [
        (
            "ncp(formulation=paper,backend=gurobi)",
            "kuhn3",
            249,
            {"backend=scip", "formulation=elimination", "formulation=constant_sum"},
        ),
        # two products for each pair of strategies; weight, slack and binary of each; multipliers
        ("mip(backend=gurobi)", "random(players=4,actions=8)", 228, {"backend=scip"}),
    ],
)
def test_program_beyond_the_restricted_license_is_refused_with_its_size_and_other_ways(
    monkeypatch: pytest.MonkeyPatch, solver: str, game: str, variables: int, ways: set[str]
) -> None:
    monkeypatch.setattr(backends, "is_restricted", lambda: True)
    result = solve(game, solver)
    assert result.status == "unavailable"
    assert result.reason.startswith(f"licence_size: the program has {variables} variables")
    assert set(re.findall(r"(?:backend|formulation)=\w+", result.reason)) == ways


def test_program_that_the_license_does_not_admit_goes_to_scip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game, options = eqbench.load_game("kuhn3"), eqbench.load_solver("ncp(formulation=paper)")
    monkeypatch.setattr(backends, "is_restricted", lambda: True)
    assert ncp.set_up(options, game).backend.name == "scip"
    assert availability_for(options, game).state == "available"
    monkeypatch.setattr(backends, "is_restricted", lambda: False)
    assert ncp.set_up(options, game).backend.name == "gurobi"


def test_linear_programs_may_have_more_variables_under_the_restricted_license(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backends, "is_restricted", lambda: True)
    for quadratic, state in ((0, "available"), (1, "licence_size")):
        size = SimpleNamespace(rows=50, columns=300, quadratic_constraints=quadratic)
        assert backends.Gurobi().admits(size).state == state


# -- backends that are wrong -----------------------------------------------------------------------


@pytest.mark.parametrize("backend", [backends.Gurobi(), backends.Scip()], ids=BACKENDS)
def test_backends_tell_that_a_program_is_infeasible(backend: Any) -> None:
    program = importlib.import_module("eqbench.solvers.ncp.program").Program()
    x, y = program.variable(0.0, 1.0), program.variable(0.0, 1.0)
    program.require(x.times(y).add({(): -2.0}))
    limits = backends.BackendLimits(time_s=600, nodes=None, threads=1, seed=0)
    answer = backend.solve(program, limits, lambda values: None)
    assert (answer.ending, answer.values, answer.bound) == ("infeasible", None, None)


def use(monkeypatch: pytest.MonkeyPatch, answer: Callable[..., Any]) -> None:
    """A backend that answers as it is told, with the program and a call of a real one given."""

    def solve(program: Any, *of: Any) -> Any:
        return answer(program, lambda: backends.Gurobi().solve(program, *of))

    stand_in = SimpleNamespace(name="stand-in", solve=solve)
    monkeypatch.setattr(ncp, "choose", lambda *_: (stand_in, Availability()))


@pytest.mark.parametrize(
    ("solver", "game", "share", "status"),
    [
        ("ncp", "kuhn3_reduced", 1, "refuted"),
        ("ncp", "jordan", 1, "refuted"),
        ("mip", "shapley", 1, "refuted"),
        ("ncp", "kuhn3_reduced", 1e-1, "refuted"),  # polish could make an equilibrium of that
        # 100 tolerances times the range are excused
        ("ncp(polish=false)", "kuhn3_reduced", 1e-2, "refuted"),
        ("ncp(polish=false)", "kuhn3_reduced", 1e-6, "stopped"),
    ],
)
def test_point_that_is_off_by_more_than_tolerances_explain_is_refuted(
    solver: str, game: str, share: float, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points between an equilibrium and a wrong one, which the backend calls solved."""

    def mixed(program: Any, real: Any) -> Any:
        wrong, answer = np.linspace(0, 1, len(program.lower)), real()
        return replace(answer, values=(1 - share) * answer.values + share * wrong)

    use(monkeypatch, mixed)
    result = solve(game, solver)
    assert result.status == status
    assert (result.max_regret > 6e-4) == ("claimed" in result.reason) == (status == "refuted")


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
    use(monkeypatch, lambda *_: backends.BackendAnswer(ending, "numeric trouble"))
    result = solve("kuhn3_reduced", 'ncp(sense=max,of="P1")', timeout_s=30)
    assert (result.status, result.equilibria) == (status, ())
    assert words in result.reason
    assert result.statistics.get("bound") is None


def test_limit_keeps_best_point_and_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(_: Any, real: Any) -> Any:
        answer = real()
        return replace(answer, ending="limit", detail="time limit", bound=answer.objective + 0.5)

    use(monkeypatch, cut_short)
    result = solve("kuhn3_reduced", 'ncp(sense=min,of="P3")', timeout_s=30)
    assert result.status == "ok"
    assert result.reason.startswith("stopped after 30 s (time limit); the best point so far")
    assert ">= 0.541666" in result.reason
    assert result.max_regret <= 1e-12
    assert result.payoffs[2] == pytest.approx(1 / 24, abs=1e-6)
    figures = result.statistics
    assert figures["bound"] == pytest.approx(figures["objective"] + 0.5)
    assert figures["gap"] == pytest.approx(0.5 / figures["objective"])


def without_a_point(calls: list[Any]) -> SimpleNamespace:
    """A backend that never has a point, and keeps the limits and the free variables it had."""

    def solve(program: Any, limits: Any, _: Any) -> Any:
        calls.append((limits, int(np.isinf(program.upper).sum())))
        return backends.BackendAnswer("limit", "time limit", figures={"nodes": 3})

    return SimpleNamespace(name="gurobi", solve=solve)


@pytest.mark.parametrize("fallback", ["semismooth", "logit"])
def test_method_that_takes_over_has_half_of_the_time_and_is_named(
    monkeypatch: pytest.MonkeyPatch, fallback: str
) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(ncp, "choose", lambda *_: (without_a_point(calls), Availability()))
    result = solve("jordan", f"ncp(fallback={fallback})", timeout_s=30)
    assert (result.status, result.statistics["fallback"]) == ("ok", fallback)
    assert result.max_regret <= 1e-9
    assert re.search(f"branch and bound had no point .*; {fallback}: ", result.reason)
    (first, free), (second, bounded) = calls
    assert max(first.time_s - 7.5, second.time_s - 15.0) <= 0
    assert bounded < free


@pytest.mark.parametrize(
    ("solver", "iterations"),
    [
        ("ncp(fallback=none)", None),
        ("ncp(formulation=aggregated)", None),
        ("ncp(polish=false)", None),
        ("ncp", 3),
    ],
)
def test_branch_and_bound_alone_hands_over_nothing_of_others(
    monkeypatch: pytest.MonkeyPatch, solver: str, iterations: int | None
) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(ncp, "choose", lambda *_: (without_a_point(calls), Availability()))
    result = solve("jordan", solver, timeout_s=30, iterations=iterations)
    assert (result.status, result.equilibria) == ("limit", ())
    assert "fallback" not in result.statistics
    assert len(calls) == (2 if iterations is None else 1)


# -- what is handed over ---------------------------------------------------------------------------


@pytest.mark.parametrize(("solver", "game"), [("ncp", "kuhn3_reduced"), ("mip", "jordan")])
def test_raw_result_is_reported_beside_the_polished_one(
    solver: str, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blur(_: Any, real: Any) -> Any:
        answer = real()
        noise = np.random.default_rng(0).uniform(-1e-6, 1e-6, len(answer.values))
        return replace(answer, values=answer.values + noise)

    use(monkeypatch, blur)
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
        plans = ncp.PlanGame(game).feasible(weights)
        raw = ncp.measured(ncp.PlanGame(game), plans)
        made.append(raw)
        return replace(raw, behavior=uniform, regret=0.3)

    monkeypatch.setattr(ncp, "warm_up_polish", lambda *_: None)
    monkeypatch.setattr(ncp, "polish", worse)
    result = solve("kuhn3", "ncp(backend=scip)")
    assert result.status == "stopped"
    (found,) = result.equilibria
    assert found.claim == "equilibrium"
    np.testing.assert_array_equal(found.profile.probabilities, made[-1].behavior)
    assert found.max_regret == pytest.approx(result.statistics["raw_max_regret"], abs=1e-14)
    assert found.claimed_regret > found.max_regret


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


@pytest.mark.parametrize("game", ["kuhn2", "shapley"])
@pytest.mark.parametrize("formulation", ["paper", "elimination", "aggregated", "sos1"])
@pytest.mark.parametrize("name", BACKENDS)
def test_every_formulation_solves_two_player_games(name: str, formulation: str, game: str) -> None:
    result = solve(game, f"ncp(backend={name},formulation={formulation})")
    assert result.status == "ok"
    assert result.max_regret <= 1e-12
    assert result.statistics["formulation"] == formulation


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("of", "sense", "optimum"),
    [
        # equilibria have the payoffs (2, 1), (1, 2) and, with frequencies of 2/3, (2/3, 2/3)
        ("sum", "max", 3),
        ("sum", "min", 4 / 3),
        ("smallest", "max", 1),
        ("spread", "min", 0),
        # (1, 0), (1, 0) from (9/10, 1/10), (4/5, 1/5)
        ("nearest:near.json", "min", 0.6),
    ],
)
def test_equilibria_are_chosen_by_what_concerns_all_players(
    backend: str, of: str, sense: str, optimum: float, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    game = eqbench.load_game("battle_of_sexes")
    near = eqbench.BehaviorProfile.of(game, [0.9, 0.1, 0.8, 0.2])
    (tmp_path / "near.json").write_text(json.dumps(near.to_json()))
    found = solve(game, f'ncp(sense={sense},of="{of}",backend={backend})')
    assert found.status == "ok"
    assert found.max_regret < 1e-9
    verified = {
        "sum": sum(found.payoffs),
        "smallest": min(found.payoffs),
        "spread": max(found.payoffs) - min(found.payoffs),
    }
    distance = abs(found.equilibria[0].profile.probabilities - near.probabilities).sum()
    assert verified.get(of, distance) == pytest.approx(optimum, abs=1e-6)
    assert found.statistics["bound"] == pytest.approx(optimum, abs=1e-5)


def test_player_of_that_name_comes_before_the_word() -> None:
    game = eqbench.load_game("battle_of_sexes")
    game = eqbench.Game("named", replace(game.tree, players=("sum", "P2")))
    assert solve(game, "ncp(sense=max,of=sum)").statistics["bound"] == pytest.approx(2, abs=1e-5)
