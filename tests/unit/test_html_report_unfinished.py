"""The page of a run that was stopped: what was planned is counted and mapped."""

from __future__ import annotations

from pathlib import Path

from report_pages import Element, read_page
from stored_runs import cell, without_figures, write_run

from eqbench.report.html.page import report_page
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, read_run


def unfinished(path: Path, *records: CellRecord) -> StoredRun:
    """A run of two games and four solvers that was stopped after the given cells."""
    run = read_run(write_run(path, *records, planned=[f"{k:02}" for k in range(1, 9)]))
    run.plan["request"] |= {"games": ["kuhn2,leduc"], "solvers": ["some, mccfr"]}
    return run


GROUPS = {"some": ["cfr_plus", "dcfr", "ncp"]}


def texts_of(page: Element, name: str) -> list[str]:
    (card,) = (e for e in page.all("figure") if e.attributes.get("id") == name)
    return [part.full_text for part in (*card.all("th"), *card.all("td"))]


def test_unfinished_run_counts_and_maps_what_was_planned(tmp_path: Path) -> None:
    stopped = without_figures("02", solver="dcfr", solver_spec="dcfr", status="interrupted")
    run = unfinished(tmp_path / "run", cell("01"), stopped)
    page = read_page(report_page([run], {}, GROUPS))
    status = texts_of(page, "status")
    assert {"kuhn2", "leduc", "cfr_plus", "dcfr", "ncp", "mccfr"} <= set(status)
    assert status.count("not run yet") == 6
    assert "not run" not in status
    assert "some, mccfr" in page.full_text
    assert "1 of 8 finished" in page.full_text


def test_finished_run_awaits_nothing_whatever_its_groups_have_become(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", cell("01")))
    run.plan["request"] |= {"games": ["kuhn2"], "solvers": ["some"]}
    page = read_page(report_page([run], {}, GROUPS))
    assert "not run yet" not in page.full_text
    assert "1 of 1 finished" in page.full_text
