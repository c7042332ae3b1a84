"""Compare two runs, or two solvers of a run, trial by trial, and say what became worse."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, compress, product
from operator import attrgetter
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import MOST_NAMES, UsageError, counted, first_of, nearest
from eqbench.report import read_data, trials
from eqbench.report.naming import counts
from eqbench.report.rows import FORMATS, SOLVER, Column, Report, Row, Table
from eqbench.report.trials import RunCell
from eqbench.spec import split_specs
from eqbench.store.schema import CellRecord, trial_of
from eqbench.store.stored_run import StoredRun, cell_name, chosen
from eqbench.text import grouped, printable

_DATA = read_data("comparison")
METRICS, TIMES, _OF_SOLVERS = (
    {name: Column(**facts) for name, facts in _DATA[part].items()}
    for part in ("metrics", "times", "of_solvers")
)
TIE, _ALL = _DATA["tie"], "all games"
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_CONDITION = re.compile(rf"(\w+)([<>]=?)(?:({_NUMBER})|({_NUMBER})?x(?:\+({_NUMBER}))?)")
_BEYOND = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


@dataclass(frozen=True)
class Figures:
    """One metric of the trials in which both have it, or else of those in which one side has.

    That is the new side of two runs, or either of two solvers.
    """

    base: float | None  # median
    new: float | None  # median
    seeds: int  # number of trials behind the medians
    lost: int  # trials in which the new side lacks what the base has
    ratio: float | None  # new over base; None without both, and where the base is 0
    interval: tuple[float, float] | None  # of the ratio, at 95 %, from five trials on
    wins: tuple[int, ...]  # trials in which the new figure is less than the base, equal, or more

    @classmethod
    def of(cls, values: Iterable[Sequence[float | None]], *, by_trial: bool) -> Figures:
        """Figures of base, new and what both may have and still be equal, for some trials.

        None is not known; infinite is worse than any figure, but none. The ratio is that of the
        medians, or the median of those `by_trial`.
        """
        *originals, floors = zip(*values, strict=True)
        sides = np.array(originals, float)
        known = np.isfinite(sides)
        both = known.all(axis=0)
        shown = known & (both if both.any() else [[by_trial], [True]])
        base, new = (
            median(compress(side, own)) if own.any() else None
            for side, own in zip(originals, shown, strict=True)
        )
        with np.errstate(all="ignore"):  # zeros have no ratio, and infinities no difference
            positive = np.maximum(sides[:, both], 0.0)  # rounding leaves less of a regret
            ratio, interval = _ratio(positive, by_trial=by_trial) if both.any() else (None, None)
            before, now = np.maximum(sides, floors)
            signs = np.where(np.isclose(now, before, rtol=TIE, atol=0), 0, np.sign(now - before))
            signs = signs[~np.isnan(now - before)]
        lost = int((known[0] & ~known[1]).sum())
        wins = tuple(int((signs == sign).sum()) for sign in (-1, 0, 1))
        seeds = int((both if by_trial else shown[1]).sum())
        return cls(base, new, seeds, lost, ratio, interval, wins)

    def shown(self) -> dict[str, Any]:
        """As tables have them, with intervals and wins as texts; first the wins of the base."""
        between = self.interval and "–".join(map(FORMATS["ratio"], self.interval))
        return asdict(self) | {"interval": between, "wins": "–".join(map(str, self.wins[::-1]))}


def _ratio(sides: NDArray, *, by_trial: bool) -> tuple[float | None, tuple[float, float] | None]:
    """Ratio of new to base, and its interval, where they are finite."""

    def ratio(sides: NDArray) -> NDArray:
        base, new = sides
        if by_trial:  # two zeros are equal
            return np.median(np.where((base == 0) & (new == 0), 1.0, new / base), axis=-1)
        return np.median(new, axis=-1) / np.median(base, axis=-1)

    whole, ends = float(ratio(sides)), trials.bootstrap_interval(ratio, *sides)
    is_known = ends is not None and math.isfinite(ends[1] - ends[0])
    return whole if math.isfinite(whole) else None, ends if is_known else None


@dataclass(frozen=True)
class RegressionRule:
    """A condition that no cell may meet: a metric is beyond ``factor`` · base + ``plus``.

    Without a factor (None) the limit is ``plus``, whatever the base; with one, the metric must be
    beyond the base too.
    """

    text: str
    metric: str
    sign: str
    factor: float | None
    plus: float

    @classmethod
    def of(cls, text: str) -> RegressionRule:
        """Rule that a text such as ``elapsed_s>1.2x+0.1`` stands for; UsageError if it is none."""
        compact = "".join(text.split())
        if parts := _CONDITION.fullmatch(compact):
            metric, sign, limit, factor, margin = parts.groups()
            if metric not in METRICS:
                known = nearest(metric, METRICS)
                raise UsageError(f"unknown metric {metric!r} in {text!r}: {known}")
            multiple, plus = None if limit else float(factor or 1), float(limit or margin or 0)
            if math.inf not in (multiple, plus):
                return cls(compact, metric, sign, multiple, plus)
        raise UsageError(f"{text!r} is not a condition: {_DATA['condition']}")

    def reason(self, pair: Comparison) -> str:
        """How a pair breaks it, in words; empty if it does not.

        A figure that the base has and the new side lacks breaks every rule about it.
        """
        figures = pair.figures(self.metric)
        base, new = figures.base, figures.new
        if figures.lost:
            return f"{figures.lost} of {len(pair.trials)} cells have no {self.metric} any more"
        # a multiple of a negative base, as rounding leaves of a regret, is on its wrong side
        limit = self.plus + (self.factor or 0.0) * max(base or 0.0, 0.0)
        if new is None or not _BEYOND[self.sign](new, limit):
            return ""
        if self.factor is not None and (base is None or not _BEYOND[self.sign[0]](new, base)):
            return ""
        before = "–" if base is None else f"{base:.4g}"
        ratio = "" if figures.ratio is None else f", {figures.ratio:.3g}x"
        medians = f", medians of {figures.seeds} cells" if figures.seeds > 1 else ""
        return f"{self.metric} {before} → {new:.4g}{ratio}{medians}"


@dataclass(frozen=True)
class Comparison:
    """Trials of two runs, or of two solvers of one, and what of them counts as a regression."""

    base: StoredRun
    new: StoredRun
    trials: Sequence[tuple[RunCell, RunCell]]  # in the order of the new run
    only_base: Sequence[CellRecord] = ()  # finished
    only_new: Sequence[CellRecord] = ()
    warnings: Sequence[str] = ()  # why figures of the two may not compare
    solvers: Sequence[str] = ()  # the two; empty if runs are compared
    rules: Sequence[RegressionRule] = ()
    allow_worse_status: bool = False
    allow_missing: bool = False
    only_changed: bool = False

    @property
    def cell(self) -> CellRecord:
        """The first of the new cells."""
        return self.trials[0][1].record

    @cached_property
    def pairs(self) -> list[Comparison]:
        """The same for each game and new solver alone."""
        alike = attrgetter("game_spec", "game_content", "solver_spec")
        groups = grouped(self.trials, lambda trial: alike(trial[1].record))
        return [replace(self, trials=group) for group in groups.values()]

    @cached_property
    def shown(self) -> list[Comparison]:
        """The pairs that tables have."""
        return [pair for pair in self.pairs if not self.only_changed or pair.is_changed()]

    def is_changed(self) -> bool:
        """True if statuses, equilibria, regrets or times differ beyond noise, or break a rule."""
        factor, plus = _DATA["noise"]
        time, *regrets = map(self.figures, ("elapsed_s", "max_regret", "nash_conv"))
        low, high = sorted((time.base or 0.0, time.new or 0.0))
        ends = any(old != new for old, new in self.ends().values())
        differs = any(each.lost or each.wins[0] + each.wins[2] for each in regrets)
        beyond = differs or high > factor * low + plus
        return ends or beyond or any(rule.reason(self) for rule in self.rules)

    def figures(self, metric: str) -> Figures:
        """One of `METRICS`, or seconds until a max regret; regrets within the target are equal."""
        is_regret = metric in METRICS and METRICS[metric].kind == "small"

        def value(entry: RunCell) -> float | None:
            if self.solvers and entry.record.status in ("crashed", "refuted"):
                return math.inf  # loses to whatever the other has
            if metric in TIMES:
                return max(entry.time_to(float(metric)), trials.SHORTEST_S)
            found: float | None = getattr(entry.record, metric)
            return found or None if metric == "iterations" else found  # 0 where none are counted

        values = [
            (value(old), value(new), is_regret * (new.record.target or 0.0))
            for old, new in self.trials
        ]
        return Figures.of(values, by_trial=bool(self.solvers))

    def ends(self) -> dict[str, list[Mapping[str, int]]]:
        """Cells of either side by the status that they ended with, and by what they found."""
        sides = [*zip(*self.trials, strict=True)]
        statuses = [Counter(entry.record.status for entry in side) for side in sides]
        return {"status": [*statuses], "equilibria": [counts(side) for side in sides]}

    def worse(self) -> list[tuple[int | None, str]]:
        """Seeds of the cells whose status is worse than before, and how, in words."""
        grade = {status: facts["grade"] for status, facts in trials.STATUSES.items()}
        found = []
        for old, new in ((old.record, new.record) for old, new in self.trials):
            if grade[new.status] > grade[old.status]:
                trial = f" ({trial_of(new)})" if trial_of(new) else ""
                change = f"{old.status} → {new.status}{trial}"
                found.append((new.seed, f"{change}: {new.reason}" if new.reason else change))
        return found

    @cached_property
    def regressions(self) -> list[dict[str, str]]:
        """What became worse by which rule, game by game, and then what is missing."""
        found = []
        for pair in self.pairs:
            changes = [] if self.allow_worse_status or self.solvers else pair.worse()
            broken = [("status", "; ".join(text for _, text in changes))]
            broken += [(rule.text, rule.reason(pair)) for rule in self.rules]
            found += [(pair.cell.game, pair.cell.solver, *each) for each in broken if each[1]]
        lost = () if self.allow_missing else self.only_base
        for names, cells in grouped(lost, lambda cell: (cell.game, cell.solver)).items():
            seeds = [str(seed) for seed in dict.fromkeys(c.seed for c in cells) if seed is not None]
            which = f" (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})" if seeds else ""
            found.append((*names, "missing", f"missing from the new run{which}"))
        return [dict(zip(("game", "solver", "rule", "text"), own, strict=True)) for own in found]


def compare_runs(
    base: StoredRun, new: StoredRun, games: Collection[str] = (), solvers: Collection[str] = ()
) -> Comparison:
    """The finished cells of two runs, matched by game, solver with options, seed and repeat.

    Games are the same if their trees are, whatever they are called and wherever a file is; if their
    specs are, too, where an old run keeps no content, and where files are alike within a run.
    UsageError if there is nothing to compare.
    """
    sides = [run.finished for run in chosen([base, new], games, solvers)]
    old, now = _by_identity(sides)
    common = [(old[key], cell) for key, cell in now.items() if key in old]
    trees = [{(c.game_spec, c.game_content): c.game for c in side} for side in sides]
    was = dict(trees[0].keys())
    differ = [game for tree, game in trees[1].items() if tree[0] in was and tree not in trees[0]]
    changed = [f"the tree differs: {first_of(differ, MOST_NAMES)}"] if differ else []
    if not common:
        why = "".join(f" ({text})" for text in changed)
        shown = [first_of([*map(cell_name, side)]) or "nothing" for side in sides]
        raise UsageError(
            f"{base.path} and {new.path} have no finished cell in common; compare runs of the "
            f"same game, solver and seed{why}\n  {base.path}: {shown[0]}\n  {new.path}: {shown[1]}"
        )
    pairs = [(RunCell("", before, base), RunCell("", after, new)) for before, after in common]
    only_base = [cell for key, cell in old.items() if key not in now]
    only_new = [cell for key, cell in now.items() if key not in old]
    differences = [
        *_differences(base, new, common),
        *changed,
        *trials.mixed_processors(chain(*pairs)),
    ]
    warnings = [*differences, *dict.fromkeys(base.notes + new.notes)]
    return Comparison(base, new, pairs, only_base, only_new, warnings)


def _by_identity(sides: Sequence[Sequence[CellRecord]]) -> list[dict[Any, CellRecord]]:
    """Cells of each run by what no two of a run share: game, solver, seed and repeat."""
    unknown = {cell.game_spec for side in sides for cell in side if not cell.game_content}

    def key(cell: CellRecord) -> tuple[Any, ...]:
        game = cell.game_spec if cell.game_spec in unknown else cell.game_content
        return game, cell.solver_spec, cell.seed, cell.repeat

    times = [Counter(map(key, side)) for side in sides]
    alike = {own[0] for counter in times for own in counter if counter[own] > 1}
    return [{(key(c)[0] in alike and c.game_spec, *key(c)): c for c in side} for side in sides]


def _differences(
    base: StoredRun, new: StoredRun, cells: Sequence[tuple[CellRecord, CellRecord]]
) -> Iterator[str]:
    """The requests of the runs, where they ran, and what they ran, as far as it differs."""
    facts = []
    for run in (base, new):
        limits = {name: run.plan["request"].get(name) for name in _DATA["limits"]}
        machine = dict(run.plan.get("environment") or {})
        machine["machine's memory_bytes"] = machine.pop("memory_bytes", None)  # not a cell's limit
        packages = machine.pop("packages", None) or {}
        facts.append(limits | machine | packages)  # of many the first are named
    names = {name: [own.get(name) for own in facts] for name in facts[0] | facts[1]}
    for what, found in {
        "limits, machine or packages differ": [
            f"{name} {old} → {now}" for name, (old, now) in names.items() if old != now
        ],
        "solver or model of another version": [
            now.solver for old, now in cells if old.solver_version != now.solver_version
        ],
    }.items():
        if found:
            yield f"{what}: {first_of([*dict.fromkeys(found)], MOST_NAMES)}"
    for run in (base, new):
        if run.missing:
            yield f"{run.missing} of {run.planned} cells of {run.path} have not finished"


def compare_solvers(
    run: StoredRun, solvers: Collection[str], games: Collection[str] = ()
) -> Comparison:
    """Two solvers of a run on the games that both take; UsageError if not just two are named.

    Cells of equal seed and repeat are held against each other, a cell without a seed against all.
    """
    wanted = [spec for text in solvers for spec in split_specs(text)]
    found = [chosen([run], games, [solver])[0].finished for solver in wanted]
    sides = [[cell for cell in side if cell.elapsed_s is not None] for side in found]
    specs = [{cell.solver_spec for cell in side} for side in sides]
    if [len(own) for own in specs] != [1, 1] or specs[0] == specs[1]:
        known = ", ".join(dict.fromkeys(c.solver for c in run.finished if c.elapsed_s is not None))
        raise UsageError(
            "give a second run, or two solvers of this one with their options: --solver A,B; "
            f"{run.path} has {known or 'no finished cell'}"
        )
    entries = {cell.key: RunCell("", cell, run) for side in sides for cell in side}
    pairs = [
        (entries[old.key], entries[new.key])
        for old, new in product(*sides)
        if (old.game_identity, old.repeat) == (new.game_identity, new.repeat)
        and (old.seed == new.seed or None in (old.seed, new.seed))
    ]
    names = [printable(side[0].solver) for side in sides]
    if not pairs:
        raise UsageError(f"there is no game in {run.path} that both {' and '.join(names)} took")
    warnings = [*trials.mixed_processors(chain(*pairs)), *run.notes]
    return Comparison(run, run, pairs, (), (), warnings, names)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON values, with all metrics."""
    solvers = comparison.solvers
    overall = {"solvers": solvers, "overall": _metrics(comparison, METRICS)} if solvers else {}
    return {
        "schema": "eqbench.compare/1",
        "base": str(comparison.base.path),
        "new": str(comparison.new.path),
        "warnings": list(comparison.warnings),
        "cells": list(map(_pair_json, comparison.shown)),
        "left_out": len(comparison.pairs) - len(comparison.shown),
        "only_base": list(map(cell_name, comparison.only_base)),
        "only_new": list(map(cell_name, comparison.only_new)),
        "rules": [rule.text for rule in comparison.rules],
        "regressions": comparison.regressions,
        **overall,
    }


