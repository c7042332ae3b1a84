"""Which solver found which equilibrium: one matrix per game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from eqbench.report import naming
from eqbench.report.entries import Entry, by_game, by_solver, several, several_runs
from eqbench.report.naming import Identity, Member
from eqbench.report.rows import RUN, SOLVER, Column, Report, Row, Table
from eqbench.spec import is_foreign

MOST_CLUSTERS = 6
SAME_PAYOFF = 1e-5  # less is not seen in tables
_OTHERS = "other clusters"
_LEGEND = (
    "In a table of equilibria each column counts the cells (seeds) with a profile on that path of "
    "play; a cell may count in several. near: cells that only come close to a known equilibrium; "
    "none: cells none of whose profiles is identified."
)


@dataclass(frozen=True)
class _Found:
    """An equilibrium and its members by the cells that found them.

    `run` is empty unless clusters of several runs have to be told apart.
    """

    name: str
    run: str
    cells: list[list[Member]]

    @property
    def title(self) -> str:
        return f"{self.name} ({self.run})" if self.run else self.name

    @property
    def stacked(self) -> str:
        return naming.broken(self.name) + (f"\n({self.run})" if self.run else "")

    @property
    def members(self) -> list[Member]:
        return [member for cell in self.cells for member in cell]


def with_matrices(report: Report, entries: Sequence[Entry], *, always: bool = False) -> Report:
    """The report with a matrix below the table of each game for which it says more.

    Parameters
    ----------
    report : its tables are those of the games of the entries, in their order
    always : also where each solver has one cell with one equilibrium
    """
    tables: list[Table] = []
    for table, group in zip(report.tables, by_game(entries), strict=True):
        tables.append(table)
        lists = any(len(naming.found(entry.record)) > 1 for entry in group)
        if _has_identity(group) and (always or several("seed", group) or lists):
            game = group[0].record
            title = table.title if is_foreign(game.game_spec) else game.game
            tables.append(_matrix(title, group))
    if len(tables) == len(report.tables):
        return report
    return replace(report, tables=tuple(tables), legend=f"{report.legend} {_LEGEND}")


def counts(entries: Iterable[Entry]) -> dict[str, int]:
    """Number of cells that found each equilibrium, in the order of the names."""
    count = Counter(name for entry in entries for name in naming.found(entry.record))
    return {name: count[name] for name in sorted(count, key=naming.order)}


def counted(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Names with numbers of cells, in words that a space may join; empty if none is known.

    Those that cells only come close to stand last.
    """
    near = Counter(identity["name"] for identity in _near(entries))
    return naming.listing(
        [
            *(f"{name} ×{count}" for name, count in counts(entries).items()),
            *(f"{naming.NEAR} {name} ×{near[name]}" for name in sorted(near, key=naming.order)),
        ]
    )


def _has_identity(entries: Sequence[Entry]) -> bool:
    return any(item.identity for entry in entries for item in entry.record.equilibria)


def _matrix(title: str, entries: Sequence[Entry]) -> Table:
    known: dict[tuple[str, str], _Found] = {}
    for entry in entries:
        for name, members in naming.found(entry.record).items():
            # clusters are numbered within a run; those of several runs are different ones
            run = entry.run if several_runs(entries) and naming.is_cluster(name) else ""
            known.setdefault((name, run), _Found(name, run, [])).cells.append(members)
    everything = sorted(known.values(), key=lambda item: naming.order(item.name))
    clusters = [item for item in everything if naming.is_cluster(item.name)]
    clusters.sort(key=lambda item: -len(item.cells))
    others = clusters[MOST_CLUSTERS:]
    # of clusters the one that most cells found is the last to be left out for want of space
    ranks = {item.title: max(3, MOST_CLUSTERS - place) for place, item in enumerate(clusters)}
    shown = [item for item in everything if item not in others]
    columns = (
        *([RUN] if several_runs(entries) else []),
        SOLVER,
        *(
            Column(item.title, "count", item.stacked, dispensable=ranks.get(item.title, 0))
            for item in shown
        ),
        *([Column(_OTHERS, "count", "other\nclusters")] if others else []),
        *(Column(title, "count") for title in ("near", "none", "cells")),
    )
    notes = [note for item in shown if (note := _note(item))]
    if others:
        notes.append(f"{_OTHERS}: {len(others)} that fewer cells found")
    near: dict[str, list[float]] = {}
    for identity in _near(entries):
        near.setdefault(identity["name"], []).append(identity["distance"])
    for name in sorted(near, key=naming.order):
        distance = _range(near[name], "{:.1e}".format, " ")
        notes.append(f"near {name} ×{len(near[name])}: distance{distance}")
    rows = tuple(_row(group, shown, others) for group in by_solver(entries))
    return Table(title, columns, rows, tuple(notes), _LEGEND, topic="equilibria found")


def _row(group: Sequence[Entry], shown: Sequence[_Found], others: Sequence[_Found]) -> Row:
    """Numbers of cells of a solver; None for those of equilibria if it has no profile."""
    run, solver = group[0].run, group[0].record.solver
    names = [naming.found(entry.record) for entry in group]
    with_profile = [entry for entry in group if entry.record.equilibria]

    def cells(equilibria: Sequence[_Found]) -> int:
        own = {item.name for item in equilibria if item.run in ("", run)}
        return sum(not own.isdisjoint(each) for each in names)

    count: dict[str, int | None] = {
        **{item.title: cells([item]) for item in shown},
        _OTHERS: cells(others),
        "near": len(_near(group)),
        "none": sum(not _has_identity([entry]) for entry in with_profile),
    }
    if not with_profile:
        count = dict.fromkeys(count)
    values = {"run": run, "solver": solver, **count, "cells": len(group)}
    return Row(f"{solver} ({run})" if run else solver, values)


def _near(entries: Iterable[Entry]) -> list[Identity]:
    """For each cell that only comes close to a known equilibrium, to which."""
    return [identity for entry in entries if (identity := naming.nearest(entry.record))]


def _note(item: _Found) -> str:
    """Where in its set the profiles of an equilibrium are; empty if there is but one place."""
    if naming.is_cluster(item.name):
        best = min(item.members, key=lambda member: member.record.max_regret)
        payoffs = " ".join(f"{payoff:+z.5f}" for payoff in best.record.payoffs)
        dimension = best.identity["dimension"]
        more = "" if dimension is None else f", dimension {dimension}"
        return f"{item.title}: payoffs {payoffs}{more}"
    parts = []
    if parameters := [first for m in item.members if (first := naming.leading(m.identity))]:
        symbol = parameters[0][0]
        parts.append(f"{symbol}{_range([value for _, value in parameters], naming.decimal, '=')}")
    by_player = zip(*(member.record.payoffs for member in item.members), strict=True)
    for player, own in enumerate(by_player, start=1):
        if max(own) - min(own) > SAME_PAYOFF:
            parts.append(f"payoff P{player}{_range(own, '{:+z.5f}'.format, ' ')}")
    return f"{item.title}: {', '.join(parts)}" if parts else ""


def _range(values: Sequence[float], text: Callable[[float], str], equals: str) -> str:
    """What follows a symbol: its value, or the smallest and the largest."""
    low, high = text(min(values)), text(max(values))
    return f"{equals}{low}" if low == high else f" from {low} to {high}"
