"""Ganzfried 2025 against ours: times, Table 1, Gambit and several starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ganzfried_store import CLAIMS, cell, store, stored_in, the_claim, verdict, verdict_of_cells

import eqbench
from eqbench.harness.experiment import read_experiment, shipped
from eqbench.papers.ganzfried.gambit_says import gambit_says
from eqbench.papers.ganzfried.jobs import FULL, LOGIT, LOGIT_CALL, PAPER_MODEL, REDUCED
from eqbench.papers.ganzfried.rounded import rounded
from eqbench.papers.ganzfried.table_1 import PRINTED
from eqbench.papers.ganzfried.times import of_size
from eqbench.spec import parse_spec
from eqbench.store.schema import EquilibriumRecord


def test_time_counts_only_where_every_run_solved_the_game() -> None:
    claim = the_claim("reduced game, on SCIP")
    solved = cell(REDUCED, PAPER_MODEL, status="ok", elapsed_s=0.3, max_regret=1e-16)
    missed = cell(REDUCED, PAPER_MODEL, status="limit", elapsed_s=3.0)
    assert verdict_of_cells(claim, race=[solved]) == "reproduced"
    assert verdict_of_cells(claim, race=[solved, missed]) == "differs"


@pytest.mark.parametrize(
    ("elapsed_s", "printed", "under"),
    [
        (0.2, "differs", "reproduced"),
        (0.3, "reproduced", "reproduced"),
        (20.0, "reproduced", "differs"),
        (30.0, "differs", "differs"),
    ],
)
def test_times_are_reproduced_within_a_factor_of_ten_and_bounds_as_bounds(
    elapsed_s: float, printed: str, under: str
) -> None:
    run = cell(REDUCED, PAPER_MODEL, status="ok", elapsed_s=elapsed_s, max_regret=1e-16)
    assert verdict_of_cells(the_claim("reduced game, on SCIP"), race=[run]) == printed
    assert verdict_of_cells(the_claim("conclusion: time"), race=[run]) == under


@pytest.mark.parametrize(
    ("elapsed_s", "time", "over"),
    [(0.1, "differs", "differs"), (39.0, "reproduced", "differs"), (41.0, *["reproduced"] * 2)],
)
def test_time_of_the_path_is_told_from_that_of_the_stock_call(
    elapsed_s: float, time: str, over: str
) -> None:
    path = cell(REDUCED, LOGIT, status="failed", elapsed_s=elapsed_s, max_regret=2e-5)
    call = cell(REDUCED, LOGIT_CALL, status="timeout", elapsed_s=3.0, reason="killed after 2 s")
    run: Any = {"race": SimpleNamespace(cells=[path]), "gambit": SimpleNamespace(cells=[call])}
    claim = the_claim("reduced game, window")
    assert claim.read(run).verdict == time
    assert "stock call" in claim.read(run).detail
    assert "killed after 2 s" in claim.read(run).detail
    inequality = CLAIMS["Section 4: logit equilibria with Gambit", "introduction: time", ""]
    assert inequality.read(run).verdict == over


def test_path_that_ends_short_of_the_threshold_is_noticed() -> None:
    claim = the_claim("when Gambit stops")
    two = cell("kuhn2", LOGIT_CALL, status="ok", max_regret=3e-8)
    for status, expected in (("failed", "differs"), ("ok", "reproduced")):
        path = cell(REDUCED, LOGIT, status=status, max_regret=2e-5, reason="underflow")
        assert verdict_of_cells(claim, race=[path], gambit_two_players=[two]) == expected


@pytest.mark.parametrize(("after", "expected"), [("1/60000", "differs"), ("1/50000", "reproduced")])
def test_rounding_is_a_cause_only_if_it_adds_to_the_gain(
    tmp_path: Path, after: str, expected: str
) -> None:
    store(tmp_path, "rounded", {REDUCED: {"regrets": ["0", after, "0"]}})
    path = cell(REDUCED, LOGIT, status="failed", max_regret=1.884e-5)
    run: Any = {"race": SimpleNamespace(cells=[path]), "rounded": stored_in(tmp_path)["rounded"]}
    assert the_claim("why larger").read(run).verdict == expected


def sizes(solved: int, mean_s: float) -> Iterator[dict[str, Any]]:
    figures = {
        "games": 3,
        "solved": solved,
        "mean_with_timeouts_s": mean_s,
        "median_s": mean_s,
        "precise": solved,
        "reasons": {},
    }
    for size in ("3x3", "3x4", "4x3", "5x2", "3x5", "3x6"):
        slower = figures | {"mean_with_timeouts_s": 2.0, "median_s": 2.0}
        yield {"size": size, "solvers": [figures, slower]}


@pytest.mark.parametrize(
    ("solved", "mean_s", "time", "faster"),
    [
        (3, 1.0, "reproduced", "reproduced"),
        (3, 0.1, "differs", "reproduced"),
        (2, 1.0, "reproduced", "reproduced"),
        (1, 1.0, "not_attempted", "reproduced"),
        (1, 80.0, "differs", "differs"),
        (3, 4.0, "reproduced", "differs"),
    ],
)
def test_readings_of_table_1(
    tmp_path: Path, solved: int, mean_s: float, time: str, faster: str
) -> None:
    store(tmp_path, "table_1", {"sizes": list(sizes(solved, mean_s))})
    assert verdict(the_claim("n = 3, m = 6", "NCP avg. runtime"), tmp_path) == time
    assert verdict(the_claim("faster"), tmp_path) == faster


def test_method_that_finds_an_equilibrium_after_all_is_noticed() -> None:
    claim = the_claim("liap", "result on the reduced game")
    ended = cell(REDUCED, "gambit_liap", status="timeout", elapsed_s=16.0)
    found = cell(REDUCED, "gambit_liap", status="ok", elapsed_s=1.0, max_regret=1e-9)
    crash = cell(REDUCED, "gambit_liap", status="crashed", reason="signal 11")
    gone = cell(REDUCED, "gambit_liap", status="ok", elapsed_s=1.0, max_regret=0.5)
    assert verdict_of_cells(claim, gambit=[ended]) == "not_attempted"
    assert verdict_of_cells(claim, gambit=[found]) == "differs"
    assert verdict_of_cells(claim, gambit=[crash]) == "differs"
    assert verdict_of_cells(claim, gambit=[gone]) == "reproduced"


def test_only_one_method_with_a_solution_is_left_open_while_others_run_out_of_time() -> None:
    claim = the_claim("all methods", "result on the reduced game")
    path = cell(REDUCED, LOGIT, status="failed", max_regret=2e-5)
    late = cell(REDUCED, "gambit_ipa", status="timeout", reason="still running 2 s")
    vain = cell(REDUCED, "gambit_ipa", status="ok", max_regret=0.5)
    good = cell(REDUCED, "gambit_ipa", status="ok", max_regret=1e-9)
    for cells, expected in (
        ([path, late], "not_attempted"),
        ([path, vain], "reproduced"),
        ([path, good], "differs"),
        ([vain], "differs"),
    ):
        assert verdict_of_cells(claim, gambit=cells) == expected


def test_pygambit_refuses_three_players_and_takes_trees_for_agent_equilibria(
    tmp_path: Path,
) -> None:
    said = gambit_says(tmp_path, tmp_path, full=False)
    store(tmp_path, "gambit_says", said)
    assert verdict(the_claim("lp", "applies to"), tmp_path) == "reproduced"
    assert verdict(the_claim("liap", "applies to"), tmp_path) == "reproduced"
    refused = dict.fromkeys(said["agents"], "pygambit has no such method")
    ran = dict.fromkeys(said["refusals"], "")
    store(tmp_path, "gambit_says", said | {"agents": refused, "refusals": ran})
    assert verdict(the_claim("lp", "applies to"), tmp_path) == "differs"
    assert verdict(the_claim("liap", "applies to"), tmp_path) == "differs"


def test_best_start_counts_by_a_fixed_factor_in_the_middle_of_the_games() -> None:
    claim = the_claim("CFR from several starts")
    for best, expected in ((0.4, "reproduced"), (0.6, "differs")):
        cells = [
            cell(game, "cfr", status="limit", max_regret=regret)
            for game in ("a", "b", "c")
            for regret in (best, 1.0, 1.0)
        ]
        assert verdict_of_cells(claim, starts_kuhn=cells) == expected


def test_advantage_is_held_against_all_sizes_and_the_printed_means(tmp_path: Path) -> None:
    claim = the_claim("advantage")
    growing = {"3x3": 2.0, "5x2": 3.0, "3x4": 4.0, "4x3": 5.0, "3x5": 6.0, "3x6": 7.0}
    for falls, expected in ((False, "reproduced"), (True, "source_error")):
        ratios = growing | ({"4x3": 1.5} if falls else {})
        rows = [
            {"size": size, "solvers": [{"median_s": 1.0}, {"median_s": ratio}]}
            for size, ratio in ratios.items()
        ]
        store(tmp_path, "table_1", {"sizes": rows})
        assert verdict(claim, tmp_path) == expected


@pytest.mark.parametrize(
    ("value", "bound", "expected"),
    [
        (3.0, "", "reproduced"),
        (9.0, "", "differs"),
        (9.0, "lower", "differs"),
        (1.0, "lower", "not_attempted"),
        (9.0, "upper", "not_attempted"),
        (9.0, "unbounded", "not_attempted"),
    ],
)
def test_quoted_ratio_differs_only_if_the_bound_excludes_it(
    tmp_path: Path, value: float, bound: str, expected: str
) -> None:
    """Ganzfried 2025, section 4: 2.7 times at 3 x 6."""
    ratio = {"of_means": {"value": value, "bound": bound}, "games": 3}
    store(tmp_path, "table_1", {"sizes": [{"size": "3x6", "ratio": ratio}]})
    claim = CLAIMS["What section 4 says about Table 1", "n = 3, m = 6", ""]
    assert verdict(claim, tmp_path) == expected


def test_rounded_profile_still_sums_to_one_and_its_gain_is_held_against_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = eqbench.load_game(FULL).tree
    rows: dict[str, dict[str, dict[str, float]]] = {player: {} for player in tree.players}
    for player, label, actions in zip(
        tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True
    ):
        first, second = actions
        rows[tree.players[player]][label] = {first: 1 / 3, second: 2 / 3}
    (tmp_path / "race").mkdir()
    (tmp_path / "race" / "profile.json").write_text(json.dumps({"behavior": rows}))
    best = EquilibriumRecord("iterate", [], [], 0.0, 0.0, profile="profile.json")
    run = SimpleNamespace(cells=[cell(FULL, LOGIT, status="ok", equilibria=[best])])
    module = "eqbench.papers.ganzfried.rounded"
    monkeypatch.setattr(f"{module}.read_run", lambda _: run)
    assert rounded(tmp_path, tmp_path, full=False)[FULL]["a33"] == "6667/10000"

    claim = CLAIMS["Section 4: logit equilibria with Gambit", "gain by deviating", ""]
    for gain, expected in (("1/59994", "reproduced"), ("1/50000", "differs")):
        store(tmp_path, "rounded", {REDUCED: {"regrets": ["0", gain, "0"]}})
        assert verdict(claim, tmp_path) == expected


def of_times(ncp: list[Any], mip: list[Any]) -> dict[str, Any]:
    """Figures of a size from the times of both methods; a text is a status without a time."""
    cells = [
        cell(f"game {seed}", f"{method}(polish=false)", **_ended(time))
        for method, times in (("ncp", ncp), ("mip", mip))
        for seed, time in enumerate(times)
    ]
    return of_size("3x3", cells, 60.0)


def _ended(time: Any) -> dict[str, Any]:
    if isinstance(time, float):
        return {"status": "ok", "elapsed_s": time, "max_regret": 1e-9}
    return {"status": time, "elapsed_s": 0.25, "reason": f"it was {time}"}


@pytest.mark.parametrize(
    ("ncp", "mip", "means", "medians"),
    [
        ([1.0, 2.0, 6.0], [3.0, 4.0, 20.0], (3.0, "exact"), (2.0, "exact")),
        ([1.0, 1.0, 1.0], [2.0, "timeout", "limit"], (122 / 3, "lower"), (60.0, "lower")),
        ([1.0, 1.0, 1.0], [2.0, 60.0, 60.5], (122 / 3, "lower"), (60.0, "lower")),
        ([1.0, 1.0, "timeout"], [2.0, 2.0, 2.0], (6 / 62, "upper"), (2.0, "exact")),
        ([1.0, "timeout", "limit"], [2.0, 2.0, 2.0], (6 / 121, "upper"), (2 / 60, "upper")),
        ([1.0, 1.0, "timeout"], [2.0, 2.0, "timeout"], (64 / 62, "unbounded"), (2.0, "exact")),
        # the games without a time of one of the two are left out
        ([1.0, 2.0, "refuted", 8.0], [2.0, "crashed", 5.0, 16.0], (2.0, "exact"), (2.0, "exact")),
    ],
)
def test_time_outs_count_as_the_limit_and_make_ratios_bounds(
    ncp: list[Any], mip: list[Any], means: tuple[float, str], medians: tuple[float, str]
) -> None:
    ratio = of_times(ncp, mip)["ratio"]
    for name, (value, bound) in (("of_means", means), ("of_medians", medians)):
        assert (ratio[name]["value"], ratio[name]["bound"]) == (pytest.approx(value), bound)


def test_games_are_counted_by_how_they_ended() -> None:
    ncp, mip = of_times([1.0, 2.0, "refuted", "limit"], ["unavailable"] * 4)["solvers"]
    assert (ncp["games"], ncp["solved"], ncp["timeouts"], ncp["failed"]) == (4, 2, 1, 1)
    assert (ncp["mean_s"], ncp["median_s"], ncp["precise"]) == (1.5, 2.0, 2)
    assert ncp["reasons"] == {"refuted": "it was refuted"}
    assert (mip["never_ran"], mip["failed"], mip["median_s"]) == (4, 0, None)
    assert of_times([1.0], ["unavailable"])["ratio"]["of_means"] is None


def test_experiments_of_table_1_have_all_sizes_and_the_published_tolerances() -> None:
    for name in ("ganzfried_table_1", "ganzfried_table_1_quick"):
        experiment = read_experiment(shipped()[name])
        specs = [parse_spec(spec) for part in experiment.parts for spec in part.games]
        sizes = {(dict(spec.options)["players"], dict(spec.options)["actions"]) for spec in specs}
        assert sizes == {(players, actions) for players, actions, *_ in PRINTED}
