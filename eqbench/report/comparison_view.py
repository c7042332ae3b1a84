"""A comparison as people and programs read it: tables, sentences, JSON values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from eqbench.errors import counted
from eqbench.report.comparison import LOST, MISSING, Comparison, Criteria, Regression, some
from eqbench.report.entries import Entry, titled
from eqbench.report.paired import (
    FEWEST_TRIALS,
    METRICS,
    RESAMPLES,
    TIE,
    Pair,
    ratio_text,
)
from eqbench.report.rows import SOLVER, Column, Kind, Report, Row, Table
from eqbench.report.terminal import mebibytes, seconds, small

SCHEMA = "eqbench.compare/1"
OF_SOLVERS = ("elapsed_s", "cpu_s", "max_regret", "iterations", "peak_memory_bytes")
TARGETS = (1e-1, 1e-3, 1e-5, 1e-7, 1e-9)  # regrets in payoff units, timed in the anytime curves
_INTERVALS = (
    f"95 %: percentile interval of the ratio by {RESAMPLES:,} bootstrap samples of the trials, "
    f"from {FEWEST_TRIALS} on."
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
        document["overall"] = _cell(comparison.overall)["metrics"]
    return document


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
    answer = tuple(_answer(comparison, len(of_games)))
    legend = (
        f"× is the median of {comparison.solvers[1]} / {comparison.solvers[0]} over the trials "
        f"that both have, and who has less wins; within {TIE:.0%}, or both within the target, is "
        f"a tie. {_INTERVALS} Times to a regret are of trials in which both reach it; who alone "
        "does wins."
    )
    return Report(tables, legend, notes, answer)


def _answer(comparison: Comparison, games: int) -> Iterator[str]:
    """How the second solver does beside the first, in a sentence for each metric of interest."""
    first, second = comparison.solvers
    trials = counted(len(comparison.overall.trials), "trial")
    where = f", over {trials} on {games} games" if games > 1 else f", over {trials}"
    for metric, word in (("elapsed_s", "solving time"), ("max_regret", "max regret")):
        each = comparison.overall.figures(metric)
        if each.ratio is not None:
            between = f" (95 %: {each.interval_text})" if each.interval else ""
            less, equal, more = each.wins
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
        *(Column(name, "number") for name in (*medians, "×", "95 %")),
        *(Column(name, "count") for name in (f"{base} wins", "ties", f"{new} wins", "trials")),
    )
    rows = []
    for name, kind, each in shown:
        if each.base is not None and each.new is not None:
            show = _SHOWN[kind]
            sides = [show(value) for value in (each.base, each.new)] if medians else []
            ratio = None if each.ratio is None else ratio_text(each.ratio)
            wins = (*reversed(each.wins), each.seeds)
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
            notes.append(f"only in {side}: {counted(len(names), 'cell')}, {some(names)}")
    worse = [each for each in found if each.rule != MISSING]
    notes += [f"regression: {each.game}/{each.solver}: {each.text} [{each.rule}]" for each in worse]
    if missing := [each for each in found if each.rule == MISSING]:
        cells = [f"{each.game}/{each.solver}{each.text.removeprefix(LOST)}" for each in missing]
        notes.append(f"regression: {LOST}: {some(cells)} [{MISSING}]")
    if not found and not comparison.solvers:
        kinds = [*(["status"] * criteria.statuses), *(["missing cells"] * criteria.missing)]
        tested = ", ".join([*kinds, *(rule.text for rule in criteria.rules)])
        notes.append(f"no regression; looked at: {tested or 'nothing'}")
    return notes
