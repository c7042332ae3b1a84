"""A comparison as people and programs read it: tables, sentences, JSON values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from eqbench.errors import counted
from eqbench.report.comparison import (
    FEWEST_TRIALS,
    LOST,
    METRICS,
    MISSING,
    RESAMPLES,
    TEXTS,
    TIE,
    Comparison,
    Criteria,
    Pair,
    Regression,
    ratio_text,
    some,
)
from eqbench.report.entries import Entry, titled
from eqbench.report.rows import SOLVER, Column, Kind, Report, Row, Table, mebibytes, seconds, small

SCHEMA = "eqbench.compare/1"
OF_SOLVERS = ("elapsed_s", "cpu_s", "max_regret", "iterations", "peak_memory_bytes")
TARGETS = (1e-1, 1e-3, 1e-5, 1e-7, 1e-9)  # regrets in payoff units, timed in the anytime curves
_SEEDS = Column("seeds", "count")
_INTERVALS = TEXTS["intervals"].format(resamples=RESAMPLES, fewest=FEWEST_TRIALS)
_SHOWN: dict[str, Callable[[Any], str]] = {
    "small": small,
    "seconds": seconds,
    "bytes": mebibytes,
    "count": "{:,.0f}".format,
}


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
    ends: dict[str, dict[str, Any]] = {
        name: {"base": old, "new": new, "changed": old != new}
        for name, (old, new) in zip(("status", "equilibria"), pair.ends(), strict=True)
    }
    ends["status"]["worse"] = [new.seed for _, new in pair.worse]
    return {
        **{name: getattr(pair.cell, name) for name in names},
        "seeds": [new.seed for _, new in pair.trials],
        **ends,
        "metrics": {metric: asdict(pair.figures(metric)) for metric in METRICS},
        **({"times_to": times} if times else {}),
    }


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
        return Report(tables, TEXTS["runs"] + _INTERVALS * spread, notes)
    pairs = {title: own[0] for title, own in games.items()}
    pairs |= {"all games": comparison.overall} if len(games) > 1 else {}
    first, second = comparison.solvers
    legend = TEXTS["solvers"].format(first=first, second=second, tie=TIE)
    tables = tuple(_of_solvers(comparison, title, pair) for title, pair in pairs.items())
    answer = tuple(_answer(comparison, len(games)))
    return Report(tables, legend + _INTERVALS + TEXTS["targets"], notes, answer)


def _answer(comparison: Comparison, games: int) -> Iterator[str]:
    """How the second solver does beside the first, in a sentence for each metric of interest."""
    first, second = comparison.solvers
    trials = counted(len(comparison.overall.trials), "trial")
    trials += f" on {games} games" if games > 1 else ""
    for metric, word in (("elapsed_s", "solving time"), ("max_regret", "max regret")):
        each = comparison.overall.figures(metric)
        less, equal, more = each.wins
        between = f" (95 %: {each.interval_text})" if each.interval else ""
        if equal == each.seeds > 0:
            loose = " or within the target" * (metric == "max_regret")
            yield f"Their {word} is the same in every trial, to {TIE:.0%}{loose}."
        elif each.ratio is not None:
            yield (
                f"{second} has {ratio_text(each.ratio)} times the {word} of {first}{between}, over "
                f"{trials}: less in {less}, more in {more}, the same in {equal}."
            )


def _of_solvers(comparison: Comparison, title: str, pair: Pair) -> Table:
    shown: list[tuple[str, str, str | float]] = [
        *((METRICS[metric]["title"], METRICS[metric]["kind"], metric) for metric in OF_SOLVERS),
        *((f"time to {regret:.0e}", "seconds", regret) for regret in TARGETS),
    ]
    # different games have no common median
    medians = comparison.solvers if pair in comparison.pairs else ()
    columns = (
        Column("metric", identifies=True),
        *(Column(name, "number", name.replace("(", "\n(", 1)) for name in medians),
        Column("×", "number"),
        Column("95 %", "number", dispensable=2),
        Column("wins", "number", dispensable=1),
        Column("trials", "count"),
    )
    rows = []
    for name, kind, metric in shown:
        each = pair.figures(metric)
        if each.base is not None:
            sides = [_SHOWN[kind](value) for value in (each.base, each.new) if medians]
            ratio = None if each.ratio is None else ratio_text(each.ratio)
            wins = "–".join(map(str, reversed(each.wins)))
            values = (name, *sides, ratio, each.interval_text, wins, each.seeds)
            rows.append(Row.of(columns, values))
    ends = zip(comparison.solvers, *pair.ends(), strict=True)
    lines = (f"{name}: {_counts(status)}; found {_counts(found)}" for name, status, found in ends)
    return Table(title, columns, tuple(rows), lines=tuple(lines))


def _of_runs(title: str, pairs: Sequence[Pair], tested: Collection[str]) -> Table:
    found = [_row(pair, tested) for pair in pairs]
    spare = {c for c in found[0] if c.title.endswith("95 %") and not any(row[c] for row in found)}
    spare |= {_SEEDS} if all(row[_SEEDS] == 1 for row in found) else set()
    columns = tuple(column for column in found[0] if column not in spare)
    rows = tuple(Row.of(columns, map(row.get, columns)) for row in found)
    return Table(title, columns, rows)


def _row(pair: Pair, tested: Collection[str]) -> dict[Column, Any]:
    """Values by column: of each metric base and new, and of what is no regret also their ratio."""
    status, found = (_change(old, new, pair) for old, new in pair.ends())
    row = {SOLVER: pair.cell.solver, _SEEDS: len(pair.trials), Column("status"): status}
    for metric, own in METRICS.items():
        if metric in tested or "ranks" in own:
            rank = 0 if metric in tested else own["ranks"][bool(tested)]
            name, kind, each = own["title"], own["kind"], pair.figures(metric)
            is_whole = kind in ("count", "bytes")
            base, new = (round(s) if is_whole and s else s for s in (each.base, each.new))
            values: dict[str, tuple[Kind, Any]] = {name: (kind, base), f"new\n{name}": (kind, new)}
            if kind != "small":
                values[f"{name}\n×"] = "ratio", each.ratio
                values[f"{name}\n95 %"] = "number", each.interval_text
            for stacked, (of, value) in values.items():
                row[Column(stacked.replace("\n", " "), of, stacked, dispensable=rank)] = value
    return {**row, Column("equilibrium", dispensable=4): found}


def _change(old: Mapping[str, int], new: Mapping[str, int], pair: Pair) -> str | None:
    """What was counted, or what it was and what it is; None if nothing ever was."""
    before, after = (_counts(side, several=len(pair.trials) > 1) for side in (old, new))
    return f"{before} → {after}" if old != new else after if new else None


def _counts(found: Mapping[str, int], *, several: bool = True) -> str:
    return ", ".join(f"{name} ×{n}" if several else name for name, n in found.items()) or "–"


def _notes(
    comparison: Comparison, criteria: Criteria, found: Sequence[Regression]
) -> Iterator[str]:
    yield TEXTS["noise"]
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
