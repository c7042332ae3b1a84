"""Compare two runs, or two solvers of a run, cell by cell, and say what became worse."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError, nearest
from eqbench.report import read_data
from eqbench.report.charts import SHORTEST_S
from eqbench.report.entries import STATUSES, Entry, grouped
from eqbench.report.equilibria import counts
from eqbench.report.exports import entries_of
from eqbench.report.naming import listing
from eqbench.spec import is_foreign, split_specs
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, cell_name, named
from eqbench.text import printable

_DATA = read_data("comparison")
METRICS, TEXTS = _DATA["metrics"], _DATA["texts"]
MISSING, LOST = "missing", "missing from the new run"
FEWEST_TRIALS, RESAMPLES, TIE = 5, 2_000, 0.01

Trial = tuple[CellRecord, CellRecord]
Counted = tuple[dict[str, int], dict[str, int]]  # of the base and of the new cells
Ratio = Callable[..., Any]


def ratio_of_medians(base: NDArray, new: NDArray) -> Any:
    """Median of the new figures over that of the base, along the last axis."""
    return np.median(new, axis=-1) / np.median(base, axis=-1)


def median_of_ratios(base: NDArray, new: NDArray) -> Any:
    """Median of new over base, trial by trial, along the last axis; two zeros are equal."""
    return np.median(np.where((base == 0) & (new == 0), 1.0, new / base), axis=-1)


def ratio_text(ratio: float) -> str:
    """A ratio, which of two solvers may be far from 1."""
    return f"{ratio:.2f}" if 0.1 <= ratio < 1000 else f"{ratio:.2g}"


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
    wins : numbers of trials in which the new figure is less than the base, equal, or more
    """

    base: float | None
    new: float | None
    seeds: int
    lost: int
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    wins: tuple[int, ...] = (0, 0, 0)

    @classmethod
    def of(
        cls, values: Sequence[Sequence[float | None]], ratio: Ratio, *, alone: bool = False
    ) -> Figures:
        """Figures of base, new and what both may have and still be equal, for some trials.

        With `alone` a cell that has the metric wins against one that has it not.
        """
        both = [(old, new) for old, new, _ in values if old is not None and new is not None]
        lost = sum(old is not None and new is None for old, new, _ in values)
        *sides, floors = np.nan_to_num(np.array(values, float).T, nan=math.inf)
        low, high = np.maximum(sides, floors)
        with np.errstate(all="ignore"):  # zeros have no ratio, and what is missing no difference
            signs = np.where(np.isclose(high, low, rtol=TIE, atol=0), 0, np.sign(high - low))
            known = signs[np.isfinite(np.minimum(low, high) if alone else np.maximum(low, high))]
            wins = tuple(int((known == sign).sum()) for sign in (-1, 0, 1))
            if not both:
                only = [new for _, new, _ in values if new is not None]
                return cls(None, median(only) if only else None, len(only), lost, wins=wins)
            positive = np.maximum(np.transpose(both), 0.0)  # as rounding leaves of a regret
            found, interval = float(ratio(*positive)), _interval(positive, ratio)
        base, new = (median(side) for side in zip(*both, strict=True))
        shown = found if math.isfinite(found) else None
        return cls(base, new, len(both), lost, shown, interval, wins)

    @property
    def interval_text(self) -> str | None:
        """The interval as tables show it."""
        return self.interval and "–".join(map(ratio_text, self.interval))


def _interval(sides: NDArray, ratio: Ratio) -> tuple[float, float] | None:
    """Percentile interval of a ratio over samples of the trials, always the same samples."""
    trials = sides.shape[1]
    if trials < FEWEST_TRIALS:
        return None
    samples = np.random.default_rng(0).integers(trials, size=(RESAMPLES, trials))
    low, high = np.percentile(ratio(*sides[:, samples]), (2.5, 97.5)).tolist()
    return (low, high) if math.isfinite(high - low) else None


@dataclass(frozen=True)
class Pair:
    """Cells that are held against each other, trial by trial.

    `tracks` are the anytime curves of cells by key, for times until a regret was reached.
    """

    trials: tuple[Trial, ...]
    ratio: Ratio = ratio_of_medians
    tracks: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def cell(self) -> CellRecord:
        """The first of the new cells."""
        return self.trials[0][1]

    @property
    def worse(self) -> list[Trial]:
        """Trials in which the new status is worse than before."""
        grades = {status: facts["grade"] for status, facts in STATUSES.items()}
        return [trial for trial in self.trials if grades[trial[1].status] > grades[trial[0].status]]

    def figures(self, metric: str | float) -> Figures:
        """One of `METRICS`, or seconds until a max regret; regrets within the target are equal."""
        is_regret = isinstance(metric, str) and METRICS[metric]["kind"] == "small"
        values = [
            (*(self._value(cell, metric) for cell in trial), is_regret * (trial[1].target or 0.0))
            for trial in self.trials
        ]
        return Figures.of(values, self.ratio, alone=isinstance(metric, float))

    def _value(self, cell: CellRecord, metric: str | float) -> float | None:
        if isinstance(metric, float):
            time = self.tracks[cell.key].time_to(metric)
            return max(time, SHORTEST_S) if time < math.inf else None
        value = getattr(cell, metric)
        # a method that counts no iterations says 0
        return None if metric == "iterations" and value == 0 else value

    def ends(self) -> tuple[Counted, Counted]:
        """How many cells of either side ended with which status, and found which equilibrium."""
        old, new = ([Entry("", cell) for cell in side] for side in zip(*self.trials, strict=True))
        before, now = (Counter[str](entry.record.status for entry in side) for side in (old, new))
        return (before, now), (counts(old), counts(new))


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
    sides = [[cell for cell in run.finished if cell.key in keys] for run in (base, new)]
    old, now = _by_identity(sides)
    pairs = _paired((key[:3], (old[key], cell)) for key, cell in now.items() if key in old)
    if not pairs:
        shown = [some(map(cell_name, side)) for side in sides]
        raise UsageError(
            f"{base.path} and {new.path} have no finished cell in common; compare runs of the "
            f"same game, solver and seed\n  {base.path}: {shown[0]}\n  {new.path}: {shown[1]}"
        )
    missing = tuple(cell for key, cell in old.items() if key not in now)
    added = tuple(cell_name(cell) for key, cell in now.items() if key not in old)
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
    pairs = _paired(
        (
            (new.game_spec, (old, new))
            for old, new in product(*sides)
            if (old.game_spec, old.repeat) == (new.game_spec, new.repeat)
            and (old.seed == new.seed or None in (old.seed, new.seed))
        ),
        ratio=median_of_ratios,
        tracks={entry.record.key: entry for entry in entries_of([run])},
    )
    names = tuple(printable(side[0].solver) for side in sides)
    if not pairs:
        raise UsageError(f"there is no game in {run.path} that both {' and '.join(names)} took")
    return Comparison(run, run, pairs, warnings=run.notes, solvers=names)


