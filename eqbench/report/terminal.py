"""Tables as text for a terminal."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from eqbench.report.entries import STATUSES
from eqbench.report.naming import listing
from eqbench.report.rows import FORMATS, Column, Report, Row, Table, text_of
from eqbench.report.screen import Screen
from eqbench.text import printable

TEXT_WIDTH = 150
LEAST_NAMES = 24  # characters of a column of names, which has lines where there is no space for it
_STYLES = {status: facts["style"] for status, facts in STATUSES.items()}
_STYLES |= {"good": "green", "absent": "yellow", "broken": "red"}  # of what is installed


def print_report(report: Report, console: Console, *, answer_first: bool = False) -> None:
    """Print all tables, each with its notes below, what is to be said of all, and the answer.

    The answer comes last, since the end is what a terminal shows, or first in a file.
    """
    answer = [Text(printable(sentence), style="bold") for sentence in report.answer]
    if answer_first and answer:
        console.print(*answer, "", sep="\n")
    said: set[str] = set()
    for place, table in enumerate(report.tables):
        if place:
            console.print()
        if table.title:
            console.print(Text(printable(table.heading), style="bold"))
        for line in table.lines:
            console.print(Text(printable(line)))
        shown = _print_rows(table, console) if table.rows else table
        reading = "; ".join(note for note in shown.reading if note not in said)
        said.update(shown.reading)
        for note in (*shown.notes, *([reading] if reading else [])):
            console.print(Text(note, style="dim"))
    closing = [note for note in (report.legend, *report.notes) if note]
    if closing and report.tables:
        console.print()
    for note in closing:
        console.print(Text(note, style="dim"))
    if answer and not answer_first:
        console.print("", *answer, sep="\n")


def plain_text(render: Callable[[Console], None], width: int = TEXT_WIDTH) -> str:
    """What `render` prints, without colors and without spaces at the ends of lines."""
    console = Screen(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        render(console)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _print_rows(table: Table, console: Console) -> Table:
    """Print the widest form that fits, in one line per row; return the table as it is shown.

    Columns are left out one rank after the other; a number is never cut off. Only the last
    column may have lines, if it is one of names.
    """
    last = max((column.dispensable for column in table.columns), default=0)
    forms = [(rank, form) for rank in range(last + 1) for form in ({}, {"stacked": True})]
    for rank, form in [*forms, (last, {"stacked": True, "brief": True})]:
        shown = table.without(rank)
        grid = _grid(shown, console, **form)
        if _width(grid, console) <= console.width:
            console.print(grid)
            if missing := [c.title for c in table.columns if c not in shown.columns]:
                text = f"not shown at this width: {', '.join(missing)}"
                console.print(Text(text, style="dim"))
            return shown
    if table.narrow is not None:
        return _print_rows(table.narrow, console)
    for row in table.rows:
        facts = [
            f"{column.title} {cell(row, column).plain}"
            for column in table.columns
            if not column.identifies
        ]
        console.print(Text(row.label, style="bold"))
        console.print(Padding(Text(", ".join(facts)), (0, 0, 0, 2)))
    return table


def _grid(
    table: Table, console: Console, *, stacked: bool = False, brief: bool = False
) -> RichTable:
    """The table with headings in one or two lines; a column of names gets the space at its end.

    Where it is brief only the first of several words is shown, up to a comma.
    """
    *others, last = table.columns
    left = console.width
    if last.kind == "names":
        fixed = replace(table, columns=tuple(others))
        left = max(LEAST_NAMES, left - _width(_grid(fixed, console, stacked=stacked), console) - 1)
    grid = RichTable(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for column in table.columns:
        header = column.stacked if stacked and column.stacked else column.title
        grid.add_column(header, justify="right" if column.numeric else "left", no_wrap=True)
    for row in table.rows:
        grid.add_row(*(cell(row, column, left, brief=brief) for column in table.columns))
    return grid


def _width(grid: RichTable, console: Console) -> int:
    return Measurement.get(console, console.options.update(max_width=10_000), grid).maximum


def cell(row: Row, column: Column, width: int = 10_000, *, brief: bool = False) -> Text:
    """Value in a column, in lines of `width` if these are names."""
    value, text = row.values.get(column.title), printable(text_of(row, column))
    if value is None:
        return Text(text)
    match column.kind:
        case "status":
            return Text(text, _STYLES.get(value, "dim"))
        case "found" if brief:
            return Text(printable(" ".join(listing([w.partition(",")[0] for w in value], 1))))
        case "names":  # a name is not broken at its own spaces
            names = ", ".join(printable(name).replace(" ", "\u00a0") for name in value)
            lines = textwrap.wrap(names, width, break_long_words=False, break_on_hyphens=False)
            return Text("\n".join(lines).replace("\u00a0", " "))
        case "payoff" if not isinstance(value, str):
            return Text(format(value, column.layout))
        case "seconds":
            return Text(seconds(value))
        case "bytes":
            return Text(mebibytes(value))
    return Text("0 exactly" if value == 0 and column.title in row.exact else text)


small = FORMATS["small"]


def seconds(value: float | None) -> str:
    """A duration with its unit."""
    if value is None:
        return "–"
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.1f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def duration(seconds: float) -> str:
    """A long duration with its unit."""
    if 0 < seconds < 1:
        return "less than 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def mebibytes(value: int | None) -> str:
    """A size in MiB."""
    return "–" if value is None else f"{value / 2**20:.0f} MiB"
