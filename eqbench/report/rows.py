"""Tables of a report: columns of a kind, rows of values, and how a value reads in any format.

Values of the kind `payoffs` are lists with one number per player. Those of the kind `names` are
lists of texts, in several lines where space is short, and those of the kind `found` too, of which
the first few are shown. A `verdict` is a text of which the part before the first comma is enough.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote

import msgspec

from eqbench.errors import first_of
from eqbench.extras import needed_for
from eqbench.report import read_data
from eqbench.text import csv_text, seconds, small

if TYPE_CHECKING:
    import pandas as pd

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
    strong: bool = False  #: whether it stands out, in bold
    mark: str = ""  #: of its text, that its number keeps where it is bare


EXACT_ZERO = Cell("0 exactly", 0.0)


@dataclass(frozen=True)
class Column:
    """A column; its title is also the key of its values.

    A class of rows declares its columns by annotations: `table_of` makes a table of such rows.
    """

    title: str = ""  #: unless given the name of the field that declares it
    kind: Kind = "text"
    stacked: str = ""  #: heading in two lines, for where space is short
    identifies: bool = False  #: whether it says which row this is
    dispensable: int = 0  #: where space is short those with 1 are left out first, with 0 none
    notes: tuple[str, ...] = ()  #: how to read it, noted where it is shown
    key: tuple[str, ...] = ()  #: what marks in its cells mean, noted right below the rows
    layout: str = ""  #: format of its numbers, if not the usual one of their kind
    optional: bool = False  #: whether a table of declared rows omits it if no row has a value
    of: Callable[[Any], Any] | None = None  #: function of a declared row, in place of the field

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
            # bare numbers are for programs too
            bare = self.cell(value.value)
            return replace(bare, text=bare.text + value.mark, strong=value.strong)
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
    def key(self) -> tuple[str, ...]:
        """What the marks in its rows mean."""
        return self._of_columns("key")

    @property
    def reading(self) -> tuple[str, ...]:
        """How to read its columns."""
        return self._of_columns("notes")

    def _of_columns(self, what: str) -> tuple[str, ...]:
        notes = chain.from_iterable(getattr(own, what) for own in self.columns if self.rows)
        return tuple(dict.fromkeys(notes))

    @property
    def remarks(self) -> tuple[str, ...]:
        """The key of its marks, its notes, and how to read it."""
        return tuple(filter(None, ("; ".join(self.key), *self.notes, "; ".join(self.reading))))

    def without(self, rank: int) -> Table:
        """Same table without the columns that are dispensable up to a rank."""
        kept = tuple(c for c in self.columns if not 0 < c.dispensable <= rank)
        return replace(self, columns=kept)

    def with_payoff_columns(self, title: str = "payoff P") -> Table:
        """Same table with one column per player, named so, in place of lists of payoffs."""
        payoffs = [list(row.values.get("payoffs") or ()) for row in self.rows]
        titles = [f"{title}{p}" for p in range(1, max(map(len, payoffs), default=0) + 1)]
        columns = [
            [Column(title, "payoff", notes=own.notes) for title in titles]
            if own.kind == "payoffs"
            else [own]
            for own in self.columns
        ]
        rows = (  # games of a table may have different numbers of players
            replace(row, values={**row.values, **dict(zip(titles, own, strict=False))})
            for row, own in zip(self.rows, payoffs, strict=True)
        )
        return replace(self, columns=tuple(chain(*columns)), rows=tuple(rows))


def with_notes(tables: Sequence[Table]) -> Iterator[tuple[Table, list[str], list[str]]]:
    """Yield tables, each with the notes right below it, and those below the last of its game.

    Notes on cells wait for the tables with topics that follow. How to read a column stands once.
    """
    noted, waiting = set[str](), list[str]()
    for table, after in zip_longest(tables, tables[1:]):
        key, reading = (
            "; ".join(note for note in notes if note not in noted)
            for notes in (table.key, table.reading)
        )
        noted.update(table.key, table.reading, table.notes, table.lines)
        own, is_last = [*table.notes, reading], after is None or not after.topic
        if not (table.topic or is_last):
            own, waiting = [], own
        yield table, [*filter(None, [key, *own])], [*filter(None, waiting * is_last)]
        waiting *= not is_last


@dataclass(frozen=True)
class Report:
    """Tables in the order of their games, with remarks on all of them."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()  #: how to read all of them, and what is missing
    answer: tuple[str, ...] = ()  #: what came of it all, in sentences


Getter = Callable[[Any], Any]  # gives the value of a row
# annotation of a field whose own columns stand in its place; of several types those of the last
INLINE = "inline"


