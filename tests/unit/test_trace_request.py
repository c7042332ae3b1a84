"""What can be traced and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from trace_cases import study

from eqbench.errors import SolverUnavailableError, SpecError, UsageError
from eqbench.solver import Availability


def test_parameter_is_that_of_the_game() -> None:
    setting = study().setting
    assert (setting.parameter, setting.game.spec) == ("pot", "skp(pot=3)")
    assert study(parameter="pot").setting.parameter == "pot"


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
        study(**changes)


def test_game_refuses_values_that_its_options_would_not_have() -> None:
    with pytest.raises(SpecError, match="pot=1 is below 2"):
        study(first=1)
    with pytest.raises(SpecError, match="too large"):
        study(last=10**40)


def test_game_without_a_parameter_is_refused() -> None:
    with pytest.raises(UsageError, match="has no payoff parameter to follow a branch along"):
        study("arclength", game="leduc")


def test_solver_whose_licence_is_too_small_for_the_game_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_small(solver: Any, game: Any) -> Availability:
        return Availability("licence_size", f"{game.tree.n_actions} columns, 10 allowed")

    solver = study().setting.solver.instance
    monkeypatch.setattr(type(solver), "availability_for", too_small, raising=False)
    with pytest.raises(SolverUnavailableError, match=r"\d+ columns, 10 allowed"):
        study()
