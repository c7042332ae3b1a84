"""What Gambit's methods refuse, and that eqbench does without Gambit; none of it is needed here."""

from __future__ import annotations

import sys

import pytest

import eqbench
from eqbench.errors import SpecError
from eqbench.registry import default_registry
from eqbench.solver import availability_of, obstacle_of, refusal_of

SOLVERS = [e.name for e in default_registry().solvers() if e.name.startswith("gambit_")]
ALWAYS_STRATEGIC = ["enumpure", "liap", "simpdiv", "gnm", "ipa", "hp"]
OPTIONAL = ["logit", "logit_path", "enumpoly"]
TOO_LARGE = "6,561 x 10,000 x 65,536 = 4,299,816,960,000 contingencies"


@pytest.mark.parametrize("solver", SOLVERS)
def test_missing_pygambit_is_said_and_nothing_is_run(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygambit", None)  # then importing it fails
    instance = eqbench.load_solver(solver)
    assert availability_of(instance).state == "missing"
    status, reason = obstacle_of(instance, eqbench.load_game("kuhn2")) or ("", "")
    assert (status, "[gambit]" in reason) == ("unavailable", True)


def test_two_of_gambits_methods_are_default_rows() -> None:
    rows = {entry.name for entry in default_registry().solvers() if entry.default_row}
    assert rows.intersection(SOLVERS) == {"gambit_logit", "gambit_logit_path"}


@pytest.mark.parametrize(
    ("solver", "refused", "reason", "taken"),
    [
        *(("lp", game, "two-player games", "kuhn2") for game in ("jordan", "kuhn3")),
        ("lcp", "jordan", "two-player games", "battle_of_sexes"),
        ("enummixed", "jordan", "two-player games", "kuhn2"),
        ("lp", "battle_of_sexes", "payoffs sum to 0 up to 3", "kuhn2"),
        *((solver, "kuhn3", TOO_LARGE, "kuhn3_reduced") for solver in ALWAYS_STRATEGIC),
        *((f"{s}(use_strategic=true)", "kuhn3", TOO_LARGE, "kuhn3_reduced") for s in OPTIONAL),
    ],
)
def test_games_that_a_method_is_not_for_are_refused(
    solver: str, refused: str, reason: str, taken: str
) -> None:
    instance = eqbench.load_solver(f"gambit_{solver}")
    assert reason in (refusal_of(instance, eqbench.load_game(refused)) or "")
    assert refusal_of(instance, eqbench.load_game(taken)) is None
    on_trees = eqbench.load_solver(f"gambit_{solver.partition('(')[0]}")
    if solver.startswith(tuple(OPTIONAL)):
        assert refusal_of(on_trees, eqbench.load_game(refused)) is None


@pytest.mark.parametrize(
    "spec",
    [
        *("liap(maxregret=0)", "liap(maxiter=0)", "simpdiv(refine=1)", "simpdiv(leash=-1)"),
        *("gnm(end_lambda=0)", "gnm(steps=0)", "logit(first_step=0)", "logit(max_accel=0.9)"),
        *("logit_path(end=0)", "enumpoly(stop_after=-1)", "lcp(stop_after=2)"),
        *(
            "logit_path(first_step=-1)",
            "logit(maxregret=0)",
            "lcp(stop_after=1)",
            "gnm(end_lambda=1)",
        ),
    ],
)
def test_options_out_of_range_are_refused(spec: str) -> None:
    with pytest.raises(SpecError, match="gambit_"):
        eqbench.load_solver(f"gambit_{spec}")
