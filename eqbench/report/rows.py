"""What the tables of a report hold, whatever they are printed as.

A table has raw values; the module of each format lays them out. Values of the kind `payoffs`
are lists with one number per player. Those of the kind `names` are lists of texts, in several lines
where space is short, and those of the kind `found` too, of which the first few are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

from eqbench.report.entries import TRIAL, Entry, arranged, began, cell_notes, row_label, several
from eqbench.report.naming import MOST_NAMES, identity_text, label, listing, marks
from eqbench.report.view import COLUMNS, DEFAULT, View

Kind = Literal[
    "text",
    "found",
    "names",
    "status",
    "count",
    "small",
    "number",
    "payoffs",
    "payoff",
    "seconds",
    "bytes",
    "ratio",
]

ROUNDING = 1e-9  # of a regret that is 0
_SHORT_CLAIMS = {"iterate": "last", "complete list": "list"}


@dataclass(frozen=True)
class Column:
    """A column; its title is also the key of its values.

    Attributes
    ----------
    stacked : heading in two lines, for where space is short; the title unless given
    identifies : whether it says which row this is
    dispensable : where space is short the columns with 1 are left out first, then those with 2,
        and so on; those with 0 never
    notes : how to read it, said where it is shown
    layout : how numbers of the kind `number` or `payoff` are formatted
    field : of a record that it shows
    hidden : whether it is shown only where it is asked for
    """

    title: str
    kind: Kind = "text"
    stacked: str = ""
    identifies: bool = False
    dispensable: int = 0
    notes: tuple[str, ...] = ()
    layout: str = ".9g"
    field: str = ""
    hidden: bool = False

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers, which stand at the right."""
        return self.kind not in ("text", "found", "names", "status")

    @property
    def unit(self) -> str:
        """Unit for the heading, where the cells are bare numbers."""
        return {"seconds": " (s)", "bytes": " (MiB)"}.get(self.kind, "")

    @property
    def hint(self) -> str:
        """Unit of the values themselves, in words."""
        units = {"seconds": "in seconds", "bytes": "in bytes", "small": "in payoff units"}
        return units.get(self.kind, "")


@dataclass(frozen=True)
class Row:
    """Values of one row by column; `label` is its name in notes.

    `exact` holds the titles of columns whose number is no rounding.
    """

    label: str
    values: Mapping[str, Any]
    exact: frozenset[str] = frozenset()

    @classmethod
    def of(cls, columns: Sequence[Column], values: Iterable[Any], label: str = "") -> Row:
        """Row of values in the order of the columns; the first names it, if there is no label."""
        found = dict(zip([column.title for column in columns], values, strict=True))
        return cls(label or str(next(iter(found.values()))), found)


