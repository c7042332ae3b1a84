"""Two runs beside each other: which cells belong together, and what became of them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from eqbench.errors import UsageError, nearest
from eqbench.report.entries import Entry
from eqbench.report.equilibria import counts
from eqbench.report.naming import listing
from eqbench.spec import is_foreign, split_specs
from eqbench.store.schema import CellRecord, Status
from eqbench.store.stored_run import StoredRun, cell_name

# The numbers of a record that are compared, by the names that they have there.
METRICS = (
    *("elapsed_s", "cpu_s", "setup_s", "overhead_s", "peak_memory_bytes", "iterations"),
    *("nash_conv", "max_regret", "exploitability"),
)
# What a status is worth: its result stands, it was stopped, there is none, something is broken.
_RANKS: dict[Status, int] = {
    "ok": 0,
    "limit": 1,
    **dict.fromkeys(("timeout", "memory", "not_found", "unsupported", "unavailable", "failed"), 2),
    **dict.fromkeys(("crashed", "refuted", "interrupted"), 3),
}
_LIMITS = (
    *("timeout_s", "setup_timeout_s", "iterations", "target", "memory_bytes", "threads"),
    *("tolerance", "jobs"),
)
_MACHINE = ("processor", "cores", "memory_bytes", "platform", "python", "eqbench")

# Which cells belong together: game, solver with options, and seed.
_Identity = tuple[tuple[str, ...], str, int | None]


@dataclass(frozen=True)
class Figures:
    """Medians of one metric over the seeds at which both runs have it; None without any.

    If only the new run has it, `new` is the median over all its seeds. `seeds` counts the cells
    behind the medians, `lost` those whose figure the new run lacks.
    """

    base: float | None
    new: float | None
    seeds: int
    lost: int

    @property
    def ratio(self) -> float | None:
        """New over base; None unless both are there and the base is positive."""
        if self.base is None or self.new is None or self.base <= 0:
            return None
        return self.new / self.base


@dataclass(frozen=True)
class Pair:
    """The cells of one game and solver in two runs, both in the order of their common seeds."""

    base: tuple[CellRecord, ...]
    new: tuple[CellRecord, ...]

    @property
    def name(self) -> str:
        """``game/solver`` as typed for the new run."""
        return f"{self.new[0].game}/{self.new[0].solver}"

    @property
    def worse(self) -> tuple[CellRecord, ...]:
        """Cells of the new run whose status is worse than before."""
        both = zip(self.base, self.new, strict=True)
        return tuple(new for old, new in both if _RANKS[new.status] > _RANKS[old.status])

    def figures(self, metric: str) -> Figures:
        """One of `METRICS` in both runs."""
        values = [[_figure(cell, metric) for cell in side] for side in (self.base, self.new)]
        both = list(zip(*values, strict=True))
        common = [(old, new) for old, new in both if old is not None and new is not None]
        if not common:
            found = [new for new in values[1] if new is not None]
            alone = statistics.median(found) if found else None
            return Figures(None, alone, len(found), _lost(both))
        base, new = (statistics.median(side) for side in zip(*common, strict=True))
        return Figures(base, new, len(common), _lost(both))

    def equilibria(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many cells of either run found which equilibrium."""
        base, new = (counts([Entry("", cell) for cell in side]) for side in (self.base, self.new))
        return base, new

    def statuses(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many cells of either run ended with which status."""
        sides = ([str(cell.status) for cell in side] for side in (self.base, self.new))
        base, new = (dict(Counter(side)) for side in sides)
        return base, new


@dataclass(frozen=True)
class Comparison:
    """Two runs cell by cell.

    Attributes
    ----------
    pairs : tuple of Pair
        In the order of the new run.
    missing : tuple of CellRecord
        Finished cells of the base that the new run does not have.
    only_new : tuple of str
        Names of the finished cells that the base does not have.
    warnings : tuple of str
        Why figures of the two may not compare.
    """

    base: StoredRun
    new: StoredRun
    pairs: tuple[Pair, ...]
    missing: tuple[CellRecord, ...]
    only_new: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def only_base(self) -> tuple[str, ...]:
        """Names of the missing cells."""
        return tuple(map(cell_name, self.missing))


def compare_runs(
    base: StoredRun,
    new: StoredRun,
    games: Collection[str] = (),
    solvers: Collection[str] = (),
) -> Comparison:
    """The finished cells of two runs, matched by game, solver with options, and seed.

    Games of files and of OpenSpiel are the same if their trees are, wherever the file is; others
    if their canonical specs are, and so are those of files in old runs, which keep no content,
    and of files that are alike within a run.

    Parameters
    ----------
    games, solvers : lists with commas of what shall be compared, as typed, canonical, or a
        solver's name without options; everything unless given

    Raises
    ------
    UsageError
        If the runs have no cell in common, or neither has a game or a solver that is named.
    """
    both = [*base.finished, *new.finished]
    chosen = [_chosen(games, both, "game"), _chosen(solvers, both, "solver")]
    sides = _by_identity(
        [
            [cell for cell in run.finished if all(cell.key in keys for keys in chosen)]
            for run in (base, new)
        ]
    )
    common = [identity for identity in sides[1] if identity in sides[0]]
    if not common:
        raise UsageError(
            f"{base.path} and {new.path} have no finished cell in common; compare runs of the "
            f"same game, solver and seed\n  {base.path}: {_some(sides[0].values())}\n"
            f"  {new.path}: {_some(sides[1].values())}"
        )
    groups: dict[tuple[tuple[str, ...], str], list[_Identity]] = {}
    for identity in common:
        groups.setdefault(identity[:2], []).append(identity)
    pairs = tuple(
        Pair(*(tuple(side[identity] for identity in group) for side in sides))
        for group in groups.values()
    )
    missing, added = (
        tuple(cell for at, cell in side.items() if at not in other)
        for side, other in (sides, reversed(sides))
    )
    warnings = (*_unlike(base, new), *_other_versions(pairs), *_unfinished(base, new))
    warnings += tuple(dict.fromkeys(base.notes + new.notes))
    return Comparison(base, new, pairs, missing, tuple(map(cell_name, added)), warnings)


def _figure(cell: CellRecord, metric: str) -> float | None:
    value = getattr(cell, metric)
    # a method that counts no iterations says 0
    return None if metric == "iterations" and value == 0 else value


def _lost(both: Iterable[tuple[float | None, float | None]]) -> int:
    return sum(old is not None and new is None for old, new in both)


def _by_identity(sides: Sequence[Sequence[CellRecord]]) -> list[dict[_Identity, CellRecord]]:
    """Cells of each run by identity, which no two cells of a run share."""
    counts = [
        Counter((_game(cell), cell.solver_spec, cell.seed) for cell in side) for side in sides
    ]
    alike = {game for count in counts for (game, _, _), times in count.items() if times > 1}

    def identity(cell: CellRecord) -> _Identity:
        game = _game(cell)
        more = (cell.game_spec,) if game in alike else ()
        return (game, *more), cell.solver_spec, cell.seed

    return [{identity(cell): cell for cell in side} for side in sides]


def _game(cell: CellRecord) -> str:
    """What is the same for the same game wherever its file is, as far as that is known."""
    content = cell.game_content if is_foreign(cell.game_spec) else ""
    return content or cell.game_spec


def _chosen(texts: Collection[str], cells: Sequence[CellRecord], kind: str) -> set[str]:
    """Keys of the cells with one of the games or solvers that are named."""
    names = {cell.key: {"".join(name.split()) for name in _names(cell, kind)} for cell in cells}
    wanted = ["".join(part.split()) for text in texts for part in split_specs(text)]
    known = {name for each in names.values() for name in each}
    for text in wanted:
        if text not in known:
            raise UsageError(f"neither run has the {kind} {text!r}: {nearest(text, known)}")
    return {key for key, each in names.items() if not wanted or each.intersection(wanted)}


def _names(cell: CellRecord, kind: str) -> tuple[str, ...]:
    typed, spec = getattr(cell, kind), getattr(cell, f"{kind}_spec")
    return (typed, spec) if is_foreign(typed) else (typed, spec, typed.partition("(")[0])


def _some(cells: Iterable[CellRecord]) -> str:
    return " ".join(listing([cell_name(cell) for cell in cells])) or "nothing"


def _unlike(base: StoredRun, new: StoredRun) -> list[str]:
    """What the runs were asked for, and where they ran, as far as it differs."""
    limits = _differences(base.plan["request"], new.plan["request"], _LIMITS)
    before, after = (run.plan.get("environment") or {} for run in (base, new))
    machine = _differences(before, after, _MACHINE)
    old, now = (each.get("packages") or {} for each in (before, after))
    machine += _differences(old, now, sorted({*old, *now}))
    named = (("limits differ", limits), ("machine or packages differ", machine))
    return [f"{what}: {', '.join(found)}" for what, found in named if found]


def _differences(before: dict[str, Any], after: dict[str, Any], names: Iterable[str]) -> list[str]:
    pairs = [(name, before.get(name), after.get(name)) for name in names]
    return [f"{name} {old} → {now}" for name, old, now in pairs if old != now]


def _other_versions(pairs: Sequence[Pair]) -> list[str]:
    """Solvers of another version, and games whose tree is another one."""
    both = [(pair.base[0], pair.new[0]) for pair in pairs]
    solvers = [now.solver for old, now in both if old.solver_version != now.solver_version]
    games = [now.game for old, now in both if old.game_content != now.game_content]
    named = (("solver or model of another version", solvers), ("the tree differs", games))
    return [
        f"{what}: {' '.join(listing(list(dict.fromkeys(found))))}" for what, found in named if found
    ]


def _unfinished(*runs: StoredRun) -> list[str]:
    return [
        f"{run.missing} of {run.planned} cells of {run.path} have not finished"
        for run in runs
        if run.missing
    ]
