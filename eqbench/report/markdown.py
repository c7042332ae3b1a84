"""Tables in GitHub's Markdown, aligned so that they are readable as plain text too."""

from __future__ import annotations

import re

from rich.cells import cell_len

from eqbench.report.rows import FORMATS, Column, Report, Row, Table
from eqbench.text import printable

# An underscore inside a word never means anything.
_SPECIAL = re.compile(r"[\\`*\[\]{}<>#|~&$]|(?<![^\W_])_|_(?![^\W_])")


def markdown(report: Report) -> str:
    """Text of a report: one section per game, notes as a list below each table."""
    sections = [f"{escaped(' '.join(report.answer))}\n"] if report.answer else []
    sections += [_section(table.with_payoff_columns()) for table in report.tables]
    sections += [f"{escaped(note)}\n" for note in (report.legend, *report.notes) if note]
    return "\n".join(sections)


def escaped(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], printable(text))


def _section(table: Table) -> str:
    head = [escaped(column.title) + column.unit for column in table.columns]
    body = [[_cell(row, column) for column in table.columns] for row in table.rows]
    widths = [max(3, *map(cell_len, cells)) for cells in zip(head, *body, strict=True)]
    right = [column.numeric for column in table.columns]
    rule = ["-" * (width - r) + ":" * r for width, r in zip(widths, right, strict=True)]
    lines = [_line(cells, widths, right) for cells in (head, rule, *body) if table.rows]
    notes = [f"- {escaped(note)}" for note in table.remarks]
    title = table.title + (f": {table.topic}" if table.topic else "")
    said = [text for line in table.lines for text in (escaped(line), "")]
    return "\n".join(
        [f"### {escaped(title)}", "", *said, *lines, "", *notes, *([""] * bool(notes))]
    )


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = []
    for cell, width, at_right in zip(cells, widths, right, strict=True):
        space = " " * (width - cell_len(cell))
        padded.append(space + cell if at_right else cell + space)
    return f"| {' | '.join(padded)} |"


def _cell(row: Row, column: Column) -> str:
    value = row.values.get(column.title)
    if value is None:
        return "" if column.identifies else "–"
    if column.kind == "number":
        return escaped(value) if isinstance(value, str) else format(value, column.layout)
    if column.kind in ("words", "names"):
        return escaped((" " if column.kind == "words" else ", ").join(value))
    return FORMATS.get(column.kind, escaped)(value)
