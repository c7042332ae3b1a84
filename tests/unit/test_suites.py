"""Published tables as suites: their data, and the figures and tables made from stored records."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stored_runs import cell, with_candidate, without_figures, write_lines

import eqbench
from eqbench.errors import UsageError
from eqbench.harness import pipeline
from eqbench.harness.pipeline import Run
from eqbench.harness.plan import Request, manifest
from eqbench.registry import default_registry
from eqbench.solver import Availability
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import SCHEMA, CellRecord
from eqbench.store.stored_run import StoredRun, read_run
from eqbench.studies.suite_figures import suite_summary
from eqbench.studies.suite_plan import (
    Selection,
    published_s,
    solvers_of,
    unavailable,
    without_children,
)
from eqbench.studies.suite_table import suite_csv, suite_report, write_suite
from eqbench.studies.suites import Suite, suite_named, suites

NAME = "ganzfried_2025_table_1"
TIMEOUT_S = 60.0
NCP, MIP = "ncp(formulation=paper,polish=false)", "mip(polish=false)"


@pytest.fixture
def suite() -> Suite:
    return suite_named(NAME)


def record(game: str, solver: str, **fields: Any) -> CellRecord:
    """A cell of a suite; with a time it is ok, unless `fields` has another status."""
    key = f"{game} {solver}"
    names: dict[str, Any] = {"game": game, "solver": solver, "game_spec": game}
    if fields.get("status") in ("unavailable", "unsupported"):
        return without_figures(key, **names, **fields)
    return cell(key, **names, **fields)


def stored(path: Path, selection: Selection, *records: CellRecord) -> StoredRun:
    """A run of a suite with these records, read back."""
    request = {
        "games": selection.specs,
        "solvers": list(selection.solvers),
        "timeout_s": TIMEOUT_S,
        "threads": 1,
        "jobs": 1,
    }
    keys = [f"{game} {solver}" for game in selection.specs for solver in selection.solvers]
    RunFolder.create(path, {"schema": SCHEMA, "cells": keys, "request": request})
    write_lines(path, records)
    return read_run(path)


def of_times(path: Path, suite: Suite, **columns: list[Any]) -> dict[str, Any]:
    """Summary of one size from the times of both solvers; a text is a status without a time."""
    (first, second), size = columns.items(), suite.sizes[0]
    selection = Selection((size,), max(len(first[1]), len(second[1])), (NCP, MIP))
    records = [
        record(size.game(seed), solver, elapsed_s=time)
        if isinstance(time, float)
        else record(size.game(seed), solver, status=time, elapsed_s=0.25, reason=f"it was {time}")
        for solver, (_, times) in zip((NCP, MIP), (first, second), strict=True)
        for seed, time in enumerate(times)
    ]
    return suite_summary(suite, stored(path, selection, *records))


def test_published_figures_are_those_of_ganzfried_2025_table_1(suite: Suite) -> None:
    # Ganzfried 2025, Table 1: mean seconds of NCP and MIP by numbers of players and actions
    assert {size.name: size.published for size in suite.sizes} == {
        "3x3": (0.0619, 0.1002),
        "3x4": (0.1864, 0.2487),
        "3x5": (0.5215, 1.2641),
        "3x6": (6.9851, 18.85),
        "4x3": (0.3254, 1.5648),
        "5x2": (0.1858, 0.2983),
    }
    assert suite.games == 1000
    ratios = {size.name: size.published[1] / size.published[0] for size in suite.sizes}
    assert round(ratios["3x6"], 1) == 2.7, "as the paper quotes it"
    assert 4.75 < ratios["4x3"] < 5, "nearly 5, as the paper quotes it"


def test_games_of_every_suite_have_the_size_that_their_name_says() -> None:
    for suite in suites():
        for size in suite.sizes:
            players, actions = map(int, size.name.split("x"))
            tree = default_registry().load_game(size.game(seed=3)).tree
            assert (tree.n_players, tree.n_infosets) == (players, players)
            assert tree.n_actions == players * actions
            assert size.game(seed=3) != size.game(seed=4)


def test_columns_of_every_suite_are_different_solvers_with_options_that_they_have() -> None:
    for suite in suites():
        loaded = {default_registry().load_solver(column.solver).spec for column in suite.columns}
        assert len(loaded) == 2
        assert [suite.column_name(column.solver) for column in suite.columns] == [
            column.name for column in suite.columns
        ]
        for backend in ("auto", "gurobi", "scip"):
            for solver in solvers_of(suite, [], backend):
                assert f"backend={backend}" in default_registry().load_solver(solver).spec


def test_unknown_suites_and_sizes_are_refused_with_the_known_ones(suite: Suite) -> None:
    with pytest.raises(UsageError, match=f"unknown suite 'ganzfried_2025'.*{NAME}"):
        suite_named("ganzfried_2025")
    with pytest.raises(UsageError, match=r"no size '3x7'; it has 3x3, 3x4"):
        suite.sizes_named(["3x3", "3x7"])


def test_sizes_stand_in_the_order_of_the_table_whatever_the_order_asked_for(suite: Suite) -> None:
    assert [size.name for size in suite.sizes_named(["5x2", "3x4"])] == ["3x4", "5x2"]
    assert suite.sizes_named([]) == suite.sizes


def test_plan_takes_all_sizes_for_one_seed_before_the_next_seed(suite: Suite) -> None:
    selection = Selection(suite.sizes_named(["3x3", "5x2"]), 2, (NCP, MIP))
    assert selection.specs == [
        "random(players=3,actions=3,seed=0)",
        "random(players=5,actions=2,seed=0)",
        "random(players=3,actions=3,seed=1)",
        "random(players=5,actions=2,seed=1)",
    ]
    request = {"games": selection.specs, "solvers": [NCP, MIP]}
    assert Selection.of_request(suite, request) == selection


@pytest.mark.parametrize(
    "change",
    [
        {"games": ["kuhn3"]},
        {"games": []},
        {"games": ["random(players=3,actions=3,seed=0)", "kuhn3"]},
        {"solvers": ["lcp"]},
        {"solvers": None},
    ],
)
def test_request_of_another_run_is_no_selection(suite: Suite, change: dict[str, Any]) -> None:
    request = {"games": ["random(players=3,actions=3,seed=0)"], "solvers": [NCP, MIP]}
    assert Selection.of_request(suite, request).games == 1
    with pytest.raises(UsageError, match=f"no run of the suite {NAME}"):
        Selection.of_request(suite, request | change)


def test_backend_goes_to_both_solvers_of_the_table_which_keep_their_names(suite: Suite) -> None:
    assert solvers_of(suite, [], None) == (NCP, MIP)
    solvers = solvers_of(suite, [], "scip")
    assert solvers == tuple(f"{solver[:-1]},backend=scip)" for solver in (NCP, MIP))
    assert [suite.column_name(solver) for solver in solvers] == ["NCP", "MIP"]
    assert suite.column_name("ncp(formulation=elimination)") == "ncp(formulation=elimination)"


def test_two_different_solvers_are_wanted_and_no_backend_beside_them(suite: Suite) -> None:
    assert solvers_of(suite, ["cfr(start=random),lcp"], None) == ("cfr(start=random)", "lcp")
    with pytest.raises(UsageError, match=r"--solver names lcp; .*give --solver twice"):
        solvers_of(suite, ["lcp"], None)
    with pytest.raises(UsageError, match=r"backend=scip into the specs"):
        solvers_of(suite, ["lcp", "cfr"], "scip")
    with pytest.raises(UsageError, match="are the same, lcp"):
        unavailable(["lcp", "lcp()"], default_registry())


def test_unavailable_built_in_solver_is_recorded_without_a_child_for_each_game(
    tmp_path: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def expired(solver: Any) -> Availability:
        return Availability("licence", "it has expired")

    monkeypatch.setattr(type(eqbench.load_solver("lcp")), "availability", expired, raising=False)
    reasons = unavailable(["lcp", "cfr"], default_registry())
    assert reasons == {"lcp": "licence: it has expired"}
    games = Selection(suite.sizes[:1], 2, ()).specs
    with Run(Request(games=games, solvers=["lcp"]), default_registry()) as job:
        planned = [cell.key for cell in job.cells]
        job.cells = without_children(job.cells, reasons)
        assert [cell.key for cell in job.cells] == planned, "once available, these cells are run"
        folder = RunFolder.create(tmp_path / "run", manifest(job.request, job.cells))
        monkeypatch.setattr(pipeline, "run_child", None)
        job.execute(folder, Silent())
    assert [(each.status, each.reason) for each in folder.cells()] == [
        ("unavailable", "licence: it has expired")
    ] * 2


class Silent:
    """Observer that says nothing."""

    def planned(self, cells: Any, finished: int) -> None: ...

    def started(self, cell: Any) -> None: ...

    def finished(self, record: CellRecord) -> None: ...


def test_medians_means_and_ratios_of_games_that_were_solved(tmp_path: Path, suite: Suite) -> None:
    document = of_times(tmp_path / "run", suite, ncp=[1.0, 2.0, 6.0], mip=[3.0, 4.0, 20.0])
    (size,) = document["sizes"]
    ncp, mip = size["solvers"]
    assert (ncp["games"], ncp["solved"], ncp["timeouts"], ncp["failed"]) == (3, 3, 0, 0)
    assert (ncp["median_s"], ncp["mean_s"], ncp["mean_with_timeouts_s"]) == (2.0, 3.0, 3.0)
    assert (mip["median_s"], mip["mean_s"], mip["mean_with_timeouts_s"]) == (4.0, 9.0, 9.0)
    assert size["ratio"] == {
        "games": 3,
        "of_means": {"value": 3.0, "bound": "exact"},
        "of_medians": {"value": 2.0, "bound": "exact"},
    }
    assert size["published"]["ratio_of_means"] == pytest.approx(0.1002 / 0.0619)


def test_time_outs_count_as_the_limit_and_make_ratios_bounds(tmp_path: Path, suite: Suite) -> None:
    document = of_times(tmp_path / "run", suite, ncp=[1.0, 1.0, 1.0], mip=[2.0, "timeout", "limit"])
    (size,) = document["sizes"]
    mip = size["solvers"][1]
    assert (mip["solved"], mip["timeouts"], mip["failed"]) == (1, 2, 0)
    assert (mip["mean_s"], mip["median_s"]) == (2.0, TIMEOUT_S)
    assert mip["mean_with_timeouts_s"] == pytest.approx((2.0 + 2 * TIMEOUT_S) / 3)
    assert size["ratio"]["of_means"]["bound"] == "lower"
    assert size["ratio"]["of_means"]["value"] == pytest.approx(122 / 3)
    assert size["ratio"]["of_medians"] == {"value": 60.0, "bound": "lower"}


@pytest.mark.parametrize(
    ("ncp", "mip", "means", "medians"),
    [
        ([1.0, 1.0, "timeout"], [2.0, 2.0, 2.0], "upper", "exact"),
        ([1.0, "timeout", "limit"], [2.0, 2.0, 2.0], "upper", "upper"),
        ([1.0, 1.0, "timeout"], [2.0, 2.0, "timeout"], "unbounded", "exact"),
    ],
)
def test_bound_of_a_ratio_says_whose_times_are_cut_off(
    tmp_path: Path, suite: Suite, ncp: list[Any], mip: list[Any], means: str, medians: str
) -> None:
    ratio = of_times(tmp_path / "run", suite, ncp=ncp, mip=mip)["sizes"][0]["ratio"]
    assert (ratio["of_means"]["bound"], ratio["of_medians"]["bound"]) == (means, medians)


def test_game_that_ended_well_just_after_the_limit_counts_as_the_limit(
    tmp_path: Path, suite: Suite
) -> None:
    document = of_times(
        tmp_path / "run", suite, ncp=[1.0, 1.0, 1.0], mip=[2.0, TIMEOUT_S, TIMEOUT_S + 0.5]
    )
    (size,) = document["sizes"]
    mip = size["solvers"][1]
    assert (mip["solved"], mip["timeouts"], mip["failed"]) == (1, 2, 0)
    assert (mip["mean_s"], mip["median_s"]) == (2.0, TIMEOUT_S)
    assert mip["mean_with_timeouts_s"] == pytest.approx((2.0 + 2 * TIMEOUT_S) / 3)
    assert {size["ratio"][of]["bound"] for of in ("of_means", "of_medians")} == {"lower"}


def test_legend_says_how_large_a_regret_counts_as_solved(tmp_path: Path, suite: Suite) -> None:
    one, two = (
        suite_report(suite, of_times(tmp_path / str(n), suite, ncp=[1.0] * n, mip=[2.0] * n))
        for n in (1, 2)
    )
    assert "a thousandth of the payoff range, and the last column" in one.legend
    assert one.tables[0].columns[-1].title == "regret to 1e-6"
    assert ", 1 game per size," in one.notes[0]
    assert ", 2 games per size," in two.notes[0]


def test_failures_are_counted_and_their_games_left_out_of_the_ratio(
    tmp_path: Path, suite: Suite
) -> None:
    document = of_times(
        tmp_path / "run",
        suite,
        ncp=[1.0, 2.0, "refuted", 8.0, 1000.0],
        mip=[2.0, "crashed", 5.0, 16.0],
    )
    (size,) = document["sizes"]
    ncp, mip = size["solvers"]
    assert (ncp["failed"], mip["failed"], ncp["games"], mip["games"]) == (1, 1, 5, 4)
    assert ncp["statuses"] == {"ok": 4, "refuted": 1}
    assert ncp["reasons"] == {"refuted": "it was refuted"}
    # games 0 and 3: the others have no time of one of the two, the last not yet
    assert size["ratio"]["games"] == 2
    assert size["ratio"]["of_means"] == {"value": 2.0, "bound": "exact"}


def test_share_of_precise_games_goes_by_the_verified_regret(tmp_path: Path, suite: Suite) -> None:
    size = suite.sizes[0]
    selection = Selection((size,), 4, (NCP, MIP))
    exact = [record(size.game(seed), NCP) for seed in range(4)]
    # 1.2e-11 times 1e5 is above 1e-6; a game at the limit may be solved precisely all the same
    mixed = [
        record(size.game(0), MIP),
        with_candidate(record(size.game(1), MIP), 1e5),
        record(size.game(2), MIP, status="limit"),
        replace(record(size.game(3), MIP, status="timeout"), max_regret=None),
    ]
    document = suite_summary(suite, stored(tmp_path / "run", selection, *exact, *mixed))
    ncp, mip = document["sizes"][0]["solvers"]
    assert (ncp["precise"], ncp["precise_share"]) == (4, 1.0)
    assert (mip["precise"], mip["precise_share"]) == (2, 0.5)
    cells = [row.values["regret to 1e-6"] for row in suite_report(suite, document).tables[0].rows]
    assert cells == ["100.0%", "50.0%"]


def test_unavailable_solver_has_its_reason_and_the_other_one_its_figures(
    tmp_path: Path, suite: Suite
) -> None:
    document = of_times(tmp_path / "run", suite, ncp=[1.0, 3.0], mip=["unavailable"] * 2)
    (size,) = document["sizes"]
    ncp, mip = size["solvers"]
    assert ncp["median_s"] == 2.0
    assert (mip["never_ran"], mip["failed"], mip["solved"]) == (2, 0, 0)
    assert mip["median_s"] is mip["mean_with_timeouts_s"] is mip["precise_share"] is None
    assert size["ratio"] == {"games": 0, "of_means": None, "of_medians": None}
    times = suite_report(suite, document).tables[0]
    assert [row.values["status"] for row in times.rows] == [None, "unavailable"]
    assert "status" in [column.title for column in times.columns]
    assert times.notes == ("MIP unavailable (2 at 3x3) – it was unavailable",)


def test_run_that_has_just_begun_gives_a_table_without_figures(
    tmp_path: Path, suite: Suite
) -> None:
    run = stored(tmp_path / "run", Selection(suite.sizes, 2, (NCP, MIP)))
    document = suite_summary(suite, run)
    assert [size["size"] for size in document["sizes"]] == [size.name for size in suite.sizes]
    assert {own["games"] for size in document["sizes"] for own in size["solvers"]} == {0}
    assert len(suite_report(suite, document).tables[0].rows) == 12


def test_published_means_stand_beside_the_solvers_of_the_table_only(
    tmp_path: Path, suite: Suite
) -> None:
    own = of_times(tmp_path / "own", suite, ncp=[1.0], mip=[2.0])
    times, ratios = suite_report(suite, own).tables
    assert [row.values["solver"] for row in times.rows] == ["NCP", "MIP"]
    assert [row.values["published mean"] for row in times.rows] == [0.0619, 0.1002]
    others = Selection(suite.sizes[:1], 1, ("lcp", "cfr"))
    document = suite_summary(suite, stored(tmp_path / "others", others))
    times, ratios = suite_report(suite, document).tables
    assert "published mean" not in [column.title for column in times.columns]
    assert ratios.rows[0].values["published NCP"] == 0.0619
    assert ratios.rows[0].values["published MIP / NCP"] == "1.62"


def test_solving_time_is_foretold_from_the_published_means(suite: Suite) -> None:
    class Named:
        def __init__(self, typed: str) -> None:
            self.typed = typed

    class Cell:
        def __init__(self, game: str, solver: str) -> None:
            self.game, self.solver = Named(game), Named(solver)

    selection = Selection(suite.sizes_named(["3x6"]), 2, (NCP, MIP))
    cells: list[Any] = [Cell(game, NCP) for game in selection.specs]
    cells.append(Cell(selection.specs[1], MIP))
    assert published_s(suite, selection, cells) == pytest.approx(2 * 6.9851 + 18.85)
    assert published_s(suite, replace(selection, solvers=("lcp", MIP)), []) is None


def test_files_hold_what_the_summary_says(tmp_path: Path, suite: Suite) -> None:
    path = tmp_path / "run"
    document = of_times(path, suite, ncp=[1.0, 2.0], mip=[3.0, "timeout"])
    files = write_suite(suite, document, path)
    assert [file.name for file in files] == ["summary.json", "table.md", "table.csv", "table.tex"]
    assert json.loads((path / "summary.json").read_text()) == document
    ncp, mip = csv.DictReader(io.StringIO((path / "table.csv").read_text()))
    assert (ncp["column"], ncp["solver"], ncp["median_s"]) == ("NCP", NCP, "1.5")
    assert (mip["timeouts"], mip["published_mean_s"]) == ("1", "0.1002")
    assert mip["ratio_of_means"] == ncp["ratio_of_means"] == "21.0"
    assert (mip["ratio_of_means_bound"], mip["ratio_of_medians_bound"]) == ("lower", "lower")
    for name, rule in (("table.md", "| ---- |"), ("table.tex", r"\begin{tabular}")):
        text = (path / name).read_text()
        for word in (rule, "at least 21.00", "1.62", "is a lower bound", "NCP as 2.7 times"):
            assert word in text, (name, word)
    assert suite_csv(document) == (path / "table.csv").read_bytes().decode()
