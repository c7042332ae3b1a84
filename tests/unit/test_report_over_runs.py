"""Reports over several seeds and several runs, and over runs that are not finished."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from report_readers import check_latex, markdown_tables
from stored_runs import cell, sample_run, with_candidate, without_figures, write_run

from eqbench.report.exports import report_on, summary_csv
from eqbench.report.latex import latex
from eqbench.report.markdown import markdown
from eqbench.report.terminal import plain_text, print_report
from eqbench.store.stored_run import StoredRun, read_run


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
    assert figures["median time (s)"] == "2.00"
    # two cells in 1 s and 6 s, two others at twice the timeout of 10 s
    assert figures["PAR-2 time (s)"] == f"{(1 + 6 + 20 + 20) / 4:.1f}"
    (machine,) = csv.DictReader(io.StringIO(summary_csv([seeds])))
    assert float(machine["par2_elapsed_s"]) == 11.75
    check_latex(latex(report_on([seeds], summarize=True)))
    assert "PAR-2 time (penalized" in plain_text(
        lambda console: print_report(report_on([seeds], summarize=True), console)
    )


def test_solver_that_refuses_a_game_has_no_penalized_time(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", without_figures("01", status="unsupported")))
    (head, _, row) = markdown_tables(markdown(report_on([run], summarize=True)))[0]
    assert dict(zip(head, row, strict=True))["PAR-2 time (s)"] == "–"


def test_several_runs_share_tables_and_tell_their_rows_apart(
    run: StoredRun, seeds: StoredRun
) -> None:
    table = markdown_tables(markdown(report_on([run, seeds])))[0]
    assert table[0][0] == "run"
    assert [row[0] for row in table[2:]] == ["run"] * 4 + ["seeds"] * 4


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
        ["mccfr", "interrupted"],
        ["cfr_plus", "ok"],
    ]
    unwrapped = " ".join(lines)
    assert f"2 of 3 cells have not finished: eqbench run --resume '{path}' continues" in unwrapped


def test_report_reads_a_run_whose_last_line_is_torn(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("01"), cell("02", solver="dcfr"))
    lines = path / "runs.jsonl"
    lines.write_bytes(lines.read_bytes()[:-9])
    run = read_run(path)
    assert ([record.key for record in run.cells], run.missing) == (["01"], 1)
    assert not lines.read_bytes().endswith(b"\n"), "reading changes nothing"
