"""Tables in GitHub's Markdown, aligned so that they are readable as plain text too."""

from __future__ import annotations

import re

from markupsafe import Markup
from rich.cells import cell_len

from eqbench.report import templates
from eqbench.report.rows import Column, Report, Table
from eqbench.text import printable

# An underscore inside a word never means anything.
_SPECIAL = re.compile(r"[\\`*\[\]{}<>#|~&$]|(?<![^\W_])_|_(?![^\W_])")


def markdown(report: Report) -> str:
    """Text of a report: one section per game, notes as a list below each table."""
    known = templates(escaped, html=False, aligned=_aligned)
    tables = [table.with_payoff_columns() for table in report.tables]
    text = known.get_template("tables.md").render(report=report, tables=tables)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def escaped(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], printable(text))


def _aligned(table: Table) -> Markup:
    """Lines of a table, in which every column has one width."""
    columns = [_filled(table, column) for column in table.columns if table.rows]
    return Markup("\n".join(f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True)))


def _filled(table: Table, column: Column) -> list[str]:
    texts = [escaped(column.title) + column.unit]
    texts += [escaped(row.cell(column).text) for row in table.rows]
    width = max(3, *map(cell_len, texts))
    spaces = [" " * (width - cell_len(text)) for text in texts]
    pairs = zip(spaces, texts, strict=True) if column.numeric else zip(texts, spaces, strict=True)
    head, *cells = map("".join, pairs)
    return [head, "-" * (width - column.numeric) + ":" * column.numeric, *cells]
