"""Cells held against each other, trial by trial: medians, ratios and their intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.report.entries import Entry
from eqbench.report.equilibria import counts
from eqbench.report.rows import Kind
from eqbench.store.schema import CellRecord

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
FEWEST_TRIALS, RESAMPLES, TIE = 5, 2_000, 0.01
# What a status is worth: its result stands, it was stopped, there is none, something is broken.
_RANKS = {
    "ok": 0,
    **dict.fromkeys(("limit", "stopped"), 1),
    **dict.fromkeys(("timeout", "memory", "not_found", "unsupported", "unavailable", "failed"), 2),
    **dict.fromkeys(("crashed", "refuted", "interrupted"), 3),
}

Trial = tuple[CellRecord, CellRecord]


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
    def of(cls, values: Sequence[Sequence[float | None]], ratio: Callable[..., Any]) -> Figures:
        """Figures of base, new and what both may have and still be equal, for some trials."""
        both = [(old, new, floor) for old, new, floor in values if None not in (old, new)]
        lost = sum(old is not None and new is None for old, new, _ in values)
        if not both:
            alone = [new for _, new, _ in values if new is not None]
            return cls(None, median(alone) if alone else None, len(alone), lost)
        base, new, floors = np.array(both, float).T
        low, high = np.maximum((base, new), floors)
        signs = np.where(abs(high - low) <= TIE * np.maximum(low, high), 0, np.sign(high - low))
        with np.errstate(all="ignore"):  # zeros have no ratio
            sides = np.maximum((base, new), 0.0)
            found = float(ratio(*sides))
            interval = _interval(sides, ratio) if len(both) >= FEWEST_TRIALS else None
        less, equal, more = (int((signs == sign).sum()) for sign in (-1, 0, 1))
        middles = float(np.median(base)), float(np.median(new))
        shown = found if math.isfinite(found) else None
        return cls(*middles, len(both), lost, shown, interval, less, equal, more)

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

    trials: tuple[Trial, ...]
    ratio: Callable[..., Any] = ratio_of_medians

    @property
    def cell(self) -> CellRecord:
        """The first of the new cells."""
        return self.trials[0][1]

    @property
    def worse(self) -> list[Trial]:
        """Trials in which the new status is worse than before."""
        return [(old, new) for old, new in self.trials if _RANKS[new.status] > _RANKS[old.status]]

    def figures(self, metric: str) -> Figures:
        """One of `METRICS`; regrets within the target are equal."""
        is_regret = METRICS[metric][1] == "small"
        values = [
            (_figure(old, metric), _figure(new, metric), (new.target or 0.0) * is_regret)
            for old, new in self.trials
        ]
        return Figures.of(values, self.ratio)

    def equilibria(self) -> list[dict[str, int]]:
        """How many cells of either side found which equilibrium."""
        return [counts([Entry("", cell) for cell in side]) for side in self._sides]

    def statuses(self) -> list[dict[str, int]]:
        """How many cells of either side ended with which status."""
        return [dict(Counter(cell.status for cell in side)) for side in self._sides]

    @property
    def _sides(self) -> Iterator[tuple[CellRecord, ...]]:
        return zip(*self.trials, strict=True)


def _figure(cell: CellRecord, metric: str) -> float | None:
    value = getattr(cell, metric)
    # a method that counts no iterations says 0
    return None if metric == "iterations" and value == 0 else value
