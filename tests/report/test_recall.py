"""Recall: of all equilibria of games whose complete sets are known, how many solvers found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.pages import chart_of, ends_of, marks
from helpers.runs import cell, without_figures, write_run

from eqbench.report.answer import answer
from eqbench.report.cells import report_on
from eqbench.report.html.page import report_page
from eqbench.report.recall import TOPIC, recall_rows, recalls
from eqbench.report.trials import RunCell
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

NUMBERS = iter(range(100))


def found(solver: str, game: str, numbers: tuple[int, ...], of: int, **fields: Any) -> CellRecord:
    """A cell with a candidate for each of these equilibria of a game that has so many."""
    key = f"{next(NUMBERS):02}"
    record = cell(key, solver=solver, game=game, game_spec=game, tolerance=1e-6, **fields)
    (item,) = record.equilibria
    places = [{"component": number, "of": of, "isolated": True} for number in numbers]
    items = [
        replace(item, verdicts={"place": {"label": "", "record": place}}) for place in places
    ] or [item]
    return replace(record, equilibria=items)


def entries(*records: CellRecord) -> list[RunCell]:
    return [RunCell("", record) for record in records]


ALL = [found("all", "a", (1, 2, 3), 3), found("all", "b", (1,), 1)]
SEEDS = [found("some", "a", (number,), 3, seed=k) for k, number in enumerate((2, 2, 3))]


def test_seeds_of_a_solver_count_together_and_games_equally() -> None:
    first, second = recalls(entries(*ALL, *SEEDS, found("some", "b", (), 1, seed=0)))
    assert (first.solver, first.found, first.of, first.share) == ("all", [3, 1], [3, 1], 1.0)
    assert (second.found, second.of, second.games) == ([2, 0], [3, 1], 2)
    assert second.share == pytest.approx((2 / 3 + 0) / 2)
    assert second.seconds == pytest.approx([0.03, 0.01])


def test_only_games_whose_equilibria_are_known_count_and_only_solvers_that_took_them() -> None:
    unknown, refused = (
        found("some", "c", (), 1),
        without_figures("98", solver="none", game="a", game_spec="a", status="unsupported"),
    )
    cut_off = replace(found("some", "a", (1,), 3, seed=3), status="interrupted")
    known = recalls(entries(*ALL, *SEEDS, unknown, refused, cut_off))
    assert [(own.solver, own.games, own.found) for own in known] == [
        ("all", 2, [3, 1]),
        ("some", 1, [2]),
    ]


def test_refuted_claims_and_large_regrets_are_not_found() -> None:
    refuted = found("refuted", "a", (1,), 3)
    refuted = replace(refuted, equilibria=[replace(refuted.equilibria[0], refuted="no")])
    rough = found("rough", "a", (1,), 3)
    rough = replace(rough, equilibria=[replace(rough.equilibria[0], max_regret=1e-3)])
    known = {own.solver: own.found for own in recalls(entries(*ALL, refuted, rough))}
    assert known == {"all": [3, 1], "refuted": [0], "rough": [0]}


def test_a_number_beyond_all_equilibria_is_not_believed() -> None:
    assert [own.found for own in recalls(entries(*ALL, found("odd", "a", (9,), 3)))] == [
        [3, 1],
        [0],
    ]


def test_numbers_before_the_first_or_of_another_count_leave_no_share_above_one() -> None:
    wrong = [found("wrong", "a", (0, -1), 3), found("more", "b", (1, 2, 3), 3)]
    known = recalls(entries(*ALL, *wrong))
    assert {own.solver: own.found for own in known} == {"all": [3, 1], "wrong": [0], "more": [3]}
    assert all(own.share <= 1 for own in known)


def test_shares_rise_with_the_processor_time_of_cells_one_after_the_other() -> None:
    rows = recall_rows(entries(*ALL, *SEEDS))
    some = [row for row in rows if row["solver"] == "some"]
    taken = [(row["x"], row["share"]) for row in some if row["of"] == "taken"]
    assert taken == [(0.01, 0.3333), (0.03, 0.6667)]
    whole = [(row["x"], row["share"]) for row in some if row["of"] == "all"]
    assert whole == [(0.01, 0.1667), (0.03, 0.3333)]


def test_one_game_has_no_recall_over_games() -> None:
    assert recall_rows(entries(*SEEDS)) == []


def test_chart_ends_at_the_recall_of_the_summary(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", *ALL, *SEEDS))
    (table,) = (each for each in report_on([run], summarize=True).tables if each.topic == TOPIC)
    values = {row.label: row.values for row in table.rows}
    assert {name: own["found of"] for name, own in values.items()} == {"all": "4/4", "some": "2/3"}
    assert not any(each.topic == TOPIC for each in report_on([run]).tables)
    for of, share in (("taken", "66.7%"), ("all", "33.3%")):
        spec = chart_of("recall", tmp_path / of, *ALL, *SEEDS, of=of)
        assert {mark["solver"]: mark["found"] for mark in marks(spec) if "found" in mark} == {
            "all": "100.0%",
            "some": share,
        }
    assert "2/3" in report_page([run], {}, summarize=True)
    assert ends_of(chart_of("recall", tmp_path / "one", *SEEDS)) == {}


def test_answer_names_how_many_of_all_equilibria_each_solver_found() -> None:
    text = " ".join(answer(entries(*ALL, *SEEDS)))
    assert "On 2 games" in text
    assert "all found 4 of 4" in text
    assert "some found 2 of 3" in text
