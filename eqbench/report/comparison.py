"""Compare two runs, or two solvers of a run, cell by cell, and say what became worse."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from eqbench.errors import UsageError, nearest
from eqbench.report.charts.material import collect
from eqbench.report.naming import listing
from eqbench.report.paired import METRICS, Figures, Pair, Trial, median_of_ratios
from eqbench.spec import is_foreign, split_specs
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, cell_name, named
from eqbench.text import printable

_LIMITS = (
    *("timeout_s", "setup_timeout_s", "iterations", "target", "memory_bytes", "threads"),
    *("tolerance", "jobs"),
)
_MACHINE = ("processor", "cores", "memory_bytes", "platform", "python", "eqbench")

# Which cells belong together: game, solver with options, seed and repeat.
_Identity = tuple[tuple[str, ...], str, int | None, int]
MISSING, LOST = "missing", "missing from the new run"


@dataclass(frozen=True)
class Comparison:
    """Two runs, or two solvers of one, cell by cell.

    Attributes
    ----------
    pairs : in the order of the new run
    missing : finished cells of the base that the new run does not have
    only_new : names of the finished cells that the base does not have
    warnings : why figures of the two may not compare
    solvers : the two solvers; empty if runs are compared
    """

    base: StoredRun
    new: StoredRun
    pairs: tuple[Pair, ...]
    missing: tuple[CellRecord, ...] = ()
    only_new: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    solvers: tuple[str, ...] = ()

    @property
    def only_base(self) -> tuple[str, ...]:
        """Names of the missing cells."""
        return tuple(map(cell_name, self.missing))

    @property
    def overall(self) -> Pair:
        """The trials of all games together."""
        trials = tuple(trial for pair in self.pairs for trial in pair.trials)
        return replace(self.pairs[0], trials=trials)


def compare_runs(
    base: StoredRun, new: StoredRun, games: Collection[str] = (), solvers: Collection[str] = ()
) -> Comparison:
    """The finished cells of two runs, matched by game, solver with options, seed and repeat.

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
    keys = named(games, both, "game") & named(solvers, both, "solver")
    sides = _by_identity(
        [[cell for cell in run.finished if cell.key in keys] for run in (base, new)]
    )
    groups: dict[tuple[tuple[str, ...], str], list[Trial]] = {}
    for identity, cell in sides[1].items():
        if identity in sides[0]:
            groups.setdefault(identity[:2], []).append((sides[0][identity], cell))
    if not groups:
        shown = [some(map(cell_name, side.values())) for side in sides]
        raise UsageError(
            f"{base.path} and {new.path} have no finished cell in common; compare runs of the "
            f"same game, solver and seed\n  {base.path}: {shown[0]}\n  {new.path}: {shown[1]}"
        )
    pairs = tuple(Pair(tuple(trials)) for trials in groups.values())
    missing = tuple(cell for identity, cell in sides[0].items() if identity not in sides[1])
    added = tuple(
        cell_name(cell) for identity, cell in sides[1].items() if identity not in sides[0]
    )
    warnings = (*_unlike(base, new, pairs), *dict.fromkeys(base.notes + new.notes))
    return Comparison(base, new, pairs, missing, added, warnings)


