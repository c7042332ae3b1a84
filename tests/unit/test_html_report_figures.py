"""What the figures of a page show, held against made-up runs whose figures are known."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_pages import (
    KUHN3,
    SVG,
    material_of,
    page_run,
    shares_of_targets,
    titles_of,
    write_trace,
)
from stored_runs import cell, identified, identity, without_figures, write_run

from eqbench.report.html.charts import Axes, curves, linear_scale, log_scale
from eqbench.report.html.document import Beside, Block, Figure, Prose
from eqbench.report.html.facts import GameFacts, PublishedPayoffs
from eqbench.report.html.tracks import collect
from eqbench.report.html.views import memory, payoff_scatters, times
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

# Szafron, Gibson and Sturtevant (2013), Table 3: u1 = -(1 + 2β)/48, u2 = -1/48, u3 = (1 + β)/24
# for β from 0 to 1/4.
SEGMENT = ((-1 / 48, -1 / 48, 1 / 24), (-1.5 / 48, -1 / 48, 1.25 / 24))


def figures_of(blocks: list[Block]) -> list[Figure]:
    pairs = [block.blocks for block in blocks if isinstance(block, Beside)]
    return [each for pair in pairs for each in pair if isinstance(each, Figure)]


# -- tracks ---------------------------------------------------------------------------------------


def test_track_joins_snapshots_and_the_profile_that_counts(tmp_path: Path) -> None:
    run = tmp_path / "run"
    record = write_trace(run, cell("01", elapsed_s=0.2, iterations=500))
    (game,) = material_of(run, record).games
    (track,) = game.tracks
    assert [point.elapsed_s for point in track.points] == [0.001, 0.01, 0.1, 0.2]
    assert [point.work for point in track.points] == [1, 10, 100, 500]
    assert track.points[0].nash_conv == pytest.approx(0.8)
    assert track.points[0].max_regret == 0.5
    assert [track.time_to(regret) for regret in (0.5, 1e-3, 0.0)] == [0.001, 0.01, 0.1]
    assert track.time_to(-1.0) == math.inf


def test_cell_without_a_profile_has_no_points(tmp_path: Path) -> None:
    (game,) = material_of(tmp_path / "run", without_figures("01", status="unsupported")).games
    assert game.tracks[0].points == ()


def test_payoff_scale_is_read_off_the_usual_target_and_facts_come_before(tmp_path: Path) -> None:
    record = cell("01", target=4e-10)
    (game,) = material_of(tmp_path / "one", record).games
    assert game.payoff_scale == pytest.approx(4.0)
    facts = {record.game_spec: GameFacts(5.0)}
    (game,) = material_of(tmp_path / "two", record, facts=facts).games
    assert game.payoff_scale == 5.0


def test_payoff_scale_is_unknown_where_the_target_was_given(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", cell("01", target=1e-6)))
    run.plan["request"]["target"] = 1e-6
    (game,) = collect([run], {}).games
    assert game.payoff_scale is None
    figure = shares_of_targets([game])
    assert figure is not None
    assert "one unit of payoff on kuhn2" in figure.caption


def test_solver_looks_the_same_in_all_figures(tmp_path: Path) -> None:
    material = collect([read_run(page_run(tmp_path / "run"))], {})
    figures = [*figures_of(curves(material.games)), shares_of_targets(material.games)]
    colors: dict[str, set[str]] = {}
    for figure in figures:
        assert figure is not None
        for part in ET.fromstring(figure.svg).iter(f"{SVG}g"):
            lines = [
                line.get("stroke", "") for line in part.iter(f"{SVG}path") if "fill" in line.attrib
            ]
            found = {color for color in lines if color not in ("", "#fff")}
            if key := part.get("data-key"):
                colors.setdefault(key, set()).update(found)
    assert {len(found) for found in colors.values()} == {1}
    assert len(set.union(*colors.values())) == len(colors) == 3  # one is unsupported


def test_thirty_solvers_all_look_different(tmp_path: Path) -> None:
    records = [cell(f"{k:02x}", solver=f"solver_{k}") for k in range(30)]
    found = material_of(tmp_path / "run", *records).looks
    assert len({(look.color, look.dash) for look in found}) == 30


# -- curves ---------------------------------------------------------------------------------------


def test_regrets_of_zero_and_less_stand_at_a_floor_that_is_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    record = replace(write_trace(run, cell("01")), nash_conv=-1e-17, max_regret=0.0)
    time, iterations = figures_of(curves(material_of(run, record).games))
    assert "≈ 0 is at most 4.0e-13, zero and less included" in time.caption
    assert "≈ 0" in time.svg
    assert "payoff units" in time.svg
    assert "Time is that of the machine under Provenance" in time.caption
    assert "iterations" in iterations.svg
    assert titles_of(time)[0].startswith("cfr_plus: NashConv -1.0e-17 after")


def test_cell_with_only_a_final_value_is_one_point(tmp_path: Path) -> None:
    (figure, _) = figures_of(curves(material_of(tmp_path / "run", cell("01")).games))
    lines = [path.get("d", "") for path in ET.fromstring(figure.svg).iter(f"{SVG}path")]
    own = [line for line in lines if re.fullmatch(r"M[\d.]+ [\d.]+", line)]
    assert len(own) == 1


def test_what_counts_no_iterations_is_not_drawn_against_them(tmp_path: Path) -> None:
    figures = figures_of(curves(material_of(tmp_path / "run", cell("01", iterations=0)).games))
    assert [figure.title for figure in figures] == ["NashConv against time"]


# -- payoffs --------------------------------------------------------------------------------------


def test_equilibria_lie_on_the_published_segment(tmp_path: Path) -> None:
    facts = {KUHN3: GameFacts(6.0, (PublishedPayoffs("szafron:c11=0", SEGMENT),))}
    material = collect([read_run(page_run(tmp_path / "run"))], facts)
    first, second = figures_of(payoff_scatters(material.games))
    assert [figure.title for figure in (first, second)] == ["P1 against P2", "P1 against P3"]
    places = re.findall(r"\((strict|on path|near)\)", " ".join(titles_of(first)))
    assert sorted(places) == ["near", "on path", "strict"]
    assert sum("and 1 more here" in text for text in titles_of(first)) == 1
    (line,) = (
        path.get("d", "")
        for path in ET.fromstring(first.svg).iter(f"{SVG}path")
        if path.get("stroke-linecap") == "round"
    )
    x, y, to_x, to_y = map(float, re.findall(r"[\d.]+", line))
    assert y == to_y  # the second player's payoff is the same in all members
    assert x > to_x
    marks = re.findall(r"translate\(([\d.]+) ([\d.]+)\)", first.svg)
    on_segment = [float(at) for at, height in marks if float(height) == y]
    assert len(on_segment) == 3
    assert all(to_x <= at <= x for at in on_segment)


def test_marks_agree_with_names(tmp_path: Path) -> None:
    found = {
        "strict": identity("kuhn2"),
        "up to rounding": identity("kuhn2", strict=False, off_path={}),
        "on path": identity("kuhn2", strict=False),
        "near": identity("kuhn2", on_path=False),
        "cluster": identity("cluster:1"),
        "no name": None,
    }
    records = [
        identified(paid([-0.01 * k, 0.01 * k], str(k)), each)
        for k, each in enumerate(found.values())
    ]
    records = [replace(record, solver=f"s{record.key}") for record in records]
    (figure,) = figures_of(payoff_scatters(material_of(tmp_path / "run", *records).games))
    marks = {}
    for group in ET.fromstring(figure.svg).iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is not None:
            (mark,) = group.iter(f"{SVG}path")
            (place,) = re.findall(r"\(([a-z ]+)\), payoffs", title.text or "")
            marks[place] = mark.get("fill")
    color = marks["strict"]
    assert marks["on path"] == "#fff"
    assert "none" == marks["near"] == marks["cluster"] == marks["no name"]
    assert color not in ("#fff", "none")
    assert marks["up to rounding"] not in ("#fff", "none")
    assert "miss a published constraint by a trace only" in figure.caption


def test_equal_payoffs_are_said_and_not_drawn(tmp_path: Path) -> None:
    record = cell("01")
    facts = {record.game_spec: GameFacts(4.0, (PublishedPayoffs("kuhn2", ((-1 / 18, 1 / 18),)),))}
    (note,) = payoff_scatters(material_of(tmp_path / "run", record, facts=facts).games)
    assert isinstance(note, Prose)
    (text,) = note.paragraphs
    assert text == "kuhn2: one equilibrium has payoffs -0.05556, +0.05556, as published."


def paid(payoffs: list[float], key: str = "01", **fields: Any) -> CellRecord:
    record = cell(key, **fields)
    return replace(record, equilibria=[replace(record.equilibria[0], payoffs=payoffs)])


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (
            [paid([-0.05, 0.05])],
            "one equilibrium has payoffs -0.05000, +0.05000; published is -0.05556, +0.05556.",
        ),
        (
            [cell("01"), paid([-0.05, 0.05], "02", solver="other")],
            "2 equilibria have payoffs -0.05556, +0.05556 or -0.05000, +0.05000; 1 of them as "
            "published, which is -0.05556, +0.05556.",
        ),
        (
            [cell("01"), paid([-1 / 18 + 1e-6, 1 / 18 - 1e-6], "02", solver="other")],
            "2 equilibria have payoffs -0.05556, +0.05556, as published.",
        ),
    ],
)
def test_payoffs_are_said_to_be_as_published_only_where_they_are(
    tmp_path: Path, records: list[CellRecord], said: str
) -> None:
    spec = records[0].game_spec
    facts = {spec: GameFacts(4.0, (PublishedPayoffs("kuhn2", ((-1 / 18, 1 / 18),)),))}
    (note,) = payoff_scatters(material_of(tmp_path / "run", *records, facts=facts).games)
    assert isinstance(note, Prose)
    assert note.paragraphs == [f"kuhn2: {said}"]


def test_unfinished_profiles_are_no_equilibria(tmp_path: Path) -> None:
    record = cell("01")
    far = replace(record, equilibria=[replace(record.equilibria[0], max_regret=1e-3)])
    assert payoff_scatters(material_of(tmp_path / "run", far).games) == []


# -- costs and scales -----------------------------------------------------------------------------


def test_bars_say_what_they_are_of(tmp_path: Path) -> None:
    big = cell("02", solver="big", peak_memory_bytes=300 * 2**20, setup_s=2.0, elapsed_s=4.0)
    material = material_of(tmp_path / "run", cell("01"), big)
    assert titles_of(memory(material.games)) == [
        "cfr_plus: 157 MiB at most",
        "big: 300 MiB at most",
    ]
    figure = memory(material.games)
    assert figure is not None
    assert "smallest peak: 157 MiB" in figure.svg
    assert "The first cell of a method may include compiling" in figure.caption
    assert "big: 4.0 s of solving" in titles_of(times(material.games))


@pytest.mark.parametrize(
    ("values", "negligible", "ticks"),
    [
        ([0.02, 30.0], 0.0, ["100", "10", "1", "0.1", "0.01"]),
        ([1.0], 0.0, ["10", "1"]),
        ([0.5, -1e-17, 0.0], 1e-12, ["≈ 0", "1", "0.1"]),
        ([1e-9, 1.0], 0.0, ["1", "0.01", "10⁻⁴", "10⁻⁶", "10⁻⁸"]),
        ([0.0], 1e-12, ["≈ 0", "10", "1"]),
    ],
)
def test_log_scale_has_ticks_at_decades(
    values: list[float], negligible: float, ticks: list[str]
) -> None:
    scale = log_scale(values, negligible=negligible)
    assert [text for _, text in scale.ticks] == ticks
    shares = [scale.share(value) for value in sorted(values)]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)


@pytest.mark.parametrize("values", [[0.0, 1.0], [-0.03, -0.02], [5.0], [], [1e6, 3e6]])
def test_linear_scale_holds_its_values_between_round_ticks(values: list[float]) -> None:
    scale = linear_scale(values, margin=0.1)
    assert 2 <= len(scale.ticks) <= 12
    assert all(scale.low < value < scale.high for value in values)
    assert len({text for _, text in scale.ticks}) == len(scale.ticks)


def test_steps_hold_a_value_until_the_next() -> None:
    axes = Axes(0.0, 100.0, 100.0, 100.0, linear_scale([0.0, 1.0]), linear_scale([0.0, 1.0]))
    assert axes.steps([(0.0, 0.0), (0.5, 0.2), (0.75, 0.9)], 1.0) == (
        "M0.0 100.0H50.0V80.0H75.0V10.0H100.0"
    )
