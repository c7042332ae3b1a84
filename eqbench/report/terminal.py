"""Tables as text for a terminal, and the console that they are printed to."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from eqbench.report.entries import STATUSES
from eqbench.report.naming import listing
from eqbench.report.rows import FORMATS, Column, Report, Row, Table, text_of
from eqbench.text import printable, printable_lines

TEXT_WIDTH = 150
LEAST_NAMES = 24  # characters of a column of names, which has lines where there is no space for it
_STYLES = {status: facts["style"] for status, facts in STATUSES.items()}
_STYLES |= {"good": "green", "absent": "yellow", "broken": "red"}  # of what is installed


class Screen(Console):
    """A console for texts from outside.

    It reads no markup, and of the texts that are printed only line breaks and what is printable
    gets out; codes for colors are its own. A table measures a `rich.text.Text` before that, so
    one from outside is best made printable at once, or handed over as a plain string.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable_lines(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # a segment with control codes is rich's own, for example one that moves the cursor
            yield (
                segment if segment.control else segment._replace(text=printable_lines(segment.text))
            )


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

    Columns are left out one rank after the other; a number is never cut off. Headings may have two
    lines, and only in the narrowest form just the first of several equilibria is named.
    """
    last = max((column.dispensable for column in table.columns), default=0)
    forms = [(rank, stacked, False) for rank in range(last + 1) for stacked in (False, True)]
    for rank, stacked, brief in [*forms, (last, True, True)]:
        shown = table.without(rank)
        if grid := _grid(shown, console.width, stacked=stacked, brief=brief):
            console.print(grid)
            if missing := [c.title for c in table.columns if c not in shown.columns]:
                text = f"not shown at this width: {', '.join(missing)}"
                console.print(Text(text, style="dim"))
            return shown
    if table.narrow is not None:
        return _print_rows(table.narrow, console)
    for row in table.rows:
        others = [column for column in table.columns if not column.identifies]
        facts = [f"{column.title} {cell(row, column).plain}" for column in others]
        console.print(Text(row.label, style="bold"))
        console.print(Padding(Text(", ".join(facts)), (0, 0, 0, 2)))
    return table


def _grid(table: Table, width: int, *, stacked: bool, brief: bool) -> RichTable | None:
    """The table, if it fits; a last column of names has lines in the space that is left."""
    grid = RichTable(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    columns, used = [], 0
    for column in table.columns:
        header = column.stacked if stacked and column.stacked else column.title
        left = max(LEAST_NAMES, width - used)
        columns.append([cell(row, column, left, brief=brief) for row in table.rows])
        grid.add_column(header, justify="right" if column.numeric else "left", no_wrap=True)
        lines = "\n".join([header, *map(str, columns[-1])]).split("\n")
        used += max(map(cell_len, lines)) + 1
    for cells in zip(*columns, strict=True):
        grid.add_row(*cells)
    return grid if used - 1 <= width else None


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
