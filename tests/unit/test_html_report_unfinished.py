"""The page of a run that was stopped: it shows what there is and says what is missing."""

from __future__ import annotations

from pathlib import Path

from report_pages import read_page
from stored_runs import cell, without_figures, write_run

from eqbench.report.html.page import report_page
from eqbench.store.stored_run import read_run


def test_unfinished_run_shows_what_there_is_and_counts_what_is_missing(tmp_path: Path) -> None:
    stopped = without_figures("02", solver="dcfr", solver_spec="dcfr", status="interrupted")
    leduc = cell("03", game="leduc", game_spec="leduc")
    planned = [f"{k:02}" for k in range(1, 9)]
    run = read_run(write_run(tmp_path / "run", cell("01"), stopped, leduc, planned=planned))
    page = read_page(report_page([run], {}))
    (card,) = (e for e in page.all("figure") if e.attributes.get("id") == "status")
    rows = [[part.full_text.split()[0] for part in row.parts] for row in card.all("tr")[1:]]
    assert rows == [["cfr_plus", "ok", "ok"], ["dcfr", "interrupted", "not"]]
    assert "2 of 8 finished" in page.full_text
    assert "6 of 8 cells have not finished" in page.full_text
