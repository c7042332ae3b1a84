"""Compare two runs cell by cell: rows, rules that make a regression, and views of both."""

from __future__ import annotations

import math
import operator
import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eqbench.errors import UsageError, nearest
from eqbench.report.entries import Entry, titled
from eqbench.report.equilibria import counts
from eqbench.report.naming import listing
from eqbench.report.rows import SOLVER, Column, Kind, Report, Row, Table
from eqbench.spec import is_foreign
from eqbench.store.schema import CellRecord, Status
from eqbench.store.stored_run import StoredRun, cell_name, named

# The numbers of a record that are compared, by the names that they have there.
METRICS = (
    *("elapsed_s", "cpu_s", "setup_s", "overhead_s", "peak_memory_bytes", "iterations"),
    *("nash_conv", "max_regret", "exploitability"),
)
# What a status is worth: its result stands, it was stopped, there is none, something is broken.
_RANKS: dict[Status, int] = {
    "ok": 0,
    **dict.fromkeys(("limit", "stopped"), 1),
    **dict.fromkeys(("timeout", "memory", "not_found", "unsupported", "unavailable", "failed"), 2),
    **dict.fromkeys(("crashed", "refuted", "interrupted"), 3),
}
_LIMITS = (
    *("timeout_s", "setup_timeout_s", "iterations", "target", "memory_bytes", "threads"),
    *("tolerance", "jobs"),
)
_MACHINE = ("processor", "cores", "memory_bytes", "platform", "python", "eqbench")

# Which cells belong together: game, solver with options, seed and repeat.
_Identity = tuple[tuple[str, ...], str, int | None, int]


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
    def worse(self) -> tuple[CellRecord, ...]:
        """Cells of the new run whose status is worse than before."""
        both = zip(self.base, self.new, strict=True)
        return tuple(new for old, new in both if _RANKS[new.status] > _RANKS[old.status])

    def figures(self, metric: str) -> Figures:
        """One of `METRICS` in both runs."""
        both = [
            (_figure(old, metric), _figure(new, metric))
            for old, new in zip(self.base, self.new, strict=True)
        ]
        common = [(old, new) for old, new in both if old is not None and new is not None]
        lost = sum(old is not None and new is None for old, new in both)
        if common:
            base, new = (statistics.median(side) for side in zip(*common, strict=True))
            return Figures(base, new, len(common), lost)
        alone = [new for _, new in both if new is not None]
        return Figures(None, statistics.median(alone) if alone else None, len(alone), lost)

    def equilibria(self) -> list[dict[str, int]]:
        """How many cells of either run found which equilibrium."""
        return [counts([Entry("", cell) for cell in side]) for side in (self.base, self.new)]

    def statuses(self) -> list[dict[str, int]]:
        """How many cells of either run ended with which status."""
        return [dict(Counter(cell.status for cell in side)) for side in (self.base, self.new)]


