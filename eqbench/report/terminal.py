"""Tables as text for a terminal, and the console that they are printed to."""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from eqbench.errors import first_of
from eqbench.report.rows import Column, Report, Row, Table, with_notes
from eqbench.text import printable, printable_lines

TEXT_WIDTH, UNKNOWN_WIDTH = 150, 80
LEAST_NAMES = 24  # characters of a column of names, which has lines where there is no space for it
_STYLES = {"good": "green", "fair": "yellow", "bad": "red", "idle": "dim"}

Block = list[RenderableType]  # one below the other


class Screen(Console):
    """A console for texts from outside: no markup, and only what is printable gets out.

    A table measures a `rich.text.Text` before that, so one from outside has to be printable.
    """

    def __init__(self, **options: Any) -> None:
        if os.environ.get("COLUMNS") == "0":  # unknown, as elsewhere; rich takes it for the width
            options.setdefault("width", UNKNOWN_WIDTH)
        super().__init__(markup=False, highlight=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable_lines(text), **options)

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        for each in super().render(*args, **options):
            # a segment with control codes is rich's own, for example one that moves the cursor
            yield each if each.control else each._replace(text=printable_lines(each.text))


def print_report(report: Report, console: Console, *, answer_first: bool = False) -> None:
    """Print all tables, the notes on a game below its last one, remarks on all, and the answer.

    The key of a table's marks stands below its rows. The answer comes last, since the end is what a
    terminal shows, or first in a file.
    """
    answer: Block = [Text(printable(sentence), style="bold") for sentence in report.answer]
    closing = _small(*report.notes)
    sections: list[Block] = []
    fitted = [_fitting(own, console.width) if own.rows else (own, []) for own in report.tables]
    noted = with_notes([table for table, _ in fitted])
    for (_, rows), (table, below, later) in zip(fitted, noted, strict=True):
        title: Block = [Text(printable(table.heading), style="bold")] if table.title else []
        lines: Block = [Text(printable(line)) for line in table.lines]
        sections += [[*title, *lines, *rows, *_small(*below)], _small(*later)]
    blocks = [answer, *sections, closing] if answer_first else [*sections, closing, answer]
    for place, block in enumerate(filter(None, blocks)):
        for part in ["", *block] if place else block:
            console.print(part)


def _small(*notes: str) -> Block:
    return [Text(printable(note), style="dim") for note in notes]


def plain_text(render: Callable[[Console], None], width: int = TEXT_WIDTH) -> str:
    """What `render` prints, without colors and without spaces at the ends of lines."""
    console = Screen(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        render(console)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _fitting(table: Table, width: int) -> tuple[Table, Block]:
    """The widest form that fits, in one line per row, and the table as it is shown.

    Columns are left out one rank after the other; a number is never cut off. If `brief` is 1
    verdicts are their counts, if 2 headings have two lines too, if 3 one equilibrium is named,
    which is tried before a verdict is left out last.
    """
    last = max(column.dispensable for column in table.columns)
    forms = [(rank, brief) for rank in range(last + 1) for brief in range(3)]
    if last and any(c.kind == "verdict" and c.dispensable == last for c in table.columns):
        forms.insert(-3, (last - 1, 3))
    for rank, brief in [*forms, (last, 3)]:
        shown = table.without(rank)
        if grid := _grid(shown, width, brief):
            missing = ", ".join(c.title for c in table.columns if c not in shown.columns)
            note = Text(f"not shown at this width: {missing}", style="dim")
            return shown, [grid, note] if missing else [grid]
    others = [column for column in table.columns if not column.identifies]
    parts: Block = [Text(printable(others[0].title))] if len(others) == 1 else []
    for row in table.rows:
        named = ((f"{c.title} " * (len(others) > 1), str(_text(row, c))) for c in others)
        facts = ", ".join(f"{name}{text.strip()}" for name, text in named if text)
        line = f"{printable(row.label)}: {facts}"
        parts.append(Text(_folded(line, width, subsequent_indent="  ")))
    return table, parts


def _grid(table: Table, width: int, brief: int) -> RichTable | None:
    """The table, if it fits; a last column of names has lines in the space that is left."""
    grid = RichTable(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    columns: list[list[Text]] = []
    left = width + 1
    for column in table.columns:
        header = column.stacked if brief > 1 and column.stacked else column.title
        cells = [_text(row, column, max(LEAST_NAMES, left - 1), brief=brief) for row in table.rows]
        grid.add_column(header, justify="right" if column.numeric else "left", no_wrap=True)
        columns.append(cells)
        lines = "\n".join([header, *map(str, cells)]).split("\n")
        left -= max(map(cell_len, lines)) + 1
    for row in zip(*columns, strict=True):
        grid.add_row(*row)
    return grid if left >= 0 else None


def _text(row: Row, column: Column, width: int = 10_000, *, brief: int = 0) -> Text:
    """Value in a column, in lines of `width` if these are names."""
    cell, value = row.cell(column, with_unit=True), row.values.get(column.title)
    text = printable(cell.text)
    if brief and column.kind == "verdict":
        text = text.partition(",")[0]
    elif brief > 2 and value and column.kind == "found":
        text = printable(first_of([name.partition(",")[0] for name in value], 1))
    elif value and column.kind == "names":  # a name is not broken at its own spaces
        names = ", ".join(printable(name).replace(" ", "\u00a0") for name in value)
        text = _folded(names, width).replace("\u00a0", " ")
    return Text(text, f"{_STYLES.get(cell.kind, '')}{' bold' * cell.strong}".strip())


_folded = partial(textwrap.fill, break_long_words=False, break_on_hyphens=False)
