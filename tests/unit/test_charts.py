"""Charts of runs as specifications of Vega-Lite: whole, drawable, and with every seed counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import vl_convert
from report_pages import marks, page_run, write_trace
from stored_runs import cell, without_figures, write_run

from eqbench.errors import UsageError
from eqbench.report.charts import CHARTS, VEGA_LITE, chart, looks
from eqbench.store.stored_run import read_run


@pytest.mark.parametrize("name", CHARTS)
def test_chart_is_json_and_can_be_drawn(name: str, tmp_path: Path) -> None:
    spec = chart(name, [read_run(page_run(tmp_path / "run"))])
    text = json.dumps(spec, allow_nan=False)
    svg = vl_convert.vegalite_to_svg(text, vl_version=VEGA_LITE)
    assert "</svg>" in svg


def test_unknown_chart_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="regret"):
        chart("regrets", [read_run(page_run(tmp_path / "run"))])


def test_every_solver_looks_different_in_every_kind_of_chart() -> None:
    style = [row["look"] for row in looks(f"solver {k}" for k in range(40))]
    for other in ("strokeDash", "shape"):  # of lines, and of marks
        assert len({(look["color"], str(look[other])) for look in style}) == 40


def test_seeds_become_median_and_quartiles(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cells = []
    for seed in range(3):
        regret = 10.0**-seed
        record = write_trace(
            run, cell(f"0{seed}", seed=seed, elapsed_s=1.0), times=[0.5], regrets=[[regret, 0.0]]
        )
        cells.append(replace(record, max_regret=regret, nash_conv=regret))
    spec = chart("regret", [read_run(write_run(run, *cells))])
    assert [row["alone"] for row in spec["datasets"]["cells"]] == [False] * 3
    shown = [mark for mark in marks(spec) if mark.get("median of seeds")]
    assert {(mark["median of seeds"], float(mark["regret"])) for mark in shown} == {("3", 0.1)}
    places = [float(mark["at"]) for mark in shown]
    assert 0.5 <= min(places) < 0.6
    assert max(places) == 1.0


def test_only_seed_that_solved_is_drawn_as_it_is(tmp_path: Path) -> None:
    cells = cell("01", seed=0), without_figures("02", seed=1, status="crashed")
    cells = cells[0], replace(cells[1], solver=cells[0].solver)
    spec = chart("regret", [read_run(write_run(tmp_path / "run", *cells))])
    assert spec["datasets"]["cells"][0]["alone"]
    assert not [mark for mark in marks(spec) if mark.get("median of seeds")]