def _by_identity(sides: Sequence[Sequence[CellRecord]]) -> list[dict[Any, CellRecord]]:
    """Cells of each run by what no two of a run share: game, solver, seed and repeat."""
    keys = [[(_game(cell), cell.solver_spec, cell.seed, cell.repeat) for cell in s] for s in sides]
    alike = {key[0] for own in keys for key, times in Counter(own).items() if times > 1}
    both = [zip(own, side, strict=True) for own, side in zip(keys, sides, strict=True)]
    return [{(key[0] in alike and cell.game_spec, *key): cell for key, cell in s} for s in both]


def _game(cell: CellRecord) -> str:
    """What is the same for the same game wherever its file is, as far as that is known."""
    content = cell.game_content if is_foreign(cell.game_spec) else ""
    return content or cell.game_spec


def _paired(trials: Iterable[tuple[Any, Trial]], **more: Any) -> tuple[Pair, ...]:
    """Pairs of the trials that share a key, in the order in which the keys first occur."""
    groups = grouped(trials, lambda keyed: keyed[0]).values()
    return tuple(Pair(tuple(trial for _, trial in group), **more) for group in groups)


def some(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    return " ".join(listing(list(names))) or "nothing"


def _unlike(base: StoredRun, new: StoredRun, pairs: Sequence[Pair]) -> Iterator[str]:
    """What the runs were asked for, where they ran, and what they ran, as far as it differs."""
    machines = [run.plan.get("environment") or {} for run in (base, new)]
    packages = [machine.get("packages") or {} for machine in machines]
    limits = _differences([run.plan["request"] for run in (base, new)], _DATA["limits"])
    machine = _differences(machines, _DATA["machine"]) + _differences(
        packages, sorted(set().union(*packages))
    )
    first = [pair.trials[0] for pair in pairs]
    solvers = [now.solver for old, now in first if old.solver_version != now.solver_version]
    games = [now.game for old, now in first if old.game_content != now.game_content]
    for what, found in {
        "limits differ": ", ".join(limits),
        "machine or packages differ": ", ".join(machine),
        "solver or model of another version": solvers and some(dict.fromkeys(solvers)),
        "the tree differs": games and some(dict.fromkeys(games)),
    }.items():
        if found:
            yield f"{what}: {found}"
    for run in (base, new):
        if run.missing:
            yield f"{run.missing} of {run.planned} cells of {run.path} have not finished"


def _differences(sides: Sequence[dict[str, Any]], names: Iterable[str]) -> list[str]:
    pairs = [(name, *(side.get(name) for side in sides)) for name in names]
    return [f"{name} {old} → {now}" for name, old, now in pairs if old != now]


_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_CONDITION = re.compile(rf"(\w+)([<>]=?)(?:({_NUMBER})|({_NUMBER})?x(?:\+({_NUMBER}))?)")
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


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
        if self.factor is None or new is None or base is None:
            return self.factor is None and new is not None and beyond(new, self.plus)
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
        raise UsageError(f"{text!r} is not a condition: {TEXTS['condition']}")
    metric, comparison, absolute, factor, plus = parts.groups()
    if metric not in METRICS:
        known = f"{nearest(metric, METRICS)} (all: {', '.join(METRICS)})"
        raise UsageError(f"unknown metric {metric!r} in {text!r}: {known}")
    multiple = None if absolute else float(factor or 1)
    margin = float(absolute or plus or 0)
    if math.inf in (multiple, margin):
        raise UsageError(f"the limit in {text!r} is too large for a number: {TEXTS['condition']}")
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
    lost = comparison.missing if criteria.missing else ()
    for names, cells in grouped(lost, lambda cell: (cell.game, cell.solver)).items():
        seeds = [str(seed) for seed in dict.fromkeys(c.seed for c in cells) if seed is not None]
        which = f" (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})" if seeds else ""
        found.append(Regression(*names, MISSING, f"{LOST}{which}"))
    return found


def _broken(pair: Pair, criteria: Criteria) -> Iterator[tuple[str, str]]:
    """Rules that a pair breaks, with the reason in words."""
    changes = [
        f"{old.status} → {new.status}"
        + (f" ({new.trial})" if new.trial else "")
        + (f": {new.reason}" if new.reason else "")
        for old, new in (pair.worse if criteria.statuses else ())
    ]
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
            cells = f", medians of {figures.seeds} cells" if figures.seeds > 1 else ""
            yield rule.text, f"{rule.metric} {base} → {figures.new:.4g}{ratio}{cells}"
