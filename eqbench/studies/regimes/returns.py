"""Poincaré returns and spectral lines of a component."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import make_interp_spline

from eqbench.model.tree import FloatArray, IntArray
from eqbench.studies.regimes.regime import Component, SpectralLine

# Returns closer than this share of the largest swing are to the same point.
SAME_POINT = 1e-3
# Loops of a closed orbit through the section at most, and how many returns must show it.
MOST_LOOPS = 8
LEAST_RETURNS = 24
# Samples per return below which the spline between them is too coarse to judge by.
LEAST_SAMPLES = 12
# Steps of bisection: they divide the spacing by a million.
BISECTIONS = 20
# Coordinates that are compared at most, those with the largest swings.
MOST_COORDINATES = 64

# A line is a peak and as many bins to both sides as the Hann window spreads it over.
LINE_BINS = 2
MOST_LINES = 24
SHOWN_LINES = 4
# What has less of the power is no line.
LEAST_SHARE = 1e-6


def component_facts(times: FloatArray, log_odds: FloatArray, actions: IntArray) -> Component:
    """Returns and spectral lines of a component.

    Parameters
    ----------
    times : float64 (K,)
        Evenly spaced.
    log_odds : float64 (K, m)
    actions : int (m,)
        Global indices of its moving actions.
    """
    swing = np.ptp(log_odds, axis=0)
    widest = np.argsort(-swing, kind="stable")[:MOST_COORDINATES]
    # What crosses most often also shows whether the grid is close enough.
    section = max(widest, key=lambda column: len(_rises(log_odds[:, column])))
    crossings, points = _returns(times, log_odds[:, widest], log_odds[:, section])
    loops, mismatch = _loops(points, swing.max())
    period = None
    if loops:
        whole = (len(crossings) - 1) // loops * loops
        period = float(crossings[whole] - crossings[0]) / whole * loops
    lines, line_share = spectral_lines(times, log_odds[:, section])
    return Component(
        actions=tuple(int(action) for action in actions),
        section=int(actions[section]),
        returns=len(crossings),
        samples_per_return=len(times) / max(len(crossings), 1),
        loops=loops,
        mismatch=mismatch,
        period=period,
        lines=lines,
        line_share=line_share,
    )


def _rises(values: FloatArray) -> np.ndarray:
    """Indices after which values (K,) rise through their mean."""
    above = values >= values.mean()
    return np.flatnonzero(~above[:-1] & above[1:])


def _returns(
    times: FloatArray, log_odds: FloatArray, section: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Times (R,) at which the section (K,) rises through its mean, and the log-odds (R, m) then."""
    height = make_interp_spline(times, section - section.mean(), k=5)
    before = _rises(section)
    low, high = times[before], times[before + 1]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        risen = height(middle) >= 0
        low, high = np.where(risen, low, middle), np.where(risen, middle, high)
    crossings = (low + high) / 2
    return crossings, make_interp_spline(times, log_odds, k=5)(crossings)


def _loops(points: FloatArray, swing: float) -> tuple[int | None, float | None]:
    """After how many returns the motion is back, if it is, and the mismatch."""
    if len(points) < LEAST_RETURNS:
        return None, None
    mismatches = [
        float(np.abs(points[loops:] - points[:-loops]).max() / swing)
        for loops in range(1, MOST_LOOPS + 1)
    ]
    for loops, mismatch in enumerate(mismatches, start=1):
        if mismatch <= SAME_POINT:
            return loops, mismatch
    return None, mismatches[0]


def spectral_lines(times: FloatArray, values: FloatArray) -> tuple[tuple[SpectralLine, ...], float]:
    """The strongest lines of the spectrum of `values` (K,), and the share of all lines."""
    window = np.hanning(len(values))
    power = np.abs(np.fft.rfft((values - values.mean()) * window)) ** 2
    power[: LINE_BINS + 1] = 0  # the mean, and what drifts
    total = power.sum()
    if total == 0:
        return (), 0.0
    power /= total
    bin_width = 1 / ((times[1] - times[0]) * len(values))
    found = []
    for _ in range(MOST_LINES):
        peak = int(power.argmax())
        around = slice(max(peak - LINE_BINS, 0), peak + LINE_BINS + 1)
        share = float(power[around].sum())
        if share < LEAST_SHARE:
            break
        center = float(power[around] @ np.arange(len(power))[around]) / share
        found.append(SpectralLine(center * float(bin_width), share))
        power[around] = 0
    found.sort(key=lambda line: -line.share)
    return tuple(found[:SHOWN_LINES]), sum(line.share for line in found)
