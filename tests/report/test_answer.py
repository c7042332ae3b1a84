"""A run is answered in sentences: how many reached the target, what they found, what failed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.pages import write_trace
from helpers.runs import cell, identified, identity, without_figures, write_run

from eqbench.report.answer import answer
from eqbench.report.cells import View, report_on
from eqbench.report.naming import label
from eqbench.report.trials import RunCell, entries_of, virtual_best
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

FULL: dict[str, Any] = {"sets": 5, "reached": 5, "worst": None}


def said(*records: CellRecord, planned: int = 0) -> tuple[str, ...]:
    return answer([RunCell("", record) for record in records], planned)


def short(key: str, **fields: Any) -> CellRecord:
    """A cell that ended with a regret of 1e-6, above its target."""
    return replace(cell(key, **({"status": "limit"} | fields)), max_regret=1e-6)


@pytest.mark.parametrize(
    ("records", "counts", "words"),
    [
        ([cell("01")], "1 of 1 solver reached", "fastest to it: cfr_plus (12.3 ms)."),
        ([short("01"), short("02", solver="b")], "0 of 2 solvers reached", "closest: b (1.0e-06)."),
        (
            [without_figures("01", solver=s, status="interrupted") for s in "ab"],
            "0 of 2 solvers ended ok (there was no target)",
            "",
        ),
        (
            [cell("01", target=None), short("02", solver="b", target=None)],
            "1 of 2 solvers ended ok (there was no target)",
            "fastest: cfr_plus",
        ),
        # what crashed or was refuted counts for nothing, whatever was measured
        (
            [cell("01", status="crashed"), cell("02", status="refuted"), short("03", solver="b")],
            "0 of 2 solvers reached",
            "(0 of 3 cells in all); closest: b (1.0e-06).",
        ),
        # rounding may leave a little more than the target
        ([cell("01", target=1e-17)], "1 of 1 solver reached", "1.0e-17"),
        (
            [cell("01"), cell("02", target=None)],
            "1 of 1 solver ended ok (not all had a target)",
            "(2 of 2 cells in all)",
        ),
        # once is not always
        (
            [
                cell("01", solver="lucky", seed=0, elapsed_s=0.001),
                short("02", solver="lucky", seed=1),
                cell("03", solver="steady", seed=0, elapsed_s=0.01),
            ],
            "1 of 2 solvers reached",
            "in every cell, 1 in some (2 of 3 cells in all); fastest to it: steady (10.0 ms).",
        ),
        (
            [
                cell(f"{game}{solver}", solver=solver, game=game, game_spec=game, elapsed_s=time)
                for game, solver, time in (
                    ("g", "a", 1),
                    ("g", "b", 2),
                    ("h", "a", 2),
                    ("h", "b", 1),
                )
            ],
            "a reached the target (max regret 4.0e-10) on 2 of 2 games, b on 2 of 2;",
            "fastest to it: a on 1 game, b on 1 game.",
        ),
    ],
)
def test_first_sentence_says_how_far_solvers_came(
    records: list[CellRecord], counts: str, words: str
) -> None:
    first = said(*records)[0]
    assert first.startswith(counts)
    assert words in first


def test_fastest_is_who_met_the_target_first_however_long_it_went_on(tmp_path: Path) -> None:
    # snapshots know when; without one that meets it, or any at all, it is met in the end
    curves = {"early": [(0.5, 1e-3), (1.0, 1e-10)], "late": [(2.0, 1e-9)]}
    records = [cell("01", solver="none", elapsed_s=3.0)]
    for name, points in curves.items():
        times, regrets = [time for time, _ in points], [(regret, 0.0) for _, regret in points]
        record = cell(name, solver=name, elapsed_s=9.0)
        records.append(write_trace(tmp_path, record, times, regrets))
    run = read_run(write_run(tmp_path, *records))
    entries = entries_of([run])
    assert [entry.time_to() for entry in entries] == [3.0, 1.0, 9.0]
    assert [entry.time_to(1e-3) for entry in entries] == [3.0, 0.5, 2.0]
    assert "early (1.0" in answer(entries)[0]
    (tmp_path / str(records[1].trace)).write_bytes(b"damaged")
    assert "none (3.0" in answer(entries_of([run]))[0]


KNOWN = identified(cell("01"), identity("kuhn2"))
[ITEM] = KNOWN.equilibria


@pytest.mark.parametrize(
    "record",
    [
        identified(cell("01"), identity("kuhn2", on_path=False)),
        replace(KNOWN, tolerance=ITEM.max_regret / 2),
        replace(KNOWN, equilibria=[replace(ITEM, refuted="claimed 0")]),
    ],
    ids=["near", "above the tolerance", "refuted"],
)
def test_what_only_comes_near_is_not_found(record: CellRecord) -> None:
    assert said(record)[1] == "No equilibrium was identified."
    assert label(record) == ["≈ kuhn2"]


@pytest.mark.parametrize(("status", "finished"), [("ok", 2), ("interrupted", 1)])
def test_what_is_missing_is_not_passed_over(status: Any, finished: int) -> None:
    records = [cell("01"), cell("02", solver="b", status=status)]
    assert said(*records, planned=4)[0].startswith(f"So far ({finished} of 4 cells): {finished} of")
    assert said(*records, planned=2)[0].startswith("So far") is (finished < 2)
    assert said() == ()


def test_of_many_games_there_are_totals_alone() -> None:
    records = []
    for game, known in enumerate([identity("skp:1"), *[identity("cluster:1")] * 6]):
        names = {"game": f"g{game}", "game_spec": f"g{game}"}
        records.append(identified(cell(f"{game}1", solver="a", **names), known))
        records.append(short(f"{game}2", solver="b", **names))
    assert [sentence.startswith("g0: ") for sentence in said(*records[:4])][2:] == [True, False]
    # who only used up its budget is ranked; what broke is named
    broken = cell("7", solver="c", status="crashed")
    solved, found, *ended = said(*records, broken)
    assert "6 clusters" in found, "clusters are numbered in each game"
    assert solved.startswith("a reached the target")
    assert "on 7 of the 7 games it takes, b on 0 of 7, c on 0 of 1" in solved
    assert ended == ["Did not reach the target: c (crashed)."]


def test_words_stand_before_codes_and_a_symbol_is_explained_once() -> None:
    """A published set and a cluster by what is played in them, with their names as ids."""
    known = identity("szafron:c11=0", parameters={"beta": 0.2}, leading="beta")
    known |= {"title": "bluffs with Q only", "family": "a family", "meaning": "how often"}
    records = [identified(cell(key, solver=key), known) for key in ("01", "02")]
    found = said(*records)[1]
    assert "a part of Szafron's family" in found
    assert "player 3 bluffs with Q only (szafron:c11=0, β=0.2; by 01, 02)" in found
    assert found.count("β: how often") == 1
    cluster = identity("cluster:1") | {"title": "P1 always plays beer"}
    found = said(identified(cell("01"), cluster))[1]
    assert "P1 always plays beer (cluster:1; by cfr_plus)" in found


def test_titles_of_strangers_are_printable_and_bounded() -> None:
    known = identity("cluster:1") | {"title": "\x1b[31m" + "x" * 900}
    found = said(identified(cell("01"), known))[1]
    assert "\x1b" not in found
    assert len(found) < 700


def began_at(run: Path, solver: str, half: float, iterations: int = 1, **fields: Any) -> CellRecord:
    """A cell whose first snapshot met the target, with what P1 plays at its only set."""
    record = cell(solver, solver=solver, iterations=iterations, **fields)
    place = run / record.equilibria[0].profile
    place.parent.mkdir(parents=True, exist_ok=True)
    shares = {"heads": half, "tails": 1 - half}
    place.write_text(json.dumps({"behavior": {"P1": {"": shares}, "P2": {"": shares}}}))
    return write_trace(run, record, times=[record.elapsed_s or 0.0], regrets=[(0.0, 0.0)])


def test_solvers_at_the_target_from_the_start_are_named_and_never_the_fastest(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    records = [
        began_at(run, "at the start", 0.5, elapsed_s=1e-4),
        began_at(run, "one step", 1.0, elapsed_s=1e-3),
        began_at(run, "many steps", 0.5, 7, elapsed_s=2e-3),
        cell("damaged", solver="no trace", iterations=1, elapsed_s=0.1),
    ]
    stored = read_run(write_run(run, *records))
    (first, *_) = answer(entries_of([stored]))
    assert "fastest to it: one step (1.0 ms); at it from the start (not counted): at the" in first
    assert [entry.is_at_start for entry in entries_of([stored])] == [True, False, False, False]
    wins, _ = virtual_best(entries_of([stored])) or ({}, {})
    assert dict(wins) == {"one step": 1}
    (table,) = report_on([stored], View(table="matrix")).tables
    cells = {row.label: [row.cell(column) for column in table.columns[1:2]] for row in table.rows}
    assert [cell.strong for cell in cells["one step"]] == [True]
    assert [(own.text, own.strong) for own in cells["at the start"]] == [("0.0001°", False)]
    assert "° at the target from the start" in table.lines[0]


def test_starts_at_the_target_are_counted_apart_on_several_games(tmp_path: Path) -> None:
    run, other = tmp_path / "run", dict.fromkeys(("game", "game_spec"), "another game")
    records = [
        began_at(run, "begins there", 0.5, **other),
        began_at(run, "one step", 1.0),
        replace(cell("03", solver="one step", elapsed_s=9.0), **other),
    ]
    (first, *_) = answer(entries_of([read_run(write_run(run, *records))]))
    assert (
        "fastest to it: one step on 1 game; at it from the start (not counted): begins there on "
        "1 game."
    ) in first


@pytest.mark.parametrize(
    ("credible", "words"),
    [([5, 5], ""), ([5, 2], "a (2…5 of 5 sets)"), ([2, 2], "a (2 of 5 sets)")],
)
def test_the_least_credible_equilibrium_of_a_cell_counts(credible: list[int], words: str) -> None:
    record = identified(cell("01", solver="a"), identity("x"), identity("y"))
    judged = [
        replace(item, claim="equilibrium", credible=FULL | {"credible": count})
        for item, count in zip(record.equilibria, credible, strict=True)
    ]
    text = " ".join(said(replace(record, equilibria=judged)))
    assert ("Not credible at all information sets" in text) == bool(words)
    assert words in text
