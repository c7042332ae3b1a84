"""The terminal table fits, escapes what it prints and says what happened."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from eqbench.report.entries import Entry
from eqbench.report.equilibria import with_matrices
from eqbench.report.rows import comparison
from eqbench.report.terminal import print_report
from eqbench.store.schema import CellRecord, EquilibriumRecord


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


def found(*identities: dict[str, object] | None) -> list[EquilibriumRecord]:
    return [
        EquilibriumRecord("average", [0.0] * 3, [0.0] * 3, 0.0, 0.0, identity=each)
        for each in identities
    ]


def printed(*records: CellRecord, width: int = 120) -> str:
    buffer = io.StringIO()
    entries = [Entry("", record) for record in records]
    report = with_matrices(comparison(entries), entries)
    print_report(report, Console(file=buffer, width=width))
    return buffer.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_nothing_is_cut_off_at_any_width(width: int) -> None:
    text = printed(cell("cfr_linear"), cell(status="unavailable"), width=width)
    assert "…" not in text
    words = " ".join(text.split())
    for word in ("cfr_linear", "unavailable", "-0.03120", "+0.05210", "2.0e-12"):
        assert word in words
    assert "128 MiB" in words or re.search(r"not shown at this width: [\w, ]*memory", words)
    assert max(map(len, text.splitlines())) <= width


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
        ({"objective": 0.5, "bound": 0.75}, ("objective 0.5", "bound 0.75")),
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
        {"statistics": {"objective": 0.5}},
        {"statistics": {"bound": 0.75}},
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


def test_reason_that_seeds_share_is_given_once_with_their_numbers() -> None:
    same = {"status": "limit", "reason": "stopped after 10 s"}
    records = [cell("mccfr", seed=seed, **same) for seed in (0, 1, 3)]
    (table,) = comparison([Entry("", record) for record in records]).tables
    assert "limit: mccfr (seeds 0, 1, 3) – stopped after 10 s" in table.notes
