"""The terminal table fits, escapes what it prints and says what happened."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console
from stored_runs import identity, run_of

from eqbench.report.entries import arranged
from eqbench.report.exports import report_on
from eqbench.report.naming import credible_text
from eqbench.report.terminal import print_report
from eqbench.report.view import View
from eqbench.store.schema import CellRecord, Claim, EquilibriumRecord
from eqbench.store.trials import Entry


def cell(solver: str = "cfr", **fields) -> CellRecord:
    known = {
        "key": "k",
        "game": "kuhn3",
        "solver": solver,
        "game_spec": "kuhn(players=3)",
        "solver_spec": solver,
        "seed": None,
        "status": "ok",
        "payoffs": [-0.0312, -0.0208, 0.0521],
        "regrets": [1e-12, 0.0, 2e-12],
        "nash_conv": 3e-12,
        "max_regret": 2e-12,
        "exploitability": 1e-12,
        "elapsed_s": 0.0123,
        "peak_memory_bytes": 2**27,
    }
    return CellRecord(**(known | fields))


def found(
    *identities: dict[str, object] | None, claim: Claim = "average"
) -> list[EquilibriumRecord]:
    return [
        EquilibriumRecord(claim, [0.0] * 3, [0.0] * 3, 0.0, 0.0, identity=each)
        for each in identities
    ]


def printed(*records: CellRecord, width: int = 120) -> str:
    buffer = io.StringIO()
    print_report(report_on([run_of(*records)]), Console(file=buffer, width=width))
    return buffer.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_nothing_is_cut_off_at_any_width(width: int) -> None:
    text = printed(cell("cfr_linear"), cell(status="unavailable", reason="no license"), width=width)
    assert "…" not in text
    words = " ".join(text.split())
    for word in ("cfr_linear", "not available here: cfr (no license)", "2.0e-12"):
        assert word in words
    for name, figure in {"memory": "128 MiB", "payoffs": "-0.03120 -0.02080 +0.05210"}.items():
        assert figure in words or re.search(rf"not shown at this width: [\w, ]*{name}", words)
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 100, 120, 150])
def test_a_row_is_one_line_and_the_kind_of_profile_goes_last(width: int) -> None:
    family = [
        {**identity("szafron:0<c11<1/2"), "parameters": {"beta": beta}, "leading": "beta"}
        for beta in (0.222, 0.245)
    ]
    record = cell("pcfr_plus_alternating", equilibria=found(*family, claim="equilibrium"))
    text = printed(record, cell(elapsed_s=0.2494), width=width).partition("\n\n")[0]
    rows = [line for line in text.splitlines() if line.startswith(("pcfr_plus_alt", "cfr "))]
    assert len(rows) == 2
    assert ("×2, β 0.222…0.245" in rows[0]) is (width > 80)
    (left_out,) = re.findall(r"not shown at this width: (.*)", text)
    assert "payoffs" in left_out
    assert ("profile" in text.partition("pcfr_plus")[0]) is (width > 80)


def test_rows_stand_by_status_and_regret_unless_asked_for_otherwise() -> None:
    records = [
        cell("slow", elapsed_s=2.0, max_regret=1e-12),
        cell("late", status="limit", elapsed_s=1.0, max_regret=1e-13),
        cell("fast", elapsed_s=0.1, max_regret=1e-11),
        cell("broken", status="crashed", elapsed_s=0.5, max_regret=None),
    ]
    entries = [Entry("", record) for record in records]

    def names(sort: str) -> list[str]:
        return [entry.record.solver for entry in arranged(entries, sort)]

    assert names("status") == ["slow", "fast", "late", "broken"]
    assert names("regret") == ["late", "slow", "fast", "broken"]
    assert names("time") == ["fast", "broken", "late", "slow"]
    assert names("solver") == ["broken", "fast", "late", "slow"]
    assert names("given") == ["slow", "late", "fast", "broken"]


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


def test_what_rounds_below_zero_is_zero() -> None:
    text = printed(cell(max_regret=-2.4e-17, nash_conv=-0.0, exploitability=0.0), width=200)
    row = next(line for line in text.splitlines() if line.startswith("cfr"))
    assert row.split()[1:5] == ["ok", "0", "0", "0"]


def test_names_are_not_read_as_markup() -> None:
    assert "evil[red](x=1)" in printed(cell("evil[red](x=1)"))


def test_reason_of_what_is_not_ok_is_printed_below() -> None:
    text = printed(cell(), cell("mccfr", status="refuted", reason="claimed [too] much"))
    assert "refuted: mccfr – claimed [too] much" in text
    assert "ok: cfr" not in text


def test_log_of_a_crash_is_pointed_at() -> None:
    crashed = cell(status="crashed", reason="ValueError: no", log="logs/cfr-k.txt")
    assert "logs/cfr-k.txt" in printed(crashed)


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


def test_search_for_fractions_that_found_none_is_noted_with_its_reason() -> None:
    rows = [cell(name, statistics={"exact": "not [found] in time"}) for name in ("a", "b")]
    text = printed(*rows, cell("c", statistics={"exact": "found"}), cell("d"))
    assert text.count("not [found] in time") == 1


def test_reasons_that_rows_share_are_given_once() -> None:
    same = {"status": "limit", "reason": "stopped after 10 s; nothing is sure"}
    records = [cell("mccfr", seed=seed, **same) for seed in (0, 1, 3)]
    assert "\nlimit: stopped after 10 s\n" in printed(*records)
    other = cell("cfr", status="limit", reason="no step fits")
    note = "\nlimit: mccfr ×3 – stopped after 10 s; cfr – no step fits\n"
    assert note in printed(*records, other)


def test_ok_is_the_word_of_the_judge_where_rounding_is_above_the_target() -> None:
    record = cell(target=1e-17, reason="arrived at an equilibrium")
    assert "arrived" not in printed(record)


# -- credible -----------------------------------------------------------------------------------


def judged(exact: str | None = "5/2", **fields: object) -> EquilibriumRecord:
    (item,) = found(None, claim="equilibrium")
    known = {"sets": 48, "credible": 43, "worst": 2.5, "worst_set": ["P1", "4:KBC"]}
    return replace(item, credible=known | {"exact": exact} | fields)


def test_credible_has_a_column_where_any_cell_was_judged() -> None:
    rows = (cell("ncp", equilibria=[judged()]), cell("cfr", equilibria=found(None)))
    assert "credible" not in printed(rows[1], width=200)
    lines = printed(*rows, width=200).splitlines()
    at = lines[1].index("credible")
    told = {line.split()[0]: line[at:] for line in lines[2:4]}
    assert told["ncp"].startswith("43/48, worst 5/2 at P1 4:KBC ")
    assert told["cfr"].startswith("– ")
    assert "credible: information sets whose play" in " ".join(" ".join(lines).split())


def test_credible_is_a_count_where_space_is_short_and_goes_before_nash_conv() -> None:
    row = cell("ncp", equilibria=[judged()], iterations=1000)
    shown = {width: printed(row, width=width) for width in range(40, 160, 2)}
    assert "43/48, worst 5/2 at P1 4:KBC" in shown[150]
    for width in (130, 110, 90, 70):
        assert "43/48 " in shown[width]
        assert "worst" not in shown[width]
    without = shown[max(width for width, text in shown.items() if "43/48" not in text)]
    missing = without.partition("not shown at this width: ")[2].partition("max regret:")[0]
    assert "credible" in missing
    assert "NashConv" not in missing


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
