"""A comparison as people and programs read it: tables, sentences, JSON values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from eqbench.errors import counted
from eqbench.report.comparison import LOST, MISSING, Comparison, Criteria, Regression, some
from eqbench.report.entries import Entry, titled
from eqbench.report.paired import FEWEST_TRIALS, METRICS, RESAMPLES, TIE, Pair, ratio_text
from eqbench.report.rows import SOLVER, Column, Kind, Report, Row, Table
from eqbench.report.terminal import mebibytes, seconds, small

SCHEMA = "eqbench.compare/1"
OF_SOLVERS = ("elapsed_s", "cpu_s", "max_regret", "iterations", "peak_memory_bytes")
TARGETS = (1e-1, 1e-3, 1e-5, 1e-7, 1e-9)  # regrets in payoff units, timed in the anytime curves
_SHOWN: dict[str, Callable[[Any], str]] = {
    **{"small": small, "seconds": seconds, "bytes": mebibytes, "count": "{:,.0f}".format}
}
_LEGEND = (
    "Figures are of the base, then of the new run; × is new / base. Several seeds are compared by "
    "the medians over those that both runs have."
)
_INTERVALS = (
    f" 95 %: percentile interval of the ratio by {RESAMPLES:,} bootstrap samples of the trials, "
    f"from {FEWEST_TRIALS} on."
)
_ADVICE = (
    "Timings are noisy: run both on one quiet machine, with several seeds, and allow a margin, for "
    'example --fail-if "elapsed_s>1.3x+0.1".'
)


def comparison_json(
    comparison: Comparison, criteria: Criteria, found: Sequence[Regression]
) -> dict[str, Any]:
    """A comparison as JSON values, with all metrics."""
    overall = _cell(comparison.overall)["metrics"] if comparison.solvers else {}
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
        **({"solvers": list(comparison.solvers), "overall": overall} if overall else {}),
    }


def _cell(pair: Pair) -> dict[str, Any]:
    names = ("game", "solver", "game_spec", "solver_spec")
    times = {f"{each:g}": asdict(pair.figures(each)) for each in TARGETS if pair.tracks}
    return {
        **{name: getattr(pair.cell, name) for name in names},
        "seeds": [new.seed for _, new in pair.trials],
        "status": _beside(pair.statuses()) | {"worse": [new.seed for _, new in pair.worse]},
        "equilibria": _beside(pair.equilibria()),
        "metrics": {metric: asdict(pair.figures(metric)) for metric in METRICS},
        **({"times_to": times} if times else {}),
    }


def _beside(sides: Sequence[Any]) -> dict[str, Any]:
    return {"base": sides[0], "new": sides[1], "changed": sides[0] != sides[1]}


def comparison_report(
    comparison: Comparison, criteria: Criteria, found: Sequence[Regression]
) -> Report:
    """Of runs a table per game with a row per solver; of solvers one with a row per metric.

    Warnings and what became worse follow. What a condition is about is shown at any width.
    """
    by_key = {pair.cell.key: pair for pair in comparison.pairs}
    games = {
        title: [by_key[entry.record.key] for entry in group]
        for title, group in titled(Entry("", pair.cell) for pair in comparison.pairs)
    }
    notes = tuple(_notes(comparison, criteria, found))
    if not comparison.solvers:
        tested = {rule.metric for rule in criteria.rules}
        tables = tuple(_of_runs(title, pairs, tested) for title, pairs in games.items())
        spread = any(column.title.endswith("95 %") for t in tables for column in t.columns)
        return Report(tables, _LEGEND + _INTERVALS * spread, notes)
    first, second = comparison.solvers
    pairs = {title: own[0] for title, own in games.items()}
    pairs |= {"all games": comparison.overall} if len(games) > 1 else {}
    legend = (
        f"× is the median of {second} / {first} over the trials that both have. Wins: of {first}, "
        f"ties, of {second}; who has less wins, and within {TIE:.0%}, or both within the target, "
        f"is a tie.{_INTERVALS} Times to a regret are of trials in which both reach it; who alone "
        "does wins."
    )
    tables = tuple(_of_solvers(comparison, title, pair) for title, pair in pairs.items())
    return Report(tables, legend, notes, tuple(_answer(comparison, len(games))))


def _answer(comparison: Comparison, games: int) -> Iterator[str]:
    """How the second solver does beside the first, in a sentence for each metric of interest."""
    first, second = comparison.solvers
    where = f", over {counted(len(comparison.overall.trials), 'trial')}"
    where += f" on {games} games" if games > 1 else ""
    for metric, word in (("elapsed_s", "solving time"), ("max_regret", "max regret")):
        each = comparison.overall.figures(metric)
        less, equal, more = each.wins
        between = f" (95 %: {each.interval_text})" if each.interval else ""
        if equal == each.seeds:
            yield f"Their {word} is the same in every trial, or within the target."
        elif each.ratio is not None:
            yield (
                f"{second} has {ratio_text(each.ratio)} times the {word} of {first}{between}"
                f"{where}: less in {less}, more in {more}, the same in {equal}."
            )


def _of_solvers(comparison: Comparison, title: str, pair: Pair) -> Table:
    base, new = comparison.solvers
    shown = [(*METRICS[metric][:2], pair.figures(metric)) for metric in OF_SOLVERS]
    shown += [(f"time to {regret:.0e}", "seconds", pair.figures(regret)) for regret in TARGETS]
    medians = (base, new) if pair in comparison.pairs else ()  # different games have no median
    columns = (
        Column("metric", identifies=True),
        *(Column(name, "number", name.replace("(", "\n(", 1)) for name in medians),
        Column("×", "number"),
        Column("95 %", "number", dispensable=2),
        Column("wins", "number", dispensable=1),
        Column("trials", "count"),
    )
    rows = []
    for name, kind, each in shown:
        if each.base is not None:
            sides = [_SHOWN[kind](value) for value in (each.base, each.new) if medians]
            ratio = None if each.ratio is None else ratio_text(each.ratio)
            wins = "–".join(map(str, reversed(each.wins)))
            figures = (*sides, ratio, each.interval_text, wins, each.seeds)
            rows.append(Row.of(columns, (name, *figures)))
    ends = zip(comparison.solvers, pair.statuses(), pair.equilibria(), strict=True)
    lines = [f"{name}: {_counts(status)}; found {_counts(found)}" for name, status, found in ends]
    return Table(title, columns, tuple(rows), lines=tuple(lines))


def _of_runs(title: str, pairs: Sequence[Pair], tested: Collection[str]) -> Table:
    parts: list[tuple[Column, list[Any]]] = [(SOLVER, [pair.cell.solver for pair in pairs])]
    if any(len(pair.trials) > 1 for pair in pairs):
        parts.append((Column("seeds", "count"), [len(pair.trials) for pair in pairs]))
    parts.append((Column("status"), [_change(pair.statuses(), len(pair.trials)) for pair in pairs]))
    for metric, (heading, kind, ranks) in METRICS.items():
        if ranks is None and metric not in tested:
            continue
        rank = 0 if ranks is None or metric in tested else ranks[bool(tested)]
        found = [pair.figures(metric) for pair in pairs]
        values: dict[str, tuple[Kind, list[Any]]] = {
            heading: (kind, [each.base for each in found]),
            f"new\n{heading}": (kind, [each.new for each in found]),
        }
        if kind != "small":
            values[f"{heading}\n×"] = ("ratio", [each.ratio for each in found])
        if kind != "small" and any(each.interval for each in found):
            values[f"{heading}\n95 %"] = ("number", [each.interval_text for each in found])
        for stacked, (own, shown) in values.items():
            column = Column(stacked.replace("\n", " "), own, stacked, dispensable=rank)
            is_whole = own in ("count", "bytes")
            parts.append((column, [round(v) if is_whole and v else v for v in shown]))
    changes = [_change(pair.equilibria(), len(pair.trials)) for pair in pairs]
    parts.append((Column("equilibrium", dispensable=4), changes))
    columns = tuple(column for column, _ in parts)
    rows = zip(*(values for _, values in parts), strict=True)
    return Table(title, columns, tuple(Row.of(columns, row) for row in rows), legend=_LEGEND)


def _change(sides: Sequence[Mapping[str, int]], trials: int) -> str | None:
    """What was counted, or what it was and what it is; None if nothing ever was."""
    old, new = (_counts(side, several=trials > 1) for side in sides)
    if sides[0] == sides[1]:
        return new if sides[1] else None
    return f"{old} → {new}"


def _counts(found: Mapping[str, int], *, several: bool = True) -> str:
    return ", ".join(f"{name} ×{n}" if several else name for name, n in found.items()) or "–"


def _notes(
    comparison: Comparison, criteria: Criteria, found: Sequence[Regression]
) -> Iterator[str]:
    yield _ADVICE
    yield from (f"warning: {text}" for text in comparison.warnings)
    lost = () if criteria.missing else comparison.only_base  # which regressions name otherwise
    for side, names in (("base", lost), ("new", comparison.only_new)):
        if names:
            yield f"only in {side}: {counted(len(names), 'cell')}, {some(names)}"
    missing = []
    for each in found:
        cell = f"{each.game}/{each.solver}"
        if each.rule == MISSING:
            missing.append(cell + each.text.removeprefix(LOST))
        else:
            yield f"regression: {cell}: {each.text} [{each.rule}]"
    if missing:
        yield f"regression: {LOST}: {some(missing)} [{MISSING}]"
    if not found and not comparison.solvers:
        kinds = [*(["status"] * criteria.statuses), *(["missing cells"] * criteria.missing)]
        tested = ", ".join([*kinds, *(rule.text for rule in criteria.rules)])
        yield f"no regression; looked at: {tested or 'nothing'}"
