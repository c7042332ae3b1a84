"""Ranges over all equilibria: what is asked for."""

from __future__ import annotations

from typing import Any

import pytest

import eqbench
from eqbench.errors import UsageError
from eqbench.registry import default_registry
from eqbench.studies.ranges.request import RangeSelection, quantities, solver_for_ranges

ALPHA = "P1|1:|bet"
NOTHING = {"payoffs": False, "first": False, "every": False}


def test_selectors_combine_and_each_quantity_is_asked_for_once() -> None:
    tree = eqbench.load_game("kuhn2").tree
    assert quantities(tree, [], **NOTHING) == ("P1", "P2")
    assert quantities(tree, [ALPHA], **NOTHING) == (ALPHA,)
    first = quantities(tree, [], payoffs=False, first=True, every=False)
    histories = {"P1": [":|bet"], "P2": [":K|bet", ":B|call"]}
    assert set(first) == {
        f"{player}|{card}{history}"
        for player, those in histories.items()
        for history in those
        for card in "123"
    }
    every = quantities(tree, ["P2", ALPHA], payoffs=True, first=True, every=True)
    assert every[:3] == ("P2", ALPHA, "P1")
    assert len(every) == len(set(every)) == 2 + 12
    assert set(first) < set(every)


def test_all_actions_are_asked_for_where_there_are_more_than_two() -> None:
    tree = eqbench.load_game("rock_paper_scissors").tree
    names = quantities(tree, [], payoffs=False, first=True, every=False)
    assert len(names) == 6


@pytest.mark.parametrize(
    ("game", "name", "words"),
    [
        ("kuhn2", "P7", "no such player or action"),
        ("kuhn2", "P1|1:|raise", r"did you mean .*P1\|1:\|bet"),
        ("kuhn3_reduced", "P1|1:KKB|fold", "the only action there, so its frequency is 1"),
    ],
)
def test_names_of_nothing_are_refused(game: str, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        quantities(eqbench.load_game(game).tree, [name], **NOTHING)


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        ("cfr_plus", "cfr_plus has no option of and sense, .*use --solver ncp"),
        ("ncp(sense=max,of=P1)", "leave sense and of out"),
        ("ncp,mip", "give one solver"),
        ("all", "give one solver"),
        ("npc", "did you mean ncp"),
    ],
)
def test_solvers_without_an_objective_to_set_are_refused(solver: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        solver_for_ranges(solver, None, default_registry())


def test_request_of_a_run_is_read_back_as_the_selection() -> None:
    solver = solver_for_ranges("ncp(gap=1e-3)", "scip", default_registry())
    selection = RangeSelection("kuhn2", solver, ("P1", ALPHA))
    assert len(selection.solvers) == 4
    for spec, sense in zip(selection.solvers, ["min", "max"] * 2, strict=True):
        loaded = default_registry().load_solver(spec).spec
        assert f"sense={sense}" in loaded
        assert "backend=scip" in loaded
    request = {"games": ["kuhn2"], "solvers": selection.solvers}
    assert RangeSelection.of_request(request) == selection


@pytest.mark.parametrize(
    "request_",
    [
        {"games": ["kuhn2"], "solvers": ["cfr_plus"]},
        {"games": ["kuhn2"], "solvers": ["ncp(sense=min,of=P1)"]},
        {"games": ["kuhn2"], "solvers": ["ncp(sense=max,of=P1)", "ncp(sense=min,of=P1)"]},
        {"games": ["kuhn2", "kuhn3"], "solvers": ["ncp(sense=min,of=P1)", "ncp(sense=max,of=P1)"]},
        {"games": ["kuhn2"], "solvers": []},
        {"games": ["kuhn2"]},
    ],
)
def test_requests_of_other_runs_are_refused(request_: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="no run of ranges"):
        RangeSelection.of_request(request_)
