"""Tables in GitHub's Markdown, aligned so that they are readable as plain text too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from eqbench.report.rows import Column, Report, Table
from eqbench.text import printable

# An underscore inside a word never means anything.
_SPECIAL = re.compile(r"[\\`*\[\]{}<>#|~&$]|(?<![^\W_])_|_(?![^\W_])")


def markdown(report: Report) -> str:
    """Text of a report: one section per game, notes as a list below each table."""
    sections = ["".join(f"- {escaped(sentence)}\n" for sentence in report.answer)]
    sections += ["\n".join(_section(table.with_payoff_columns())) for table in report.tables]
    sections += [f"{escaped(note)}\n" for note in (report.legend, *report.notes) if note]
    return "\n".join(filter(None, sections))


def escaped(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], printable(text))


def _section(table: Table) -> Iterator[str]:
    yield from (f"### {escaped(table.heading)}", "")
    for line in table.lines:
        yield from (escaped(line), "")
    if table.rows:
        columns = [_aligned(table, column) for column in table.columns]
        yield from (f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True))
    yield ""
    notes = [f"- {escaped(note)}" for note in table.remarks]
    yield from [*notes, ""] if notes else []


def _aligned(table: Table, column: Column) -> list[str]:
    """A column from its heading to its last row, all equally wide."""
    texts = [escaped(column.title) + column.unit]
    texts += [escaped(row.cell(column).text) for row in table.rows]
    width = max(3, *map(cell_len, texts))
    spaces = [" " * (width - cell_len(text)) for text in texts]
    sides = (spaces, texts) if column.numeric else (texts, spaces)
    head, *cells = map("".join, zip(*sides, strict=True))
    return [head, "-" * (width - column.numeric) + ":" * column.numeric, *cells]
