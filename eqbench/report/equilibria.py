"""Which equilibria were found, and by whom: one table per game."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from eqbench.errors import counted
from eqbench.report import naming
from eqbench.report.entries import Entry, Trials, arranged, labels, several, trials
from eqbench.report.rows import Column, Row, Table
from eqbench.spec import is_foreign
from eqbench.store.schema import EquilibriumRecord

MOST_CLUSTERS = 12
SAME_PAYOFF = 1e-5  # less is not seen in tables


@dataclass(frozen=True)
class Found:
    """An equilibrium and the cells that found it, or came near it, with their candidates.

    `run` is empty unless clusters of several runs have to be told apart.
    """

    name: str
    run: str
    cells: list[tuple[Entry, Sequence[EquilibriumRecord]]]
    is_near: bool = False

    @property
    def title(self) -> str:
        near = f"{naming.NEAR} " if self.is_near else ""
        return near + (f"{self.name} ({self.run})" if self.run else self.name)

    @property
    def is_cluster(self) -> bool:
        return naming.is_cluster(self.name)

    @cached_property
    def members(self) -> list[EquilibriumRecord]:
        """All candidates, the best first."""
        members = (item for _, own in self.cells for item in own)
        return sorted(members, key=lambda item: item.max_regret)

    @cached_property
    def where(self) -> str:
        """Where in their family the candidates are."""
        return naming.spread(item.identity for item in self.members)

    @property
    def summary(self) -> str:
        """Name, by how many solvers it was found, how many of them are not ok, and where it is."""
        solvers = {entry.solver for entry, _ in self.cells}
        short = len(solvers - {e.solver for e, _ in self.cells if e.record.status == "ok"})
        parts = [counted(len(solvers), "solver"), f"{short} not ok" * bool(short), self.where]
        return f"{self.title} ({', '.join(filter(None, parts))})"


def equilibria(entries: Sequence[Entry]) -> list[Found]:
    """What the cells of a game found: published ones, clusters, and what they only came near.

    Clusters stand in the order of how many cells found them. A candidate is near an equilibrium
    if it is the best of a cell none of whose candidates is on the path of any.
    """
    known: dict[tuple[bool, str, str], Found] = {}
    several_runs = several("run", entries)
    for entry in entries:
        found = naming.found(entry.record)
        near = [(i.identity["name"], [i]) for i in entry.record.equilibria if i.identity][:1]
        for name, own in found.items() or near:
            # clusters are numbered within a run; those of several runs are different ones
            run = entry.run if several_runs and naming.is_cluster(name) else ""
            item = known.setdefault((not found, name, run), Found(name, run, [], not found))
            item.cells.append((entry, own))

    def place(item: Found) -> tuple[object, ...]:
        cells = -len(item.cells) if item.is_cluster else 0
        return item.is_near, item.is_cluster, cells, naming.order(item.name)

    return sorted(known.values(), key=place)


def counts(entries: Iterable[Entry]) -> dict[str, int]:
    """Number of cells that found each equilibrium, in the order of the names."""
    count = Counter(name for entry in entries for name in naming.found(entry.record))
    return {name: count[name] for name in sorted(count, key=naming.order)}


def equilibria_tables(title: str, entries: Sequence[Entry], *, always: bool = False) -> list[Table]:
    """Table of who found which equilibrium of a game, if it says more than the rows of its cells.

    It does where there are several, one of which the name does not say everything (another
    one of the family, or a cluster), or several seeds, of which it says how often they found it.

    Parameters
    ----------
    title : of the game, which one with a name of its own goes by
    always : also where all cells found one and the same
    """
    known, game = equilibria(entries), entries[0].record
    on_path = [item for item in known if not item.is_near]
    tells = always or len(on_path) > 1 or several("seed", entries)
    if not known or not (tells or any(i.is_cluster or "…" in i.where for i in on_path)):
        return []
    clusters = [item for item in known if item.is_cluster]
    entries, others = arranged(entries), clusters[MOST_CLUSTERS:]
    groups = trials(entries)
    rows = tuple(_row(item, groups) for item in known if item not in others)
    finders = "\n".join(name for row in rows for name in row.values["found by"])
    how = {r" ×\d+$": "×n: n equilibria of it", r" \d+/\d+$": "k/n: by k of n cells"}
    said = tuple(text for mark, text in how.items() if re.search(mark, finders, re.MULTILINE))
    family = Column("family", dispensable=3, notes=("family: where in the set, by its parameter",))
    columns = [
        Column("equilibrium", identifies=True, notes=naming.marks(row.label for row in rows)),
        Column("solvers", "count", dispensable=2),
        Column("best regret", "small", "best\nregret", dispensable=4),
        *[family] * any(row.values["family"] for row in rows),
        Column("payoffs", "payoffs", dispensable=1),
        Column("found by", "names", notes=said),
    ]
    notes = []
    if others:
        fewer = len(others[0].cells) < len(clusters[MOST_CLUSTERS - 1].cells)
        notes.append(f"{len(others)} more clusters" + ", which fewer cells found" * fewer)
    identities = [[item.identity for item in entry.record.equilibria] for entry in entries]
    pairs = zip(entries, identities, strict=True)
    if unknown := [entry for entry, own in pairs if own and not any(own)]:
        notes.append(f"not identified: {labels(unknown, entries)}")
    title = title if is_foreign(game.game_spec) else game.game
    return [Table(title, tuple(columns), rows, tuple(notes), topic="equilibria found")]


def _row(item: Found, groups: Iterable[Trials]) -> Row:
    """Row of an equilibrium; `groups` are the cells of each solver."""
    finders = []
    for group in groups:
        who = group.solver
        if own := [members for entry, members in item.cells if entry.solver == who]:
            number = len(naming.handed_over(own[0]))
            often = (
                f" {len(own)}/{len(group.entries)}"
                if len(group.entries) > 1
                else f" ×{number}" * (number > 1)
            )
            finders.append(who + often)
    members = item.members[:1] if item.is_near else item.members
    payoffs: list[float | str] = []
    for own_payoffs in zip(*(member.payoffs for member in members), strict=True):
        low, high = min(own_payoffs), max(own_payoffs)
        payoffs.append(low if high - low <= SAME_PAYOFF else f"{low:+z.5f}…{high:+z.5f}")
    values = {
        "equilibrium": item.title,
        "solvers": len(finders),
        "best regret": item.members[0].max_regret,
        "family": item.where or None,
        "payoffs": payoffs,
        "found by": finders,
    }
    return Row(item.title, values)
