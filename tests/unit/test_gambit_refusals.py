"""What Gambit's methods refuse, and that eqbench does without Gambit; none of it is needed here."""

from __future__ import annotations

import importlib
import sys

import pytest

import eqbench
from eqbench.registry import default_registry
from eqbench.solver import availability_of, obstacle_of, refusal_of

sizes = importlib.import_module("eqbench.solvers.gambit.conversion")
SOLVERS = [e.name for e in default_registry().solvers() if e.name.startswith("gambit_")]
STRATEGIC = [
    "gambit_enumpure",
    "gambit_liap",
    "gambit_simpdiv",
    "gambit_gnm",
    "gambit_ipa",
    "gambit_hp",
    "gambit_logit(use_strategic=true)",
    "gambit_logit_path(use_strategic=true)",
    "gambit_enumpoly(use_strategic=true)",
]


@pytest.mark.parametrize("solver", SOLVERS)
def test_missing_pygambit_is_said_and_nothing_is_run(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygambit", None)  # then importing it fails
    instance = eqbench.load_solver(solver)
    assert availability_of(instance).state == "missing"
    obstacle = obstacle_of(instance, eqbench.load_game("kuhn2"))
    assert obstacle is not None
    assert obstacle[0] == "unavailable"
    assert "eqbench[gambit]" in obstacle[1]


def test_two_of_gambits_methods_are_default_rows() -> None:
    rows = {entry.name for entry in default_registry().solvers() if entry.default_row}
    assert rows.intersection(SOLVERS) == {"gambit_logit", "gambit_logit_path"}


@pytest.mark.parametrize(
    ("game", "counts"),
    [
        # a strategy of P1 with one card: bet, or check and answer three situations
        ("kuhn3", [9**4, 10**4, 16**4]),
        ("kuhn2", [3**3, 4**3]),
        ("kuhn3_reduced", [180, 240, 256]),
        ("shapley", [3, 3]),
    ],
)
def test_strategies_of_the_reduced_strategic_form_are_counted(game: str, counts: list[int]) -> None:
    assert sizes.strategy_counts(eqbench.load_game(game).sequence_form) == counts


@pytest.mark.parametrize("solver", STRATEGIC)
def test_strategic_form_that_does_not_fit_is_refused_with_its_size(solver: str) -> None:
    refusal = refusal_of(eqbench.load_solver(solver), eqbench.load_game("kuhn3"))
    assert refusal is not None
    assert "6,561 x 10,000 x 65,536 = 4,299,816,960,000 contingencies" in refusal
    assert refusal_of(eqbench.load_solver(solver), eqbench.load_game("kuhn3_reduced")) is None


@pytest.mark.parametrize(
    ("solver", "game", "reason"),
    [
        ("gambit_lp", "jordan", "two-player games"),
        ("gambit_lcp", "jordan", "two-player games"),
        ("gambit_enummixed", "jordan", "two-player games"),
        ("gambit_lp", "battle_of_sexes", "payoffs sum to 0 up to 3"),
    ],
)
def test_games_that_a_method_is_not_for_are_refused(solver: str, game: str, reason: str) -> None:
    refusal = refusal_of(eqbench.load_solver(solver), eqbench.load_game(game))
    assert refusal is not None
    assert reason in refusal
    assert refusal_of(eqbench.load_solver(solver), eqbench.load_game("kuhn2")) is None