def compare_solvers(
    run: StoredRun, solvers: Collection[str], games: Collection[str] = ()
) -> Comparison:
    """Two solvers of a run on the games that both take.

    Cells of equal seed and repeat are held against each other, a cell without a seed against all.

    Raises
    ------
    UsageError
        If not just two solvers of the run are named, or there is no game that both take.
    """
    cells = [cell for cell in run.finished if cell.elapsed_s is not None]
    keys, wanted = named(games, cells, "game"), [s for text in solvers for s in split_specs(text)]
    chosen = [keys & named([solver], cells, "solver") for solver in wanted]
    sides = [[cell for cell in cells if cell.key in own] for own in chosen]
    specs = [spec for side in sides for spec in {cell.solver_spec for cell in side}]
    if len(sides) != 2 or len(specs) != 2 or not all(sides) or specs[0] == specs[1]:
        known = ", ".join(dict.fromkeys(cell.solver for cell in cells))
        raise UsageError(
            "give a second run, or two solvers of this one with their options: --solver A,B; "
            f"{run.path} has {known or 'no finished cell'}"
        )
    groups: dict[str, list[Trial]] = {}
    for old, new in product(*sides):
        alike = old.seed == new.seed or None in (old.seed, new.seed)
        if alike and old.repeat == new.repeat and old.game_spec == new.game_spec:
            groups.setdefault(old.game_spec, []).append((old, new))
    names = tuple(printable(side[0].solver) for side in sides)
    if not groups:
        raise UsageError(f"there is no game in {run.path} that both {' and '.join(names)} took")
    tracks = (track for game in collect([run]).games for track in game.tracks)
    by_key = {track.entry.record.key: track for track in tracks}
    pairs = (Pair(tuple(trials), median_of_ratios, by_key) for trials in groups.values())
    return Comparison(run, run, tuple(pairs), warnings=run.notes, solvers=names)


def _by_identity(sides: Sequence[Sequence[CellRecord]]) -> list[dict[_Identity, CellRecord]]:
    """Cells of each run by identity, which no two cells of a run share."""
    keys = [
        [(_game(cell), cell.solver_spec, cell.seed, cell.repeat) for cell in side] for side in sides
    ]
    alike = {key[0] for own in keys for key, times in Counter(own).items() if times > 1}

    def identity(cell: CellRecord) -> _Identity:
        game = _game(cell)
        more = (cell.game_spec,) if game in alike else ()
        return (game, *more), cell.solver_spec, cell.seed, cell.repeat

    return [{identity(cell): cell for cell in side} for side in sides]


def _game(cell: CellRecord) -> str:
    """What is the same for the same game wherever its file is, as far as that is known."""
    content = cell.game_content if is_foreign(cell.game_spec) else ""
    return content or cell.game_spec


