"""Tables in Markdown, CSV and LaTeX parse back, align, and survive every special character."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from report_readers import check_latex, latex_to_text, markdown_tables
from stored_runs import (
    SPECIAL,
    cell,
    identified,
    identity,
    run_of,
    sample_run,
    without_figures,
    write_run,
)

from eqbench.report.exports import report_on, results_csv
from eqbench.report.formats import for_latex, latex, macros, markdown
from eqbench.report.terminal import plain_text, print_report
from eqbench.store.stored_run import StoredRun, read_run


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return sample_run(tmp_path / "run")


@pytest.fixture
def named(tmp_path: Path) -> StoredRun:
    """Cells whose equilibria have names with characters that mean something to the formats."""
    near = identity("szafron:0<c11<1/2", parameters={"beta": 0.189, "b11": 0.1}, on_path=False)
    return read_run(
        write_run(
            tmp_path / "named",
            identified(cell("01", seed=0), near),
            identified(cell("02", seed=1), identity("kuhn2", parameters={"alpha": 0.2})),
            identified(cell("03", seed=2), identity(SPECIAL, strict=False)),
            cell("04", seed=3),
        )
    )


EQUILIBRIA = ["≈ szafron:0<c11<1/2 β=0.189", "kuhn2 α=0.2", f"{SPECIAL}*", "–"]


# -- Markdown -----------------------------------------------------------------------------------


def test_markdown_parses_back_cell_by_cell(run: StoredRun) -> None:
    first, second = markdown_tables(markdown(report_on([run])))
    head, rule, *rows = first
    assert head[:4] == ["solver", "seed", "status", "max regret"]
    assert {"time (s)", "memory (MiB)", "payoff P1", "payoff P2"} < set(head)
    assert all(len(row) == len(head) for row in (rule, *rows))
    table = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["solver"] for row in table] == ["cfr_plus", SPECIAL, SPECIAL]
    assert [row["seed"] for row in table] == ["", "3", "4"]
    assert [row["status"] for row in table] == ["ok", "limit", "ok"]
    assert table[0]["max regret"] == "1.2e-11"
    assert table[0]["payoff P1"] == "-0.05556"
    assert table[0]["time (s)"] == "0.0123"
    assert table[2]["time (s)"] == "123"
    assert table[0]["memory (MiB)"] == "157"
    assert "- do not take this game: sequence_lp (two players only)\n" in markdown(report_on([run]))
    assert len(second) == 3


def test_markdown_names_equilibria_whatever_their_characters(named: StoredRun) -> None:
    text = markdown(report_on([named]))
    (head, _, *rows), (titles, _, *found) = markdown_tables(text)
    assert [dict(zip(head, row, strict=True))["equilibrium"] for row in rows] == EQUILIBRIA
    assert titles[0] == "equilibrium"
    assert [(row[0], row[-1]) for row in found] == [
        (SPECIAL, "cfr_plus 1/4"),
        ("kuhn2", "cfr_plus 1/4"),
        ("≈ szafron:0<c11<1/2", "cfr_plus 1/4"),
    ]
    assert "### kuhn2: equilibria found\n" in text
    assert "≈ only near it" in text
    assert text.startswith("- 1 of 1 solver"), "the answer comes first"


# -- CSV ----------------------------------------------------------------------------------------


def test_csv_has_the_numbers_of_the_store_exactly(run: StoredRun) -> None:
    text = results_csv([run])
    assert text.count("\r\n") == 6
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == len(run.cells)
    for row, record in zip(rows, run.cells, strict=True):
        assert (row["key"], row["solver"], row["reason"]) == (
            record.key,
            record.solver,
            record.reason,
        )
        for name in ("elapsed_s", "nash_conv", "max_regret", "target"):
            value = getattr(record, name)
            assert row[name] == "" if value is None else float(row[name]) == value
        for p in range(2):
            written = [row[f"payoff_P{p + 1}"], row[f"regret_P{p + 1}"]]
            if record.payoffs is None or record.regrets is None:
                assert written == ["", ""]
            else:
                assert [float(text) for text in written] == [record.payoffs[p], record.regrets[p]]


# -- LaTeX --------------------------------------------------------------------------------------


def test_latex_has_one_booktabs_table_per_game_that_compiles(run: StoredRun) -> None:
    first, second = check_latex(latex(report_on([run])))
    titles = [" ".join(filter(None, pair)) for pair in zip(*first[:2], strict=True)]
    assert titles[:4] == ["solver", "seed", "status", "max regret"]
    assert {"time (s)", "memory (MiB)", "payoff P1"} < set(titles)
    rows = [dict(zip(titles, row, strict=True)) for row in first[2:]]
    assert [latex_to_text(row["solver"]) for row in rows] == [
        "cfr_plus",
        SPECIAL,
        SPECIAL,
    ]
    assert rows[0]["max regret"] == r"$1.2\times10^{-11}$"
    assert rows[0]["payoff P1"] == "$-0.05556$"
    assert len(second) == 3


def test_latex_names_equilibria_whatever_their_characters(named: StoredRun) -> None:
    text = latex(report_on([named]))
    table, matrix = check_latex(text)
    titles = [" ".join(filter(None, pair)) for pair in zip(*table[:2], strict=True)]
    column = titles.index("equilibrium")
    assert [latex_to_text(row[column]) for row in table[2:]] == EQUILIBRIA
    assert [latex_to_text(row[0]) for row in matrix[2:]] == [
        SPECIAL,
        "kuhn2",
        "≈ szafron:0<c11<1/2",
    ]
    assert r"$\approx$ only near it" in text
    assert r"\caption{\texttt{kuhn2}: equilibria found.}" in text
    check_latex(latex(report_on([named], summarize=True)))


def test_latex_begins_no_row_with_an_option_of_the_one_before(tmp_path: Path) -> None:
    names = [tmp_path / "[one]", tmp_path / "*two"]
    runs = [read_run(write_run(path, cell("01"))) for path in names]
    (table,) = check_latex(latex(report_on(runs)))
    assert [row[0] for row in table[2:]] == ["{[}one]", "{*}two"]


def test_latex_has_no_tabular_without_rows(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", without_figures("01", status="unsupported")))
    for summarize in (False, True):
        text = latex(report_on([run], summarize=summarize))
        assert check_latex(text) == []
        assert "do not take this game" in text


def test_latex_names_characters_that_pdftex_need_not_know() -> None:
    assert for_latex("λ – 3 µs 1\u00a0s --resume") == "[U+03BB] -- 3 $\\mu$s 1~s -{}-resume"


def test_text_of_a_solver_cannot_break_a_line_or_color_a_terminal(tmp_path: Path) -> None:
    record = cell("01", status="failed", reason="two\nlines \x1b[31m and\ttabs")
    report = report_on([read_run(write_run(tmp_path / "run", record))])
    for text in (markdown(report), latex(report), plain_text(lambda c: print_report(report, c))):
        assert "two lines" in text
        assert "\x1b" not in text
        assert "\t" not in text


# -- Macros -------------------------------------------------------------------------------------


@pytest.mark.parametrize("summarize", [False, True])
def test_every_number_is_a_macro_with_a_name_of_letters_that_no_other_has(
    run: StoredRun, *, summarize: bool
) -> None:
    alike = (cell(f"{n}", solver=each, solver_spec=each) for n, each in enumerate(("x-y", "x_y")))
    report = report_on([run, run_of(*alike)], summarize=summarize)
    text = macros(report)
    check_latex(text)
    found = re.findall(r"^\\newcommand\{\\(\w+)\}\{(.*)\}%.*$", text, re.MULTILINE)
    names = [name for name, _ in found]
    assert all(re.fullmatch("eqb[A-Za-z]+", name) for name in names)
    assert len({*names}) == len(names) == len(text.splitlines()) - 1
    tables = [table.with_payoff_columns() for table in report.tables]
    cells = [row.cell(c) for t in tables for row in t.rows for c in t.columns if c.numeric]
    assert len(found) == sum(cell.value is not None for cell in cells)


def test_macros_are_named_by_game_solver_and_column_and_read_as_in_tables(run: StoredRun) -> None:
    found = dict(re.findall(r"newcommand\{\\(\w+)\}\{(.*)\}%", macros(report_on([run]))))
    assert found["eqbKuhnTwoCfrPlusMaxRegret"] == r"$1.2\times10^{-11}$"
    assert found["eqbKuhnThreeCfrPlusTime"] == "$0.0123$"
    assert "eqbKuhnTwoCfrPlusStatus" not in found