@dataclass(frozen=True)
class Table:
    """A section of a report: its heading, what is said first, rows, and notes on them.

    Attributes
    ----------
    title : the heading; in comparisons the game as typed and in canonical form
    lines : what is said above the rows; there may be no rows at all
    narrow : what to print instead where not even its narrowest form fits
    notes : what has to be said about single rows
    legend : what the figures are; empty if no row has any
    topic : what the table shows of the game; empty for its cells
    """

    title: str
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()
    legend: str = ""
    topic: str = ""
    lines: tuple[str, ...] = ()
    narrow: Table | None = None

    @property
    def heading(self) -> str:
        """Its title with its topic."""
        return ": ".join(filter(None, (self.title, self.topic)))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Its notes, and below them how to read it."""
        return (*self.notes, *([text] if (text := "; ".join(self.reading)) else []))

    @property
    def reading(self) -> tuple[str, ...]:
        """How to read its columns."""
        notes = (note for column in self.columns for note in column.notes if self.rows)
        return tuple(dict.fromkeys(notes))

    def without(self, rank: int) -> Table:
        """Same table without the columns that are dispensable up to a rank."""
        kept = tuple(c for c in self.columns if not 0 < c.dispensable <= rank)
        return replace(self, columns=kept)

    def with_payoff_columns(self, title: str = "payoff P") -> Table:
        """Same table with one column per player, named so, in place of lists of payoffs."""
        payoffs = [row.values.get("payoffs") or () for row in self.rows]
        split = [
            Column(f"{title}{p + 1}", "payoff") for p in range(max(map(len, payoffs), default=0))
        ]
        columns = [split if column.kind == "payoffs" else [column] for column in self.columns]
        rows = []  # games of a table may have different numbers of players
        for row, own in zip(self.rows, payoffs, strict=True):
            by_title = {column.title: value for column, value in zip(split, own, strict=False)}
            rows.append(replace(row, values={**row.values, **by_title}))
        return replace(self, columns=tuple(chain(*columns)), rows=tuple(rows))


@dataclass(frozen=True)
class Report:
    """Tables in the order of their games, with what is to be said about all of them.

    Attributes
    ----------
    legend : what the figures of all tables are
    notes : what is missing
    answer : what came of it all, in sentences
    """

    tables: tuple[Table, ...]
    legend: str = ""
    notes: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


def profile_columns(players: Sequence[str]) -> tuple[Column, ...]:
    """Columns for profiles as the verifier sees them: payoffs, max regret, identity."""
    payoffs = (Column(f"u:{player}", "payoff", layout="+z.6f") for player in players)
    return (*payoffs, Column("max regret", "number"), Column("identity"))


def profile_values(profile: Mapping[str, Any], players: Sequence[str]) -> dict[str, Any]:
    """Values for these columns; ! marks a regret that no equilibrium has."""
    mark = "" if profile.get("is_equilibrium", True) else " !"
    return {
        **{f"u:{p}": value for p, value in zip(players, profile["payoffs"], strict=True)},
        "max regret": FORMATS["small"](profile["max_regret"]) + mark,
        "identity": identity_text(profile.get("identity")) or None,
    }


# Values as bare numbers, for where the unit stands in the heading.
FORMATS: dict[Kind, Callable[[Any], str]] = {
    "text": str,
    "status": str,
    "found": lambda names: " ".join(listing(names, MOST_NAMES if len(names) <= MOST_NAMES else 1)),
    "names": ", ".join,
    "count": "{:,}".format,
    # regrets reach from rounding errors to whole pots; what rounds below 0 is 0
    "small": lambda value: "0" if -ROUNDING < value <= 0 else f"{value:.1e}",
    "payoff": lambda value: value if isinstance(value, str) else f"{value:+z.5f}",
    "payoffs": lambda values: " ".join(map(FORMATS["payoff"], values)),
    "seconds": lambda value: f"{value:.0f}" if value >= 100 else f"{value:#.3g}",
    "bytes": lambda value: f"{value / 2**20:.0f}",
    "ratio": "{:.2f}".format,
}


def text_of(row: Row, column: Column) -> str:
    """Value in a column as text; a dash if there is none, nothing where it would say which row."""
    value = row.values.get(column.title)
    if value is None:
        return "" if column.identifies else "–"
    if column.kind == "number":
        return value if isinstance(value, str) else format(value, column.layout)
    return FORMATS[column.kind](value)


GAME = Column("game", identifies=True)
RUN = Column("run", identifies=True)
SOLVER = Column("solver", identifies=True)


def declared(name: str, facts: Mapping[str, Any]) -> Column:
    """Column as `columns.toml` has it."""
    return Column(**{"field": name, **facts, "notes": tuple(facts.get("notes", ()))})


CELLS = {name: declared(name, facts) for name, facts in COLUMNS["cells"].items()}


def cell_table(title: str, entries: Sequence[Entry], view: View = DEFAULT) -> Table:
    """Table of the cells of a game."""
    table = all_cells(arranged(began(entries), view.sort), view)
    columns = tuple(column for column in table.columns if column != GAME)
    return replace(table, title=title, columns=columns, notes=tuple(cell_notes(arranged(entries))))


def all_cells(entries: Sequence[Entry], view: View = DEFAULT) -> Table:
    """The cells of all games in one table without notes, with a column for the game as typed."""
    columns = [RUN] if several("run", entries) else []
    columns += [SOLVER, GAME]
    columns += [Column(name, "count", identifies=True) for name in TRIAL if several(name, entries)]
    found = [FORMATS["found"](names) for entry in entries if (names := label(entry.record))]
    for name, column in CELLS.items():
        if name in view.columns:
            columns.append(replace(column, dispensable=0))
        elif name == "equilibrium":
            columns += [replace(column, notes=marks(found))] * bool(found)
        elif not (view.columns or column.hidden):
            columns.append(column)
    rows = tuple(_row(entry, entries) for entry in entries)
    return Table("", tuple(columns), rows)


def _row(entry: Entry, entries: Sequence[Entry]) -> Row:
    record = entry.record
    claim = record.equilibria[0].claim if record.equilibria else None
    values = {
        **{column.title: getattr(record, column.field, None) for column in CELLS.values()},
        **{"run": entry.run, "solver": record.solver, "game": record.game},
        **{name: getattr(record, name) for name in TRIAL},
        "equilibrium": label(record) or None,
        "profile": claim and _SHORT_CLAIMS.get(claim, claim),
        "iterations": record.iterations or None,  # a method that counts none says 0
        "memory": record.peak_memory_bytes if began([entry]) else None,
    }
    exact = frozenset(["max regret"] if entry.is_proved else [])
    return Row(row_label(entry, entries), values, exact)