def _pair_json(pair: Comparison) -> dict[str, Any]:
    names = ("game", "solver", "game_spec", "solver_spec")
    ends: dict[str, dict[str, Any]] = {
        name: {"base": old, "new": new, "changed": old != new}
        for name, (old, new) in pair.ends().items()
    }
    ends["status"]["worse"] = [seed for seed, _ in pair.worse()]
    return {
        **{name: getattr(pair.cell, name) for name in names},
        "seeds": [new.record.seed for _, new in pair.trials],
        **ends,
        "metrics": _metrics(pair, METRICS),
        **({"times_to": _metrics(pair, TIMES)} if pair.solvers else {}),
    }


def _metrics(pair: Comparison, names: Iterable[str]) -> dict[str, Any]:
    return {name: asdict(pair.figures(name)) for name in names}


def comparison_report(comparison: Comparison) -> Report:
    """Of runs a table per game with a row per solver; of solvers one with a row per metric."""
    of_games = trials.titled(entry for _, entry in comparison.trials)
    titles = {own[0].record.game_identity: title for title, own in of_games}
    games = grouped(comparison.shown, lambda own: titles[own.cell.game_identity])
    if comparison.solvers:
        tables = [_of_solvers(title, pair) for title, own in games.items() for pair in own]
        tables += [_of_solvers("", comparison)] * (len(comparison.pairs) > 1)
    else:
        tables = [_of_runs(title, pairs) for title, pairs in games.items()]
    notes = tuple(map(printable, _notes(comparison)))
    return Report(tuple(tables), notes=notes, answer=tuple(_answer(comparison)))


