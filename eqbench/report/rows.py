"""Tables of a report: columns of a kind, rows of values, and how a value reads in any format.

Values of the kind `payoffs` are lists with one number per player. Those of the kind `names` are
lists of texts, in several lines where space is short, and those of the kind `found` too, of which
the first few are shown. A `verdict` is a text of which the part before the first comma is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, get_args
from urllib.parse import quote

from eqbench.errors import first_of
from eqbench.report import read_data
from eqbench.text import seconds, small

Words = Literal["text", "status", "found", "names", "verdict"]
Number = Literal["count", "small", "number", "ratio", "payoffs", "payoff", "seconds", "bytes"]
Kind = Words | Number

TONES = {status: facts["tone"] for status, facts in read_data("statuses").items()}
TONES |= {"good": "good", "absent": "fair", "broken": "bad"}  # of what is installed


def mebibytes(value: int | None) -> str:
    """A size in MiB."""
    return "–" if value is None else f"{value / 2**20:.0f} MiB"


# Values as bare numbers, for where the unit stands in the heading.
FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "found": lambda names: first_of(names, 3 if len(names) <= 3 else 1),
    "names": ", ".join,
    "count": "{:,}".format,
    "small": small,
    "number": "{:.9g}".format,
    "ratio": lambda value: f"{value:.2f}" if 0.1 <= value < 1000 else f"{value:.2g}",
    "payoff": lambda value: value if isinstance(value, str) else f"{value:+z.5f}",
    "payoffs": lambda values: " ".join(map(FORMATS["payoff"], values)),
    "seconds": lambda value: f"{value:.0f}" if value >= 100 else f"{value:#.3g}",
    "bytes": lambda value: f"{value / 2**20:.0f}",
}
_WITH_UNITS = FORMATS | {"seconds": seconds, "bytes": mebibytes}
_UNITS = {"seconds": " (s)", "bytes": " (MiB)"}


def address_of(link: str) -> str:
    """A link of a page, quoted: ``#anchor``, or a relative path, after ``.html`` with an anchor.

    Anything else, such as an address with a scheme, is a `ValueError`.
    """
    page, sign, anchor = link.rpartition("#")
    if not sign or (page and not page.endswith(".html")):
        page, sign, anchor = link, "", ""  # a # in the name of a file
    if page.startswith("/") or ":" in page.partition("/")[0]:
        raise ValueError(
            f"{link!r} is not a link for a page: give #anchor, or a path relative to the page, "
            "which begins with no / and has no : before its first /"
        )
    return quote(page) + sign + quote(anchor)


@dataclass(frozen=True)
class Cell:
    """A cell as it is shown, in place of a value that does not say it all."""

    text: str  #: may have line breaks
    value: float | str | None = ""  #: by which pages sort, None last; the text unless given
    hint: str = ""  #: what a page shows when it is pointed at
    kind: str = ""  #: good, fair, bad, idle or faint: a color, of which the text says the same
    link: str = ""  #: of a page, as `address_of` takes it
    anchor: str = ""  #: by which pages link to it; unique on the page


EXACT_ZERO = Cell("0 exactly", 0.0)


@dataclass(frozen=True)
class Column:
    """A column; its title is also the key of its values."""

    title: str
    kind: Kind = "text"
    stacked: str = ""  #: heading in two lines, for where space is short
    identifies: bool = False  #: whether it says which row this is
    dispensable: int = 0  #: where space is short those with 1 are left out first, with 0 none
    notes: tuple[str, ...] = ()  #: how to read it, noted where it is shown
    layout: str = ""  #: format of its numbers, if not the usual one of their kind

    @property
    def numeric(self) -> bool:
        """True for numbers, which stand at the right."""
        return self.kind not in get_args(Words)

    @property
    def unit(self) -> str:
        """Unit for the heading, where the cells are bare numbers."""
        return _UNITS.get(self.kind, "")

    def cell(self, value: Any, *, with_unit: bool = False) -> Cell:
        """Cell of a value; a dash if there is none, nothing where it would say which row."""
        if isinstance(value, Cell) and not with_unit and isinstance(value.value, int | float):
            value = value.value  # bare numbers are for programs too
        if isinstance(value, Cell):
            return value
        if value is None:
            return Cell("" if self.identifies else "–", None)
        if isinstance(value, str):
            return Cell(value, kind=TONES.get(value, "fair") if self.kind == "status" else "")
        write = (_WITH_UNITS if with_unit else FORMATS)[self.kind]
        text = format(value, self.layout) if self.layout else write(value)
        return Cell(text, value if isinstance(value, int | float) else "")


@dataclass(frozen=True)
class Row:
    """Values of one row by column, any of which may be a `Cell`; `label` is its name in notes."""

    label: str
    values: Mapping[str, Any]

    @classmethod
    def of(cls, columns: Sequence[Column], values: Iterable[Any], label: str = "") -> Row:
        """Row of values in the order of the columns; the first names it, if there is no label."""
        found = dict(zip([column.title for column in columns], values, strict=True))
        return cls(label or str(next(iter(found.values()))), found)

    def cell(self, column: Column, *, with_unit: bool = False) -> Cell:
        """Cell of a column."""
        return column.cell(self.values.get(column.title), with_unit=with_unit)


@dataclass(frozen=True)
class Table:
    """A section of a report: its heading, leading lines, rows, and notes on them."""

    title: str  #: the heading; in comparisons the game as typed and in canonical form
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()  #: there may be none
    notes: tuple[str, ...] = ()  #: remarks on single rows
    topic: str = ""  #: what the table shows of the game; empty for its cells
    lines: tuple[str, ...] = ()  #: lines above the rows

    @property
    def heading(self) -> str:
        """Its title with its topic."""
        return ": ".join(filter(None, (self.title, self.topic)))

    @property
    def reading(self) -> tuple[str, ...]:
        """How to read its columns."""
        notes = chain.from_iterable(column.notes for column in self.columns if self.rows)
        return tuple(dict.fromkeys(notes))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Its notes, and below them how to read it."""
        return tuple(filter(None, (*self.notes, "; ".join(self.reading))))

    def without(self, rank: int) -> Table:
        """Same table without the columns that are dispensable up to a rank."""
        kept = tuple(c for c in self.columns if not 0 < c.dispensable <= rank)
        return replace(self, columns=kept)

    def with_payoff_columns(self, title: str = "payoff P") -> Table:
        """Same table with one column per player, named so, in place of lists of payoffs."""
        payoffs = [list(row.values.get("payoffs") or ()) for row in self.rows]
        titles = [f"{title}{p}" for p in range(1, max(map(len, payoffs), default=0) + 1)]
        split = [Column(title, "payoff") for title in titles]
        columns = [split if column.kind == "payoffs" else [column] for column in self.columns]
        rows = (  # games of a table may have different numbers of players
            replace(row, values={**row.values, **dict(zip(titles, own, strict=False))})
            for row, own in zip(self.rows, payoffs, strict=True)
        )
        return replace(self, columns=tuple(chain(*columns)), rows=tuple(rows))


@dataclass(frozen=True)
class Report:
    """Tables in the order of their games, with remarks on all of them."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()  #: how to read all of them, and what is missing
    answer: tuple[str, ...] = ()  #: what came of it all, in sentences


RUN = Column("run", identifies=True)
SOLVER = Column("solver", identifies=True)
