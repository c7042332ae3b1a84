"""Charts: their data, held against made-up runs whose figures are known, and specifications."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from helpers.pages import (
    KUHN3,
    chart_of,
    data_of,
    ends_of,
    games_of,
    marks,
    page_run,
    write_trace,
)
from helpers.runs import cell, identified, identity, with_candidate, without_figures, write_run

from eqbench.builtin import BUILTIN_SOLVERS
from eqbench.errors import UsageError
from eqbench.plots.style import MARKERS_OF, solver_look
from eqbench.report.charts import (
    CHARTS,
    VEGA_LITE,
    GameFacts,
    chart,
    datasets,
    looks,
    shown_games,
    whole,
)
from eqbench.report.charts.answer import NONE_YET, _box, _overlap, _placed
from eqbench.report.html.page import drawn, matrix
from eqbench.report.trials import entries_of
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

# Szafron, Gibson and Sturtevant (2013), Table 3: u1 = -(1 + 2β)/48, u2 = -1/48, u3 = (1 + β)/24
# for β from 0 to 1/4.
SEGMENT = ((-1 / 48, -1 / 48, 1 / 24), (-1.5 / 48, -1 / 48, 1.25 / 24))
OTHER = {"game": "shapley", "game_spec": "matrix(name=shapley)"}


# -- curves ---------------------------------------------------------------------------------------


def test_curve_joins_snapshots_and_the_profile_that_counts(tmp_path: Path) -> None:
    run = tmp_path / "run"
    record = write_trace(run, cell("01", elapsed_s=0.2, iterations=500))
    ((entry,),) = (game.entries for game in games_of(run, record))
    assert [point.elapsed_s for point in entry.curve] == [0.001, 0.01, 0.1, 0.2]
    assert [point.work for point in entry.curve] == [1, 10, 100, 500]
    assert entry.curve[0].nash_conv == pytest.approx(0.8)
    assert [entry.time_to(regret) for regret in (0.5, 1e-3, 0.0)] == [0.001, 0.01, 0.1]
    assert entry.time_to(-1.0) == math.inf


def test_median_of_a_page_is_between_two_and_ok_has_a_time(tmp_path: Path) -> None:
    exact = {"target": 1e-17, "solver": "rounded", "seed": 0}
    records = [cell(f"0{s}", seed=s, elapsed_s=time) for s, time in enumerate((1.0, 9.0))]
    (game,) = games_of(tmp_path / "run", *records, cell("02", elapsed_s=3.0, **exact))
    table = matrix(game, 0)
    place = [column.title for column in table.columns].index("time to target")
    assert {row[0].text: row[place].value for row in table.cells} == {
        "cfr_plus": 5.0,
        "rounded": 3.0,
    }


def test_regrets_of_curves_are_the_best_so_far(tmp_path: Path) -> None:
    run = tmp_path / "run"
    regrets = ((0.1, 0.1), (0.5, 0.0), (0.0, 0.01))
    record = write_trace(run, cell("01", elapsed_s=2.0, cpu_s=1.0), regrets=regrets)
    rows = data_of(run, record)["snapshots"]
    assert [row["max_regret"] for row in rows[:3]] == [0.1, 0.1, 0.01]
    assert [row["nash_conv"] for row in rows[:3]] == [0.2, 0.2, 0.01]
    assert [row["cpu_s"] for row in rows[:3]] == [0.0005, 0.005, 0.05]


def test_payoff_scale_is_read_off_the_usual_target_and_facts_come_before(tmp_path: Path) -> None:
    record = cell("01", target=4e-10)
    (game,) = games_of(tmp_path / "one", record)
    assert game.unit == pytest.approx(4.0)
    facts = {record.game_spec: GameFacts(5.0)}
    (game,) = games_of(tmp_path / "two", record, facts=facts)
    assert game.unit == 5.0
    run = read_run(tmp_path / "one")
    run.plan["request"]["target"] = 4e-10  # as somebody typed it
    assert shown_games(entries_of([run]))[0].unit == 1.0


# -- payoffs --------------------------------------------------------------------------------------


def test_equilibria_say_how_they_stand_to_what_is_published(tmp_path: Path) -> None:
    facts = {KUHN3: GameFacts(6.0, ends={"szafron:c11=0": SEGMENT})}
    data = datasets(entries_of([read_run(page_run(tmp_path / "run"))]), facts)
    family = [row for row in data["equilibria"] if "u3" in row and row["cell"] is not None]
    published = [row for row in data["equilibria"] if row["cell"] is None]
    assert [row["match"] for row in family] == ["strict", "on path", "near", "no name"]
    assert [row["u2"] for row in family] == pytest.approx([-1 / 48] * 4)
    assert [row["u1"] for row in published] == pytest.approx([-1 / 48, -1.5 / 48])


def test_payoffs_that_do_not_vary_do_not_look_as_if_they_did(tmp_path: Path) -> None:
    facts = {KUHN3: GameFacts(6.0, ends={"szafron:c11=0": SEGMENT})}
    spec = chart("payoffs", [read_run(page_run(tmp_path / "run"))], facts)
    spec["params"][0]["value"] = "kuhn3"
    low, high = marks(spec)[:2]
    first, second = (
        float(high[name].replace("−", "-")) - float(low[name].replace("−", "-"))
        for name in ("payoff of P1", "payoff of P2")
    )
    assert second == pytest.approx(first / 2)


def test_unfinished_and_refuted_profiles_are_no_equilibria(tmp_path: Path) -> None:
    record = cell("01")
    (item,) = record.equilibria
    found = [replace(item, payoffs=[k / 10, -k / 10]) for k in range(4)]
    others = [replace(item, max_regret=1e-3), replace(item, refuted="it is none")]
    data = data_of(tmp_path / "run", replace(record, equilibria=[*found, *others]))
    assert [row["rank"] for row in data["equilibria"]] == [0, 1, 2, 3]


def test_payoffs_that_are_all_alike_are_not_drawn(tmp_path: Path) -> None:
    records = cell("01"), cell("02", solver="other")
    data = data_of(tmp_path / "run", *records)
    assert data["equilibria"] == []


# -- shares of targets and of games ---------------------------------------------------------------


def test_share_of_targets_counts_unsupported_games_as_never_reached(tmp_path: Path) -> None:
    reached = cell("01", elapsed_s=1.0)  # a regret of 1.2e-11 with a range of 4: beyond all targets
    unsupported = without_figures("02", solver="cfr_plus", status="unsupported", **OTHER)
    assert ends_of(chart_of("targets", tmp_path / "run", reached, unsupported)) == {
        "cfr_plus": "50.0%"
    }


def test_share_of_targets_follows_the_snapshots(tmp_path: Path) -> None:
    run = tmp_path / "run"
    record = write_trace(
        run, cell("01", target=1e-10), times=(0.01, 1.0), regrets=((1e-3, 0.0), (1e-6, 0.0))
    )
    record = replace(record, nash_conv=None, max_regret=None, exploitability=None)
    targets = [10.0 ** (-k / 8) for k in range(8, 81)]
    shares = [sum(target >= regret for target in targets) / 73 for regret in (1e-3, 1e-6)]
    spec = chart_of("targets", run, replace(record, elapsed_s=None))
    shown = [(m["seconds"], m["reached"]) for m in marks(spec) if "seconds" in m]
    assert shown[0] == ("0.01", "0.0%")
    assert ("0.01", f"{shares[0]:.1%}") in shown
    assert shown[-1] == ("1", f"{shares[1]:.1%}")


def test_share_of_targets_is_of_the_same_seeds_for_all_solvers(tmp_path: Path) -> None:
    records = [
        cell("01", solver="by chance", seed=0),
        without_figures("02", solver="by chance", seed=1, status="crashed"),
        cell("03", solver="two seeds", seed=0),
        cell("04", solver="two seeds", seed=1),
        cell("05", solver="two seeds", seed=2),
        cell("06", solver="no chance"),
    ]
    ends = ends_of(chart_of("targets", tmp_path / "chart", *records))
    assert ends == {"by chance": "50.0%", "two seeds": "100.0%", "no chance": "100.0%"}
    # against each other a solver without chance stands for every seed
    trials = data_of(tmp_path / "run", *records)["trials"]
    assert [row["seed"] for row in trials if row["cell"] == 5] == ["seed 0", "seed 1", "seed 2"]


def test_only_games_that_all_solvers_were_asked_to_solve_count(tmp_path: Path) -> None:
    records = cell("01"), cell("02", **OTHER), cell("03", solver="one game")
    ends = ends_of(chart_of("targets", tmp_path / "chart", *records))
    assert ends == {"cfr_plus": "100.0%", "one game": "100.0%"}
    assert not is_drawn("performance", data_of(tmp_path / "again", *records))


@pytest.mark.parametrize(("games", "drawn"), [(4, False), (5, True)])
def test_pages_have_shares_of_targets_from_five_games_on(
    tmp_path: Path, games: int, drawn: bool
) -> None:
    records = [cell(f"{k}", game=f"g{k}", game_spec=f"kuhn(cards={k + 3})") for k in range(games)]
    assert is_drawn("targets", data_of(tmp_path / "run", *records)) is drawn


def is_drawn(name: str, data: dict[str, Any]) -> bool:
    return bool(drawn(data, name))


def test_runs_of_different_games_have_no_shares(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "a", cell("01")), write_run(tmp_path / "b", cell("02", **OTHER))
    data = datasets(entries_of(list(map(read_run, paths))))
    assert not is_drawn("targets", data)
    assert not is_drawn("performance", data)


def test_performance_profile_needs_two_games_and_who_never_gets_there_never_counts(
    tmp_path: Path,
) -> None:
    records = [
        cell("01", solver="quick", elapsed_s=1.0),
        cell("02", solver="slow", elapsed_s=10.0),
        cell("03", solver="quick", elapsed_s=2.0, **OTHER),
        replace(cell("04", solver="slow", status="limit", **OTHER), max_regret=1.0),
    ]
    assert not is_drawn("performance", data_of(tmp_path / "one", *records[:2]))
    for kind in ("coarse", "target"):
        spec = chart_of("performance", tmp_path / kind, *records, kind=kind)
        assert ends_of(spec) == {"quick": "100.0%", "slow": "50.0%"}
        slow = [mark for mark in marks(spec) if mark.get("solver") == "slow"]
        assert {mark["times the fastest"] for mark in slow if "reached" in mark} == {"10"}


def two_games(**fields: Any) -> list[CellRecord]:
    """Cells of two games, each with solvers that end at 1.2e-11 and 1.2e-9."""
    return [
        record
        for k, game in enumerate(({}, OTHER))
        for record in (
            cell(f"{k}1", solver="strict", **(fields | game)),
            with_candidate(cell(f"{k}2", solver="loose", **(fields | game)), 100.0),
        )
    ]


@pytest.mark.parametrize("target", [0.0, None])
def test_no_performance_profile_for_a_target_that_none_has_to_reach(
    tmp_path: Path, target: float | None
) -> None:
    cells = data_of(tmp_path / "run", *two_games(target=target))["cells"]
    assert {row["target_s"] for row in cells} == {None}
    assert None not in {row["coarse_s"] for row in cells}


def test_performance_profile_has_one_target_for_all_solvers_of_a_game(tmp_path: Path) -> None:
    records = two_games(target=4e-10)
    records[1] = replace(records[1], target=1e-8)  # which it reaches, and its rival's it does not
    records[3] = replace(records[3], max_regret=1e-10)
    spec = chart_of("performance", tmp_path / "run", *records, kind="target")
    assert ends_of(spec) == {"strict": "100.0%", "loose": "50.0%"}


@pytest.mark.parametrize("name", CHARTS)
def test_chart_is_json_and_can_be_drawn(name: str, tmp_path: Path) -> None:
    spec = chart(name, [read_run(page_run(tmp_path / "run"))])
    text = json.dumps(spec, allow_nan=False)
    svg = vl_convert.vegalite_to_svg(text, vl_version=VEGA_LITE)
    assert "</svg>" in svg


def test_unknown_chart_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="regret"):
        chart("regrets", [read_run(page_run(tmp_path / "run"))])


@pytest.mark.parametrize("names", [[*BUILTIN_SOLVERS], [f"solver {k}" for k in range(40)]])
def test_every_solver_looks_different_in_every_kind_of_chart(names: list[str]) -> None:
    style = [row["look"] for row in looks(names)]
    for other in ("strokeDash", "shape"):  # of lines, and of marks
        assert len({(look["color"], str(look[other])) for look in style}) == len(names)


def look_of(name: str, *others: str) -> Any:
    (look,) = (row["look"] for row in looks([*others, name]) if row["name"] == name)
    return look


@pytest.mark.parametrize("name", [*BUILTIN_SOLVERS, "a plugin", "mine(step=1/2)"])
def test_solver_looks_the_same_in_all_figures_of_all_runs(name: str) -> None:
    others = [other for other in ("arclength", "cfr", "dcfr", "lcp") if other != name]
    assert look_of(name) == look_of(name, *others) == look_of(name, *reversed(others))
    drawn = solver_look(name)  # with matplotlib
    assert drawn["color"] == look_of(name)["color"]
    assert drawn["marker"] == MARKERS_OF[look_of(name)["shape"]]


def test_variants_and_runs_of_a_solver_keep_its_color() -> None:
    names = ["cfr_plus", "cfr_plus(averaging=uniform)", "cfr_plus (another run)", "cfr"]
    first, *variants, other = (row["look"] for row in looks(names))
    assert {look["color"] for look in variants} == {first["color"]} != {other["color"]}
    assert len({str(look["strokeDash"]) for look in (first, *variants)}) == 3


# -- the answer ---------------------------------------------------------------------------------


def named(key: str, solver: str, name: str | None, regret: float = 1e-3, **fields: Any) -> Any:
    """Cell that found an equilibrium of a name, or came near none."""
    record = cell(key, solver=solver, elapsed_s=0.1, **fields)
    item = record.equilibria[0]
    own = replace(item, identity=None) if name is None else item
    own = replace(own, max_regret=regret)
    record = replace(record, equilibria=[own], max_regret=regret, tolerance=1e-2)
    return record if name is None else identified(record, identity(name))


def test_answer_shows_when_each_solver_ended_how_good_it_is_and_what_it_found(
    tmp_path: Path,
) -> None:
    records = [
        named("01", "one", "outside"),
        named("02", "two", "cluster:1", 0.0),
        named("03", "three", None, 0.1),
    ]
    spec = chart("answer", [read_run(write_run(tmp_path / "run", *records))])
    found = {m["solver"]: m for m in marks(spec) if "seconds" in m}
    assert {name: mark["equilibrium"] for name, mark in found.items()} == {
        "one": "outside",
        "two": "cluster:1",
        "three": NONE_YET,
    }
    assert {mark["seconds"] for mark in found.values()} == {"0.1"}
    assert [float(found[name]["max regret"]) for name in ("one", "two", "three")] == [1e-3, 0, 0.1]
    assert [row["name"] for row in spec["datasets"]["names"]] == ["outside", "cluster:1", NONE_YET]
    svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    for name in ("one", "two", "three", "≤ 4e-13"):
        assert f">{name}</text>" in svg


def test_clusters_of_one_number_have_the_words_of_their_own_game(tmp_path: Path) -> None:
    """Legend, hover texts and rows: cluster:1 of one game is no equilibrium of another."""
    records = [
        identified(named("01", "one", "cluster:1"), identity("cluster:1", title="both play a1")),
        identified(
            named("02", "one", "cluster:1", **OTHER), identity("cluster:1", title="both mix")
        ),
    ]
    run = read_run(write_run(tmp_path / "run", *records))
    data = datasets(entries_of([run]))
    for game, title, other in (("kuhn2", "both play a1", "both mix"), ("shapley", "both mix", "")):
        spec = whole("answer", data)
        param = next(each for each in spec["params"] if each["name"] == "game")
        assert set(param.pop("bind")["options"]) == {"kuhn2", "shapley"}
        param["value"] = game
        (mark,) = (m for m in marks(spec) if "seconds" in m)
        assert mark["equilibrium"] == title
        svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
        assert f">{title}</text>" in svg
        assert not other or f">{other}</text>" not in svg
    assert [(row["game"], row["title"]) for row in data["names"]] == [
        ("kuhn2", "both play a1"),
        ("shapley", "both mix"),
    ]


def test_refuted_claims_have_the_color_of_no_equilibrium(tmp_path: Path) -> None:
    record = named("01", "liar", "kuhn2")
    found = [replace(item, refuted="its regret is larger") for item in record.equilibria]
    data = data_of(tmp_path / "run", replace(record, equilibria=found, status="refuted"))
    assert [row["name"] for row in data["finds"]] == [NONE_YET]


def test_equilibrium_has_one_color_in_all_games_and_those_of_a_game_differ(tmp_path: Path) -> None:
    records = [
        *(named(f"0{k}", f"s{k}", f"cluster:{k + 1}") for k in range(1, 9)),
        *(named(f"1{k}", f"s{k}", f"cluster:{8 - k}", **OTHER) for k in range(8)),
    ]
    rows = data_of(tmp_path / "run", *records)["names"]
    assert len({(row["name"], row["color"]) for row in rows}) == 9
    for game in {row["game"] for row in rows}:
        own = [row["color"] for row in rows if row["game"] == game]
        assert len(set(own)) == len(own) == 8


def test_names_of_solvers_cover_neither_marks_nor_each_other() -> None:
    marks = [(215.0 + 3 * k, 190.0 + 9 * k) for k in range(12)]
    names = [f"a_long_name_of_a_solver_{k}" for k in range(12)]
    boxes = [_box(*mark, 10, 10, "center") for mark in marks]
    for name, (x, y), place in zip(names, marks, _placed(names, marks, marks, 430), strict=True):
        if place:
            box = _box(x + place["dx"], y + place["dy"], 5 * len(name), 9, place["align"])
            assert not any(_overlap(box, other) for other in boxes)
            boxes.append(box)
    assert len(boxes) > 12 + 3


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


def test_only_seed_that_solved_is_drawn_as_it_is(tmp_path: Path) -> None:
    cells = cell("01", seed=0), without_figures("02", seed=1, status="crashed")
    cells = cells[0], replace(cells[1], solver=cells[0].solver)
    spec = chart("regret", [read_run(write_run(tmp_path / "run", *cells))])
    assert spec["datasets"]["cells"][0]["alone"]
    assert not [mark for mark in marks(spec) if mark.get("median of seeds")]
