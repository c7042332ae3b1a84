"""The matrix of solvers and equilibria counts cells, and stands only where it says more."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stored_runs import cell, identified, identity, without_figures, write_run

from eqbench.report.exports import report_on, results_csv, summary_csv
from eqbench.report.rows import Report, Table
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

C0, MIDDLE, HALF = "szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2"


def on(name: str, beta: float | None = None, **fields: Any) -> dict[str, Any]:
    parameters = {} if beta is None else {"beta": beta, "b11": 0.1}
    return identity(name, parameters=parameters, **fields)


def report(path: Path, *records: CellRecord, summarize: bool = False) -> Report:
    return report_on([read_run(write_run(path, *records))], summarize=summarize)


def matrix(report: Report) -> Table:
    (table,) = [table for table in report.tables if table.topic]
    return table


def rows(table: Table) -> list[list[Any]]:
    return [[row.values[column.title] for column in table.columns] for row in table.rows]


@pytest.fixture
def seeds() -> list[CellRecord]:
    """Three solvers on one game; the first two with three seeds."""
    found: list[list[dict[str, Any] | None]] = [
        [on(HALF, 0.128), on(C0, 0.2)],
        [on(C0, 0.013), on(C0, 0.228)],
        [on("cluster:2", dimension=3)],
        [on(C0, 0.1, on_path=False, distance=3e-5), on("cluster:10")],
        [on(C0, 0.1, on_path=False, distance=2e-4)],
        [None],
    ]
    return [
        *(
            identified(cell(f"{k:02}", solver="abc"[k // 3], seed=k % 3), *identities)
            for k, identities in enumerate(found)
        ),
        replace(without_figures("07", status="unsupported"), solver="c"),
    ]


def test_entries_count_the_cells_that_found_an_equilibrium(
    seeds: list[CellRecord], tmp_path: Path
) -> None:
    table = matrix(report(tmp_path / "run", *seeds))
    titles = [column.title for column in table.columns]
    assert titles == ["solver", C0, HALF, "cluster:2", "cluster:10", "near", "none", "cells"]
    assert rows(table) == [
        ["a", 2, 1, 1, 0, 0, 0, 3],
        # near only where no profile of the cell is on the path of any equilibrium
        ["b", 0, 0, 0, 1, 1, 1, 3],
        ["c", None, None, None, None, None, None, 1],
    ]


def test_payoffs_of_a_cluster_are_those_of_its_best_member(tmp_path: Path) -> None:
    bad = identified(cell("01", seed=0), on("cluster:1"))
    best = identified(cell("02", seed=1), on("cluster:1"))
    best = replace(
        best, equilibria=[replace(best.equilibria[0], max_regret=0.0, payoffs=[0.25, -0.25])]
    )
    (note,) = matrix(report(tmp_path / "run", bad, best)).notes
    assert note == "cluster:1: payoffs +0.25000 -0.25000"


@pytest.mark.parametrize(
    ("records", "shown"),
    [
        ([cell("01", seed=0), cell("02", seed=1)], False),
        ([identified(cell("01", seed=0), on(C0)), cell("02", seed=1)], True),
        ([identified(cell("01"), on(C0)), identified(cell("02", solver="b"), on(HALF))], False),
        ([identified(cell("01"), on(C0), on(C0))], False),
        ([identified(cell("01"), on("skp:2"), on("skp:3"))], True),
        ([identified(cell("01"), on("skp:2"), on("skp:3", on_path=False))], False),
    ],
)
def test_matrix_stands_where_seeds_or_equilibria_differ(
    records: list[CellRecord], shown: bool, tmp_path: Path
) -> None:
    made = report(tmp_path / "run", *records)
    assert [bool(table.topic) for table in made.tables] == [False, *[True] * shown]
    assert ("In a table of equilibria" in made.legend) is shown


def test_summary_always_has_the_matrix_of_a_game_with_identities(tmp_path: Path) -> None:
    records = [
        identified(cell("01"), on(C0)),
        cell("02", game="other", game_spec="other"),
    ]
    made = report(tmp_path / "run", *records, summarize=True)
    assert [(table.title.partition(" ")[0], table.topic) for table in made.tables] == [
        ("kuhn2", ""),
        ("kuhn2", "equilibria found"),
        ("other", ""),
    ]
    assert "equilibria" in [column.title for column in made.tables[0].columns]
    assert "equilibria" not in [column.title for column in made.tables[2].columns]


def test_summary_counts_equilibria_by_name(seeds: list[CellRecord], tmp_path: Path) -> None:
    table = report(tmp_path / "run", *seeds, summarize=True).tables[0]
    assert [" ".join(row.values["equilibria"] or ()) for row in table.rows] == [
        f"{C0} ×2, {HALF} ×1, cluster:2 ×1",
        f"cluster:10 ×1, ≈ {C0} ×1",
        "",
    ]
    text = summary_csv([read_run(tmp_path / "run")])
    machine = [json.loads(row["equilibria"]) for row in csv.DictReader(io.StringIO(text))]
    assert machine == [{C0: 2, HALF: 1, "cluster:2": 1}, {"cluster:10": 1}, {}]


def test_clusters_of_several_runs_are_told_apart(tmp_path: Path) -> None:
    runs = [
        write_run(
            tmp_path / name,
            identified(cell("01", seed=0), on(C0)),
            identified(cell("02", seed=1), on("cluster:1")),
        )
        for name in ("first", "second")
    ]
    table = matrix(report_on([read_run(run) for run in runs]))
    titles = [column.title for column in table.columns]
    assert titles[:5] == ["run", "solver", C0, "cluster:1 (first)", "cluster:1 (second)"]
    assert [row[:5] for row in rows(table)] == [
        ["first", "cfr_plus", 1, 1, 0],
        ["second", "cfr_plus", 1, 0, 1],
    ]
    assert matrix(report_on([read_run(runs[0])])).columns[2].title == "cluster:1"


def test_many_clusters_share_a_column_and_the_commonest_have_their_own(tmp_path: Path) -> None:
    # cluster k is found in k cells
    records = [
        identified(
            cell(f"{seed:02}", seed=seed), *(on(f"cluster:{k}") for k in range(seed + 1, 10))
        )
        for seed in range(9)
    ]
    table = matrix(report(tmp_path / "run", *records))
    titles = [column.title for column in table.columns]
    assert titles[1:8] == [*(f"cluster:{k}" for k in range(4, 10)), "other clusters"]
    assert rows(table) == [["cfr_plus", 4, 5, 6, 7, 8, 9, 3, 0, 0, 9]]
    narrow = [column.title for column in table.without(5).columns]
    assert narrow[1:3] == ["cluster:9", "other clusters"], "the commonest is left out last"


def test_csv_of_cells_has_the_identity_of_the_best_candidate(
    seeds: list[CellRecord], tmp_path: Path
) -> None:
    path = write_run(tmp_path / "run", *seeds)
    cells = list(csv.DictReader(io.StringIO(results_csv([read_run(path)]))))
    assert len(cells) == len(seeds)
    best, near, unknown = cells[0], cells[3], cells[5]
    assert best["equilibrium"] == HALF
    assert (best["equilibrium_on_path"], best["equilibrium_strict"]) == ("True", "True")
    assert float(best["equilibrium_distance"]) == 1e-9
    assert json.loads(best["equilibrium_parameters"]) == {"beta": 0.128, "b11": 0.1}
    assert (near["equilibrium"], near["equilibrium_on_path"]) == (C0, "False")
    for row in (unknown, cells[6]):
        assert {value for name, value in row.items() if name.startswith("equilibrium")} == {""}
