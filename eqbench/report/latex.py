"""Tables as a LaTeX fragment that needs nothing but the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from eqbench.report.rows import Column, Report, Row
from eqbench.text import printable

_NAMES = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "`": "asciigrave"}
_NAMES |= {"|": "bar", "<": "less", ">": "greater"}
_SYMBOLS = {"×": "times", "≈": "approx", "α": "alpha", "β": "beta", "…": "ldots"}
_ESCAPES = {
    **{char: f"\\{char}" for char in "{}$&#_%"},
    **{char: rf"\text{name}{{}}" for char, name in _NAMES.items()},
    **{char: rf"$\{name}$" for char, name in _SYMBOLS.items()},
    **{"-": r"-{}", "–": "--", "\u00a0": "~"},
}
# Two hyphens in a row would become a dash.
_NUMBER = re.compile(r"([-+.…\d]*\d)(?:e([-+]\d+))?")
_SPECIAL = re.compile(r"[\\{}$&#_%^~|<>`]|-(?=-)|[^\x20-\x7e]")


def latex(report: Report) -> str:
    r"""Fragment to ``\input``: one table per game.

    Columns that follow from others are left out, since a page is narrow.
    """
    environment = Environment(
        *("<%", "%>", "<<", ">>"),  # braces are LaTeX's own
        loader=PackageLoader("eqbench.report", ""),
        undefined=StrictUndefined,
        autoescape=False,  # what is not LaTeX is escaped by a filter
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"escaped": escaped, "headings": _headings, "cell": _cell}
    # exploitability follows from NashConv
    tables = [table.with_payoff_columns().without(2) for table in report.tables]
    return environment.get_template("tables.tex").render(report=report, tables=tables)


def escaped(text: str) -> str:
    """Text in which no character means anything to LaTeX.

    Characters that pdfTeX may not know are named by their code points.
    """
    return _SPECIAL.sub(
        lambda match: _ESCAPES.get(match[0], f"[U+{ord(match[0]):04X}]"), printable(text)
    )


def _headings(columns: Sequence[Column]) -> list[list[str]]:
    """Headings in up to two lines, the unit on the second."""
    titles = [(escaped(column.title), column.unit.strip()) for column in columns]
    pairs = [(title, unit) if unit else title.rpartition(" ")[::2] for title, unit in titles]
    return [list(line) for line in zip(*pairs, strict=True) if any(line)]


def _cell(row: Row, column: Column) -> str:
    """A number in Python's notation, such as 1.3e-11, in that of a book; or text."""
    text = row.cell(column).text
    found = _NUMBER.fullmatch(text)
    if found is None or column.kind not in ("small", "seconds", "payoff"):
        return escaped(text)
    digits, exponent = found.groups()
    power = rf"\times10^{{{int(exponent)}}}" if int(exponent or 0) else ""
    return f"${digits}{power}$".replace("…", r"\ldots ")
