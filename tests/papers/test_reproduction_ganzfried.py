"""Ganzfried 2025: computations on small inputs, and verdicts on changed stored results."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from pathlib import Path
from types import SimpleNamespace as Job
from typing import Any

import numpy as np
import pytest
from helpers import study_cases as paper_cases
from helpers.study_cases import claim_at, facts_of

import eqbench
import eqbench.papers
from eqbench.papers.checks import Interval
from eqbench.papers.ganzfried.compute import least_gaps, rounded_rows
from eqbench.papers.ganzfried.facts import FULL, LOGIT, PAPER, REDUCED, table_1
from eqbench.papers.ganzfried.program import program, read_log
from eqbench.papers.paper import load_paper
from eqbench.store.schema import CellRecord

PAPER_DATA = load_paper(Path(eqbench.papers.__file__).parent / "ganzfried")
Jobs = dict[str, Any]


def verdict(row: str, column: str, jobs: Jobs) -> str:
    claim = claim_at(PAPER_DATA, row, column)
    return paper_cases.verdict(claim, facts_of(PAPER_DATA, paper_cases.Jobs(jobs)))


def cell(game: str, solver: str, **changes: Any) -> CellRecord:
    return CellRecord("k", game, solver, game, solver, 0, **changes)


@pytest.mark.parametrize("spec", ["kuhn2", "random(players=3,actions=3,seed=1)"])
def test_least_complementarity_is_the_regret(spec: str) -> None:
    """Ganzfried 2025, section 2, by duality of linear programs."""
    game, rng = eqbench.load_game(spec), np.random.default_rng(1)
    rows = [rng.dirichlet(np.ones(len(actions))) for actions in game.tree.infoset_actions]
    found = least_gaps(game, np.concatenate(rows))
    assert found["gaps"] == pytest.approx(found["regrets"], abs=1e-9)
    assert max(found["gaps"]) > 1e-3


def test_first_presolves_of_the_paper_fit_21_fixed_actions(tmp_path: Path) -> None:
    """Ganzfried 2025, section 4: 45 rows and 57 columns; of the full model 3 and 6."""
    names = ("nodes", "rows", "columns", "presolve_rows", "presolve_columns", "complementarities")
    found = program(tmp_path, tmp_path, full=False)
    sizes = {name: tuple(model[key] for key in names) for name, model in found["models"].items()}
    assert sizes == {
        0: (601, 51, 249, 3, 6, 96),
        21: (421, 72, 249, 45, 57, 66),
        22: (415, 73, 249, 47, 60, 64),
    }
    assert (found["models"][0]["products"], len(found["removed"])) == (396, 22)


def test_log_of_gurobi_is_read() -> None:
    text = (
        "Gurobi Optimizer version 13.0.3 build v13\nPresolve removed 0 rows and 9 columns\n"
        "Presolve time: 0.02s\nPresolved: 17 rows, 6 columns, 43 nonzeros\n"
        "Cutting planes:\n  Gomory: 7\n  Flow cover: 3\n\nExplored 9 nodes\n"
    )
    found = {name: value for name, value in read_log(text).items() if value}
    presolved = {"columns removed": 9, "rows": 17, "columns": 6, "nonzeros": 43, "time": 0.02}
    assert found == presolved | {"Gomory cuts": 7, "Flow cover cuts": 3, "all cuts": 10}
    assert read_log("")["time"] == []


def test_rounded_profile_still_sums_to_one() -> None:
    tree = eqbench.load_game(FULL).tree
    found = rounded_rows(tree, np.tile([1 / 3, 2 / 3], tree.n_infosets))
    assert found == [Fraction("0.3333"), Fraction("0.6667")] * tree.n_infosets


def of_times(ncp: list[Any], mip: list[Any], size: str = "3x3") -> list[CellRecord]:
    """Cells of a size from the times of both methods; a text is a status without a time."""

    def ended(time: Any) -> dict[str, Any]:
        if isinstance(time, float):
            return {"status": "ok", "elapsed_s": time, "max_regret": 1e-9}
        return {"status": time, "elapsed_s": 0.25, "reason": f"it was {time}"}

    players, actions = size.split("x")
    game = f"random(players={players},actions={actions},seed="
    return [
        cell(f"{game}{seed})", f"{method}(polish=false)", **ended(time))
        for method, times in (("ncp", ncp), ("mip", mip))
        for seed, time in enumerate(times)
    ]


def table(cells: list[CellRecord]) -> Jobs:
    """The job of Table 1 with a limit of 60 seconds."""
    limits = {"parts": [{"games": [cell.game for cell in cells], "timeout_s": 60.0}]}
    return {"table_1_run": Job(json=lambda _: limits, cells=cells)}


@pytest.mark.parametrize(
    ("ncp", "mip", "low", "high"),
    [
        ([1.0, 2.0, 6.0], [3.0, 4.0, 20.0], 3.0, 3.0),
        ([1.0, 1.0, 1.0], [2.0, 60.0, 60.5], 122 / 3, inf),
        ([1.0, "timeout", "limit"], [2.0, 2.0, 2.0], 0.0, 6 / 121),
        ([1.0, "timeout"], [2.0, "timeout"], 0.0, inf),
        # the games without a time of one of the two are left out
        ([1.0, 2.0, "refuted", 8.0], [2.0, "crashed", 5.0, 16.0], 2.0, 2.0),
    ],
)
def test_time_outs_count_as_the_limit_and_make_ratios_bounds(
    ncp: list[Any], mip: list[Any], low: float, high: float
) -> None:
    ratio = table_1(paper_cases.Jobs(table(of_times(ncp, mip))))["3x3"]["ratio"]  # type: ignore[arg-type]
    ends = (ratio.low, ratio.high) if isinstance(ratio, Interval) else (ratio, ratio)
    assert ends == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("actions", "mip", "expected"),
    [
        (3, [1.0, 1.0, 1.0], "reproduced"),
        (3, [1.1, 1.1, 1.1], "differs"),
        (3, ["limit", 0.1, 0.1], "differs"),  # a bound beyond ten times theirs
        (6, [1.0, 2.0, "limit"], "reproduced"),
        (6, [1.0, "limit"], "not_attempted"),
    ],
)
def test_a_bound_says_nothing_unless_most_games_were_solved(
    actions: int, mip: list[Any], expected: str
) -> None:
    jobs = table(of_times([0.1], mip, f"3x{actions}"))
    assert verdict(f"n = 3, m = {actions}", "MIP avg. runtime", jobs) == expected


def test_advantage_is_held_against_all_sizes_and_the_printed_means() -> None:
    growing = {"3x3": 2.0, "5x2": 3.0, "3x4": 4.0, "4x3": 5.0, "3x5": 6.0, "3x6": 7.0}
    for changed, expected in (({}, "reproduced"), ({"4x3": 1.5}, "source_error")):
        sizes = (growing | changed).items()
        cells = [cell for size, ratio in sizes for cell in of_times([1.0], [ratio], size)]
        assert verdict("advantage", "", table(cells)) == expected


def stored() -> Jobs:
    """Some jobs as they come out."""
    logit: Any = {"max_regret": 1.9e-5, "elapsed_s": 5.0, "status": "ok"}
    program: Any = {"elapsed_s": 0.3, "status": "ok", "statistics": {"raw_max_regret": 1e-10}}
    race = [cell(REDUCED, LOGIT, **logit)]
    race += [cell(game, PAPER, max_regret=1e-16, **program) for game in (REDUCED, FULL)]
    timeout = cell(REDUCED, "gambit_gnm", status="timeout", reason="still running")
    return {
        "rounded": Job(summary={"gain": 1 / 59994}),
        "race": Job(cells=race),
        "gambit": Job(cells=[timeout, cell(REDUCED, LOGIT, **logit)]),
    }


def change(jobs: Jobs, path: str, value: Any) -> None:
    """Put another value at ``job/attribute/key/…``."""
    *keys, last = path.split("/")
    place: Any = jobs
    for key in keys:
        index: Any = int(key) if isinstance(place, list) else key
        place = place[index] if isinstance(place, dict | list) else getattr(place, key)
    if isinstance(place, dict):
        place[last] = value
    else:
        object.__setattr__(place, last, value)


NONE = "result on the reduced game"


@pytest.mark.parametrize(
    ("row", "column", "path", "value", "expected"),
    [
        ("introduction: gain", "", "rounded/summary/gain", 1 / 50000, "differs"),
        ("reduced game, on SCIP", "", "race/cells/1/max_regret", 1e-9, "differs"),
        ("reduced game, on SCIP", "", "race/cells/1/elapsed_s", 24.0, "reproduced"),
        ("reduced game, on SCIP", "", "race/cells/1/elapsed_s", 25.0, "differs"),
        ("removal of dominated actions", "", "", None, "differs"),
        ("removal of dominated actions", "", "race/cells/2/max_regret", 0.1, "reproduced"),
        ("removal of dominated actions", "", "race/cells/2/status", "unavailable", "not_attempted"),
        ("gnm", NONE, "", None, "not_attempted"),
        ("gnm", NONE, "gambit/cells/0/status", "failed", "reproduced"),
        ("gnm", NONE, "gambit/cells/0/status", "crashed", "differs"),
        ("gnm", NONE, "gambit/cells/0/max_regret", 1e-5, "differs"),
        ("all methods", NONE, "gambit/cells/0/status", "failed", "reproduced"),
        ("all methods", NONE, "gambit/cells/0/max_regret", 1e-5, "differs"),
    ],
)
def test_a_changed_result_turns_the_verdict(
    row: str, column: str, path: str, value: Any, expected: str
) -> None:
    jobs = stored()
    if path:
        change(jobs, path, value)
    assert verdict(row, column, jobs) == expected
