"""Tables as text for a terminal."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from eqbench.report.entries import ALARMING
from eqbench.report.naming import broken
from eqbench.report.rows import FORMATS, Column, Kind, Report, Row, Table
from eqbench.report.screen import Screen
from eqbench.text import printable

TEXT_WIDTH = 150
# The forms of a table, the widest first: up to which rank columns are left out, and what is
# stacked: nothing, headings, payoffs too, or names of equilibria too.
FORMS = (
    *((rank, stacked) for rank in (0, 1, 2) for stacked in (0, 1)),
    (3, 0),
    *((rank, 2) for rank in (2, 3, 4, 5)),
    *((rank, 3) for rank in (5, 6)),
)
_STYLES = {"ok": "green", "limit": "yellow", "timeout": "yellow", "memory": "yellow"}
_STYLES |= {"good": "green", "absent": "yellow", "broken": "red"}  # of what is installed


def print_report(report: Report, console: Console) -> None:
    """Print all tables, each with its notes below, then what is to be said of all."""
    for place, table in enumerate(report.tables):
        if place:
            console.print()
        topic = f": {table.topic}" if table.topic else ""
        if table.title:
            console.print(Text(printable(table.title + topic), style="bold"))
        for line in table.lines:
            console.print(Text(printable(line)))
        shown = _print_rows(table, console) if table.rows else table
        for note in shown.remarks:
            console.print(Text(note, style="dim"))
    closing = [note for note in (report.legend, *report.notes) if note]
    if closing and report.tables:
        console.print()
    for note in closing:
        console.print(Text(note, style="dim"))


def plain_text(render: Callable[[Console], None], width: int = TEXT_WIDTH) -> str:
    """What `render` prints, without colors and without spaces at the ends of lines."""
    console = Screen(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        render(console)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _print_rows(table: Table, console: Console) -> Table:
    """Print the widest form that fits; return the table with the columns that it has.

    A number is never cut off.
    """
    # cells of these kinds may have several lines
    stacks = any(c.stacked or c.kind in ("payoffs", "words") for c in table.columns)
    forms = ((table.without(rank).columns, stacked * stacks) for rank, stacked in FORMS)
    unbounded = console.options.update(max_width=10_000)
    for columns, stacked in dict.fromkeys(forms):
        kept = replace(table, columns=columns)
        form = RichTable(box=None, padding=(0, 1, 0, 0))
        for column in columns:
            header = column.stacked if stacked and column.stacked else column.title
            form.add_column(header, justify="right" if column.numeric else "left", no_wrap=True)
        for row in table.rows:
            form.add_row(*(cell(row, column, stacked) for column in columns))
        if Measurement.get(console, unbounded, form).maximum <= console.width:
            console.print(form)
            if missing := [column.title for column in table.columns if column not in columns]:
                text = f"not shown at this width: {', '.join(missing)}"
                console.print(Text(text, style="dim"))
            return kept
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


def cell(row: Row, column: Column, stacked: int = 0) -> Text:
    """A value as a reader sees it; `stacked` as in `FORMS`."""
    value = row.values[column.title]
    if value is None:
        return Text("" if column.identifies else "–")
    if column.kind == "status":
        style = "red" if value in ALARMING else _STYLES.get(value, "dim")
        return Text(printable(value), style)
    between = "\n" if stacked > 1 else " "
    if column.kind == "payoffs":
        return Text(between.join(u if isinstance(u, str) else format(u, "+z.5f") for u in value))
    if column.kind == "words":
        words = between.join(map(printable, value))
        return Text(broken(words) if stacked > 2 else words)
    if value == 0 and column.title in row.exact:
        return Text("0 exactly")
    if column.kind in ("number", "payoff"):
        return Text(value if isinstance(value, str) else format(value, column.layout))
    return Text(_FORMATS[column.kind](value))


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


small = FORMATS["small"]  # regrets reach from rounding errors to whole pots
_FORMATS: dict[Kind, Callable[[Any], str]] = {
    **FORMATS,
    "text": lambda value: printable(str(value)),
    "seconds": seconds,
    "bytes": mebibytes,
}
