"""The terminal table fits, escapes what it prints and says what happened."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from helpers.runs import cell as stored_cell
from helpers.runs import identified, identity, run_of
from rich.console import Console

from eqbench.report.cells import View, report_on
from eqbench.report.naming import credible_text
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.report.terminal import plain_text, print_report
from eqbench.report.trials import RunCell, arranged
from eqbench.store.schema import CellRecord, EquilibriumRecord


def cell(solver: str = "cfr", **fields: Any) -> CellRecord:
    return replace(stored_cell("k", solver=solver, solver_spec=solver), **fields)


def printed(*records: CellRecord, width: int = 120) -> str:
    buffer = io.StringIO()
    print_report(report_on([run_of(*records)]), Console(file=buffer, width=width))
    return buffer.getvalue()


def test_rows_keep_all_that_identifies_them_where_no_column_fits() -> None:
    columns = (
        Column("player", identifies=True),
        Column("situation", identifies=True),
        Column("set:1"),
    )
    values = ("P1", "at the start: bet", ".07 .95 .99")
    table = Table("game", columns, (Row.of(columns, values, "P1 at the start: bet"),))
    lines = plain_text(partial(print_report, Report((table,))), 26).splitlines()
    assert lines == ["game", "set:1", "P1 at the start: bet: .07", "  .95 .99"]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_nothing_is_cut_off_at_any_width(width: int) -> None:
    text = printed(cell("cfr_linear"), cell(status="unavailable", reason="no license"), width=width)
    assert "…" not in text
    words = " ".join(text.split())
    for word in ("cfr_linear", "not available here: cfr (no license)", "1.2e-11"):
        assert word in words
    for name, figure in {"memory": "157 MiB", "payoffs": "-0.05556 +0.05556"}.items():
        assert figure in words or re.search(rf"not shown at this width: [\w, ]*{name}", words)
    assert max(map(len, text.splitlines())) <= width


def test_rows_stand_by_status_and_regret_unless_asked_for_otherwise() -> None:
    records = [
        cell("slow", elapsed_s=2.0, max_regret=1e-12),
        cell("late", status="limit", elapsed_s=1.0, max_regret=1e-13),
        cell("fast", elapsed_s=0.1, max_regret=1e-11),
        cell("broken", status="crashed", elapsed_s=0.5, max_regret=None),
    ]
    entries = [RunCell("", record) for record in records]

    def names(sort: str) -> list[str]:
        return [entry.record.solver for entry in arranged(entries, sort)]

    assert names("status") == ["slow", "fast", "late", "broken"]
    assert names("regret") == ["late", "slow", "fast", "broken"]
    assert names("time") == ["fast", "broken", "late", "slow"]
    assert names("solver") == ["broken", "fast", "late", "slow"]
    assert names("given") == ["slow", "late", "fast", "broken"]


def test_of_many_games_what_was_found_stands_first_and_notes_on_cells_below_their_game() -> None:
    names = [f"g{number}" for number in range(7)]
    known = {"a": identity("szafron:c11=0"), "b": identity("szafron:c11=1/2")}
    run = run_of(
        *(
            identified(stored_cell(f"{k}{s}", solver=s, game=game, game_spec=game), known[s])
            for k, game in enumerate(names)
            for s in known
        )
    )
    lines = plain_text(partial(print_report, report_on([run])), 100).splitlines()
    assert lines[1].startswith("g0 (2 of 2 ok): ")
    first = lines.index("g0: equilibria found")
    assert lines[2].startswith(f"{names[1]} (")
    target = next(k for k, line in enumerate(lines) if line.startswith("target: "))
    assert first < target < lines.index("g1: equilibria found")
    assert lines.index(next(line for line in lines if line.startswith("ok: "))) < first


@pytest.mark.parametrize("summarize", [False, True])
def test_summaries_stand_in_the_order_asked_for_too(*, summarize: bool) -> None:
    run = run_of(cell("slow", elapsed_s=2.0), cell("fast", elapsed_s=0.1, status="limit"))
    for sort, first in (("status", "slow"), ("time", "fast")):
        (table,) = report_on([run], View(sort=sort), summarize=summarize).tables
        assert table.rows[0].label == first


def test_only_chosen_columns_are_shown() -> None:
    run = run_of(cell(cpu_s=0.5))
    (table,) = report_on([run], View(columns=("time", "cpu"))).tables
    assert [column.title for column in table.columns] == ["solver", "time", "CPU time"]


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"sense": "max", "objective": 0.5, "bound": 0.75}, ("0.5", "<= 0.75")),
        ({"sense": "min", "objective": 0.25, "bound": -1e-17}, ("0.25", ">= -1e-17")),
        ({"sense": "max", "objective": None, "bound": 2}, ("none", "<= 2")),
        ({"sense": "max", "objective": 0.5, "bound": None}, ("0.5", "no bound")),
        ({"sense": "max", "objective": 0.5, "bound": "inf"}, ("0.5", "no bound")),
    ],
)
def test_optimum_is_shown_with_its_bound(
    figures: dict[str, object], words: tuple[str, str]
) -> None:
    (note,) = re.findall("^opt: .*", printed(cell("opt", statistics=figures)), re.MULTILINE)
    assert all(word in note for word in words)


def test_nothing_is_proved_where_no_direction_is_known_or_the_cell_is_not_to_be_trusted() -> None:
    figures = {"sense": "max", "objective": 0.5, "bound": 0.75, "exact": "too many digits"}
    for fields in (
        {"statistics": {"objective": 0.5, "bound": 0.75}},
        {"statistics": figures, "status": "refuted", "reason": "wrong"},
    ):
        text = printed(cell("opt", **fields))
        assert "best" not in text
        assert "objective" not in text
        assert "exact:" not in text


# -- credible -----------------------------------------------------------------------------------


def judged(exact: str | None = "5/2", **fields: object) -> EquilibriumRecord:
    (item,) = cell().equilibria
    known = {"sets": 48, "credible": 43, "worst": 2.5, "worst_set": ["P1", "4:KBC"]}
    return replace(item, claim="equilibrium", credible=known | {"exact": exact} | fields)


def test_credible_is_a_count_where_space_is_short_and_stays_at_all_widths() -> None:
    row = cell("ncp", equilibria=[judged()], iterations=1000)
    shown = {width: printed(row, width=width) for width in range(40, 160, 2)}
    assert "worst 5/2" in shown[150]
    for width in (130, 110, 90, 70):
        assert "43/48 " in shown[width]
        assert "worst" not in shown[width]
    assert all("43/48" in text for text in shown.values())
    names = ("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2")
    items = [identified(row, identity(name)).equilibria[0] for name in names]
    several = replace(row, equilibria=[replace(judged(), identity=i.identity) for i in items])
    assert "43/48" in printed(several, cell("pcfr_plus_alternating"), width=100)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (judged(), "43/48, worst 5/2 at P1 4:KBC"),
        (judged(None), "43/48, worst 2.5 at P1 4:KBC"),
        (judged(f"{10**30 + 1}/{4 * 10**29}"), "43/48, worst 2.5 at P1 4:KBC"),
        (judged(credible=48, worst=0.0, worst_set=None, exact="0"), "48/48"),
        (judged(worst_set=["a\x1b[1m", "\n"]), "43/48, worst 5/2 at a\\x1b[1m  "),
    ],
)
def test_text_of_a_verdict_on_credibility(item: EquilibriumRecord, text: str) -> None:
    assert credible_text(item.credible) == text
    assert credible_text(None) == ""
