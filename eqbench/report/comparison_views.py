"""Two runs beside each other as tables and as JSON values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from eqbench.report.comparison import METRICS, Comparison, Pair
from eqbench.report.comparison_rules import Criteria, Regression
from eqbench.report.entries import Entry, by_game, titles
from eqbench.report.rows import SOLVER, Column, Kind, Report, Row, Table

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
    groups = by_game(Entry("", pair.new[0]) for pair in comparison.pairs)
    tables = tuple(
        _table(title, [by_key[entry.record.key] for entry in group], tested)
        for title, group in zip(titles(groups), groups, strict=True)
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
    names = ("game", "solver", "game_spec", "solver_spec")
    metrics = {}
    for metric in METRICS:
        figures = pair.figures(metric)
        metrics[metric] = {
            "base": figures.base,
            "new": figures.new,
            "ratio": figures.ratio,
            "seeds": figures.seeds,
        }
    return {
        **{name: getattr(new, name) for name in names},
        "seeds": [cell.seed for cell in pair.new],
        "status": _beside(pair.statuses()) | {"worse": [cell.seed for cell in pair.worse]},
        "equilibria": _beside(pair.equilibria()),
        "metrics": metrics,
    }


def _beside(sides: tuple[Any, Any]) -> dict[str, Any]:
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
    values: dict[str, Any] = {
        "solver": pair.new[0].solver,
        "seeds": len(pair.new),
        "status": _change(pair.statuses(), several=len(pair.new) > 1),
        "equilibrium": _change(pair.equilibria(), several=len(pair.new) > 1),
    }
    for metric, (heading, kind, _) in _SHOWN.items():
        figures = pair.figures(metric)
        whole = kind in ("count", "bytes")
        values[heading], values[f"new {heading}"] = (
            round(value) if whole and value is not None else value
            for value in (figures.base, figures.new)
        )
        values[f"{heading} ×"] = figures.ratio
    return values


def _change(sides: tuple[dict[str, int], dict[str, int]], *, several: bool) -> str | None:
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
    notes += [f"regression: {each.name}: {each.text} [{each.rule}]" for each in found]
    if not found:
        notes.append(f"no regression; looked at: {', '.join(criteria.texts) or 'nothing'}")
    return notes