def _notes(comparison: Comparison) -> Iterator[str]:
    """How to read the figures, what may be wrong with them, and what became worse."""
    solvers, pairs, within = comparison.solvers, comparison.pairs, f"{TIE:.0%}"
    yield _DATA["reading"]["solvers" if solvers else "runs"].format(tie=within)
    if max(len(own.trials) for own in ([comparison] if solvers else pairs)) >= trials.FEWEST_TRIALS:
        yield _DATA["reading"]["interval"].format(trials.RESAMPLES, trials.FEWEST_TRIALS)
    factor, plus = _DATA["noise"]
    if comparison.only_changed:
        left_out = counted(len(pairs) - len(comparison.shown), "game" if solvers else "row")
        same = _DATA["reading"]["same"].format(tie=within, factor=factor, plus=plus)
        yield f"{left_out} of {len(pairs)} left out: {same}"
    yield _DATA["reading"]["noise"].format(factor=factor, plus=plus)
    yield from (f"warning: {text}" for text in comparison.warnings)
    for side, cells in (("base", comparison.only_base), ("new", comparison.only_new)):
        alarm = "regression: " * (side == "base" and not comparison.allow_missing)
        if cells:
            listed = first_of(list(map(cell_name, cells)))
            yield f"{alarm}only in {side}: {counted(len(cells), 'cell')}, {listed}"
    for each in comparison.regressions:
        if each["rule"] != "missing":
            yield "regression: {game}/{solver}: {text} [{rule}]".format(**each)
    if not comparison.regressions and not solvers:
        yield "no regression"


