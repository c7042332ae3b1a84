"""Ganzfried 2025: computations on small inputs, and verdicts on changed stored results."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from math import inf
from pathlib import Path
from types import SimpleNamespace as Job
from typing import Any

import numpy as np
import paper_cases
import pytest
from paper_cases import claim_at, facts_of

import eqbench
import eqbench.papers
from eqbench.harness.experiment import read_experiment, shipped
from eqbench.papers.checks import Interval
from eqbench.papers.ganzfried.compute import gambit_says, hand, least_gaps, readings, rounded_rows
from eqbench.papers.ganzfried.facts import FULL, LOGIT, PAPER, REDUCED, table_1
from eqbench.papers.ganzfried.program import program, read_log
from eqbench.papers.paper import load_paper
from eqbench.spec import parse_spec
from eqbench.store.schema import CellRecord

PAPER_DATA = load_paper(Path(eqbench.papers.__file__).parent / "ganzfried")
CLAIMS = [claim for part in PAPER_DATA.parts for claim in part.claims]
Jobs = dict[str, Any]


def verdict(row: str, column: str, jobs: Jobs) -> str:
    claim = claim_at(PAPER_DATA, row, column)
    return paper_cases.verdict(claim, facts_of(PAPER_DATA, paper_cases.Jobs(jobs)))


def cell(game: str, solver: str, **changes: Any) -> CellRecord:
    return CellRecord("k", game, solver, game, solver, 0, **changes)


def test_table_1_has_every_printed_runtime_and_the_experiments_all_its_sizes() -> None:
    cells = {claim.fact: claim.printed for claim in CLAIMS if claim.column.endswith("runtime")}
    assert (len(cells), cells["table_1/3x6/mip"]) == (6 * 2, "18.8500")
    for name in ("ganzfried_table_1", "ganzfried_table_1_quick"):
        parts = read_experiment(shipped()[name]).parts
        options = [dict(parse_spec(spec).options) for part in parts for spec in part.games]
        sizes = {f"{own['players']}x{own['actions']}" for own in options}
        assert sizes == {fact.split("/")[1] for fact in cells}


@pytest.mark.parametrize("spec", ["kuhn2", "random(players=3,actions=3,seed=1)"])
def test_least_complementarity_is_the_regret(spec: str) -> None:
    """Ganzfried 2025, section 2, by duality of linear programs."""
    game, rng = eqbench.load_game(spec), np.random.default_rng(1)
    rows = [rng.dirichlet(np.ones(len(actions))) for actions in game.tree.infoset_actions]
    found = least_gaps(game, np.concatenate(rows))
    assert found["gaps"] == pytest.approx(found["regrets"], abs=1e-9)
    assert max(found["gaps"]) > 1e-3


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    """Results of the computations that take seconds, as they are stored."""
    folder = tmp_path_factory.mktemp("job")
    functions = (hand, readings, program, gambit_says)
    found = {own.__name__: own(folder, folder, full=False) for own in functions}
    found["family"] = json.loads((folder / "family.json").read_text())
    return json.loads(json.dumps(found))


def test_hand_of_the_paper(computed: Jobs) -> None:
    """Ganzfried 2025, section 3: a profit of 3; the others lose 1 and 2."""
    profits = {"1": -1, "2": -2, "3": 3}
    assert computed["hand"] == {"profits": profits, "pot": 5, "infosets": [16, 16, 16]}


def test_first_presolves_of_the_paper_fit_21_fixed_actions(computed: Jobs) -> None:
    """Ganzfried 2025, section 4: 45 rows and 57 columns; of the full model 3 and 6."""
    names = ("nodes", "rows", "columns", "presolve_rows", "presolve_columns", "complementarities")
    models = computed["program"]["models"]
    sizes = {name: tuple(model[key] for key in names) for name, model in models.items()}
    assert sizes == {
        "0": (601, 51, 249, 3, 6, 96),
        "21": (421, 72, 249, 45, 57, 66),
        "22": (415, 73, 249, 47, 60, 64),
    }
    assert (models["0"]["products"], len(computed["program"]["removed"])) == (396, 22)


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


def test_exact_regrets_off_the_path(computed: Jobs) -> None:
    """Only a33 + c32 = 1/2 keeps the equilibrium: player 2 gains by betting if there are too few
    calls, and by checking if there are too many."""
    for item in computed["readings"]["pairs"]:
        total = Fraction(item["a33"]) + Fraction(item["c32"]) - Fraction(1, 2)
        gain = Fraction(1, 12) * total if total > 0 else Fraction(-1, 3) * total
        assert [Fraction(text) for text in item["regrets"]] == [0, gain, 0]


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


def stored(computed: Jobs) -> Jobs:
    """Some jobs as they come out."""
    identity = {"strict": True, "off_path": {}, "parameters": {"c33": 0.25, "beta": 0.0}}
    row = deepcopy(computed["family"])
    logit: Any = {"max_regret": 1.9e-5, "elapsed_s": 5.0, "status": "ok"}
    program: Any = {"elapsed_s": 0.3, "status": "ok", "statistics": {"raw_max_regret": 1e-10}}
    race = [cell(REDUCED, LOGIT, **logit)]
    race += [cell(game, PAPER, max_regret=1e-16, **program) for game in (REDUCED, FULL)]

    exact = {"payoffs": ["-1/48", "-1/48", "1/24"], "regrets": ["0"] * 3}
    verified = {"exact": exact, "identity": identity}
    timeout = cell(REDUCED, "gambit_gnm", status="timeout", reason="still running")
    return {
        "readings": Job(summary=deepcopy(computed["readings"]), json=lambda _: row, row=row),
        "program": Job(summary=deepcopy(computed["program"])),
        "rounded": Job(summary={"gain": 1 / 59994}),
        "race": Job(cells=race),
        "gambit": Job(cells=[timeout, cell(REDUCED, LOGIT, **logit)]),
        **{f"verify_{n}": Job(printed_json=deepcopy(verified)) for n in ("family", "as_named")},
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


HALF, RANGE = "player 3, king, the half", "at check-bet-fold"
ROWS, NONE = "rows of the input", "result on the reduced game"
READINGS, MODELS = "readings/summary/readings", "program/summary/models"


@pytest.mark.parametrize(
    ("row", "column", "path", "value", "expected"),
    [
        (HALF, "", "", None, "source_error"),
        (HALF, "", f"{READINGS}/as_named", [{"regrets": ["0", "1/6", "0"]}], "differs"),
        (RANGE, "", "", None, "source_error"),
        (RANGE, "", f"{READINGS}/a33_alone", [{"regrets": ["0", "0", "0"]}], "differs"),
        (RANGE, "", "readings/summary/pairs/7/regrets", ["0"] * 3, "reproduced"),
        ("c32 in the family", "", "readings/row/behavior/P3/3:KB/call", "1/2", "differs"),
        ("payoffs", "", "", None, "reproduced"),
        ("payoffs", "", "verify_as_named/printed_json/exact/payoffs", ["0"] * 3, "differs"),
        (ROWS, "reduced game", "", None, "source_error"),
        (ROWS, "reduced game", f"{MODELS}/22/rows", 72, "reproduced"),
        (ROWS, "reduced game", f"{MODELS}/21/rows", 71, "differs"),
        (ROWS, "reduced game", f"{MODELS}/21/nodes", 415, "differs"),
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
    row: str, column: str, path: str, value: Any, expected: str, computed: Jobs
) -> None:
    jobs = stored(computed)
    if path:
        change(jobs, path, value)
    assert verdict(row, column, jobs) == expected


def test_pygambit_refuses_three_players_and_takes_trees_for_agent_equilibria(
    computed: Jobs,
) -> None:
    said = computed["gambit_says"]
    others = {name: {"answer": "no", "two players only": False} for name in said}
    for found, expected in ((said, "reproduced"), (others, "differs")):
        for method in ("lp", "liap"):
            assert verdict(method, "applies to", {"gambit_says": Job(summary=found)}) == expected
