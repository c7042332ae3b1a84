"""The table of equilibria says who found which, and stands only where it says more."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stored_runs import cell, identified, identity, with_candidate, without_figures, write_run

from eqbench.report.exports import report_on, results_csv
from eqbench.report.rows import Report, Table
from eqbench.report.view import MOST_CLUSTERS
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


@pytest.mark.parametrize(
    ("records", "shown"),
    [
        ([cell("01", seed=0), cell("02", seed=1)], False),
        ([identified(cell("01"), on(C0)), cell("02", solver="b")], False),
        ([identified(cell("01", seed=0), on(C0)), cell("02", seed=1)], True),
        ([identified(cell("01"), on(C0)), identified(cell("02", solver="b"), on(HALF))], True),
        ([identified(cell("01"), on(C0), on(C0))], False),
        ([identified(cell("01"), on(C0, 0.1), on(C0, 0.2))], True),
        ([identified(cell("01"), on("cluster:1"))], True),
        ([identified(cell("01"), on("skp:2"), on("skp:3"))], True),
        ([identified(cell("01"), on("skp:2"), on("skp:3", on_path=False))], False),
    ],
)
def test_table_stands_where_several_or_unknown_equilibria_were_found(
    records: list[CellRecord], shown: bool, tmp_path: Path
) -> None:
    made = report(tmp_path / "run", *records)
    assert [bool(table.topic) for table in made.tables] == [False, *[True] * shown]


@pytest.mark.parametrize("solvers", [2, MOST_CLUSTERS + 4])
def test_of_many_clusters_the_best_of_every_solver_are_shown(solvers: int, tmp_path: Path) -> None:
    # the first solver finds many, and often; every other a single one, and not well
    many = [on(f"cluster:{number}") for number in range(1, MOST_CLUSTERS + 3)]
    records = [identified(cell(f"{k}", seed=k, solver="a"), *many) for k in range(3)]
    for k in range(1, solvers):
        worse = with_candidate(cell(f"1{k:02}", seed=0, solver=f"b{k}"), 20)
        records.append(identified(worse, on(f"cluster:{100 + k}")))
    table = matrix(report(tmp_path / "run", *records))
    numbers = [int(row.label.partition(":")[2]) for row in table.rows]
    room = max(MOST_CLUSTERS, solvers)
    assert numbers == [*range(1, room - solvers + 2), *range(101, 100 + solvers)]
    (note,) = table.notes
    more = len(many) + solvers - 1 - room
    assert note.startswith(f"{more} more clusters; eqbench show RUN CELL --candidates")


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
