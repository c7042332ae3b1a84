"""Compare two runs, or two solvers of a run, cell by cell: figures, regressions, tables."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError, counted, nearest
from eqbench.report.entries import Entry, named, titled
from eqbench.report.equilibria import counts
from eqbench.report.html.material import Track, collect
from eqbench.report.naming import listing
from eqbench.report.rows import SOLVER, Column, Kind, Report, Row, Table
from eqbench.report.terminal import mebibytes, seconds, small
from eqbench.spec import is_foreign, split_specs
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, cell_name

# The numbers of a record that are compared: heading, kind, and when a table of runs leaves them
# out for want of space, without conditions and where conditions are about others. Those without
# ranks need a condition.
METRICS: dict[str, tuple[str, Kind, tuple[int, int] | None]] = {
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
OF_SOLVERS = ("elapsed_s", "cpu_s", "max_regret", "iterations", "peak_memory_bytes")
TARGETS = (1e-1, 1e-3, 1e-5, 1e-7, 1e-9)  # regrets in payoff units, timed in the anytime curves
SHORTEST_S = 1e-5  # where clocks stop telling moments apart
FEWEST_PAIRS, RESAMPLES, TIE = 5, 2_000, 0.01
# What a status is worth: its result stands, it was stopped, there is none, something is broken.
_RANKS = {
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
_Trial = tuple[CellRecord, CellRecord]
_Values = Sequence[tuple[float | None, float | None]]


def ratio_of_medians(base: NDArray, new: NDArray, axis: int = -1) -> Any:
    """Median of the new figures over that of the base."""
    return np.median(new, axis) / np.median(base, axis)


def median_of_ratios(base: NDArray, new: NDArray, axis: int = -1) -> Any:
    """Median of new over base, trial by trial; two zeros are equal."""
    return np.median(np.where((base == 0) & (new == 0), 1.0, new / base), axis)


@dataclass(frozen=True)
class Figures:
    """One metric in both cells of some trials.

    Attributes
    ----------
    base, new : medians over the trials in which both have it; if only the new cells have it,
        `new` is the median over all of them
    seeds : number of trials behind the medians
    lost : number of trials in which the new cell lacks what the base has
    ratio : new over base; None unless both are there and the base is positive
    interval : bootstrap interval of the ratio at 95 %, from five trials on
    less, equal, more : in how many trials the new figure is less than the base, equal, more
    """

    base: float | None = None
    new: float | None = None
    seeds: int = 0
    lost: int = 0
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    less: int = 0
    equal: int = 0
    more: int = 0

    @classmethod
    def of(cls, values: _Values, ratio: Callable[..., Any], floor: float = 0.0) -> Figures:
        """Figures of the values of some trials; those within `floor` are equal."""
        both = [(old, new) for old, new in values if old is not None and new is not None]
        lost = sum(old is not None and new is None for old, new in values)
        if not both:
            alone = [new for _, new in values if new is not None]
            return cls(None, median(alone) if alone else None, len(alone), lost)
        sides = np.maximum(np.array(both, float).T, 0.0)
        low, high = np.maximum(sides, floor)
        signs = np.where(abs(high - low) <= TIE * np.maximum(low, high), 0, np.sign(high - low))
        with np.errstate(all="ignore"):  # zeros have no ratio
            found = float(ratio(*sides))
            interval = _interval(sides, ratio) if len(both) >= FEWEST_PAIRS else None
        less, equal, more = (int((signs == sign).sum()) for sign in (-1, 0, 1))
        middles = [median(side) for side in zip(*both, strict=True)]
        shown = found if math.isfinite(found) else None
        return cls(middles[0], middles[1], len(both), lost, shown, interval, less, equal, more)

    @property
    def interval_text(self) -> str | None:
        """The interval as tables show it."""
        return self.interval and "–".join(map(ratio_text, self.interval))


def ratio_text(ratio: float) -> str:
    """A ratio, which of two solvers may be far from 1."""
    return f"{ratio:.2f}" if 0.1 <= ratio < 1000 else f"{ratio:.2g}"


def _interval(sides: NDArray, ratio: Callable[..., Any]) -> tuple[float, float] | None:
    """Percentile interval of a ratio over samples of the trials, always the same samples."""
    trials = sides.shape[1]
    samples = np.random.default_rng(0).integers(trials, size=(RESAMPLES, trials))
    low, high = np.percentile(ratio(*sides[:, samples]), (2.5, 97.5)).tolist()
    return (low, high) if math.isfinite(high - low) else None


@dataclass(frozen=True)
class Pair:
    """The cells of one game that are held against each other, trial by trial."""

    trials: tuple[_Trial, ...]
    ratio: Callable[..., Any] = ratio_of_medians

    @property
    def cell(self) -> CellRecord:
        """The first of the new cells."""
        return self.trials[0][1]

    @property
    def worse(self) -> list[_Trial]:
        """Trials in which the new status is worse than before."""
        return [(old, new) for old, new in self.trials if _RANKS[new.status] > _RANKS[old.status]]

    def figures(self, metric: str) -> Figures:
        """One of `METRICS`; regrets within the target are equal."""
        values = [(_figure(old, metric), _figure(new, metric)) for old, new in self.trials]
        is_regret = METRICS[metric][1] == "small"
        target = max(cell.target or 0.0 for _, cell in self.trials)
        return Figures.of(values, self.ratio, target if is_regret else 0.0)

    def equilibria(self) -> list[dict[str, int]]:
        """How many cells of either side found which equilibrium."""
        return [counts([Entry("", cell) for cell in side]) for side in self._sides]

    def statuses(self) -> list[dict[str, int]]:
        """How many cells of either side ended with which status."""
        return [dict(Counter(cell.status for cell in side)) for side in self._sides]

    @property
    def _sides(self) -> Iterable[tuple[CellRecord, ...]]:
        return zip(*self.trials, strict=True)


def _figure(cell: CellRecord, metric: str) -> float | None:
    value = getattr(cell, metric)
    # a method that counts no iterations says 0
    return None if metric == "iterations" and value == 0 else value


@dataclass(frozen=True)
class Comparison:
    """Two runs, or two solvers of one, cell by cell.

    Attributes
    ----------
    pairs : in the order of the new run
    missing : finished cells of the base that the new run does not have
    only_new : names of the finished cells that the base does not have
    warnings : why figures of the two may not compare
    solvers : the two solvers, and
    tracks : anytime curves of their cells by key; both empty if runs are compared
    """

    base: StoredRun
    new: StoredRun
    pairs: tuple[Pair, ...]
    missing: tuple[CellRecord, ...] = ()
    only_new: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    solvers: tuple[str, ...] = ()
    tracks: Mapping[str, Track] = field(default_factory=dict)

    @property
    def only_base(self) -> tuple[str, ...]:
        """Names of the missing cells."""
        return tuple(map(cell_name, self.missing))

    @property
    def overall(self) -> Pair:
        """The trials of all games together."""
        trials = tuple(trial for pair in self.pairs for trial in pair.trials)
        return Pair(trials, self.pairs[0].ratio)

    def times_to(self, regret: float, pair: Pair) -> Figures:
        """Times until a max regret; a cell that reaches it alone has less."""
        clocks = [[self.tracks[cell.key].time_to(regret) for cell in both] for both in pair.trials]
        values = [tuple(max(t, SHORTEST_S) if t < math.inf else None for t in c) for c in clocks]
        found = Figures.of(values, pair.ratio)  # type: ignore[arg-type]
        gained = sum(old is None and new is not None for old, new in values)
        return replace(found, less=found.less + gained, more=found.more + found.lost)


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
    groups: dict[tuple[tuple[str, ...], str], list[_Trial]] = {}
    for identity, cell in sides[1].items():
        if identity in sides[0]:
            groups.setdefault(identity[:2], []).append((sides[0][identity], cell))
    if not groups:
        some = [_some(map(cell_name, side.values())) for side in sides]
        raise UsageError(
            f"{base.path} and {new.path} have no finished cell in common; compare runs of the "
            f"same game, solver and seed\n  {base.path}: {some[0]}\n  {new.path}: {some[1]}"
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
    if len(sides) != 2 or any(len({cell.solver_spec for cell in side}) != 1 for side in sides):
        known = ", ".join(dict.fromkeys(cell.solver for cell in cells))
        raise UsageError(
            "give a second run, or two solvers of this one with their options: --solver A,B; "
            f"{run.path} has {known or 'no finished cell'}"
        )
    groups: dict[str, list[_Trial]] = {}
    for old, new in product(*sides):
        alike = old.seed == new.seed or None in (old.seed, new.seed)
        if alike and old.repeat == new.repeat and _game(old) == _game(new):
            groups.setdefault(_game(old), []).append((old, new))
    names = tuple(side[0].solver for side in sides)
    if not groups:
        raise UsageError(f"there is no game in {run.path} that both {' and '.join(names)} took")
    pairs = tuple(Pair(tuple(trials), median_of_ratios) for trials in groups.values())
    tracks = (track for game in collect([run]).games for track in game.tracks)
    by_key = {track.entry.record.key: track for track in tracks}
    return Comparison(run, run, pairs, warnings=run.notes, solvers=names, tracks=by_key)


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


def _some(names: Iterable[str]) -> str:
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
    parts = _CONDITION.fullmatch(compact)
    if parts is None:
        raise UsageError(f"{text!r} is no condition: {_ALLOWED}")
    metric, comparison, absolute, factor, plus = parts.groups()
    if metric not in METRICS:
        raise UsageError(
            f"unknown metric {metric!r} in {text!r}: {nearest(metric, METRICS)} "
            f"(all: {', '.join(METRICS)})"
        )
    multiple = float(factor or 1) if absolute is None else None
    margin = float(absolute or plus or 0)
    if not (math.isfinite(multiple or 0) and math.isfinite(margin)):
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
        found.append(Regression(*names, _MISSING, f"{_LOST}{which}"))
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


_MISSING, _LOST = "missing", "missing from the new run"
SCHEMA = "eqbench.compare/1"
_INTERVALS = (
    f"95 %: percentile interval of the ratio by {RESAMPLES:,} bootstrap samples of the trials, "
    f"from {FEWEST_PAIRS} on."
)
_SHOWN: dict[str, Callable[[Any], str]] = {
    **{"small": small, "seconds": seconds, "bytes": mebibytes, "count": "{:,.0f}".format}
}
_LEGEND = (
    "Figures are of the base, then of the new run; × is new / base. Several seeds are compared by "
    "the medians over those that both runs have."
)
_ADVICE = (
    "Timings are noisy: run both on one quiet machine, with several seeds, and allow a margin, for "
    'example --fail-if "elapsed_s>1.3x+0.1".'
)


def comparison_json(
    comparison: Comparison, criteria: Criteria, found: Sequence[Regression]
) -> dict[str, Any]:
    """A comparison as JSON values, with all metrics."""
    document: dict[str, Any] = {
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
    if comparison.solvers:
        document["solvers"] = list(comparison.solvers)
        for pair, cell in zip(comparison.pairs, document["cells"], strict=True):
            cell["times_to"] = {
                f"{regret:g}": asdict(comparison.times_to(regret, pair)) for regret in TARGETS
            }
        document["overall"] = _cell(comparison.overall)["metrics"]
    return document


def _cell(pair: Pair) -> dict[str, Any]:
    names = ("game", "solver", "game_spec", "solver_spec")
    return {
        **{name: getattr(pair.cell, name) for name in names},
        "seeds": [new.seed for _, new in pair.trials],
        "status": _beside(pair.statuses()) | {"worse": [new.seed for _, new in pair.worse]},
        "equilibria": _beside(pair.equilibria()),
        "metrics": {metric: asdict(pair.figures(metric)) for metric in METRICS},
    }


def _beside(sides: Sequence[Any]) -> dict[str, Any]:
    return {"base": sides[0], "new": sides[1], "changed": sides[0] != sides[1]}


def comparison_report(
    comparison: Comparison, criteria: Criteria, found: Sequence[Regression]
) -> Report:
    """Of runs a table per game with a row per solver; of solvers one with a row per metric.

    Warnings and what became worse follow. What a condition is about is shown at any width.
    """
    games = titled(Entry("", pair.cell) for pair in comparison.pairs)
    by_key = {pair.cell.key: pair for pair in comparison.pairs}
    tested = {rule.metric for rule in criteria.rules}
    grouped = [(title, [by_key[entry.record.key] for entry in group]) for title, group in games]
    notes = tuple(_notes(comparison, criteria, found))
    if not comparison.solvers:
        tables = tuple(_of_runs(title, pairs, tested) for title, pairs in grouped)
        spread = any(column.title.endswith("95 %") for t in tables for column in t.columns)
        return Report(tables, f"{_LEGEND} {_INTERVALS}" if spread else _LEGEND, notes)
    several = [("all games", comparison.overall)] if len(grouped) > 1 else []
    of_games = [(title, pairs[0]) for title, pairs in grouped]
    tables = tuple(_of_solvers(comparison, *each) for each in (*of_games, *several))
    legend = (
        f"× is the median of {comparison.solvers[1]} / {comparison.solvers[0]} over the trials "
        f"that both have, and who has less wins; within {TIE:.0%}, or both within the target, is "
        f"a tie. {_INTERVALS} Times to a regret are of trials in which both reach it; who alone "
        "does wins."
    )
    return Report(tables, legend, notes)


def _of_solvers(comparison: Comparison, title: str, pair: Pair) -> Table:
    base, new = comparison.solvers
    shown = [(*METRICS[metric][:2], pair.figures(metric)) for metric in OF_SOLVERS]
    for regret in TARGETS:
        shown.append((f"time to {regret:.0e}", "seconds", comparison.times_to(regret, pair)))
    medians = (base, new) if pair in comparison.pairs else ()  # different games have no median
    columns = (
        Column("metric", identifies=True),
        *(Column(name, "number") for name in (*medians, "×", "95 %")),
        *(Column(name, "count") for name in (f"{base} wins", "ties", f"{new} wins", "trials")),
    )
    rows = []
    for name, kind, each in shown:
        if each.base is not None and each.new is not None:
            show = _SHOWN[kind]
            sides = [show(value) for value in (each.base, each.new)] if medians else []
            ratio = None if each.ratio is None else ratio_text(each.ratio)
            wins = (each.more, each.equal, each.less, each.seeds)
            rows.append(Row.of(columns, (name, *sides, ratio, each.interval_text, *wins)))
    ends = zip(comparison.solvers, pair.statuses(), pair.equilibria(), strict=True)
    lines = [f"{name}: {_counts(status)}; found {_counts(found)}" for name, status, found in ends]
    return Table(title, columns, tuple(rows), lines=tuple(lines))


def _of_runs(title: str, pairs: Sequence[Pair], tested: Collection[str]) -> Table:
    several = any(len(pair.trials) > 1 for pair in pairs)
    columns = [SOLVER, *([Column("seeds", "count")] if several else []), Column("status")]
    rows: list[dict[str, Any]] = [
        {
            "solver": pair.cell.solver,
            "seeds": len(pair.trials),
            "status": _change(pair.statuses(), several=len(pair.trials) > 1),
            "equilibrium": _change(pair.equilibria(), several=len(pair.trials) > 1),
        }
        for pair in pairs
    ]
    for metric, (heading, kind, ranks) in METRICS.items():
        if ranks is None and metric not in tested:
            continue
        rank = 0 if ranks is None or metric in tested else ranks[bool(tested)]
        found = [pair.figures(metric) for pair in pairs]
        parts: dict[str, tuple[Kind, list[Any]]] = {
            heading: (kind, [each.base for each in found]),
            f"new\n{heading}": (kind, [each.new for each in found]),
        }
        if kind != "small":
            parts[f"{heading}\n×"] = ("ratio", [each.ratio for each in found])
            if any(each.interval for each in found):
                parts[f"{heading}\n95 %"] = ("number", [each.interval_text for each in found])
        for stacked, (own, values) in parts.items():
            column = Column(stacked.replace("\n", " "), own, stacked, dispensable=rank)
            columns.append(column)
            for row, value in zip(rows, values, strict=True):
                whole = own in ("count", "bytes") and value is not None
                row[column.title] = round(value) if whole else value
    columns.append(Column("equilibrium", dispensable=4))
    shown = tuple(Row(row["solver"], row) for row in rows)
    return Table(title, tuple(columns), shown, legend=_LEGEND)


def _change(sides: Sequence[dict[str, int]], *, several: bool) -> str | None:
    """What was counted, or what it was and what it is; None if nothing ever was."""
    old, new = (_counts(side, several=several) for side in sides)
    if sides[0] == sides[1]:
        return new if sides[1] else None
    return f"{old} → {new}"


def _counts(found: dict[str, int], *, several: bool = True) -> str:
    texts = [f"{name} ×{count}" if several else name for name, count in found.items()]
    return ", ".join(texts) or "–"


def _notes(comparison: Comparison, criteria: Criteria, found: Sequence[Regression]) -> list[str]:
    notes = [_ADVICE, *(f"warning: {text}" for text in comparison.warnings)]
    lost = () if criteria.missing else comparison.only_base  # which regressions name otherwise
    for side, names in (("base", lost), ("new", comparison.only_new)):
        if names:
            notes.append(f"only in {side}: {counted(len(names), 'cell')}, {_some(names)}")
    worse = [each for each in found if each.rule != _MISSING]
    notes += [f"regression: {each.game}/{each.solver}: {each.text} [{each.rule}]" for each in worse]
    if missing := [each for each in found if each.rule == _MISSING]:
        cells = [f"{each.game}/{each.solver}{each.text.removeprefix(_LOST)}" for each in missing]
        notes.append(f"regression: {_LOST}: {_some(cells)} [{_MISSING}]")
    if not found and not comparison.solvers:
        kinds = [*(["status"] * criteria.statuses), *(["missing cells"] * criteria.missing)]
        tested = ", ".join([*kinds, *(rule.text for rule in criteria.rules)])
        notes.append(f"no regression; looked at: {tested or 'nothing'}")
    return notes
