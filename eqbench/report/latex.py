"""Tables as a LaTeX fragment that needs nothing but the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from eqbench.report.rows import Column, Report, Row, Table, text_of
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
_SPECIAL = re.compile(r"[\\{}$&#_%^~|<>`]|-(?=-)|[^\x20-\x7e]")


def latex(report: Report) -> str:
    r"""Fragment to ``\input``: one table per game.

    Columns that follow from others are left out, since a page is narrow.
    """
    head = "% Needs \\usepackage{booktabs}; \\input this file where the tables shall stand.\n"
    head += "".join(f"{escaped(sentence)}\\par\n" for sentence in report.answer)
    if not report.tables:
        return head + "".join(f"{escaped(note)}\\par\n" for note in report.notes)
    return "\n".join([head, *(_environment(table, report.notes) for table in report.tables)])


def escaped(text: str) -> str:
    """Text in which no character means anything to LaTeX.

    Characters that pdfTeX may not know are named by their code points.
    """
    return _SPECIAL.sub(
        lambda match: _ESCAPES.get(match[0], f"[U+{ord(match[0]):04X}]"), printable(text)
    )


def _environment(table: Table, notes: Sequence[str]) -> str:
    # a page has no space for more: exploitability follows from NashConv
    table = table.with_payoff_columns().without(2)
    alignment = "".join("r" if column.numeric else "l" for column in table.columns)
    # a spec has no spaces where its line could be broken
    title = escaped(table.title).replace(",", r",\allowbreak{}")
    topic = f": {escaped(table.topic)}" if table.topic else ""
    caption = f"\\texttt{{{title}}}{topic}. {escaped(table.legend)}".rstrip()
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        r"\scriptsize",
        r"\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{@{{}}{alignment}@{{}}}}",
        r"\toprule",
        *(_line(row) for row in zip(*map(_heading, table.columns), strict=True) if any(row)),
        r"\midrule",
        *(_line(_cell(row, column) for column in table.columns) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(
            rf"\par\smallskip\parbox{{\linewidth}}{{\raggedright {escaped(note)}}}"
            for note in (*table.remarks, *notes)
        ),
        r"\end{table}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _heading(column: Column) -> tuple[str, str]:
    """Heading in two lines, the unit on the second."""
    title = escaped(column.title)
    first, _, second = title.rpartition(" ")
    return (title, column.unit.strip()) if column.unit else (first, second)


def _cell(row: Row, column: Column) -> str:
    text = text_of(row, column)
    if column.kind not in ("small", "seconds", "payoff") or row.values.get(column.title) is None:
        return escaped(text)
    # a number in Python's notation, such as 1.3e-11, in that of a book
    digits, _, exponent = text.partition("e")
    power = rf"\times10^{{{int(exponent)}}}" if exponent and int(exponent) else ""
    return f"${digits}{power}$".replace("…", r"\ldots ")
