"""Tables in GitHub's Markdown, and as LaTeX that needs the packages booktabs and graphicx."""

from __future__ import annotations

import re

from markupsafe import Markup

from eqbench.report import read_data, templates
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.text import printable

# An underscore inside a word never means anything.
_MARKDOWN = re.compile(r"[\\`*\[\]{}<>#|~&$]|(?<![^\W_])_|_(?![^\W_])")
# Two hyphens in a row would become a dash, and [ or * at the beginning of a row of a table an
# option of the end of the last.
_LATEX = re.compile(r"^[\[*]|[\\{}$&#_%^~|<>`]|-(?=-)|[^\x20-\x7e]")
_NUMBER = re.compile(r"([-+.…\d]+)(?:e([-+]\d+))?")


def markdown(report: Report) -> str:
    """Text of a report: one section per game, notes as a list below each table."""
    known = templates(_for_markdown, html=False, aligned=_aligned)
    tables = [table.with_payoff_columns() for table in report.tables]
    text = known.get_template("tables.md").render(report=report, tables=tables)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def latex(report: Report) -> str:
    r"""Fragment to ``\input``: one table per game.

    Columns that follow from others are left out, since a page is narrow.
    """
    known = templates(for_latex, html=False, escaped=for_latex, cell=_cell, heads=_heads)
    # exploitability follows from NashConv
    tables = [table.with_payoff_columns().without(2) for table in report.tables]
    return known.get_template("tables.tex").render(report=report, tables=tables)


def macros(report: Report) -> str:
    r"""Fragment with a LaTeX macro for each number, such as ``\eqbKuhnThreeCfrTime``."""
    known = templates(for_latex, html=False, spelled=_spelled, cell=_cell)
    tables = [table.with_payoff_columns() for table in report.tables]
    return known.get_template("macros.tex").render(tables=tables)


def _spelled(text: str) -> str:
    """Letters of a text, with words for digits and some signs."""
    spelled, words = read_data("latex")["spelled"], re.findall(r"([A-Za-z]+)|(.)", text)
    return "".join(word[:1].upper() + word[1:] + spelled.get(sign, "") for word, sign in words)


def _for_markdown(text: str) -> str:
    return _MARKDOWN.sub(lambda match: "\\" + match[0], printable(text))


def for_latex(text: str) -> str:
    """Text without a meaning; characters that pdfTeX may not know are named by code points."""
    known = read_data("latex")
    return _LATEX.sub(lambda m: known.get(m[0], f"[U+{ord(m[0]):04X}]"), printable(text))


def _aligned(table: Table) -> Markup:
    """Lines of a table for Markdown that is readable as plain text too."""
    from rich.cells import cell_len

    columns = []
    for column in table.columns:
        texts = [_for_markdown(column.title) + column.unit]
        for cell in (row.cell(column) for row in table.rows):
            bold = "**" * cell.strong
            texts.append(f"{bold}{_for_markdown(cell.text)}{bold}")
        width = max(3, *map(cell_len, texts))
        spaces = [" " * (width - cell_len(text)) for text in texts]
        sides = (spaces, texts) if column.numeric else (texts, spaces)
        head, *cells = map("".join, zip(*sides, strict=True))
        columns.append([head, "-" * (width - column.numeric) + ":" * column.numeric, *cells])
    return Markup("\n".join(f"| {' | '.join(line)} |" for line in zip(*columns, strict=True)))


def _cell(row: Row, column: Column) -> Markup:
    """A number in Python's notation, such as 1.3e-11, in that of a book; or text."""
    cell = row.cell(column)
    text, found = for_latex(cell.text), _NUMBER.fullmatch(cell.text)
    if found is not None and column.kind in ("small", "seconds", "payoff", "ratio"):
        digits, exponent = found.groups()
        power = rf"\times10^{{{int(exponent)}}}" if int(exponent or 0) else ""
        text = f"${digits}{power}$".replace("…", r"\ldots ")
    return Markup(rf"\textbf{{\boldmath {text}}}" if cell.strong else text)


def _heads(column: Column) -> tuple[str, str]:
    """Heading of a column in two lines, the second with its unit."""
    unit = column.unit.strip()
    if unit and not column.stacked:
        return column.title, unit
    stacked = column.stacked.partition("\n") if column.stacked else column.title.rpartition(" ")
    return stacked[0], f"{stacked[2]} {unit}".strip()
