"""Index of a folder and page of a comparison in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser.test_report_page import WIDTHS, Watched, browser  # noqa: F401
from stored_runs import cell, write_run

from eqbench.harness.reports import runs_in, write_index


@pytest.mark.parametrize("width", WIDTHS)
def test_index_is_quiet_and_any_two_runs_can_be_chosen(
    tmp_path: Path,
    browser: Any,  # noqa: F811
    width: int,
) -> None:
    for k, name in enumerate(("one", "two", "three"), start=1):
        records = [cell(f"{s}", seed=s, elapsed_s=k + 0.1 * s) for s in range(4)]
        write_run(tmp_path / name, *records)
    *_, index = write_index(runs_in(tmp_path), tmp_path / "index.html")
    watched = Watched(browser, index)
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    watched.draw("pairs")
    page.select_option('#pairs [data-switch="first"]', "all of one")
    page.select_option('#pairs [data-switch="second"]', "all of three")
    watched.draw("pairs")
    assert watched.signal("pairs", "first") == "all of one"
    assert page.locator("#pairs .mark-symbol path").count() >= 4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.complaints == []
    assert watched.requests == [watched.address]