@dataclass(frozen=True)
class Comparison:
    """Two runs cell by cell.

    Attributes
    ----------
    pairs : in the order of the new run
    missing : finished cells of the base that the new run does not have
    only_new : names of the finished cells that the base does not have
    warnings : why figures of the two may not compare
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
    pairs = tuple(Pair(*(tuple(side[k] for k in own) for side in sides)) for own in groups.values())
    missing = tuple(cell for identity, cell in sides[0].items() if identity not in sides[1])
    added = tuple(cell for identity, cell in sides[1].items() if identity not in sides[0])
    warnings = (*_unlike(base, new, pairs), *dict.fromkeys(base.notes + new.notes))
    return Comparison(base, new, pairs, missing, tuple(map(cell_name, added)), warnings)


def _figure(cell: CellRecord, metric: str) -> float | None:
    value = getattr(cell, metric)
    # a method that counts no iterations says 0
    return None if metric == "iterations" and value == 0 else value


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


def _some(cells: Iterable[CellRecord]) -> str:
    return " ".join(listing([cell_name(cell) for cell in cells])) or "nothing"


def _unlike(base: StoredRun, new: StoredRun, pairs: Sequence[Pair]) -> Iterator[str]:
    """What the runs were asked for, where they ran, and what they ran, as far as it differs."""
    limits = _differences([run.plan["request"] for run in (base, new)], _LIMITS)
    machines = [run.plan.get("environment") or {} for run in (base, new)]
    packages = [machine.get("packages") or {} for machine in machines]
    machine = _differences(machines, _MACHINE)
    machine += _differences(packages, sorted({*packages[0], *packages[1]}))
    both = [(pair.base[0], pair.new[0]) for pair in pairs]
    solvers = [now.solver for old, now in both if old.solver_version != now.solver_version]
    games = [now.game for old, now in both if old.game_content != now.game_content]
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
_CONDITION = re.compile(r"(\w+)(>=|<=|>|<)(.+)")
_LIMIT = re.compile(rf"(?P<absolute>{_NUMBER})|(?P<factor>{_NUMBER})?x(?:\+(?P<plus>{_NUMBER}))?")
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_ALLOWED = (
    "write METRIC OP LIMIT with OP one of > >= < <= and LIMIT a number, a multiple of the base "
    "such as 1.2x, or one with a margin such as 1.2x+0.1 or x+1e-9; for example elapsed_s>1.2x"
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
        if figures.new is None or (figures.base is None and self.factor is not None):
            return False
        if self.factor is None or figures.base is None:
            return _COMPARE[self.comparison](figures.new, self.plus)
        # a multiple of a negative base, as rounding leaves of a regret, is on its wrong side
        limit = self.factor * max(figures.base, 0.0) + self.plus
        beyond = _COMPARE[self.comparison[0]](figures.new, figures.base)
        return beyond and _COMPARE[self.comparison](figures.new, limit)


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
    condition = _CONDITION.fullmatch(compact)
    if re.match(r"status\b", compact):
        raise UsageError(
            f"{text!r} is no condition, since a status is no number: a worse one counts without "
            "being asked for; --allow-worse-status turns that off"
        )
    if condition is None:
        raise UsageError(f"{text!r} is no condition: {_ALLOWED}")
    metric, comparison, limit = condition.groups()
    if metric not in METRICS:
        raise UsageError(
            f"unknown metric {metric!r} in {text!r}: {nearest(metric, METRICS)} "
            f"(all: {', '.join(METRICS)})"
        )
    parts = _LIMIT.fullmatch(limit)
    if parts is None:
        raise UsageError(f"{limit!r} in {text!r} is no limit: {_ALLOWED}")
    factor = float(parts["factor"] or 1) if parts["absolute"] is None else None
    plus = float(parts["absolute"] or parts["plus"] or 0)
    if not (math.isfinite(factor or 0) and math.isfinite(plus)):
        raise UsageError(f"{limit!r} in {text!r} is too large for a number: {_ALLOWED}")
    return Rule(compact, metric, comparison, factor, plus)


def regressions(comparison: Comparison, criteria: Criteria) -> list[Regression]:
    """What became worse, pair by pair, and then what is missing.

    A figure that the base has and the new run lacks breaks every rule about it.
    """
    found = [
        Regression(pair.new[0].game, pair.new[0].solver, rule, text)
        for pair in comparison.pairs
        for rule, text in _broken(pair, criteria)
    ]
    groups: dict[tuple[str, str], list[str]] = {}
    for cell in comparison.missing if criteria.missing else ():
        seeds = groups.setdefault((cell.game, cell.solver), [])
        seeds += [] if cell.seed is None else [str(cell.seed)]
    for names, seeds in ((names, list(dict.fromkeys(own))) for names, own in groups.items()):
        which = f" (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})" if seeds else ""
        found.append(Regression(*names, "missing", f"missing from the new run{which}"))
    return found


def _broken(pair: Pair, criteria: Criteria) -> Iterator[tuple[str, str]]:
    """Rules that a pair breaks, with the reason in words."""
    before = {cell.trial: cell.status for cell in pair.base}
    changes = []
    for cell in pair.worse if criteria.statuses else ():
        trial = f" ({cell.trial})" if cell.trial else ""
        reason = f": {cell.reason}" if cell.reason else ""
        changes.append(f"{before[cell.trial]} → {cell.status}{trial}{reason}")
    if changes:
        yield "status", "; ".join(changes)
    for rule in criteria.rules:
        figures = pair.figures(rule.metric)
        if figures.lost:
            lost = f"{figures.lost} of {len(pair.new)} cells have no {rule.metric} any more"
            yield rule.text, lost
        elif rule.broken_by(figures):
            base = "–" if figures.base is None else f"{figures.base:.4g}"
            ratio = "" if figures.ratio is None else f", {figures.ratio:.3g}x"
            median = f", medians of {figures.seeds} cells" if figures.seeds > 1 else ""
            yield rule.text, f"{rule.metric} {base} → {figures.new:.4g}{ratio}{median}"


SCHEMA = "eqbench.compare/1"
# The metrics of a table: heading, kind, and when it is left out for want of space, without
# conditions and where conditions are about others. Those without ranks need a condition.
_SHOWN: dict[str, tuple[str, Kind, tuple[int, int] | None]] = {
    "max_regret": ("max regret", "small", (0, 5)),
    "nash_conv": ("NashConv", "small", (1, 1)),
    "exploitability": ("exploitability", "small", None),
    "iterations": ("iterations", "count", (2, 2)),
    "elapsed_s": ("time", "seconds", (0, 6)),
    "cpu_s": ("CPU time", "seconds", None),
    "setup_s": ("set-up", "seconds", None),
    "overhead_s": ("monitoring", "seconds", None),
    "peak_memory_bytes": ("memory", "bytes", (3, 3)),
}
_WITHOUT_RATIO = ("max_regret", "nash_conv", "exploitability")
_LEGEND = (
    "Figures are of the base, then of the new run; × is new / base. Several seeds are compared by "
    "the medians over those that both runs have."
)
_ADVICE = (
    "Timings are noisy: run both on one quiet machine, with several seeds, and allow a margin, for "
    'example --fail-if "elapsed_s>1.3x+0.1".'
)


def comparison_report(
    comparison: Comparison, criteria: Criteria, found: Sequence[Regression]
) -> Report:
    """One table per game with one row per solver, then warnings and what became worse.

    What a condition is about is shown at any width.
    """
    tested = {rule.metric for rule in criteria.rules}
    by_key = {pair.new[0].key: pair for pair in comparison.pairs}
    games = titled(Entry("", pair.new[0]) for pair in comparison.pairs)
    tables = tuple(
        _table(title, [by_key[entry.record.key] for entry in group], tested)
        for title, group in games
    )
    return Report(tables, _LEGEND, tuple(_notes(comparison, criteria, found)))


def comparison_json(
    comparison: Comparison, criteria: Criteria, found: Sequence[Regression]
) -> dict[str, Any]:
    """The same as JSON values, with all metrics."""
    return {
        "schema": SCHEMA,
        "base": str(comparison.base.path),
        "new": str(comparison.new.path),
        "warnings": list(comparison.warnings),
        "cells": [_cell(pair) for pair in comparison.pairs],
        "only_base": list(comparison.only_base),
        "only_new": list(comparison.only_new),
        "rules": [rule.text for rule in criteria.rules],
        "regressions": [asdict(each) for each in found],
    }


def _cell(pair: Pair) -> dict[str, Any]:
    new = pair.new[0]
    figures = {metric: pair.figures(metric) for metric in METRICS}
    return {
        **{name: getattr(new, name) for name in ("game", "solver", "game_spec", "solver_spec")},
        "seeds": [cell.seed for cell in pair.new],
        "status": _beside(pair.statuses()) | {"worse": [cell.seed for cell in pair.worse]},
        "equilibria": _beside(pair.equilibria()),
        "metrics": {
            metric: {"base": each.base, "new": each.new, "ratio": each.ratio, "seeds": each.seeds}
            for metric, each in figures.items()
        },
    }


def _beside(sides: Sequence[Any]) -> dict[str, Any]:
    return {"base": sides[0], "new": sides[1], "changed": sides[0] != sides[1]}


def _table(title: str, pairs: Sequence[Pair], tested: Collection[str]) -> Table:
    several = any(len(pair.new) > 1 for pair in pairs)
    columns = [SOLVER, *([Column("seeds", "count")] if several else []), Column("status")]
    for metric, (heading, kind, ranks) in _SHOWN.items():
        if ranks is None and metric not in tested:
            continue
        rank = 0 if ranks is None or metric in tested else ranks[bool(tested)]
        columns += [
            Column(heading, kind, dispensable=rank),
            Column(f"new {heading}", kind, f"new\n{heading}", dispensable=rank),
        ]
        if metric not in _WITHOUT_RATIO:
            columns.append(Column(f"{heading} ×", "ratio", f"{heading}\n×", dispensable=rank))
    columns.append(Column("equilibrium", dispensable=4))
    rows = tuple(Row(pair.new[0].solver, _values(pair)) for pair in pairs)
    return Table(title, tuple(columns), rows, notes=(), legend=_LEGEND, players=0)


def _values(pair: Pair) -> Mapping[str, Any]:
    several = len(pair.new) > 1
    values: dict[str, Any] = {
        "solver": pair.new[0].solver,
        "seeds": len(pair.new),
        "status": _change(pair.statuses(), several=several),
        "equilibrium": _change(pair.equilibria(), several=several),
    }
    for metric, (heading, kind, _) in _SHOWN.items():
        figures = pair.figures(metric)
        whole = kind in ("count", "bytes")
        for title, value in ((heading, figures.base), (f"new {heading}", figures.new)):
            values[title] = round(value) if whole and value is not None else value
        values[f"{heading} ×"] = figures.ratio
    return values


def _change(sides: Sequence[dict[str, int]], *, several: bool) -> str | None:
    """What was counted, or what it was and what it is; None if nothing ever was."""
    texts = [
        ", ".join(f"{name} ×{count}" if several else name for name, count in side.items()) or "–"
        for side in sides
    ]
    if sides[0] == sides[1]:
        return texts[1] if sides[1] else None
    return " → ".join(texts)


def _notes(comparison: Comparison, criteria: Criteria, found: Sequence[Regression]) -> list[str]:
    notes = [_ADVICE, *(f"warning: {text}" for text in comparison.warnings)]
    lost = () if criteria.missing else comparison.only_base  # which regressions name otherwise
    for side, names in (("base", lost), ("new", comparison.only_new)):
        if names:
            notes.append(f"only in {side}: {', '.join(names)}")
    notes += [f"regression: {each.game}/{each.solver}: {each.text} [{each.rule}]" for each in found]
    if not found:
        kinds = [*(["status"] * criteria.statuses), *(["missing cells"] * criteria.missing)]
        tested = ", ".join([*kinds, *(rule.text for rule in criteria.rules)])
        notes.append(f"no regression; looked at: {tested or 'nothing'}")
    return notes
