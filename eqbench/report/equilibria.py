"""Which equilibria were found, and by whom: one table per game."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from eqbench.errors import counted
from eqbench.report import naming
from eqbench.report.entries import (
    Entry,
    arranged,
    by_solver,
    labels,
    several,
    several_runs,
    solver_label,
)
from eqbench.report.naming import Member
from eqbench.report.rows import Column, Row, Table
from eqbench.spec import is_foreign

MOST_CLUSTERS = 12
_FAMILY = Column("family", dispensable=3, notes=("family: where in the set, by its parameter",))
SAME_PAYOFF = 1e-5  # less is not seen in tables


@dataclass(frozen=True)
class Found:
    """An equilibrium and the cells that found it, or came near it, with their candidates.

    `run` is empty unless clusters of several runs have to be told apart.
    """

    name: str
    run: str
    cells: list[tuple[Entry, Sequence[Member]]]
    is_near: bool = False

    @property
    def title(self) -> str:
        near = f"{naming.NEAR} " if self.is_near else ""
        return near + (f"{self.name} ({self.run})" if self.run else self.name)

    @cached_property
    def members(self) -> list[Member]:
        """All candidates, the best first."""
        members = (member for _, own in self.cells for member in own)
        return sorted(members, key=lambda member: member.record.max_regret)

    @cached_property
    def where(self) -> str:
        """Where in their family the candidates are."""
        return naming.spread([member.identity for member in self.members])

    @property
    def is_several(self) -> bool:
        """Whether the name does not say everything: in a family, or in no published set."""
        return naming.is_cluster(self.name) or "…" in self.where

    @property
    def summary(self) -> str:
        """Name, by how many solvers it was found, and where in its family."""
        solvers = len({entry.record.solver for entry, _ in self.cells})
        return f"{self.title} ({', '.join(filter(None, [counted(solvers, 'solver'), self.where]))})"


def equilibria(entries: Sequence[Entry]) -> list[Found]:
    """What the cells of a game found: published ones, clusters, and what they only came near.

    Clusters stand in the order of how many cells found them. A candidate is near an equilibrium
    if it is the best of a cell none of whose candidates is on the path of any.
    """
    known: dict[tuple[bool, str, str], Found] = {}
    for entry in entries:
        found = [(False, name, own) for name, own in naming.found(entry.record).items()]
        if not found and (near := naming.nearest(entry.record)):
            found = [(True, near.identity["name"], [near])]
        for is_near, name, own in found:
            # clusters are numbered within a run; those of several runs are different ones
            run = entry.run if several_runs(entries) and naming.is_cluster(name) else ""
            item = known.setdefault((is_near, name, run), Found(name, run, [], is_near))
            item.cells.append((entry, own))

    def place(item: Found) -> tuple[object, ...]:
        cells = -len(item.cells) if naming.is_cluster(item.name) else 0
        return item.is_near, naming.is_cluster(item.name), cells, naming.order(item.name)

    return sorted(known.values(), key=place)


def counts(entries: Iterable[Entry]) -> dict[str, int]:
    """Number of cells that found each equilibrium, in the order of the names."""
    count = Counter(name for entry in entries for name in naming.found(entry.record))
    return {name: count[name] for name in sorted(count, key=naming.order)}


def equilibria_tables(title: str, entries: Sequence[Entry], *, always: bool = False) -> list[Table]:
    """Table of who found which equilibrium of a game, if it says more than the rows of its cells.

    It does where there are several, one of which the name does not say everything, or several
    seeds, of which it says how often they found it.

    Parameters
    ----------
    title : of the game, which one with a name of its own goes by
    always : also where all cells found one and the same
    """
    known, game = equilibria(entries), entries[0].record
    on_path = [item for item in known if not item.is_near]
    tells = always or len(on_path) > 1 or several("seed", entries)
    if not known or not (tells or any(item.is_several for item in on_path)):
        return []
    return [_table(title if is_foreign(game.game_spec) else game.game, arranged(entries), known)]


def _table(title: str, entries: Sequence[Entry], known: Sequence[Found]) -> Table:
    clusters = [item for item in known if naming.is_cluster(item.name)]
    others = clusters[MOST_CLUSTERS:]
    rows = tuple(_row(item, entries) for item in known if item not in others)
    finders = "\n".join(name for row in rows for name in row.values["found by"])
    how = {r" ×\d+$": "×n: n equilibria of it", r" \d+/\d+$": "k/n: by k of n cells"}
    said = tuple(text for mark, text in how.items() if re.search(mark, finders, re.MULTILINE))
    columns = [
        Column("equilibrium", identifies=True, notes=naming.marks([[r.label] for r in rows])),
        Column("solvers", "count", dispensable=2),
        Column("best regret", "small", "best\nregret", dispensable=4),
        *([_FAMILY] if any(row.values["family"] for row in rows) else []),
        Column("payoffs", "payoffs", dispensable=1),
        Column("found by", "names", notes=said),
    ]
    notes = []
    if others:
        fewer = len(others[0].cells) < len(clusters[MOST_CLUSTERS - 1].cells)
        notes.append(f"{len(others)} more clusters" + ", which fewer cells found" * fewer)
    if unknown := [e for e in entries if e.record.equilibria and not _is_identified(e)]:
        notes.append(f"not identified: {', '.join(labels(unknown, entries))}")
    players, topic = len(known[0].members[0].record.payoffs), "equilibria found"
    return Table(title, tuple(columns), rows, tuple(notes), players=players, topic=topic)


def _is_identified(entry: Entry) -> bool:
    return any(item.identity for item in entry.record.equilibria)


def _row(item: Found, entries: Sequence[Entry]) -> Row:
    members = item.members[:1] if item.is_near else item.members
    by_player = zip(*(member.record.payoffs for member in members), strict=True)
    finders = [text for group in by_solver(entries) if (text := _found_by(group, item))]
    values = {
        "equilibrium": item.title,
        "solvers": len(finders),
        "best regret": item.members[0].record.max_regret,
        "family": item.where or None,
        "payoffs": [_interval(own) for own in by_player],
        "found by": finders,
    }
    return Row(item.title, values)


def _found_by(group: Sequence[Entry], item: Found) -> str:
    """Solver of a group, and how often its cells found an equilibrium; empty if they did not."""
    who = solver_label(group[0])
    own = [members for entry, members in item.cells if solver_label(entry) == who]
    if not own:
        return ""
    number = len(naming.handed_over(own[0]))
    return who + (f" {len(own)}/{len(group)}" if len(group) > 1 else f" ×{number}" * (number > 1))


def _interval(payoffs: Sequence[float]) -> float | str:
    low, high = min(payoffs), max(payoffs)
    return low if high - low <= SAME_PAYOFF else f"{low:+z.5f}…{high:+z.5f}"
