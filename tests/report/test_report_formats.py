"""Tables in Markdown, CSV and LaTeX parse back, align, and survive every special character."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.pages import check_latex, latex_to_text, markdown_tables
from helpers.runs import cell, run_of, without_figures

from eqbench.report.cells import report_on, results_csv
from eqbench.report.formats import for_latex, latex, macros, markdown
from eqbench.report.rows import Report, Table
from eqbench.store.stored_run import StoredRun, read_run
from eqbench.text import printable

STORED = sorted((Path(__file__).parents[1] / "golden" / "runs").iterdir())


@pytest.fixture(params=STORED, ids=[folder.name for folder in STORED])
def run(request: pytest.FixtureRequest) -> StoredRun:
    return read_run(request.param)


def texts(table: Table) -> Sequence[list[str]]:
    """Cells of a table, as any format has them."""
    return [[printable(row.cell(c).text).strip() for c in table.columns] for row in table.rows]


@pytest.mark.parametrize("summarize", [False, True])
def test_tables_parse_back_cell_by_cell(run: StoredRun, *, summarize: bool) -> None:
    report = report_on([run], summarize=summarize)
    tables = [table.with_payoff_columns() for table in report.tables if table.rows]
    for table, (head, _, *rows) in zip(tables, markdown_tables(markdown(report)), strict=True):
        assert head == [column.title + column.unit for column in table.columns]
        assert [*map(len, rows)] == [len(head)] * len(table.rows)
        assert rows == texts(table)
    for table, rows in zip(tables, check_latex(latex(report)), strict=True):
        narrow = table.without(2)
        assert [*map(len, rows)] == [len(narrow.columns)] * (2 + len(table.rows))
        for found, row in zip(rows[2:], texts(narrow), strict=True):
            for part, text in zip(found, row, strict=True):
                plain = latex_to_text(re.sub(r"\{([\[*])\}", r"\1", part))
                assert plain == text or re.fullmatch(r"\$[-+.…\d\\a-z^{} ]+\$", part), part


def test_run_without_rows_has_no_table() -> None:
    report = report_on([run_of(without_figures("01", status="unsupported"))], summarize=True)
    assert check_latex(latex(report)) == markdown_tables(markdown(report)) == []
    assert "do not take this game" in latex(report)


def test_csv_has_the_numbers_of_the_store_exactly(run: StoredRun) -> None:
    rows = list(csv.DictReader(io.StringIO(results_csv([run]), newline=""), strict=True))
    assert len(rows) == len(run.cells)
    for row, record in zip(rows, run.cells, strict=True):
        assert row["key"] == record.key
        for name in ("elapsed_s", "nash_conv", "max_regret", "target"):
            value = getattr(record, name)
            assert row[name] == "" if value is None else float(row[name]) == value
        for name in ("payoff", "regret"):
            written = [row[f"{name}_P{p + 1}"] for p in range(2)]
            values = getattr(record, f"{name}s")
            assert written == ["", ""] if values is None else [*map(float, written)] == values[:2]


def test_latex_names_characters_that_pdftex_need_not_know() -> None:
    assert for_latex("λ – 3 µs 1\u00a0s --resume") == "[U+03BB] -- 3 $\\mu$s 1~s -{}-resume"


def macros_of(report: Report) -> dict[str, str]:
    """Macros by name, all of which LaTeX can take, and none of which is there twice."""
    text = macros(report)
    check_latex(text)
    found = re.findall(r"^\\newcommand\{\\(\w+)\}\{(.*)\}%.*$", text, re.MULTILINE)
    assert all(re.fullmatch("eqb[A-Za-z]+", name) for name, _ in found)
    assert len(dict(found)) == len(found) == len(text.splitlines()) - 1
    return dict(found)


@pytest.mark.parametrize("summarize", [False, True])
def test_every_number_is_a_macro_with_a_name_of_letters_that_no_other_has(
    run: StoredRun, *, summarize: bool
) -> None:
    alike = (cell(f"{n}", solver=each, solver_spec=each) for n, each in enumerate(("x-y", "x_y")))
    report = report_on([run, run_of(*alike)], summarize=summarize)
    tables = [table.with_payoff_columns() for table in report.tables]
    cells = [row.cell(c) for t in tables for row in t.rows for c in t.columns if c.numeric]
    assert len(macros_of(report)) == sum(cell.value is not None for cell in cells)