def declared_columns(
    kind: Any, players: Sequence[str] = (), names: Iterable[str] = ()
) -> list[tuple[Column, Getter]]:
    """Return the columns that a class of rows declares, each with what gives its value.

    They are its fields, then its properties by name, as far as these are annotated with a `Column`
    or as `INLINE`; what identifies the row comes first. With `names` they are these in this order.
    A title with ``{}`` makes one column for each player, in whose order the value is a list.
    """
    hints = get_type_hints(kind, include_extras=True)
    for name, own in inspect.getmembers(kind, lambda member: isinstance(member, property)):
        hints[name] = get_type_hints(own.fget, include_extras=True).get("return")
    found: list[tuple[Column, Getter]] = []
    for name in names or hints:
        for declared in getattr(hints[name], "__metadata__", ()):
            get = attrgetter(name)
            if declared is INLINE:
                kinds = hints[name].__origin__, *get_args(hints[name].__origin__)
                (*_, kind) = (each for each in kinds if each is not NoneType)
                inner = declared_columns(kind, players)
                found += [(column, _within(get, own)) for column, own in inner]
            elif isinstance(declared, Column):
                column = replace(declared, title=declared.title or name.replace("_", " "))
                found += _for_each(players, column, declared.of or get)
    return found if names else sorted(found, key=lambda each: not each[0].identifies)


def _for_each(players: Sequence[str], column: Column, get: Getter) -> list[tuple[Column, Getter]]:
    if "{}" not in column.title:
        return [(column, get)]
    return [
        (replace(column, title=column.title.format(player)), _within(get, itemgetter(place)))
        for place, player in enumerate(players)
    ]


def _within(get: Getter, own: Getter) -> Getter:
    """Return what gives a value of a value, None if there is none."""
    return lambda row: None if (inner := get(row)) is None else own(inner)


def table_of(
    rows: Sequence[Any],
    title: str = "",
    notes: Iterable[str] = (),
    *,
    lines: Iterable[str] = (),
    topic: str = "",
    players: Sequence[str] = (),
    names: Iterable[str] = (),
) -> Table:
    """Make the table of rows of one class; columns as by :func:`declared_columns`."""
    declared = declared_columns(type(rows[0]), players, names) if rows else []
    values = [[get(row) for _, get in declared] for row in rows]
    shown = [
        place
        for place, (column, _) in enumerate(declared)
        if not column.optional or any(own[place] not in (None, "") for own in values)
    ]
    columns = tuple(declared[place][0] for place in shown)
    made = tuple(Row.of(columns, [own[place] for place in shown]) for own in values)
    return Table(title, columns, made, tuple(notes), topic, tuple(lines))


def _scalars(kind: type, players: Sequence[str]) -> dict[str, Getter]:
    """Return what gives each plain field of a struct, by name; so too of structs within it.

    A list of numbers is plain if it has one for each player.
    """
    found: dict[str, Getter] = {}
    first: dict[str, Getter] = {}
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        hint, get, name = hints[field.name], attrgetter(field.name), field.encode_name
        notes = getattr(hint, "__metadata__", ())
        hint = hint.__origin__ if notes else hint
        kinds = get_args(hint) if get_origin(hint) in (UnionType, Union) else (hint,)
        inner = [k for k in kinds if isinstance(k, type) and issubclass(k, msgspec.Struct)]
        if inner:
            below = _scalars(inner[0], players).items()
            found |= {f"{name}_{key}": _within(get, own) for key, own in below}
        elif list[float] in kinds:
            ends = enumerate(players)
            found |= {f"{name}_{player}": _within(get, itemgetter(k)) for k, player in ends}
        elif all(k in (str, int, float, bool, NoneType) or get_origin(k) is Literal for k in kinds):
            identifies = any(isinstance(each, Column) and each.identifies for each in notes)
            (first if identifies else found)[name] = get
    return first | found


def csv_of(rows: Sequence[Any], players: Sequence[str] = ()) -> str:
    """Return structs of one class as CSV: all plain values, also those that no table shows."""
    fields = _scalars(type(rows[0]), players) if rows else {}
    return csv_text([[*fields], *([get(row) for get in fields.values()] for row in rows)], "\r\n")


def frame_of(rows: Sequence[Any], players: Sequence[str] = ()) -> pd.DataFrame:
    """Return structs of one class as a data frame with the columns of :func:`csv_of`."""
    with needed_for("a data frame"):
        import pandas as pd

    fields = _scalars(type(rows[0]), players) if rows else {}
    return pd.DataFrame({name: [get(row) for row in rows] for name, get in fields.items()})


RUN = Column("run", identifies=True)
SOLVER = Column("solver", identifies=True)
