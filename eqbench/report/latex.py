"""Tables as a LaTeX fragment that needs nothing but the package booktabs."""

from __future__ import annotations

import re

from markupsafe import Markup

from eqbench.report import read_data, templates
from eqbench.report.rows import Column, Report, Row
from eqbench.text import printable

# Two hyphens in a row would become a dash.
_SPECIAL = re.compile(r"[\\{}$&#_%^~|<>`]|-(?=-)|[^\x20-\x7e]")
_NUMBER = re.compile(r"([-+.…\d]+)(?:e([-+]\d+))?")


def latex(report: Report) -> str:
    r"""Fragment to ``\input``: one table per game.

    Columns that follow from others are left out, since a page is narrow.
    """
    known = templates(escaped, html=False, escaped=escaped, cell=_cell)
    # exploitability follows from NashConv
    tables = [table.with_payoff_columns().without(2) for table in report.tables]
    return known.get_template("tables.tex").render(report=report, tables=tables)


def escaped(text: str) -> str:
    """Text in which no character means anything to LaTeX.

    Characters that pdfTeX may not know are named by their code points.
    """
    known = read_data("latex")
    return _SPECIAL.sub(lambda m: known.get(m[0], f"[U+{ord(m[0]):04X}]"), printable(text))


def _cell(row: Row, column: Column) -> Markup:
    """A number in Python's notation, such as 1.3e-11, in that of a book; or text."""
    text = row.cell(column).text
    found = _NUMBER.fullmatch(text)
    if found is None or column.kind not in ("small", "seconds", "payoff"):
        return Markup(escaped(text))
    digits, exponent = found.groups()
    power = rf"\times10^{{{int(exponent)}}}" if int(exponent or 0) else ""
    return Markup(f"${digits}{power}$".replace("…", r"\ldots "))
