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
    titles_of,
    write_trace,
)
from stored_runs import cell, without_figures, write_run

from eqbench.report.html.charts import linear_scale, log_scale
from eqbench.report.html.document import Beside, Block, Figure, Prose
from eqbench.report.html.tracks import GameFacts, PublishedPayoffs, collect
from eqbench.report.html.views import payoff_scatters
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


def paid(payoffs: list[float], key: str = "01", **fields: Any) -> CellRecord:
    record = cell(key, **fields)
    return replace(record, equilibria=[replace(record.equilibria[0], payoffs=payoffs)])


@pytest.mark.parametrize(
    ("first", "other", "said"),
    [
        (-0.05, -0.05, "; published is"),
        (-1 / 18, -0.05, "; 1 of them as"),
        (-1 / 18, -1 / 18 + 1e-6, ", as"),
    ],
)
def test_payoffs_are_said_to_be_as_published_only_where_they_are(
    tmp_path: Path, first: float, other: float, said: str
) -> None:
    records = paid([first, -first]), paid([other, -other], "02", solver="other")
    known = PublishedPayoffs("kuhn2", ((-1 / 18, 1 / 18),))
    facts = {records[0].game_spec: GameFacts(4.0, (known,))}
    (note,) = payoff_scatters(material_of(tmp_path / "run", *records, facts=facts).games)
    assert isinstance(note, Prose)
    assert said in note.paragraphs[0]


def test_unfinished_profiles_are_no_equilibria(tmp_path: Path) -> None:
    record = cell("01")
    far = replace(record, equilibria=[replace(record.equilibria[0], max_regret=1e-3)])
    assert payoff_scatters(material_of(tmp_path / "run", far).games) == []


# -- costs and scales -----------------------------------------------------------------------------


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
