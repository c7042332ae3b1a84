"""Tables in GitHub's Markdown, aligned so that they are readable as plain text too."""

from __future__ import annotations

import re

from rich.cells import cell_len

from eqbench.report.rows import Report, Table, text_of
from eqbench.text import printable

# An underscore inside a word never means anything.
_SPECIAL = re.compile(r"[\\`*\[\]{}<>#|~&$]|(?<![^\W_])_|_(?![^\W_])")


def markdown(report: Report) -> str:
    """Text of a report: one section per game, notes as a list below each table."""
    sections = ["".join(f"- {escaped(sentence)}\n" for sentence in report.answer)]
    sections += [_section(table.with_payoff_columns()) for table in report.tables]
    sections += [f"{escaped(note)}\n" for note in (report.legend, *report.notes) if note]
    return "\n".join(filter(None, sections))


def escaped(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], printable(text))


def _section(table: Table) -> str:
    head = [escaped(column.title) + column.unit for column in table.columns]
    body = [[escaped(text_of(row, column)) for column in table.columns] for row in table.rows]
    widths = [max(3, *map(cell_len, cells)) for cells in zip(head, *body, strict=True)]
    right = [column.numeric for column in table.columns]
    rule = ["-" * (width - r) + ":" * r for width, r in zip(widths, right, strict=True)]
    lines = [_line(cells, widths, right) for cells in (head, rule, *body) if table.rows]
    notes = [f"- {escaped(note)}" for note in table.remarks]
    said = [text for line in table.lines for text in (escaped(line), "")]
    return "\n".join(
        [f"### {escaped(table.heading)}", "", *said, *lines, "", *notes, *([""] * bool(notes))]
    )


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = []
    for cell, width, at_right in zip(cells, widths, right, strict=True):
        space = " " * (width - cell_len(cell))
        padded.append(space + cell if at_right else cell + space)
    return f"| {' | '.join(padded)} |"
