"""Equilibria that the cells of a game found, and the table of who found them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

from eqbench.errors import counted
from eqbench.report import naming, read_data
from eqbench.report.entries import NEGLIGIBLE, arranged, labels, row_labels, trials
from eqbench.report.rows import Row, Table
from eqbench.report.trials import Entry, Trials, several
from eqbench.report.view import EQUILIBRIA
from eqbench.spec import is_foreign
from eqbench.store.schema import EquilibriumRecord

MOST_CLUSTERS = 12
SAME_PAYOFF = 1e-5  # less is not seen in tables
_OFTEN = {" ×": read_data("profile")["marks"]["×"], "/": "k/n: by k of n cells"}


@dataclass(frozen=True, eq=False)
class Found:
    """An equilibrium and the cells that found it, or came near it, with their candidates.

    `title` names its run too where clusters of several runs have to be told apart.
    """

    name: str
    title: str
    is_near: bool
    cells: list[tuple[Entry, Sequence[EquilibriumRecord]]]

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
        """Place of the candidates in their family."""
        return naming.spread(item.identity for item in self.members)

    def by(self, solver: str) -> list[Sequence[EquilibriumRecord]]:
        """Candidates of each cell of a solver."""
        return [own for entry, own in self.cells if entry.solver == solver]


def equilibria(entries: Sequence[Entry]) -> list[Found]:
    """Equilibria that the cells of a game found, and those that they only came near.

    Clusters stand in the order of how many cells found them. A candidate is near an equilibrium
    if it is the best of a cell none of whose candidates is on the path of any.
    """
    known: dict[str, Found] = {}
    several_runs = several("run", entries)
    for entry in entries:
        found = naming.found(entry.record)
        near = [(i.identity["name"], [i]) for i in entry.record.equilibria if i.identity][:1]
        for name, own in found.items() or near:
            # clusters are numbered within a run; those of several runs are different ones
            run = f" ({entry.run})" if several_runs and naming.is_cluster(name) else ""
            title = f"{name}{run}" if found else f"{naming.NEAR} {name}{run}"
            known.setdefault(title, Found(name, title, not found, [])).cells.append((entry, own))

    def place(item: Found) -> tuple[object, ...]:
        cells = -len(item.cells) if item.is_cluster else 0
        return item.is_near, item.is_cluster, cells, naming.order(item.name)

    return sorted(known.values(), key=place)


def counts(entries: Iterable[Entry]) -> dict[str, int]:
    """Number of cells that found each equilibrium, in the order of the names."""
    names = (name for entry in entries for name in naming.found(entry.record))
    return Counter(sorted(names, key=naming.order))


def equilibria_tables(title: str, entries: Sequence[Entry], *, always: bool = False) -> list[Table]:
    """Table of who found which equilibrium of a game, if it says more than the rows of its cells.

    It does where there are several, one of which the name does not say everything (another
    one of the family, or a cluster), or several seeds, of which it says how often they found it.
    With `always` it stands also where all cells found one and the same.
    """
    known, game = equilibria(entries), entries[0].record
    on_path = [item for item in known if not item.is_near]
    tells = always or len(on_path) > 1 or several("seed", entries)
    if not known or not (tells or any(i.is_cluster or "…" in i.where for i in on_path)):
        return []
    entries = arranged(entries)
    solvers = trials(entries)
    clusters = [item for item in known if item.is_cluster]
    shown = _shown(clusters, solvers)
    rows = tuple(_row(i, solvers) for i in known if not i.is_cluster or i in shown)
    finders = " ".join(name for row in rows for name in row.values["found by"])
    often = tuple(said for mark, said in _OFTEN.items() if mark in finders)
    told = {"equilibrium": naming.marks(row.label for row in rows), "found by": often}
    columns = tuple(
        replace(column, notes=told.get(column.title, column.notes))
        for column in EQUILIBRIA
        if any(row.values[column.title] is not None for row in rows)
    )
    notes = []
    if more := len(clusters) - len(shown):
        listed = "eqbench show RUN CELL --candidates lists all that a cell found"
        notes.append(f"{counted(more, 'more cluster')}; {listed}")
    named = [(entry, [i.identity for i in entry.record.equilibria]) for entry in entries]
    if unknown := [entry for entry, own in named if own and not any(own)]:
        notes.append(f"not identified: {labels(unknown, row_labels(entries))}")
    title = title if is_foreign(game.game_spec) else game.game
    return [Table(title, columns, rows, tuple(notes), topic="equilibria found")]


def _shown(clusters: Sequence[Found], solvers: Sequence[Trials]) -> list[Found]:
    """Clusters for which a table has room: the best one of every solver, then its second best …"""
    ranked = sorted(clusters, key=lambda each: max(each.members[0].max_regret, NEGLIGIBLE))
    of_each = ([each for each in ranked if each.by(own.solver)] for own in solvers)
    in_turn = dict.fromkeys(each for turn in zip_longest(*of_each) for each in turn if each)
    return list(in_turn)[: max(MOST_CLUSTERS, len(solvers))]


def _row(item: Found, solvers: Iterable[Trials]) -> Row:
    finders = []
    for trial in solvers:
        if own := item.by(trial.solver):
            number, cells = len(naming.handed_over(own[0])), len(trial.entries)
            often = f" {len(own)}/{cells}" if cells > 1 else f" ×{number}" * (number > 1)
            finders.append(trial.solver + often)
    payoffs: list[float | str] = []
    for own_payoffs in zip(*(member.payoffs for member in item.members), strict=True):
        low, high = min(own_payoffs), max(own_payoffs)
        payoffs.append(low if high - low <= SAME_PAYOFF else f"{low:+z.5f}…{high:+z.5f}")
    values = {
        "equilibrium": item.title,
        "solvers": len(finders),
        "best regret": item.members[0].max_regret,
        "family": item.where or None,
        "payoffs": None if item.is_near else payoffs,  # nobody's equilibrium
        "found by": finders,
    }
    return Row(item.title, values)
