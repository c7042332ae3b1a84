"""Options of the solvers `ncp` and `mip`, and what they say where a package or license is missing.

Gurobi's size-limited license and SCIP are enough: both come with their wheels.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import eqbench
from eqbench.solver import Availability, availability_for, availability_of, refusal_of

set_ups = importlib.import_module("eqbench.solvers.ncp.ncp")
gurobi = importlib.import_module("eqbench.solvers.ncp.backends")

BACKENDS = ("gurobi", "scip")


def solve(game: Any, solver: str, seed: int = 0, **budget: Any) -> Any:
    return eqbench.solve(game, solver, eqbench.Budget(**{"time_s": 60} | budget), seed=seed)


def refusal(solver: str, game: str) -> str | None:
    return refusal_of(eqbench.load_solver(solver), eqbench.load_game(game))


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
        ("ncp(formulation=paper,bounds=on)", "kuhn3", "use bounds=auto or off"),
        ("mip", "kuhn2", "strategic form.* this game has 12 information sets .*ncp takes any game"),
        ("ncp(exact=true)", "random(players=3,actions=2)", "needs payoffs .* in fractions"),
        ("mip(exact=true)", "random(players=3,actions=2)", "needs payoffs .* in fractions"),
        ('ncp(sense=max,of="P4")', "kuhn3", "no player 'P4'; did you mean P"),
        ('ncp(sense=max,of="P1|4:KB|bet")', "kuhn3", "no information set '4:KB'; .*'4:KKB'"),
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


def test_what_fits_the_game_is_not_refused() -> None:
    for solver in ("ncp", "ncp(formulation=paper)", 'ncp(sense=min,of="P3|3:KB|call")'):
        assert refusal(solver, "kuhn3") is None
    assert refusal("mip", "shapley") is None


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
    monkeypatch.setattr(set_ups, limit, most)
    result = solve(game, solver)
    assert result.status == "unsupported"
    assert words in result.reason


@pytest.mark.parametrize(
    ("solver", "game", "expected"),
    [
        ("ncp", "kuhn3", "constant_sum"),
        ("ncp", "jordan", "aggregated"),
        ("ncp", "random_tree(players=3,depth=3,actions=2)", "elimination"),
        ('ncp(sense=max,of="P1")', "kuhn3", "elimination"),
        ('ncp(sense=max,of="P1")', "jordan", "elimination"),
        ("ncp(formulation=paper)", "kuhn3", "paper"),
    ],
)
def test_auto_chooses_the_formulation_by_game_and_objective(
    solver: str, game: str, expected: str
) -> None:
    options = eqbench.load_solver(solver)
    made = set_ups.set_up(options, eqbench.load_game(game))
    assert made.figures["formulation"] == expected


# -- packages and licenses -------------------------------------------------------------------------


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """For tests that change what is installed: forgets what was found out about Gurobi."""
    gurobi.start_gurobi.cache_clear()
    gurobi.is_restricted.cache_clear()
    yield monkeypatch
    gurobi.start_gurobi.cache_clear()
    gurobi.is_restricted.cache_clear()


def test_missing_packages_make_their_backend_unavailable(uncached: pytest.MonkeyPatch) -> None:
    uncached.setitem(sys.modules, "gurobipy", None)
    result = solve("kuhn2", "ncp(backend=gurobi)")
    assert result.status == "unavailable"
    assert result.reason.startswith("missing: gurobipy is not installed; pip install")
    assert "backend=scip" in result.reason
    auto = solve("kuhn2", "ncp")
    assert auto.status == "ok"
    assert auto.statistics["backend"] == "scip"

    uncached.setitem(sys.modules, "pyscipopt", None)
    for solver in ("ncp(backend=scip)", "mip(backend=scip)"):
        scip_only = solve("shapley", solver)
        assert scip_only.status == "unavailable"
        assert scip_only.reason.startswith("missing: pyscipopt is not installed; pip install")
    neither = solve("kuhn2", "ncp")
    assert neither.status == "unavailable"
    assert neither.reason.startswith("missing: gurobipy")
    assert "pyscipopt" in neither.reason


class StandInError(Exception):
    """As gurobipy raises them."""

    errno = 10009


def no_license(**_: Any) -> Any:
    raise StandInError("No Gurobi license found")


def test_absent_license_is_named_and_scip_takes_over(uncached: pytest.MonkeyPatch) -> None:
    stand_in = SimpleNamespace(Env=no_license, GurobiError=StandInError)
    uncached.setitem(sys.modules, "gurobipy", stand_in)
    result = solve("kuhn2", "ncp(backend=gurobi)")
    assert result.status == "unavailable"
    assert result.reason.startswith("licence: Gurobi: No Gurobi license found")
    assert "backend=scip needs no license" in result.reason
    assert solve("kuhn2", "ncp").statistics["backend"] == "scip"


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
    monkeypatch.setattr(gurobi, "is_restricted", lambda: True)
    result = solve(game, solver)
    assert result.status == "unavailable"
    assert result.reason.startswith(f"licence_size: the program has {variables} variables")
    assert set(re.findall(r"(?:backend|formulation)=\w+", result.reason)) == ways


def test_program_that_the_license_does_not_admit_goes_to_scip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game, options = eqbench.load_game("kuhn3"), eqbench.load_solver("ncp(formulation=paper)")
    monkeypatch.setattr(gurobi, "is_restricted", lambda: True)
    assert set_ups.set_up(options, game).backend.name == "scip"
    assert availability_for(options, game).state == "available"
    monkeypatch.setattr(gurobi, "is_restricted", lambda: False)
    assert set_ups.set_up(options, game).backend.name == "gurobi"


def test_linear_programs_may_have_more_variables_under_the_restricted_license(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gurobi, "is_restricted", lambda: True)
    size = set_ups.set_up(eqbench.load_solver("ncp"), eqbench.load_game("kuhn2")).figures
    linear = SimpleNamespace(rows=50, columns=300, quadratic_constraints=0)
    assert size["quadratic_constraints"] == 0
    assert gurobi.Gurobi().admits(linear).state == "available"
    quadratic = SimpleNamespace(rows=50, columns=300, quadratic_constraints=1)
    assert gurobi.Gurobi().admits(quadratic).state == "licence_size"


def test_availability_says_nothing_about_games() -> None:
    assert availability_of(eqbench.load_solver("ncp(backend=scip)")) == Availability()