def _answer(comparison: Comparison) -> Iterator[str]:
    """How the second of two solvers does compared with the first."""
    if not comparison.solvers:
        return
    times = [entry.record.elapsed_s for trial in comparison.trials for entry in trial]
    is_spent = all(time is not None and time >= comparison.base.timeout_s for time in times)
    first, second = comparison.solvers
    metrics = {"elapsed_s": "solving time", "max_regret": "max regret"}
    for metric, word in list(metrics.items())[is_spent:]:
        figures = comparison.figures(metric)
        less, equal, more = figures.wins
        if equal and equal == figures.seeds:
            target = " or within the target" * (metric == "max_regret")
            yield f"Their {word} is the same in every trial, to {TIE:.0%}{target}."
        elif figures.ratio is not None:
            between = figures.shown()["interval"]
            interval = f" (95 % interval {between})" * bool(between)
            number = counted(len(comparison.trials), "trial")
            games = f" on {len(comparison.pairs)} games" * (len(comparison.pairs) > 1)
            yield (
                f"{second} has {FORMATS['ratio'](figures.ratio)} times the {word} of {first}"
                f"{interval}, over {number}{games}: less in {less}, more in {more}, the same in "
                f"{equal}."
            )


def _of_solvers(title: str, pair: Comparison) -> Table:
    sides = [f"{side}: {name}" for side, name in zip("AB", pair.solvers, strict=True)]
    medians = [Column(side, "number", side.replace("(", "\n(", 1)) for side in sides]
    columns = {"base": medians[0], "new": medians[1], **_OF_SOLVERS}
    rows = []
    for metric in _DATA["of_two"]:
        column = {**METRICS, **TIMES}[metric]
        figures = pair.figures(metric).shown()
        if (figures["base"], figures["new"]) != (None, None):
            for side in ("base", "new"):  # different games have no common median
                text = column.cell(figures[side], with_unit=True).text
                figures[side] = text if title else None
            row = {columns[name]: figures[name] for name in columns}
            rows.append({Column("metric", identifies=True): column.title, **row})
    ends = zip(sides, *pair.ends().values(), strict=True)
    lines = [f"{name}: {_counts(status)}; found {_counts(found)}" for name, status, found in ends]
    return _table(title or _ALL, rows, lines)


