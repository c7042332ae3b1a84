"""What the tables of a report hold, whatever they are printed as.

A table has raw values; the module of each format lays them out. Values of the kind `payoffs`
are lists with one number per player, those of the kind `words` texts that a space joins, or a
line break where space is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from eqbench.report.naming import label, marks
from eqbench.store.schema import CellRecord

Kind = Literal["text", "words", "status", "count", "small", "payoffs", "payoff", "seconds", "bytes"]

ALARMING = frozenset({"failed", "crashed", "refuted", "interrupted"})
_SHORT_CLAIMS = {"iterate": "last", "complete list": "list"}


@dataclass(frozen=True)
class Column:
    """A column; its title is also the key of its values.

    Attributes
    ----------
    stacked : str
        Heading in two lines, for where space is short; the title unless given.
    identifies : bool
        Whether it says which row this is.
    dispensable : int
        Where space is short the columns with 1 are left out first, then those with 2, and so
        on; those with 0 never.
    notes : tuple of str
        What has to be said where it is shown.
    """

    title: str
    kind: Kind = "text"
    stacked: str = ""
    identifies: bool = False
    dispensable: int = 0
    notes: tuple[str, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers, which stand at the right."""
        return self.kind not in ("text", "words", "status")

    @property
    def unit(self) -> str:
        """Unit for the heading, where the cells are bare numbers."""
        return {"seconds": " (s)", "bytes": " (MiB)"}.get(self.kind, "")


@dataclass(frozen=True)
class Row:
    """Values of one row by column; `label` is its name in notes.

    `exact` holds the titles of columns whose number is no rounding.
    """

    label: str
    values: Mapping[str, Any]
    exact: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Table:
    """The rows of one game.

    Attributes
    ----------
    title : str
        The game as typed and in canonical form.
    notes : tuple of str
        What has to be said about single rows.
    legend : str
        What the figures are; empty if no row has any.
    players : int
        Number of players, 0 if no row has figures.
    topic : str
        What the table shows of the game; empty for its cells.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    legend: str
    players: int
    topic: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Its notes and those of its columns."""
        return (*self.notes, *(note for column in self.columns for note in column.notes))

    def without(self, rank: int) -> Table:
        """Same table without the columns that are dispensable up to a rank."""
        kept = tuple(c for c in self.columns if not 0 < c.dispensable <= rank)
        return replace(self, columns=kept)

    def with_payoff_columns(self) -> Table:
        """Same table with one column per player in place of lists of payoffs."""
        titles = [f"payoff P{p + 1}" for p in range(self.players)]
        columns: list[Column] = []
        for column in self.columns:
            split = [Column(title, "payoff") for title in titles]
            columns += split if column.kind == "payoffs" else [column]
        rows = tuple(
            replace(
                row, values={**row.values, **dict(zip(titles, row.values["payoffs"], strict=True))}
            )
            if row.values.get("payoffs")
            else row
            for row in self.rows
        )
        return replace(self, columns=tuple(columns), rows=rows)


@dataclass(frozen=True)
class Report:
    """Tables in the order of their games, with what is to be said about all of them.

    Attributes
    ----------
    legend : str
        What the figures of all tables are.
    notes : tuple of str
        What is missing.
    """

    tables: tuple[Table, ...]
    legend: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A record and the name of its run, which is empty where there is one run only."""

    run: str
    record: CellRecord


def comparison(entries: Sequence[Entry]) -> Report:
    """One table per game, in the order of the entries, with one row per cell."""
    tables = tuple(_table(group) for group in by_game(entries))
    return Report(tables, _legend({table.players for table in tables}))


def by_game(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Entries of each game, the games in the order in which they first occur."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.record.game_spec, []).append(entry)
    return list(groups.values())


def by_solver(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Entries of each solver of each run, in the order in which they first occur."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.run, entry.record.solver), []).append(entry)
    return list(groups.values())


def several_seeds(entries: Sequence[Entry]) -> bool:
    """Whether a seed tells cells apart."""
    return len({entry.record.seed for entry in entries} - {None}) > 1


def several_runs(entries: Sequence[Entry]) -> bool:
    """Whether the entries are of more than one run."""
    return len({entry.run for entry in entries}) > 1


def title_of(record: CellRecord) -> str:
    """Title of the table of a game."""
    same = record.game == record.game_spec
    return record.game_spec if same else f"{record.game} = {record.game_spec}"


def three_digits(value: float) -> str:
    """A duration in seconds as a bare number."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def printable(text: str) -> str:
    """Text without line breaks and escape codes; reasons come from solvers."""
    return "".join(char if char.isprintable() or char == "\u00a0" else " " for char in text)