def some(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    return " ".join(listing(list(names))) or "nothing"


def _unlike(base: StoredRun, new: StoredRun, pairs: Sequence[Pair]) -> Iterator[str]:
    """What the runs were asked for, where they ran, and what they ran, as far as it differs."""
    limits = _differences([run.plan["request"] for run in (base, new)], _LIMITS)
    machines = [run.plan.get("environment") or {} for run in (base, new)]
    packages = [machine.get("packages") or {} for machine in machines]
    machine = _differences(machines, _MACHINE)
    machine += _differences(packages, sorted({*packages[0], *packages[1]}))
    first = [pair.trials[0] for pair in pairs]
    solvers = [now.solver for old, now in first if old.solver_version != now.solver_version]
    games = [now.game for old, now in first if old.game_content != now.game_content]
    named = {
        "limits differ": ", ".join(limits),
        "machine or packages differ": ", ".join(machine),
        "solver or model of another version": " ".join(listing(list(dict.fromkeys(solvers)))),
        "the tree differs": " ".join(listing(list(dict.fromkeys(games)))),
    }
    yield from (f"{what}: {found}" for what, found in named.items() if found)
    for run in (base, new):
        if run.missing:
            yield f"{run.missing} of {run.planned} cells of {run.path} have not finished"


def _differences(sides: Sequence[dict[str, Any]], names: Iterable[str]) -> list[str]:
    pairs = [(name, *(side.get(name) for side in sides)) for name in names]
    return [f"{name} {old} → {now}" for name, old, now in pairs if old != now]


_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_CONDITION = re.compile(
    rf"(?P<metric>\w+)(?P<comparison>>=|<=|>|<)"
    rf"(?:(?P<absolute>{_NUMBER})|(?P<factor>{_NUMBER})?x(?:\+(?P<plus>{_NUMBER}))?)"
)
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_ALLOWED = (
    "write METRIC OP LIMIT with OP one of > >= < <= and LIMIT a finite number, a multiple of the "
    "base such as 1.2x, or one with a margin such as 1.2x+0.1 or x+1e-9; for example "
    "elapsed_s>1.2x. A worse status counts without being asked for"
)


@dataclass(frozen=True)
class Rule:
    """A condition that no pair may meet: metric, comparison, and ``factor`` · base + ``plus``.

    Without a factor (None) the limit is ``plus``, whatever the base.
    """

    text: str
    metric: str
    comparison: str
    factor: float | None
    plus: float

    def broken_by(self, figures: Figures) -> bool:
        """Whether figures meet the condition; what cannot be said of them they do not.

        Against a multiple of the base, a figure must also be beyond the base itself.
        """
        base, new, beyond = figures.base, figures.new, _COMPARE[self.comparison]
        if new is None or (base is None and self.factor is not None):
            return False
        if self.factor is None or base is None:
            return beyond(new, self.plus)
        # a multiple of a negative base, as rounding leaves of a regret, is on its wrong side
        limit = self.factor * max(base, 0.0) + self.plus
        return _COMPARE[self.comparison[0]](new, base) and beyond(new, limit)


@dataclass(frozen=True)
class Criteria:
    """What counts as a regression: conditions, a worse status, and cells that are missing."""

    rules: tuple[Rule, ...] = ()
    statuses: bool = True
    missing: bool = True


@dataclass(frozen=True)
class Regression:
    """What became worse of a game and solver as typed, by which rule, with figures in words."""

    game: str
    solver: str
    rule: str
    text: str


def parse_rule(text: str) -> Rule:
    """Rule that a text such as ``elapsed_s>1.2x+0.1`` stands for; nothing is evaluated.

    Raises
    ------
    UsageError
        If it is none.
    """
    compact = "".join(text.split())
    parts = _CONDITION.fullmatch(compact)
    if parts is None:
        raise UsageError(f"{text!r} is no condition: {_ALLOWED}")
    metric, comparison, absolute, factor, plus = parts.groups()
    if metric not in METRICS:
        known = f"{nearest(metric, METRICS)} (all: {', '.join(METRICS)})"
        raise UsageError(f"unknown metric {metric!r} in {text!r}: {known}")
    multiple = None if absolute else float(factor or 1)
    margin = float(absolute or plus or 0)
    if math.inf in (multiple, margin):
        raise UsageError(f"the limit in {text!r} is too large for a number: {_ALLOWED}")
    return Rule(compact, metric, comparison, multiple, margin)


def regressions(comparison: Comparison, criteria: Criteria) -> list[Regression]:
    """What became worse, pair by pair, and then what is missing.

    A figure that the base has and the new run lacks breaks every rule about it.
    """
    found = [
        Regression(pair.cell.game, pair.cell.solver, rule, text)
        for pair in comparison.pairs
        for rule, text in _broken(pair, criteria)
    ]
    groups: dict[tuple[str, str], list[str]] = {}
    for cell in comparison.missing if criteria.missing else ():
        seeds = groups.setdefault((cell.game, cell.solver), [])
        seeds += [] if cell.seed is None else [str(cell.seed)]
    for names, seeds in ((names, list(dict.fromkeys(own))) for names, own in groups.items()):
        which = f" (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})" if seeds else ""
        found.append(Regression(*names, MISSING, f"{LOST}{which}"))
    return found


def _broken(pair: Pair, criteria: Criteria) -> Iterator[tuple[str, str]]:
    """Rules that a pair breaks, with the reason in words."""
    changes = []
    for old, new in pair.worse if criteria.statuses else ():
        trial = f" ({new.trial})" if new.trial else ""
        reason = f": {new.reason}" if new.reason else ""
        changes.append(f"{old.status} → {new.status}{trial}{reason}")
    if changes:
        yield "status", "; ".join(changes)
    for rule in criteria.rules:
        figures = pair.figures(rule.metric)
        if figures.lost:
            lost = f"{figures.lost} of {len(pair.trials)} cells have no {rule.metric} any more"
            yield rule.text, lost
        elif rule.broken_by(figures):
            base = "–" if figures.base is None else f"{figures.base:.4g}"
            ratio = "" if figures.ratio is None else f", {figures.ratio:.3g}x"
            median = f", medians of {figures.seeds} cells" if figures.seeds > 1 else ""
            yield rule.text, f"{rule.metric} {base} → {figures.new:.4g}{ratio}{median}"