def _of_runs(title: str, pairs: Sequence[Comparison]) -> Table:
    is_several = any(len(pair.trials) > 1 for pair in pairs)
    tested = {rule.metric for rule in pairs[0].rules}
    rows = []
    for pair in pairs:
        status, found = (_change(*sides) for sides in pair.ends().values())
        number = len(pair.trials) if is_several else None
        row = {SOLVER: pair.cell.solver, _OF_SOLVERS["seeds"]: number, Column("status"): status}
        for metric in [name for name in METRICS if name in tested.union(_DATA["usual"])]:
            column = METRICS[metric]
            figures = pair.figures(metric).shown()
            rank = 0 if metric in tested else column.dispensable
            for part, heading in _DATA["of_runs"].items():
                stacked, like = heading.format(column.title), _OF_SOLVERS.get(part, column)
                named = {"title": stacked.replace("\n", " "), "stacked": stacked}
                is_shown = like is column or column.kind != "small"
                row[replace(like, **named, dispensable=rank)] = figures[part] if is_shown else None
        rows.append(row | {Column("equilibrium", dispensable=4): found})
    return _table(title, rows)


def _table(title: str, rows: Sequence[Mapping[Column, Any]], lines: Sequence[str] = ()) -> Table:
    """Table of values by column, without the columns of which no row has a value."""
    columns = tuple(c for c in rows[0] if any(row[c] is not None for row in rows))
    found = tuple(Row.of(columns, map(row.get, columns)) for row in rows)
    return Table(title, columns, found, lines=tuple(lines))


def _change(old: Mapping[str, int], new: Mapping[str, int]) -> str | None:
    """What was counted, or what it was and what it is; None if nothing ever was."""
    return f"{_counts(old)} → {_counts(new)}" if old != new else _counts(new) if new else None


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ×{n}" if n > 1 else name for name, n in found.items()) or "–"
