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
from eqbench.report.charts import CHARTS, VEGA_LITE, chart, datasets, looks
from eqbench.report.exports import entries_of
from eqbench.report.html.page import scatter
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


def test_cell_that_is_ok_reached_its_target_whatever_rounding_left(tmp_path: Path) -> None:
    found = cell("01", target=4e-10, elapsed_s=2.0)
    cells = replace(found, max_regret=4e-10 * (1 + 1e-7)), replace(found, key="02", status="limit")
    cells = cells[0], replace(cells[1], solver="cfr", max_regret=5e-10)
    (own, other) = datasets(entries_of([read_run(write_run(tmp_path / "run", *cells))]))["cells"]
    assert (own["to_target_s"], own["target_s"]) == (2.0, 2.0)
    assert (other["to_target_s"], other["target_s"]) == (None, None)


def test_trial_of_a_game_under_two_names_is_one_point(tmp_path: Path) -> None:
    """As the same file may be read from two folders."""
    sides = []
    for name, time in (("a", 1.0), ("b", 3.0)):
        spec = f"/{name}/game.efg"
        records = [
            cell(str(seed), seed=seed, elapsed_s=time, game=spec, game_spec=spec, game_content="c")
            for seed in range(2)
        ]
        sides.append(entries_of([read_run(write_run(tmp_path / name, *records))]))
    trials = [(f"seed {k}", {"A": a, "B": b}) for k, (a, b) in enumerate(zip(*sides, strict=True))]
    ((drawn,), data) = scatter(trials)
    found = marks({**drawn.spec, **data})
    assert {mark["trial"] for mark in found if mark.get("first") == "1"} == {"seed 0", "seed 1"}


def test_only_seed_that_solved_is_drawn_as_it_is(tmp_path: Path) -> None:
    cells = cell("01", seed=0), without_figures("02", seed=1, status="crashed")
    cells = cells[0], replace(cells[1], solver=cells[0].solver)
    spec = chart("regret", [read_run(write_run(tmp_path / "run", *cells))])
    assert spec["datasets"]["cells"][0]["alone"]
    assert not [mark for mark in marks(spec) if mark.get("median of seeds")]
