"""Reports over several seeds and several runs, and over runs that are not finished."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from report_readers import check_latex, markdown_tables
from stored_runs import cell, sample_run, with_candidate, without_figures, write_run

from eqbench.errors import UsageError
from eqbench.report.exports import FEW_CELLS, report_on, summary_csv
from eqbench.report.formats import latex, markdown
from eqbench.report.terminal import plain_text, print_report
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


def test_summary_gives_median_extremes_and_par2_over_seeds(seeds: StoredRun) -> None:
    (head, _, row) = markdown_tables(markdown(report_on([seeds], summarize=True)))[0]
    figures = dict(zip(head, row, strict=True))
    assert (figures["cells"], figures["ok"]) == ("4", "2")
    assert figures["best max regret"] == "1.2e-11"
    assert figures["median max regret"] == "2.4e-11"
    assert figures["worst max regret"] == "3.6e-11"
    assert (figures["1st quartile max regret"], figures["3rd quartile max regret"]) == (
        "1.8e-11",
        "3.0e-11",
    )
    assert figures["median time (s)"] == "2.00"
    # two cells in 1 s and 6 s, two others at twice the timeout of 10 s
    assert figures["PAR-2 time (s)"] == f"{(1 + 6 + 20 + 20) / 4:.1f}"
    (machine,) = csv.DictReader(io.StringIO(summary_csv([seeds])))
    assert float(machine["par2_elapsed_s"]) == 11.75
    check_latex(latex(report_on([seeds], summarize=True)))
    assert "PAR-2 time (penalized" in plain_text(
        lambda console: print_report(report_on([seeds], summarize=True), console)
    )


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


def test_solver_that_refuses_a_game_has_no_row_and_no_penalized_time(tmp_path: Path) -> None:
    refused = replace(without_figures("01", status="unsupported"), reason="too large")
    run = read_run(write_run(tmp_path / "run", refused))
    text = markdown(report_on([run], summarize=True))
    assert "- do not take this game: sequence_lp (too large)" in text
    (row,) = csv.DictReader(io.StringIO(summary_csv([run])))
    assert (row["cells"], row["par2_elapsed_s"]) == ("1", "")


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


def test_several_runs_share_tables_and_tell_their_rows_apart(
    run: StoredRun, seeds: StoredRun
) -> None:
    table = markdown_tables(markdown(report_on([run, seeds])))[0]
    assert table[0][0] == "run"
    assert sorted(row[0] for row in table[2:]) == ["run"] * 3 + ["seeds"] * 4


def test_cells_that_are_missing_or_interrupted_are_said_to_be(tmp_path: Path) -> None:
    path = write_run(
        tmp_path / "a run",
        cell("01"),
        cell("02", solver="mccfr", status="interrupted"),
        planned=["03", "02", "01"],
    )
    text = plain_text(lambda console: print_report(report_on([read_run(path)]), console))
    lines = text.splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [
        ["cfr_plus", "ok"],
        ["mccfr", "interrupted"],
    ]
    unwrapped = " ".join(lines)
    assert f"2 of 3 cells have not finished: eqbench run --resume '{path}' continues" in unwrapped
    assert "So far (1 of 3 cells): 1 of 2 solvers reached the target" in unwrapped


def test_report_reads_a_run_whose_last_line_is_torn(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("01"), cell("02", solver="dcfr"))
    lines = path / "runs.jsonl"
    lines.write_bytes(lines.read_bytes()[:-9])
    run = read_run(path)
    assert ([record.key for record in run.cells], run.missing) == (["01"], 1)
    assert not lines.read_bytes().endswith(b"\n"), "reading changes nothing"
