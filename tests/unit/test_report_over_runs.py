"""Reports over several seeds and several runs, and over runs that are not finished."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from report_readers import markdown_tables
from stored_runs import cell, sample_run, with_candidate, without_figures, write_run

from eqbench.errors import UsageError
from eqbench.report.exports import FEW_CELLS, report_on
from eqbench.report.formats import markdown
from eqbench.report.view import LEAST_CELLS
from eqbench.store.stored_run import StoredRun, chosen, read_run


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return sample_run(tmp_path / "run")


@pytest.fixture
def seeds(tmp_path: Path) -> StoredRun:
    records = [
        with_candidate(cell("01", seed=0, elapsed_s=1.0), 1),
        with_candidate(cell("02", seed=1, elapsed_s=2.0, status="limit"), 3),
        with_candidate(cell("03", seed=2, elapsed_s=6.0), 2),
        replace(without_figures("04", status="crashed", solver="cfr_plus"), seed=3),
    ]
    return read_run(write_run(tmp_path / "seeds", *records))


def test_quartiles_are_those_of_at_least_four_cells(tmp_path: Path) -> None:
    few = [cell(f"0{seed}", seed=seed) for seed in range(LEAST_CELLS - 1)]
    many = [cell(f"1{seed}", solver="b", seed=seed) for seed in range(LEAST_CELLS)]
    for k, records in enumerate((few, few + many)):
        run = read_run(write_run(tmp_path / f"run{k}", *records))
        head, _, *rows = markdown_tables(markdown(report_on([run], summarize=True)))[0]
        assert ("1st quartile time to target (s)" in head) is (k == 1)
        by_solver = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
        assert by_solver["cfr_plus"]["median time (s)"] == "0.0123"
        assert by_solver["cfr_plus"].get("1st quartile time to target (s)", "–") == "–"


def test_many_seeds_have_a_summary_unless_rows_are_wanted(tmp_path: Path) -> None:
    several = [cell(f"{seed:02}", seed=seed) for seed in range(FEW_CELLS + 1)]
    run = read_run(write_run(tmp_path / "run", *several))
    (few,) = report_on([run], summarize=None).tables
    (rows,) = report_on([run], summarize=False).tables
    assert (len(few.rows), len(rows.rows)) == (1, FEW_CELLS + 1)


def test_chosen_cells_are_reported_as_if_there_were_no_others(run: StoredRun) -> None:
    (only,) = chosen([run], games=["kuhn2"], statuses=["ok"])
    assert [record.key for record in only.cells] == ["01", "03"]
    assert report_on([only]).notes == ()
    with pytest.raises(UsageError, match="no cell is crashed; there are ok"):
        chosen([run], games=["kuhn3"], statuses=["crashed"])
    with pytest.raises(UsageError, match="no cell has the game 'kuhn4': did you mean"):
        chosen([run], games=["kuhn4"])


def test_report_reads_a_run_whose_last_line_is_torn(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("01"), cell("02", solver="dcfr"))
    lines = path / "runs.jsonl"
    lines.write_bytes(lines.read_bytes()[:-9])
    run = read_run(path)
    assert ([record.key for record in run.cells], run.missing) == (["01"], 1)
    assert not lines.read_bytes().endswith(b"\n"), "reading changes nothing"
