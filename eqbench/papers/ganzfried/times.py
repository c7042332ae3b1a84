"""Times of both programs of Table 1 on random games, size by size, and their ratios."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eqbench.spec import parse_spec
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

# Largest verified max regret, in payoff units, at which a game counts as solved precisely.
PRECISE = 1e-6
METHODS = ("ncp", "mip")
_AT_LIMIT = ("timeout", "limit")
_NEVER_RAN = ("unavailable", "unsupported")


def table_1(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Figures per size and method from the run of the experiment; times in seconds.

    Times are those of games that were solved, which is `ok` within the limit, or came to the
    limit. A game at the limit counts as the limit, so that every mean or median that it touches
    is a lower bound. Games that failed, or for which a solver never ran, have no time. Ratios are
    those of the second method to the first, over the games for which both have a time. The
    extent changes nothing.
    """
    del folder, full
    run = read_run(jobs / "table_1_run")
    limits = {
        spec: part["timeout_s"]
        for part in run.plan.get("parts") or [run.plan["request"]]
        for spec in part["games"]
    }
    sizes: dict[str, list[CellRecord]] = {}
    for cell in run.finished:
        sizes.setdefault(_size(cell), []).append(cell)
    return {"sizes": [of_size(size, cells, limits[cells[0].game]) for size, cells in sizes.items()]}


def _size(cell: CellRecord) -> str:
    options = dict(parse_spec(cell.game).options)
    return f"{options['players']}x{options['actions']}"


def of_size(size: str, cells: Sequence[CellRecord], timeout_s: float) -> dict[str, Any]:
    """Figures of both methods on the games of one size."""
    found = [
        {cell.game: cell for cell in cells if parse_spec(cell.solver).name == method}
        for method in METHODS
    ]
    times = [
        {game: time for game, cell in own.items() if (time := _time(cell, timeout_s)) is not None}
        for own in found
    ]
    common = [game for game in times[0] if game in times[1]]
    first, second = ([own[game] for game in common] for own in times)
    return {
        "size": size,
        "solvers": [_of_solver(list(own.values()), timeout_s) for own in found],
        "ratio": _ratios(first, second, timeout_s),
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
