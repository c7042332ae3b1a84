"""Windows that double the time, and what is measured over them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.studies.regimes.limits import NEAR_FACE_LOG_ODDS
from eqbench.studies.regimes.regime import Window

# Samples that the shortest window has at least.
SHORTEST = 64

# Growth of the logarithm of the tangent while time doubles. In a regular motion it is log 2 times
# the degree of a polynomial, in a chaotic one the exponent times the length of the window.
REGULAR_GROWTH = 2.0
CHAOTIC_GROWTH = 10.0
# Regular motion must be so since this share of the time, or before; chaos must last as long.
REGULAR_SINCE, CHAOTIC_UNTIL = 0.5, 0.75
# The last share of the time, for which is said whether chaos lasts; growth is slow if its rate is
# less than this share of that over the last half.
LAST, SLOWED = 0.1, 0.5

# Share of the moving frequencies that is near faces in absorption.
ABSORBED = 0.75


def doubling_windows(samples: int) -> list[tuple[int, int]]:
    """First and last index of the windows [K/4, K/2], [K/2, K] and so on, the last one last."""
    ends = [samples - 1]
    while ends[-1] // 2 >= SHORTEST:
        ends.append(ends[-1] // 2)
    ends.reverse()
    return list(pairwise(ends))


def growth_windows(times: FloatArray, growth: FloatArray) -> tuple[Window, ...]:
    """Growth rates of a tangent over doubling windows.

    Parameters
    ----------
    growth : float64 (K,)
        The largest growth so far, so that oscillations within a period do not show.
    """
    return tuple(
        Window(
            float(times[a]),
            float(times[b]),
            float((growth[b] - growth[a]) / (times[b] - times[a])),
        )
        for a, b in doubling_windows(len(times))
    )


def growth_verdict(times: FloatArray, growth: FloatArray) -> str:
    """``regular``, ``chaotic``, or ``neither`` if it takes more time to tell.

    Parameters
    ----------
    growth : float64 (K,)
        The largest growth so far.
    """
    share = (regular_from(times, growth) - times[0]) / (times[-1] - times[0])
    if share <= REGULAR_SINCE:
        return "regular"
    last = growth[-1] - growth[len(growth) // 2]
    return "chaotic" if last >= CHAOTIC_GROWTH and share >= CHAOTIC_UNTIL else "neither"


def regular_from(times: FloatArray, growth: FloatArray) -> float:
    """The time from which on the tangent grew no faster than a power of the time."""
    elapsed = np.maximum(times - times[0], times[1] - times[0])
    allowed = 1 + REGULAR_GROWTH * np.log2(elapsed[-1] / elapsed)
    beyond = np.flatnonzero(growth[-1] - growth > allowed)
    return float(times[beyond[-1] + 1] if len(beyond) else times[0])


def last_window(times: FloatArray, growth: FloatArray) -> Window:
    """Growth rate of a tangent over the last tenth of the time."""
    first = _last_part(times)
    rate = (growth[-1] - growth[first]) / (times[-1] - times[first])
    return Window(float(times[first]), float(times[-1]), float(rate))


def slow_from(times: FloatArray, growth: FloatArray) -> float | None:
    """The time from which on growth is slow, to the end; None if not even the last tenth is."""
    half, last = len(times) // 2, _last_part(times)
    # From each time before the last tenth to the end.
    rate = (growth[-1] - growth[half : last + 1]) / (times[-1] - times[half : last + 1])
    fast = half + int(np.flatnonzero(rate >= SLOWED * rate[0])[-1])
    return None if fast == last else float(times[fast + 1])


def _last_part(times: FloatArray) -> int:
    """Index at which the last tenth of the time begins."""
    return round((1 - LAST) * (len(times) - 1))


def near_faces(log_odds: FloatArray) -> FloatArray:
    """Share of the moving actions that is near a face, float64 (K,), from log-odds (K, m)."""
    return (np.abs(log_odds) >= NEAR_FACE_LOG_ODDS).mean(axis=1)


def near_face_windows(times: FloatArray, near: FloatArray) -> tuple[Window, ...]:
    """Mean shares near a face over doubling windows."""
    return tuple(
        Window(float(times[a]), float(times[b]), float(near[a : b + 1].mean()))
        for a, b in doubling_windows(len(times))
    )


def absorbed_from(times: FloatArray, near: FloatArray) -> float:
    """The time t from which on every window [s, 2s], s at least t, is spent near faces."""
    total = np.concatenate(([0.0], np.cumsum(near)))
    start = np.arange(1, (len(times) - 1) // 2 + 1)
    mean = (total[2 * start + 1] - total[start]) / (start + 1)
    beyond = np.flatnonzero(mean < ABSORBED)
    return float(times[start[beyond[-1]] + 1] if len(beyond) else times[0])
