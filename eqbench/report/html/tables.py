"""Tables of a report as tables of a page: rounded texts to look at, raw values to sort by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from eqbench.report.html.document import Cell, Heading, Table
from eqbench.report.html.heatmap import tone
from eqbench.report.rows import SOLVER, Column, Row
from eqbench.report.rows import Table as Rows
from eqbench.report.terminal import mebibytes, seconds, small
from eqbench.text import printable

_FORMATS = {
    "count": "{:,}".format,
    "small": small,
    "seconds": seconds,
    "bytes": mebibytes,
    "payoff": "{:+z.5f}".format,
}
_UNITS = {"seconds": "in seconds", "bytes": "in bytes", "small": "in payoff units"}


def page_table(
    table: Rows,
    name: str,
    *,
    title: str = "",
    caption: str = "",
    filters: Sequence[str] = (),
    hints: Sequence[str] | None = None,
) -> Table:
    """A table for a page; the solver stands first, where it stays when the table is scrolled.

    Parameters
    ----------
    table : of a report
    name, title, caption, filters : as in :class:`~eqbench.report.html.document.Table`
    hints : what is shown when the status of a row is pointed at
    """
    columns = list(_columns(table))
    hints = hints or [""] * len(table.rows)
    return Table(
        name=name,
        columns=[
            Heading(column.title, column.numeric, _UNITS.get(column.kind, ""), column.stacked)
            for column, _ in columns
        ],
        rows=[
            [_cell(row, column, player, hint) for column, player in columns]
            for row, hint in zip(table.rows, hints, strict=True)
        ],
        caption=caption,
        title=title,
        filters=filters,
    )


def _columns(table: Rows) -> Iterable[tuple[Column, int]]:
    """Columns with the player whose payoff they hold; those of payoffs become one per player."""
    for column in sorted(table.columns, key=lambda column: column.title != SOLVER.title):
        if column.kind == "payoffs":
            for player in range(table.players):
                yield Column(f"P{player + 1}", "payoff"), player
        else:
            yield column, -1


def _cell(row: Row, column: Column, player: int, hint: str) -> Cell:
    value = _value(row, column, player)
    if value is None:
        return Cell("" if column.identifies else "–", None)
    if column.kind == "status":
        return Cell(value, hint=hint, kind=tone(value))
    if column.kind == "words":
        return Cell(printable(" ".join(value)))
    if not column.numeric:
        return Cell(printable(str(value)))
    if value == 0 and column.title in row.exact:
        return Cell("0 exactly", value)
    if value == 0 and column.kind == "small":
        return Cell("0", value)
    if value == 0 and not column.identifies:
        return Cell(_FORMATS.get(column.kind, str)(value), value, kind="faint")
    return Cell(_FORMATS.get(column.kind, str)(value), value)


def _value(row: Row, column: Column, player: int) -> Any:
    if player < 0:
        return row.values.get(column.title)
    payoffs = row.values.get("payoffs") or ()
    return payoffs[player] if player < len(payoffs) else None
