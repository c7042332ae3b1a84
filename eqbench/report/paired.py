"""Cells held against each other, trial by trial: medians, ratios and their intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.report.charts.datasets import SHORTEST_S
from eqbench.report.charts.material import Track
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
FEWEST_TRIALS, RESAMPLES, TIE = 5, 2_000, 0.01
# What a status is worth: its result stands, it was stopped, there is none, something is broken.
_RANKS = {
    "ok": 0,
    **dict.fromkeys(("limit", "stopped"), 1),
    **dict.fromkeys(("timeout", "memory", "not_found", "unsupported", "unavailable", "failed"), 2),
    **dict.fromkeys(("crashed", "refuted", "interrupted"), 3),
}

Trial = tuple[CellRecord, CellRecord]
Ratio = Callable[..., Any]


def ratio_of_medians(base: NDArray, new: NDArray) -> Any:
    """Median of the new figures over that of the base, along the last axis."""
    return np.median(new, axis=-1) / np.median(base, axis=-1)


def median_of_ratios(base: NDArray, new: NDArray) -> Any:
    """Median of new over base, trial by trial, along the last axis; two zeros are equal."""
    return np.median(np.where((base == 0) & (new == 0), 1.0, new / base), axis=-1)


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
        filled = [[math.inf if value is None else value for value in trial] for trial in values]
        *sides, floors = np.transpose(filled)
        low, high = np.maximum(sides, floors)
        with np.errstate(all="ignore"):  # zeros have no ratio, and what is missing no difference
            signs = np.where(np.isclose(high, low, rtol=TIE, atol=0), 0, np.sign(high - low))
            known = signs[np.isfinite(np.minimum(low, high) if alone else np.maximum(low, high))]
            wins = tuple(int((known == sign).sum()) for sign in (-1, 0, 1))
            if not both:
                only = [new for _, new, _ in values if new is not None]
                return cls(None, median(only) if only else None, len(only), lost, wins=wins)
            base, new = (median(side) for side in zip(*both, strict=True))
            positive = np.maximum(np.transpose(both), 0.0)  # as rounding leaves of a regret
            found = float(ratio(*positive))
            interval = _interval(positive, ratio) if len(both) >= FEWEST_TRIALS else None
        shown = found if math.isfinite(found) else None
        return cls(base, new, len(both), lost, shown, interval, wins)

    @property
    def interval_text(self) -> str | None:
        """The interval as tables show it."""
        return self.interval and "–".join(map(ratio_text, self.interval))


def ratio_text(ratio: float) -> str:
    """A ratio, which of two solvers may be far from 1."""
    return f"{ratio:.2f}" if 0.1 <= ratio < 1000 else f"{ratio:.2g}"


def _interval(sides: NDArray, ratio: Ratio) -> tuple[float, float] | None:
    """Percentile interval of a ratio over samples of the trials, always the same samples."""
    trials = sides.shape[1]
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
    tracks: Mapping[str, Track] = field(default_factory=dict)

    @property
    def cell(self) -> CellRecord:
        """The first of the new cells."""
        return self.trials[0][1]

    @property
    def worse(self) -> list[Trial]:
        """Trials in which the new status is worse than before."""
        return [(old, new) for old, new in self.trials if _RANKS[new.status] > _RANKS[old.status]]

    def figures(self, metric: str | float) -> Figures:
        """One of `METRICS`, or seconds until a max regret; regrets within the target are equal."""
        is_regret = isinstance(metric, str) and METRICS[metric][1] == "small"
        values = [
            (self._value(old, metric), self._value(new, metric), is_regret * (new.target or 0.0))
            for old, new in self.trials
        ]
        return Figures.of(values, self.ratio, alone=isinstance(metric, float))

    def _value(self, cell: CellRecord, metric: str | float) -> float | None:
        if isinstance(metric, float):
            time = self.tracks[cell.key].time_to(metric)
            return max(time, SHORTEST_S) if time < math.inf else None
        value = getattr(cell, metric)
        # a method that counts no iterations says 0
        return None if metric == "iterations" and value == 0 else value

    def equilibria(self) -> list[dict[str, int]]:
        """How many cells of either side found which equilibrium."""
        sides = zip(*self.trials, strict=True)
        return [counts([Entry("", cell) for cell in side]) for side in sides]

    def statuses(self) -> list[dict[str, int]]:
        """How many cells of either side ended with which status."""
        sides = zip(*self.trials, strict=True)
        return [dict(Counter(cell.status for cell in side)) for side in sides]
