"""Ganzfried 2025 against ours: times, Table 1, Gambit and several starts."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ganzfried_store import CLAIMS, cell, store, the_claim, verdict

import eqbench
from eqbench.harness.experiment import read_experiment, shipped
from eqbench.papers.ganzfried.gambit_says import gambit_says
from eqbench.papers.ganzfried.jobs import FULL, LOGIT, REDUCED
from eqbench.papers.ganzfried.rounded import rounded
from eqbench.papers.ganzfried.table_1 import PRINTED
from eqbench.papers.ganzfried.times import of_size
from eqbench.spec import parse_spec
from eqbench.store.schema import EquilibriumRecord


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
