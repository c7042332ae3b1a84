"""Names of equilibria in tables, and the table of who found which."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.runs import (
    cell,
    identified,
    identity,
    run_of,
    with_candidate,
    without_figures,
    write_run,
)

from eqbench.report.cells import report_on, results_csv
from eqbench.report.naming import (
    MOST_CLUSTERS,
    credible_range,
    decimal,
    described,
    kind_of_match,
    label,
    marks,
    order,
)
from eqbench.report.rows import FORMATS, Report, Table
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

SZAFRON = {"beta": 0.18934, "b11": 0.1, "b21": 0.1}


def words(*identities: dict[str, Any] | None) -> str:
    return FORMATS["found"](label(identified(cell("01"), *identities)))


@pytest.mark.parametrize(
    ("name", "title"),
    [("szafron:c11=0", "player 3 bluffs with Q only"), ("szafron:9", "what was stored")],
)
def test_published_sets_have_their_titles_in_runs_that_lack_or_changed_them(
    name: str, title: str
) -> None:
    for stored in ("", "what was stored"):
        found = described(identity(name) | {"title": stored})["title"]
        assert found == (title if name.endswith("=0") else stored)
    former = {"name": name, "on_path": True}  # of a version that stored no titles
    assert described(former)["title"] == (title if name.endswith("=0") else "")


SKP = {number: identity(f"skp:{number}", parameters={"alpha": 0.5}) for number in "234"}
HALF_NEAR = identity("szafron:c11=1/2", on_path=False)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ([identity("szafron:c11=0", parameters=SZAFRON)], "szafron:c11=0 β=0.189"),
        ([identity("kuhn2", parameters={"alpha": 0.2})], "kuhn2 α=0.2"),
        ([identity("skp:1a", parameters={"a1": 0.25})], "skp:1a a1=0.25"),
        ([identity("skp:1", parameters={"a1": 0.25, "b2": 0.5}, leading=None)], "skp:1"),
        ([identity("x", parameters=SZAFRON, leading="b11")], "x b11=0.1"),
        ([identity("cluster:2", dimension=1)], "cluster:2"),
        # what is only near, and what differs off the path; nothing is published on clusters
        ([identity("x", parameters=SZAFRON, on_path=False, strict=False)], "≈ x β=0.189"),
        ([identity("x", parameters=SZAFRON, strict=False)], "x β=0.189*"),
        ([identity("skp:3", strict=False)], "skp:3*"),
        ([identity("cluster:1", strict=False)], "cluster:1"),
        ([identity("kuhn2", strict=False, off_path={})], "kuhn2"),  # only rounding
        # of several the best comes first, and none has parameters
        ([SKP["4"], SKP["2"], SKP["3"]], "skp:4, skp:2, skp:3"),
        ([identity("skp:10", strict=False), *SKP.values()], "skp:10* and 3 more"),
        ([SKP["4"], SKP["4"]], "skp:4 α=0.5"),
        # a last iterate that only comes near another set is not named
        ([identity("szafron:c11=0"), HALF_NEAR], "szafron:c11=0"),
        ([HALF_NEAR, identity("szafron:c11=0")], "≈ szafron:c11=1/2, szafron:c11=0"),
        ([None, HALF_NEAR], ""),
        ([None, identity("szafron:c11=0")], "szafron:c11=0"),
        ([None], ""),
    ],
)
def test_label_names_what_was_found(found: list[dict[str, Any] | None], text: str) -> None:
    assert words(*found) == text


@pytest.mark.parametrize(
    ("labels", "number"),
    [
        (["skp:2", "szafron:c11=0 β=0.1"], 0),
        (["≈ skp:2"], 1),
        (["cluster:1"], 1),
        (["skp:10 and 4 more"], 1),
        (["skp:2*, skp:3"], 2),
        (["skp:2*", "cluster:1", "≈ skp:2"], 3),
    ],
)
def test_marks_are_explained_only_where_they_occur(labels: list[str], number: int) -> None:
    assert len(marks(labels)) == number


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (identity("kuhn2"), "strict"),
        (identity("kuhn2", strict=False, off_path={}), "up to rounding"),
        (identity("kuhn2", strict=False), "on path"),
        (identity("kuhn2", strict=False, on_path=False), "near"),
        (identity("cluster:1", strict=False), "cluster"),
    ],
)
def test_match_is_of_one_kind(found: dict[str, Any], kind: str) -> None:
    assert kind_of_match(found) == kind


@pytest.mark.parametrize("claim", ["complete list", "equilibrium"])
def test_equilibria_of_a_family_are_counted_with_the_range_of_the_parameter(claim: str) -> None:
    found = [identity("kuhn2", parameters={"alpha": value}) for value in (1 / 3, 1 / 6, 0.0)]
    record = identified(cell("01"), *found)
    assert label(record) == ["kuhn2 α=0.333"], "iterates are one equilibrium"
    several = [replace(item, claim=claim) for item in record.equilibria]
    assert label(replace(record, equilibria=several)) == ["kuhn2 ×3, α 0…0.333"]
    other = identified(cell("01"), identity("skp:4")).equilibria
    assert label(replace(record, equilibria=several + other)) == ["kuhn2 ×3", "skp:4"]


def test_names_sort_as_their_sources_number_them() -> None:
    names = [
        *("kuhn2", "matrix:battle_of_sexes:mixed", "matrix:shapley"),
        *(f"skp:{number}" for number in ("1", "1a", "2", "2a", "9", "10", "10a")),
        *("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2"),
        *("cluster:1", "cluster:2", "cluster:11"),
    ]
    shuffled = random.Random(0).sample(names, len(names))
    assert shuffled != names
    assert sorted(shuffled, key=order) == names


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.2, 3, "0.2"),
        (0.0, 3, "0"),
        (-1e-12, 3, "0"),
        (10.0, 3, "10"),
        (0.24999999, 3, "0.25"),
        (0.189304, 6, "0.189304"),
        (100.0, 0, "100"),
    ],
)
def test_decimals_have_no_zeros_at_their_end(value: float, digits: int, text: str) -> None:
    assert decimal(value, digits) == text


C0, MIDDLE, HALF = "szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2"


def on(name: str, beta: float | None = None, **fields: Any) -> dict[str, Any]:
    parameters = {} if beta is None else {"beta": beta, "b11": 0.1}
    return identity(name, parameters=parameters, **fields)


def report(path: Path, *records: CellRecord, summarize: bool = False) -> Report:
    return report_on([read_run(write_run(path, *records))], summarize=summarize)


def matrix(report: Report) -> Table:
    (table,) = [table for table in report.tables if table.topic]
    return table


@pytest.fixture
def seeds() -> list[CellRecord]:
    """Three solvers on one game; the first two with three seeds."""
    found: list[list[dict[str, Any] | None]] = [
        [on(HALF, 0.128), on(C0, 0.2)],
        [on(C0, 0.013), on(C0, 0.228)],
        [on("cluster:2", dimension=3)],
        [on(C0, 0.1, on_path=False, distance=3e-5), on("cluster:10")],
        [on(C0, 0.1, on_path=False, distance=2e-4)],
        [None],
    ]
    return [
        *(
            identified(cell(f"{k:02}", solver="abc"[k // 3], seed=k % 3), *identities)
            for k, identities in enumerate(found)
        ),
        replace(without_figures("07", status="unsupported"), solver="c"),
    ]


@pytest.mark.parametrize(
    ("records", "shown"),
    [
        ([cell("01", seed=0), cell("02", seed=1)], False),
        ([identified(cell("01"), on(C0)), cell("02", solver="b")], False),
        ([identified(cell("01", seed=0), on(C0)), cell("02", seed=1)], True),
        ([identified(cell("01"), on(C0)), identified(cell("02", solver="b"), on(HALF))], True),
        ([identified(cell("01"), on(C0), on(C0))], False),
        ([identified(cell("01"), on(C0, 0.1), on(C0, 0.2))], True),
        ([identified(cell("01"), on("cluster:1"))], True),
        ([identified(cell("01"), on("skp:2"), on("skp:3"))], True),
        ([identified(cell("01"), on("skp:2"), on("skp:3", on_path=False))], False),
    ],
)
def test_table_stands_where_several_or_unknown_equilibria_were_found(
    records: list[CellRecord], shown: bool, tmp_path: Path
) -> None:
    made = report(tmp_path / "run", *records)
    assert [bool(table.topic) for table in made.tables] == [False, *[True] * shown]


@pytest.mark.parametrize("solvers", [2, MOST_CLUSTERS + 4])
def test_of_many_clusters_the_best_of_every_solver_are_shown(solvers: int, tmp_path: Path) -> None:
    # the first solver finds many, and often; every other a single one, and not well
    many = [on(f"cluster:{number}") for number in range(1, MOST_CLUSTERS + 3)]
    records = [identified(cell(f"{k}", seed=k, solver="a"), *many) for k in range(3)]
    for k in range(1, solvers):
        worse = with_candidate(cell(f"1{k:02}", seed=0, solver=f"b{k}"), 20)
        records.append(identified(worse, on(f"cluster:{100 + k}")))
    table = matrix(report(tmp_path / "run", *records))
    numbers = [int(row.label.partition(":")[2]) for row in table.rows]
    room = max(MOST_CLUSTERS, solvers)
    assert numbers == [*range(1, room - solvers + 2), *range(101, 100 + solvers)]
    (note,) = table.notes
    more = len(many) + solvers - 1 - room
    assert note.startswith(f"{more} more clusters; eqbench show RUN CELL --candidates")


def test_csv_of_cells_has_the_identity_of_the_best_candidate(
    seeds: list[CellRecord], tmp_path: Path
) -> None:
    path = write_run(tmp_path / "run", *seeds)
    cells = list(csv.DictReader(io.StringIO(results_csv([read_run(path)]))))
    assert len(cells) == len(seeds)
    best, near, unknown = cells[0], cells[3], cells[5]
    assert best["equilibrium"] == HALF
    assert (best["equilibrium_on_path"], best["equilibrium_strict"]) == ("True", "True")
    assert float(best["equilibrium_distance"]) == 1e-9
    assert json.loads(best["equilibrium_parameters"]) == {"beta": 0.128, "b11": 0.1}
    assert (near["equilibrium"], near["equilibrium_on_path"]) == (C0, "False")
    for row in (unknown, cells[6]):
        assert {value for name, value in row.items() if name.startswith("equilibrium")} == {""}


def test_payoffs_of_several_equilibria_in_a_row_are_a_range(tmp_path: Path) -> None:
    record = identified(cell("01"), on("skp:2"), on("skp:3"))
    one, two = record.equilibria
    paid = [value + 1 for value in two.payoffs]
    (row, *_), *_ = (
        table.rows
        for table in report(
            tmp_path / "run",
            replace(record, equilibria=[one, replace(two, payoffs=paid)]),
            replace(cell("02", solver="b"), equilibria=[one]),
        ).tables
    )
    assert all(isinstance(value, str) and "…" in value for value in row.values["payoffs"])


@pytest.mark.parametrize(
    ("credible", "text"),
    [([4, 2], "2…4/4"), ([3, 3], "3/4"), ([None, 1], "1/4"), ([None, None], None)],
)
def test_credible_sets_of_several_equilibria_are_a_range(
    credible: list[int | None], text: str | None
) -> None:
    record = identified(cell("01"), on("skp:2"), on("skp:3"))
    facts = {"sets": 4, "worst": 0.5, "worst_set": None, "exact": None}
    members = [
        replace(item, credible=None if number is None else {**facts, "credible": number})
        for item, number in zip(record.equilibria, credible, strict=True)
    ]
    assert credible_range(members) == text


@pytest.mark.parametrize(
    ("perfect", "sequential", "mark"),
    [(3, "open", "†"), (4, "open", ""), (4, "refuted", "§"), (3, "refuted", "†")],
)
def test_what_is_credible_at_all_sets_and_not_subgame_perfect_or_sequential_is_marked(
    tmp_path: Path, perfect: int, sequential: str, mark: str
) -> None:
    record = identified(cell("01"), on("skp:2"))
    kind: Any = {
        "undominated": "open",
        "sequential": sequential,
        "quasi_strict": None,
        "index": None,
    }
    kind["subgame_perfect"] = {"proper": 4, "perfect": perfect}
    judged: Any = {"sets": 5, "credible": 5, "worst": 0.0, "worst_set": None, "exact": None}
    item = replace(record.equilibria[0], kind=kind, credible=judged)
    shown = report(tmp_path / "run", replace(record, equilibria=[item]))
    (row,) = shown.tables[0].rows
    assert row.values["credible"] == f"5/5{mark}"
    assert any(note[0] in "†§" for note in shown.tables[0].key) == bool(mark)
    assert ("Not subgame-perfect: cfr_plus." in " ".join(shown.answer)) == (mark == "†")


def test_who_is_only_near_an_equilibrium_is_named_with_the_reason() -> None:
    far = identity(C0, on_path=False)
    records = [
        identified(cell("1", solver="a"), identity(C0)),
        identified(cell("2", solver="b", tolerance=1e-6), far),
        identified(cell("3", solver="c", tolerance=1e-12), far),
    ]
    table = report_on([run_of(*records)]).tables[0]
    (note,) = [note for note in table.key if note.startswith("≈")]
    assert "play differs (b)" in note
    assert "1.0e-12 (c)" in note


@pytest.mark.parametrize(
    ("regret", "strict", "is_rough"),
    [(2e-9, False, True), (2e-9, True, False), (1e-10, False, False)],
)
def test_members_that_missed_the_target_and_that_no_condition_confirms_are_marked(
    regret: float, strict: bool, is_rough: bool
) -> None:
    record = identified(cell("1", solver="a", status="limit"), identity(C0, strict=strict))
    item = replace(record.equilibria[0], max_regret=regret)
    other = identified(cell("2", solver="b"), identity("szafron:c11=1/2"))
    report = report_on([run_of(replace(record, equilibria=[item]), other)])
    rows = {row.label: row for table in report.tables for row in table.rows}
    assert rows["a"].values["equilibrium"][0].endswith("‡") == is_rough
    assert rows[C0].values["found by"] == ["a‡" if is_rough else "a"]
    assert ("nearly, missing the target, by a" in " ".join(report.answer)) == is_rough
    keys = " ".join(note for table in report.tables for note in table.key)
    assert ("‡" in keys) == is_rough


def test_no_title_shows_the_label_of_a_hidden_move() -> None:
    title = "P1 always plays a2 at 2; if ever at ?(?), P2 plays a2 at least 0.91 of the time"
    found = described(identity("cluster:1") | {"title": title})["title"]
    assert "?" not in found
    assert found.startswith("P1 always plays a2 at 2; if ever at a")
    assert found.endswith(", P2 plays a2 at least 0.91 of the time")


def test_a_known_set_that_all_found_is_in_words_below_the_cells(tmp_path: Path) -> None:
    record = identified(cell("01"), on(C0) | {"title": "player 3 bluffs with Q only"})
    (table,) = report(tmp_path / "run", record).tables
    assert f"player 3 bluffs with Q only ({C0})" in table.notes


def test_titles_of_game_files_are_printable_and_bounded(tmp_path: Path) -> None:
    title = "\x1b[31m<b>" + "x" * 900
    record = replace(cell("01"), game="a.efg", game_spec="a.efg", game_title=title)
    (line,) = report(tmp_path / "run", record).tables[0].lines
    assert line.startswith("\\x1b[31m<b>xx")
    assert len(line) <= 300
