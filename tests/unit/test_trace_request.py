"""What can be traced and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from trace_cases import setting

from eqbench.errors import SolverUnavailableError, SpecError, UsageError
from eqbench.registry import default_registry
from eqbench.solver import Availability
from eqbench.studies.trace.request import Setting, TraceRequest


def test_parameter_is_that_of_the_game() -> None:
    case = setting()
    assert case.request.parameter == "pot"
    assert case.request.game == "skp(pot=3)"
    assert setting(parameter="pot").request == case.request


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"last": 3}, "the range from 3 to 3 is empty"),
        ({"parameter": "ante"}, "no parameter 'ante'; its parameter is 'pot'"),
        ({"at": (3, 9)}, "--at 9 lies outside the range from 3 to 8"),
        ({"solver": "cfr"}, "cfr does not follow branches"),
    ],
)
def test_request_that_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        setting(**changes)


def test_game_refuses_values_that_its_options_would_not_have() -> None:
    with pytest.raises(SpecError, match="pot=1 is below 2"):
        setting(first=1)
    with pytest.raises(SpecError, match="too large"):
        setting(last=10**40)


def test_game_without_a_parameter_is_refused() -> None:
    request = TraceRequest("leduc", "arclength", setting().request.first, setting().request.last)
    with pytest.raises(UsageError, match="has no payoff parameter to follow a branch along"):
        Setting.of(default_registry(), request)


def test_solver_whose_licence_is_too_small_for_the_game_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_small(solver: Any, game: Any) -> Availability:
        return Availability("licence_size", f"{game.tree.n_actions} columns, 10 allowed")

    solver = setting().solver.instance
    monkeypatch.setattr(type(solver), "availability_for", too_small, raising=False)
    with pytest.raises(SolverUnavailableError, match=r"cannot run here: \d+ columns, 10 allowed"):
        setting()


def test_requests_survive_as_json() -> None:
    request = setting(at=("7/2",), at_most=True, starts=2).request
    assert TraceRequest.from_json(request.to_json()) == request
    assert request.to_json()["at"] == ["7/2"]
    with pytest.raises(TypeError):
        TraceRequest.from_json(request.to_json() | {"more": 1})
