"""Statistics of times to a target over trials, some of which did not reach it.

Such a time is infinite: all that is known is that it is longer than the limit of the trial.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST_TRIALS = 5  # that have an interval
RESAMPLES, CONFIDENCE = 2000, 0.95
SHIFT_S = 0.01  # a thousandth of the usual limit; shorter times hardly count in a geometric mean
_MOST_DRAWN = 2**20  # numbers that are held at a time


def quantile(values: ArrayLike, share: float) -> NDArray[np.float64]:
    """Quantile along the last axis, between its two neighbors; infinite if the larger of them is.

    NumPy has no value there. `share` is from 0 to 1.
    """
    known = np.asarray(values, float)
    place = share * (known.shape[-1] - 1)
    sides = int(np.floor(place)), int(np.ceil(place))
    low, high = np.moveaxis(np.partition(known, sides, axis=-1)[..., sides], -1, 0)
    with np.errstate(invalid="ignore"):
        return np.where(low == high, low, low + (high - low) * (place - sides[0]))


def median_interval(times: ArrayLike) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the median at 95 %; None for fewer than five trials.

    The samples are always the same (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    section 13.3). `scipy.stats.bootstrap` has the same ends, and takes a second to import.
    """
    known = np.asarray(times, float)
    if known.size < FEWEST_TRIALS:
        return None
    rng, medians = np.random.default_rng(0), np.empty(RESAMPLES)
    step = max(1, _MOST_DRAWN // known.size)
    for first in range(0, RESAMPLES, step):
        part = medians[first : first + step]
        part[:] = quantile(known[rng.integers(known.size, size=(part.size, known.size))], 0.5)
    low, high = (float(quantile(medians, (1 + sign * CONFIDENCE) / 2)) for sign in (-1, 1))
    return low, high


def penalized_mean(times: ArrayLike, limits: ArrayLike) -> float:
    """Mean time where a missed target counts as twice the limit (PAR-2 of the SAT competitions)."""
    return float(_censored(times, 2 * np.asarray(limits, float)).mean())


def shifted_geometric_mean(times: ArrayLike, limits: ArrayLike) -> float:
    """Geometric mean of times + 10 ms, less these; a missed target counts with its limit.

    Achterberg, Constraint Integer Programming, 2007, appendix A.3; there and in Mittelmann's
    benchmarks with longer limits and larger shifts.
    """
    return float(np.exp(np.log(_censored(times, limits) + SHIFT_S).mean()) - SHIFT_S)


def _censored(times: ArrayLike, values: ArrayLike) -> NDArray[np.float64]:
    """Times with values in place of those that are infinite."""
    return np.where(np.isfinite(times), times, values)
