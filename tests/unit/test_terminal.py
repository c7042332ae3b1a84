"""The terminal table fits, escapes what it prints and says what happened."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from stored_runs import identity

from eqbench.report.entries import Entry
from eqbench.report.rows import comparison
from eqbench.report.terminal import mebibytes, print_comparison, seconds
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
    print_comparison(records, Console(file=buffer, width=width))
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


def test_no_blank_lines_stand_where_there_is_no_legend() -> None:
    none = {"payoffs": None, "regrets": None, "nash_conv": None, "max_regret": None}
    text = printed(cell(status="unavailable", reason="missing: no backend", **none))
    assert text.endswith("unavailable: cfr – missing: no backend\n")
    assert re.search(r"\n\nRegrets are in [^\n]+\n", printed(cell(), cell("mccfr")))
    assert "\n\n\n" not in printed(cell(), cell(game="kuhn2"))


def test_shared_reason_is_printed_once() -> None:
    rows = [cell(name, status="limit", reason="stopped after 10 s") for name in ("a", "b")]
    assert printed(*rows).count("stopped after 10 s") == 1
    assert "limit: a, b – stopped after 10 s" in printed(*rows)


def test_log_of_a_crash_is_pointed_at() -> None:
    crashed = cell(status="crashed", reason="ValueError: no", log="logs/cfr-k.txt")
    assert "(see logs/cfr-k.txt)" in printed(crashed)


@pytest.mark.parametrize(
    ("figures", "note"),
    [
        (
            {"sense": "max", "objective": -1 / 48, "bound": -0.02083329},
            "best -0.0208333, proved to solver tolerance: all are <= -0.0208333",
        ),
        (
            {"sense": "min", "objective": 0.25, "bound": -1e-17},
            "best 0.25, proved to solver tolerance: all are >= -1e-17",
        ),
        (
            {"sense": "max", "objective": None, "bound": 2},
            "best none, proved to solver tolerance: all are <= 2",
        ),
        ({"sense": "max", "objective": 0.5, "bound": None}, "best 0.5, no bound is proved"),
        ({"sense": "max", "objective": 0.5, "bound": "inf"}, "best 0.5, no bound is proved"),
        ({"objective": 0.5, "bound": 0.75}, "objective 0.5, bound 0.75"),
    ],
)
def test_optimum_is_shown_with_its_bound(figures: dict[str, object], note: str) -> None:
    text = printed(cell("opt", statistics=figures), cell("plain"))
    assert f"\nopt: {note}\n" in text
    assert "plain: " not in text


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


def test_bound_that_the_reason_of_a_limit_has_is_said_once() -> None:
    figures = {"sense": "max", "objective": 0.5, "bound": 0.75}
    said = "stopped after 9 s; best 0.5, proved to solver tolerance: all are <= 0.75"
    text = printed(cell("a", status="limit", reason=said, statistics=figures), width=200)
    assert text.count("proved to solver tolerance") == 1
    text = printed(cell("a", status="limit", reason="stopped", statistics=figures), width=200)
    assert "limit: a – stopped\na: best 0.5, proved to solver tolerance" in text


def test_seeds_with_the_same_optimum_share_its_note() -> None:
    figures = {"sense": "max", "objective": 0.5, "bound": 0.5}
    text = printed(*(cell("opt", seed=k, statistics=figures) for k in range(2)))
    assert "\nopt (seeds 0, 1): best 0.5, proved" in text


def test_search_for_fractions_that_found_none_is_noted_with_its_reason() -> None:
    rows = [cell(name, statistics={"exact": "not [found] in time"}) for name in ("a", "b")]
    text = printed(*rows, cell("c", statistics={"exact": "found"}), cell("d"))
    assert "\nexact: a, b – not [found] in time\n" in text
    assert text.count("exact: ") == 1


def test_target_and_iterations_are_shown() -> None:
    text = printed(cell(target=6e-10, iterations=1234567))
    assert "target: max regret 6.0e-10" in text
    assert "1,234,567" in text


def test_payoff_that_rounds_to_zero_has_no_minus() -> None:
    assert "+0.00000" in printed(cell(payoffs=[-1e-17, 1.0, -1.0]))


def test_seeds_get_a_column_only_when_they_differ() -> None:
    assert "seed" not in printed(cell("mccfr", seed=0))
    both = printed(cell("mccfr", seed=0), cell("mccfr", seed=1, status="limit", reason="time"))
    assert "seed" in both
    assert "limit: mccfr (seed 1) – time" in both


def test_cell_without_figures_shows_dashes() -> None:
    empty = dict.fromkeys(
        ("payoffs", "regrets", "nash_conv", "max_regret", "exploitability", "elapsed_s")
    )
    line = next(row for row in printed(cell(**empty)).splitlines() if row.startswith("cfr"))
    assert line.split() == ["cfr", "ok", *"–––––––", "128", "MiB"]


def test_equilibrium_stays_when_exploitability_and_profile_go() -> None:
    szafron = identity("szafron:c11=0", parameters={"beta": 0.1893, "b11": 0.1})
    text = printed(
        cell("pcfr_plus_alternating", equilibria=found(szafron), iterations=10_000_000),
        cell("cfr", equilibria=found(None)),
        width=140,
    )
    assert "szafron:c11=0 β=0.189" in text
    wide = printed(cell(equilibria=found(szafron)), width=200)
    assert "exploitability" in wide.splitlines()[1]
    narrow = printed(
        cell("pcfr_plus_alternating", equilibria=found(szafron), iterations=10_000_000), width=130
    )
    assert "szafron:c11=0 β=0.189" in narrow
    assert "not shown at this width: exploitability, profile\n" in narrow


def test_equilibrium_has_a_column_only_where_one_is_known() -> None:
    assert "equilibrium" not in printed(cell(equilibria=found(None)), width=200)
    text = printed(cell("a", equilibria=found(identity("skp:2"))), cell("b"), width=200)
    rows = {line.split()[0]: line for line in text.splitlines() if line}
    assert "skp:2" in rows["a"]
    place = rows["solver"].index("equilibrium")
    assert rows["b"][place] == "–"


def test_marks_of_equilibria_are_explained_below_their_table() -> None:
    near = identity("skp:2", on_path=False, strict=False)
    text = printed(cell(equilibria=found(near)), width=200)
    assert "≈ skp:2" in text
    assert "\n≈ nearest known equilibrium" in text
    assert "\n* " not in text
    assert "nearest" not in printed(cell(equilibria=found(identity("skp:2"))), width=200)


def test_run_prints_the_matrix_of_equilibria_under_its_table() -> None:
    seeds = [cell("mccfr", seed=k, equilibria=found(identity(f"skp:{k + 2}"))) for k in range(2)]
    lines = printed(*seeds).splitlines()
    start = lines.index("kuhn3: equilibria found")
    assert lines[start - 1] == ""
    assert lines[start + 1].split() == ["solver", "skp:2", "skp:3", "near", "none", "cells"]
    assert lines[start + 2].split() == ["mccfr", "1", "1", "0", "0", "2"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (2e-6, "2 µs"),
        (0.0123, "12.3 ms"),
        (0.0012, "1.2 ms"),
        (1.25, "1.2 s"),
        (130.4, "130 s"),
    ],
)
def test_durations_carry_their_unit(value: float | None, text: str) -> None:
    assert seconds(value) == text


def test_sizes_are_in_mebibytes() -> None:
    assert mebibytes(3 * 2**20) == "3 MiB"


def test_blocks_of_a_very_narrow_terminal_tell_seeds_apart() -> None:
    text = printed(cell("mccfr", seed=0), cell("mccfr", seed=1), width=40)
    assert "mccfr (seed 0)" in text
    assert "mccfr (seed 1)" in text


def test_reason_that_seeds_share_is_given_once_with_their_numbers() -> None:
    same = {"status": "limit", "reason": "stopped after 10 s"}
    records = [cell("mccfr", seed=seed, **same) for seed in (0, 1, 3)]
    (table,) = comparison([Entry("", record) for record in records]).tables
    assert "limit: mccfr (seeds 0, 1, 3) – stopped after 10 s" in table.notes