RUN = Column("run", identifies=True)
SOLVER = Column("solver", identifies=True)


def _columns(entries: Sequence[Entry]) -> tuple[Column, ...]:
    found = [words for entry in entries if (words := label(entry.record))]
    equilibrium = Column("equilibrium", "words", dispensable=6, notes=tuple(marks(found)))
    return (
        *([RUN] if several_runs(entries) else []),
        SOLVER,
        *([Column("seed", "count", identifies=True)] if several_seeds(entries) else []),
        Column("status", "status"),
        Column("max regret", "small", "max\nregret"),
        Column("NashConv", "small", dispensable=5),
        Column("exploitability", "small", "exploit-\nability", dispensable=1),
        Column("payoffs", "payoffs"),
        *([equilibrium] if found else []),
        Column("profile", dispensable=2),
        Column("iterations", "count", dispensable=4),
        Column("time", "seconds"),
        Column("memory", "bytes", dispensable=3),
    )


def _table(entries: Sequence[Entry]) -> Table:
    players = max(len(entry.record.regrets or ()) for entry in entries)
    rows = tuple(
        Row(
            _label(entry, entries),
            _values(entry),
            exact=frozenset(["max regret"] if _is_proved(entry) else []),
        )
        for entry in entries
    )
    return Table(
        title=title_of(entries[0].record),
        columns=_columns(entries),
        rows=rows,
        notes=tuple(_notes(entries)),
        legend=_legend({players}),
        players=players,
    )


def _values(entry: Entry) -> dict[str, Any]:
    record = entry.record
    claim = record.equilibria[0].claim if record.equilibria else None
    return {
        "run": entry.run,
        "solver": record.solver,
        "seed": record.seed,
        "status": record.status,
        "max regret": record.max_regret,
        "NashConv": record.nash_conv,
        "exploitability": record.exploitability,
        "payoffs": record.payoffs,
        "equilibrium": label(record) or None,
        "profile": None if claim is None else _SHORT_CLAIMS.get(claim, claim),
        "iterations": record.iterations,
        "time": record.elapsed_s,
        "memory": record.peak_memory_bytes,
    }


def _is_proved(entry: Entry) -> bool:
    """Whether the profile that the row shows is an equilibrium by exact computation."""
    return bool(entry.record.equilibria) and entry.record.equilibria[0].is_proved


def _label(entry: Entry, entries: Sequence[Entry]) -> str:
    """Solver of a row, with its seed and run where they tell rows apart."""
    seed = entry.record.seed
    more = [f"seed {seed}"] if seed is not None and several_seeds(entries) else []
    more += [entry.run] if several_runs(entries) else []
    return entry.record.solver + (f" ({', '.join(more)})" if more else "")


def _labels(sharing: Sequence[Entry], entries: Sequence[Entry]) -> list[str]:
    """Labels of some rows; those that differ in the seed only share one."""
    found = []
    for group in by_solver(sharing):
        label = _label(group[0], entries)
        if len(group) > 1:
            seeds = ", ".join(str(entry.record.seed) for entry in group)
            label = label.replace(f"seed {group[0].record.seed}", f"seeds {seeds}", 1)
        found.append(label)
    return found


def _notes(entries: Sequence[Entry]) -> list[str]:
    """Reasons of what is not ok, each with all rows that share it, what is proved, the target."""
    shared: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in entries:
        record = entry.record
        if record.status != "ok":
            reason = (record.status, record.reason, _see(entry))
            shared.setdefault(reason, []).append(entry)
    notes = [
        f"{status}: {', '.join(_labels(sharing, entries))}"
        + (f" – {reason}" if reason else "")
        + see
        for (status, reason, see), sharing in shared.items()
    ]
    if proved := [entry for entry in entries if _is_proved(entry)]:
        notes.append(
            f"max regret exactly 0, in rational arithmetic: {', '.join(_labels(proved, entries))}"
        )
    targets = sorted({entry.record.target for entry in entries if entry.record.target})
    if targets:
        notes.append(f"target: max regret {' or '.join(f'{target:.1e}' for target in targets)}")
    return [printable(note) for note in notes]


def _see(entry: Entry) -> str:
    log = entry.record.log
    if log is None or entry.record.status not in ALARMING:
        return ""
    return f" (see {entry.run}/{log})" if entry.run else f" (see {log})"


def _legend(numbers_of_players: set[int]) -> str:
    players = numbers_of_players - {0}
    if not players:
        return ""
    count = str(*players) if len(players) == 1 else "players"
    return (
        "Regrets are in payoff units, measured on the tree; NashConv is their sum, "
        f"exploitability is NashConv\u00a0/\u00a0{count}. "
        "Time is solving time; memory includes Python itself."
    )
