"""Summaries over seeds, and reports on so many cells that they are summaries."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.pages import Element, markdown_tables, read_page, write_trace
from helpers.runs import cell, identified, identity, run_of, sample_run, write_run

import eqbench
from eqbench.errors import UsageError
from eqbench.report import trials as module
from eqbench.report.cells import (
    FEW_CELLS,
    LEAST_CELLS,
    MOST_CELLS,
    VIRTUAL_BEST,
    report_on,
    summary_rows,
)
from eqbench.report.formats import markdown
from eqbench.report.html.page import report_page
from eqbench.report.trials import RunCell, by_solver, entries_of, first_trials, virtual_best
from eqbench.report.writing import page_of, report_text
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, chosen, read_run

TIMES = {"a": [1.0, 2.0, None, 4.0, 5.0], "b": [3.0, 1.0, None, 9.0, 5.0]}  # None: not reached


def seeds(times: dict[str, list[float | None]]) -> list[CellRecord]:
    """A cell of each solver and seed that took so long."""
    return [
        cell(
            f"{solver}{seed}",
            solver=solver,
            seed=seed,
            elapsed_s=10.0 if time is None else time,
            status="limit" if time is None else "ok",
        )
        for solver, own in times.items()
        for seed, time in enumerate(own)
    ]


def many(number: int) -> StoredRun:
    return run_of(*(cell(f"{k}", solver="ab"[k % 2], seed=k // 2) for k in range(number)))


def rows_of(*records: CellRecord) -> dict[str, dict[str, str]]:
    """Rows of the summary by solver, as in Markdown."""
    head, _, *rows = markdown_tables(markdown(report_on([run_of(*records)], summarize=True)))[0]
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


def test_summary_has_censored_quartiles_means_and_the_interval() -> None:
    (own, *_) = by_solver(entries_of([run_of(*seeds(TIMES))]))
    found = own.statistics
    assert (found["cells"], found["ok"]) == (5, 4)
    assert found["median_time_to_target_s"] == 4.0
    assert found["3rd_quartile_time_to_target_s"] == 5.0
    assert found["worst_time_to_target_s"] == math.inf
    assert found["par2_elapsed_s"] == (1 + 2 + 20 + 4 + 5) / 5
    assert found["sgm_elapsed_s"] == pytest.approx(
        (1.01 * 2.01 * 10.01 * 4.01 * 5.01) ** 0.2 - 0.01
    )
    assert (found["interval_low_s"], found["interval_high_s"]) == (1.0, math.inf)
    assert rows_of(*seeds(TIMES))["a"]["95 % interval"] == "1.0 s – > 10.0 s"


def test_times_to_the_target_are_those_of_snapshots(tmp_path: Path) -> None:
    early = write_trace(tmp_path, cell("01", elapsed_s=9.0), (0.5, 1.0), ((1e-3, 0), (0, 0)))
    write_run(tmp_path, early)
    (row,) = summary_rows([eqbench.Run(tmp_path).stored])
    assert (row["median_time_to_target_s"], row["median_elapsed_s"]) == (1.0, 9.0)


def test_virtual_best_solver_is_the_fastest_of_each_seed() -> None:
    wins, statistics = virtual_best(entries_of([run_of(*seeds(TIMES))])) or ({}, {})
    assert dict(wins) == {"a": 3, "b": 2}, "a tie counts for both"
    assert (statistics["cells"], statistics["ok"]) == (5, 4)
    assert statistics["median_time_to_target_s"] == 4.0
    assert statistics["par2_elapsed_s"] == (1 + 1 + 20 + 4 + 5) / 5


def test_solver_without_chance_stands_for_itself_in_all_seeds() -> None:
    sure = cell("01", solver="sure", seed=None, elapsed_s=2.5)
    wins, _ = virtual_best(entries_of([run_of(sure, *seeds({"a": [1.0, 3.0, None]}))])) or ({}, {})
    assert dict(wins) == {"sure": 2, "a": 1}


def test_frame_has_the_rows_of_the_csv(tmp_path: Path) -> None:
    write_run(tmp_path, *seeds(TIMES))
    frame = eqbench.load_run(tmp_path).frame("summary")
    text = report_text("csv", [eqbench.Run(tmp_path).stored], summarize=True)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [*frame["solver"]] == [row["solver"] for row in rows] == ["a", "b", VIRTUAL_BEST]
    assert [*frame["par2_elapsed_s"]] == [float(row["par2_elapsed_s"]) for row in rows]
    assert frame["worst_time_to_target_s"].isna().all()
    assert [*frame["fastest"].dropna()] == [3, 2]


def test_times_of_different_processors_are_never_pooled_in_silence() -> None:
    processors = {"one": "slow", "two": "fast", "three": "fast"}
    hosts = {name: {"host": name, "processor": known} for name, known in processors.items()}

    def notes(*names: str) -> tuple[int, set[str]]:
        records = [
            replace(each, host=name) for each, name in zip(seeds(TIMES), names, strict=False)
        ]
        run = replace(run_of(*records), hosts=hosts)
        (row, *_) = summary_rows([run])
        return row["processors"], set(report_on([run], summarize=True).tables[0].notes)

    alike, (number, said) = notes("two", "three"), notes("one", "two")
    assert (alike[0], number) == (1, 2)
    assert ["fast, slow" in note for note in said - alike[1]] == [True]


def test_very_many_cells_have_a_summary_in_every_format_that_says_how_to_get_them_all() -> None:
    run, few = many(MOST_CELLS + 2), many(FEW_CELLS + 2)
    for name, least in (("terminal", few), ("md", run), ("tex", run)):
        short, rows = (report_text(name, [least], summarize=want) for want in (None, False))
        assert len(rows.splitlines()) > len(least.cells) > len(short.splitlines())
        assert "--table cells" in short.replace("-{}", "-")
        assert "--table cells" not in rows.replace("-{}", "-")
    assert len(report_text("md", [few], summarize=None).splitlines()) > len(few.cells)
    assert len(report_text("csv", [run], summarize=None).splitlines()) == 1 + MOST_CELLS + 2


def test_page_of_very_many_cells_shows_the_first_of_each_solver_and_says_so() -> None:
    run = many(2 * MOST_CELLS)
    page = read_page(page_of([run]))
    assert opened_cells(page) == MOST_CELLS
    assert f"{MOST_CELLS} of {2 * MOST_CELLS:,} cells" in page.full_text
    assert [part for part in page.all("figure") if part.attributes.get("id") == "summary-1"]
    assert opened_cells(read_page(page_of([many(MOST_CELLS + 2)], summarize=False))) == (
        MOST_CELLS + 2
    )


def opened_cells(page: Element) -> int:
    """Number of cells to which rows of the page open."""
    return sum(len((row.attributes.get("data-cells") or "").split()) for row in page.all("tr"))


def test_page_of_very_many_games_is_about_the_first_ones() -> None:
    records = [
        cell(f"{k}{solver}", solver=solver, game=f"g{k}", game_spec=f"kuhn(cards={k})")
        for k in range(MOST_CELLS)
        for solver in "ab"
    ]
    shown = first_trials(entries_of([run_of(*records)]), MOST_CELLS)
    assert [entry.record for entry in shown] == records[:MOST_CELLS]
    text = report_page([run_of(*records)], {}, summarize=None)
    assert f"of the first {MOST_CELLS // 2} games" in text
    assert "matrix-249" in text
    assert "matrix-250" not in text


def test_work_on_a_report_grows_with_its_cells_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()
    looked = RunCell.solver.fget
    assert looked is not None

    def counting(entry: RunCell) -> str:
        calls["solver"] += 1
        return looked(entry)

    def several(name: str, entries: Any) -> bool:
        calls["several"] += 1
        return plain(name, entries)

    plain = module.several
    monkeypatch.setattr(RunCell, "solver", property(counting))
    monkeypatch.setattr("eqbench.report.trials.several", several)
    counts = []
    for number in (100, 400):
        calls.clear()
        for want in (True, False):
            report_on([many(number)], summarize=want)
        report_page([many(number)], {}, summarize=False)
        counts.append(dict(calls))
    assert counts[0]["several"] == counts[1]["several"], "sets over all cells, once a table"
    assert counts[1]["solver"] <= 5 * counts[0]["solver"]


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


def test_plain_table_of_many_seeds_has_medians_how_cells_ended_and_what_they_found() -> None:
    known, cells = identity("szafron:c11=0"), []
    for seed in range(FEW_CELLS + 1):
        status = "ok" if seed > 2 else "limit"
        record = cell(f"{seed}", seed=seed, status=status, elapsed_s=float(seed), iterations=seed)
        record = identified(record, known if seed % 2 else identity("cluster:1"))
        cells.append(replace(record, max_regret=10.0**-seed))
    sure = cell("sure", solver="lcp", elapsed_s=3.0)
    (table, _) = report_on([run_of(*cells, sure)], summarize=None).tables
    shown = {row.label: {c.title: row.cell(c).text for c in table.columns} for row in table.rows}
    assert "seed" not in shown["cfr_plus"]
    for title, text in {
        "status": "22 ok, 3 limit", "max regret": "1.0e-12", "time": "12.0", "iterations": "12",
        "time to target": "15.0", "equilibrium": "cluster:1 13/25, szafron:c11=0 12/25",
    }.items():  # fmt: skip
        assert shown["cfr_plus"][title] == text
    assert (shown["lcp"]["status"], shown["lcp"]["time"]) == ("ok", "3.00")
    assert "--table cells" in " ".join(table.lines)


def test_chosen_cells_are_reported_as_if_there_were_no_others(tmp_path: Path) -> None:
    run = sample_run(tmp_path / "run")
    (only,) = chosen([run], games=["kuhn2"], statuses=["ok"])
    assert [record.key for record in only.cells] == ["01", "03"]
    assert report_on([only]).notes == ()
    with pytest.raises(UsageError, match="crashed"):
        chosen([run], games=["kuhn3"], statuses=["crashed"])
    with pytest.raises(UsageError, match="'kuhn4'"):
        chosen([run], games=["kuhn4"])


def test_report_reads_a_run_whose_last_line_is_torn(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("01"), cell("02", solver="dcfr"))
    lines = path / "runs.jsonl"
    lines.write_bytes(lines.read_bytes()[:-9])
    run = read_run(path)
    assert ([record.key for record in run.cells], run.missing) == (["01"], 1)
    assert not lines.read_bytes().endswith(b"\n"), "reading changes nothing"
