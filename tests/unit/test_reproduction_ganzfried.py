"""Ganzfried 2025: computations on small inputs, and verdicts on changed stored results."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace as Job
from typing import Any

import numpy as np
import pytest

import eqbench
import eqbench.papers
from eqbench.harness.experiment import read_experiment, shipped
from eqbench.papers.checks import Missing, passes
from eqbench.papers.ganzfried.compute import gambit_says, grid, hand, least_gaps, of_size, rounded
from eqbench.papers.ganzfried.facts import LOGIT, PAPER
from eqbench.papers.ganzfried.program import PaperModel, missing_actions, read_log
from eqbench.papers.paper import load_paper
from eqbench.papers.stored import NotStoredError
from eqbench.spec import parse_spec
from eqbench.store.schema import CellRecord, EquilibriumRecord

FULL, REDUCED = "kuhn3", "kuhn3_reduced"
PAPER_DATA = load_paper(Path(eqbench.papers.__file__).parent / "ganzfried")
CLAIMS = [claim for part in PAPER_DATA.parts for claim in part.claims]
Jobs = dict[str, Any]


class Store(dict[str, Any]):
    """Jobs by name."""

    def __missing__(self, name: str) -> Any:
        raise NotStoredError(name)


def verdict(row: str, column: str, jobs: Jobs) -> str:
    (claim,) = [claim for claim in CLAIMS if (claim.row, claim.column) == (row, column)]

    def at(path: str) -> Any:
        name, *keys = path.split("/")
        value = PAPER_DATA.function(name)(Store(jobs))
        for key in keys:
            if not isinstance(value, Missing):
                value = {str(own): item for own, item in value.items()}[key]
        return value

    value = at(claim.fact)
    held = None if isinstance(value, Missing) else passes(claim.check, value, claim.printed)
    if held is False and claim.evidence and at(claim.evidence) is True:
        return "source_error"
    return {True: "reproduced", False: "differs", None: "not_attempted"}[held]


def cell(game: str, solver: str, **changes: Any) -> CellRecord:
    return CellRecord("k", game, solver, game, solver, 0, **changes)


def test_every_claim_has_a_fact_or_says_why_not() -> None:
    assert (len(CLAIMS), sum(not claim.fact for claim in CLAIMS)) == (164, 2)
    for claim in CLAIMS:
        for path in filter(None, (claim.fact, claim.evidence)):
            PAPER_DATA.function(path.partition("/")[0])


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


def test_hand_of_the_paper() -> None:
    """Ganzfried 2025, section 3: a profit of 3; the others lose 1 and 2."""
    found = hand(Path(), Path(), full=False)[FULL]
    assert (found["profits"], found["pot"], found["infosets"]) == ([-1, -2, 3], 5, [16, 16, 16])


@cache
def models() -> dict[str, dict[str, int]]:
    game = eqbench.load_game(FULL)
    missing = {str(count): missing_actions(game.tree, count) for count in (21, 22)}
    assert {name: len(actions) for name, actions in missing.items()} == {"21": 21, "22": 22}
    fixed = {"full": [], **{name: [*actions.values()] for name, actions in missing.items()}}
    return {name: PaperModel.of(game.sequence_form, a).sizes() for name, a in fixed.items()}


def test_first_presolves_of_the_paper_fit_21_fixed_actions() -> None:
    """Ganzfried 2025, section 4: 45 rows and 57 columns; of the full model 3 and 6."""
    names = ("rows", "columns", "presolve_rows", "presolve_columns", "complementarities")
    sizes = {name: tuple(model[key] for key in names) for name, model in models().items()}
    assert sizes["full"] == (51, 249, 3, 6, 96)
    assert sizes["21"] == (72, 249, 45, 57, 66)
    assert sizes["22"] == (73, 249, 47, 60, 64)
    assert models()["full"]["products"] == 396


def test_log_of_gurobi_is_read() -> None:
    text = (
        "Gurobi Optimizer version 13.0.3 build v13\nPresolve removed 0 rows and 9 columns\n"
        "Presolve time: 0.02s\nPresolved: 17 rows, 6 columns, 43 nonzeros\n"
        "Cutting planes:\n  Gomory: 7\n  Flow cover: 3\n\nExplored 9 nodes\n"
    )
    counts = {"taken": [0, 9], "presolved": [17, 6, 43], "cuts": {"Gomory": 7, "Flow cover": 3}}
    assert read_log(text) == counts | {"time": [0.02], "version": "13.0.3"}


@cache
def measured() -> dict[str, Any]:
    return grid(Path(), Path(), full=False)


def test_exact_regrets_off_the_path() -> None:
    """Only a33 + c32 = 1/2 keeps the equilibrium: player 2 gains by betting if there are too few
    calls, and by checking if there are too many."""
    for item in measured()["pairs"]:
        total = Fraction(item["a33"]) + Fraction(item["c32"]) - Fraction(1, 2)
        gain = Fraction(1, 12) * total if total > 0 else Fraction(-1, 3) * total
        assert [Fraction(text) for text in item["regrets"]] == [0, gain, 0]


def test_rounded_profile_still_sums_to_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = eqbench.load_game(FULL).tree
    rows: dict[str, dict[str, dict[str, float]]] = {player: {} for player in tree.players}
    sets = zip(tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True)
    for player, label, (first, second) in sets:
        rows[tree.players[player]][label] = {first: 1 / 3, second: 2 / 3}
    (tmp_path / "race").mkdir()
    (tmp_path / "race" / "profile.json").write_text(json.dumps({"behavior": rows}))
    best = EquilibriumRecord("iterate", [], [], 0.0, 0.0, profile="profile.json")
    run = Job(cells=[cell(FULL, LOGIT, status="ok", equilibria=[best])])
    monkeypatch.setattr("eqbench.papers.ganzfried.compute.read_run", lambda _: run)
    assert rounded(tmp_path, tmp_path, full=False)[FULL]["a33"] == "6667/10000"


def of_times(ncp: list[Any], mip: list[Any]) -> dict[str, Any]:
    """Figures of a size from the times of both methods; a text is a status without a time."""

    def ended(time: Any) -> dict[str, Any]:
        if isinstance(time, float):
            return {"status": "ok", "elapsed_s": time, "max_regret": 1e-9}
        return {"status": time, "elapsed_s": 0.25, "reason": f"it was {time}"}

    cells = [
        cell(f"game {seed}", f"{method}(polish=false)", **ended(time))
        for method, times in (("ncp", ncp), ("mip", mip))
        for seed, time in enumerate(times)
    ]
    return of_size("3x3", cells, 60.0)


@pytest.mark.parametrize(
    ("ncp", "mip", "value", "bound"),
    [
        ([1.0, 2.0, 6.0], [3.0, 4.0, 20.0], 3.0, "exact"),
        ([1.0, 1.0, 1.0], [2.0, 60.0, 60.5], 122 / 3, "lower"),
        ([1.0, "timeout", "limit"], [2.0, 2.0, 2.0], 6 / 121, "upper"),
        ([1.0, "timeout"], [2.0, "timeout"], 62 / 61, "unbounded"),
        # the games without a time of one of the two are left out
        ([1.0, 2.0, "refuted", 8.0], [2.0, "crashed", 5.0, 16.0], 2.0, "exact"),
    ],
)
def test_time_outs_count_as_the_limit_and_make_ratios_bounds(
    ncp: list[Any], mip: list[Any], value: float, bound: str
) -> None:
    ratio = of_times(ncp, mip)["ratio"]["of_means"]
    assert (ratio["value"], ratio["bound"]) == (pytest.approx(value), bound)


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
    jobs = {"table_1": Job(summary={"sizes": [of_times([0.1], mip) | {"size": f"3x{actions}"}]})}
    assert verdict(f"n = 3, m = {actions}", "MIP avg. runtime", jobs) == expected


def test_advantage_is_held_against_all_sizes_and_the_printed_means() -> None:
    growing = {"3x3": 2.0, "5x2": 3.0, "3x4": 4.0, "4x3": 5.0, "3x5": 6.0, "3x6": 7.0}
    for changed, expected in (({}, "reproduced"), ({"4x3": 1.5}, "source_error")):
        sizes = [of_times([1.0], [r]) | {"size": s} for s, r in (growing | changed).items()]
        assert verdict("advantage", "", {"table_1": Job(summary={"sizes": sizes})}) == expected


def stored() -> Jobs:
    """Some jobs as they come out."""
    names = {"family": "0", "as_named": "0", "as_described": "1/6", "a33_alone": "1/6"}
    identity = {"strict": True, "off_path": {}, "parameters": {"c33": 0.25, "beta": 0.0}}
    row = {"behavior": {"P3": {"3:KB": {"call": "0"}}}}
    logit: Any = {"max_regret": 1.9e-5, "elapsed_s": 5.0, "status": "ok"}
    program: Any = {"elapsed_s": 0.3, "status": "ok", "statistics": {"raw_max_regret": 1e-10}}
    race = [cell(REDUCED, LOGIT, **logit)]
    race += [cell(game, PAPER, max_regret=1e-16, **program) for game in (REDUCED, FULL)]

    def verified(gain: str) -> Job:
        exact = {"payoffs": ["-1/48", "-1/48", "1/24"], "regrets": ["0", gain, "0"]}
        return Job(printed_json={"exact": exact, "identity": identity})

    timeout = cell(REDUCED, "gambit_gnm", status="timeout", reason="still running")
    return {
        "grid": Job(summary=json.loads(json.dumps(measured()))),
        "profiles": Job(json=lambda _: row, row=row),
        "program": Job(summary={"models": json.loads(json.dumps(models())), "kept": {}}),
        "info_21": Job(printed_json={"sizes": {"nodes": 421}}),
        "info_reduced": Job(printed_json={"sizes": {"nodes": 415}}),
        "rounded": Job(summary={REDUCED: {"regrets": ["0", "1/59994"], "a33": "2501/5000"}}),
        "race": Job(cells=race),
        "gambit": Job(cells=[timeout, cell(REDUCED, LOGIT, **logit)]),
        **{f"verify_{name}": verified(gain) for name, gain in names.items()},
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
READINGS, MODELS = "grid/summary/readings", "program/summary/models"


@pytest.mark.parametrize(
    ("row", "column", "path", "value", "expected"),
    [
        (HALF, "", "", None, "source_error"),
        (HALF, "", f"{READINGS}/as_named", [{"regrets": ["0", "1/6", "0"]}], "differs"),
        (RANGE, "", "", None, "source_error"),
        (RANGE, "", f"{READINGS}/a33_alone", [{"regrets": ["0", "0", "0"]}], "differs"),
        (RANGE, "", "grid/summary/pairs/7/regrets", ["0"] * 3, "reproduced"),
        ("c32 in the family", "", "profiles/row/behavior/P3/3:KB/call", "1/2", "differs"),
        ("payoffs", "", "", None, "reproduced"),
        ("payoffs", "", "verify_as_named/printed_json/exact/payoffs", ["0"] * 3, "differs"),
        (ROWS, "reduced game", "", None, "source_error"),
        (ROWS, "reduced game", f"{MODELS}/22/rows", 72, "reproduced"),
        (ROWS, "reduced game", f"{MODELS}/21/rows", 71, "differs"),
        (ROWS, "reduced game", "info_21/printed_json/sizes/nodes", 415, "differs"),
        ("introduction: gain", "", f"rounded/summary/{REDUCED}/regrets", ["1/50000"], "differs"),
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


def test_pygambit_refuses_three_players_and_takes_trees_for_agent_equilibria() -> None:
    said = gambit_says(Path(), Path(), full=False)
    others = {"refusals": dict.fromkeys(said["refusals"], ""), "agents": {"liap": "no such method"}}
    for found, expected in ((said, "reproduced"), (others, "differs")):
        for method in ("lp", "liap"):
            assert verdict(method, "applies to", {"gambit_says": Job(summary=found)}) == expected
