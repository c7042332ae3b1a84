"""What a run says about a suite: figures per size and solver, and their ratios."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.studies.suite_plan import Selection
from eqbench.studies.suites import Suite, SuiteSize

SCHEMA = "eqbench.suite/1"
# Largest verified max regret, in payoff units, at which a game counts as solved precisely.
PRECISE = 1e-6
_AT_LIMIT = ("timeout", "limit")
_NEVER_RAN = ("unavailable", "unsupported")


def suite_summary(suite: Suite, run: StoredRun) -> dict[str, Any]:
    """Figures of a suite from a stored run, as JSON values; times in seconds.

    Times are those of games that were solved, which is `ok` within the limit, or came to the
    limit. A game at the limit counts as the limit, so that every mean or median that it touches
    is a lower bound. Games that failed, or for which a solver never ran, have no time. Ratios are
    those of the second solver to the first, over the games for which both have a time.

    Raises
    ------
    UsageError
        If the run is not one of the suite.
    """
    selection = Selection.of_request(suite, run.plan["request"])
    cells = {(cell.game, cell.solver): cell for cell in run.finished}
    names = [suite.column_name(solver) for solver in selection.solvers]
    return {
        "schema": SCHEMA,
        "suite": suite.name,
        "citation": suite.citation,
        "conditions": suite.conditions,
        "run": str(run.path),
        "games": selection.games,
        "published_games": suite.games,
        "timeout_s": run.timeout_s,
        "threads": run.plan["request"].get("threads"),
        "jobs": run.plan["request"].get("jobs"),
        "environment": run.plan.get("environment", {}),
        "precise_max_regret": PRECISE,
        "columns": [
            {"name": name, "solver": solver, "published_name": column.name}
            for name, solver, column in zip(names, selection.solvers, suite.columns, strict=True)
        ],
        "sizes": [_of_size(size, selection, cells, run.timeout_s) for size in selection.sizes],
    }


def _of_size(
    size: SuiteSize,
    selection: Selection,
    cells: dict[tuple[str, str], CellRecord],
    timeout_s: float,
) -> dict[str, Any]:
    games = [size.game(seed) for seed in range(selection.games)]
    found = [
        {game: cells[game, solver] for game in games if (game, solver) in cells}
        for solver in selection.solvers
    ]
    times = [
        {game: time for game, cell in own.items() if (time := _time(cell, timeout_s)) is not None}
        for own in found
    ]
    common = [game for game in games if all(game in own for own in times)]
    pairs = [[own[game] for game in common] for own in times]
    first, second = size.published
    return {
        "size": size.name,
        "solvers": [_of_solver(list(own.values()), timeout_s) for own in found],
        "ratio": _ratios(pairs[0], pairs[1], timeout_s),
        "published": {"mean_s": [first, second], "ratio_of_means": second / first},
    }


def _time(cell: CellRecord, timeout_s: float) -> float | None:
    """Seconds that a cell counts for: less than the limit if it was solved, or the limit."""
    if cell.status in _AT_LIMIT:
        return timeout_s
    if cell.status != "ok" or cell.elapsed_s is None:
        return None
    # children are killed a little after the limit, and some end well in between
    return min(cell.elapsed_s, timeout_s)


def _of_solver(cells: Sequence[CellRecord], timeout_s: float) -> dict[str, Any]:
    """Figures of one solver on the games of one size."""
    times = [time for cell in cells if (time := _time(cell, timeout_s)) is not None]
    solved = [time for time in times if time < timeout_s]
    precise = sum(cell.max_regret is not None and cell.max_regret <= PRECISE for cell in cells)
    counts = Counter[str](cell.status for cell in cells)
    never_ran = sum(counts[status] for status in _NEVER_RAN)
    tried = len(cells) - never_ran
    backends = Counter(str(b) for cell in cells if (b := cell.statistics.get("backend")))
    return {
        "games": len(cells),
        "solved": len(solved),
        "timeouts": len(times) - len(solved),
        "failed": tried - len(times),
        "never_ran": never_ran,
        "median_s": statistics.median(times) if times else None,
        "mean_s": statistics.fmean(solved) if solved else None,
        "mean_with_timeouts_s": statistics.fmean(times) if times else None,
        "precise": precise,
        "precise_share": precise / tried if tried else None,
        "statuses": dict(sorted(counts.items())),
        "reasons": _reasons(cells),
        "backends": dict(sorted(backends.items())),
    }


def _reasons(cells: Sequence[CellRecord]) -> dict[str, str]:
    """The most frequent reason of each status of games without a time."""
    found: dict[str, Counter[str]] = {}
    for cell in cells:
        if cell.status not in (*_AT_LIMIT, "ok") and cell.reason:
            found.setdefault(cell.status, Counter())[cell.reason] += 1
    return {status: reasons.most_common(1)[0][0] for status, reasons in sorted(found.items())}


@dataclass(frozen=True)
class _Center:
    """A mean or a median, and whether it is only a lower bound."""

    seconds: float
    bounded: bool


def _ratios(first: Sequence[float], second: Sequence[float], timeout_s: float) -> dict[str, Any]:
    """Ratios of means and of medians of the times of the same games."""
    if not first:
        return {"games": 0, "of_means": None, "of_medians": None}
    means = [_Center(statistics.fmean(own), timeout_s in own) for own in (first, second)]
    # with an even number of games a time-out may be one of the two in the middle
    medians = [
        _Center(statistics.median(own), statistics.median_high(own) >= timeout_s)
        for own in (first, second)
    ]
    return {"games": len(first), "of_means": _ratio(*means), "of_medians": _ratio(*medians)}


def _ratio(first: _Center, second: _Center) -> dict[str, Any] | None:
    """Second to first with what it is: `exact`, a `lower` or `upper` bound, or `unbounded`."""
    if first.seconds == 0:
        return None
    kinds = {(False, False): "exact", (False, True): "lower", (True, False): "upper"}
    kind = kinds.get((first.bounded, second.bounded), "unbounded")
    return {"value": second.seconds / first.seconds, "bound": kind}
