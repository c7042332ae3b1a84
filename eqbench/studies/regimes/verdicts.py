"""The word for a trajectory, from its figures; absorption comes before everything else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.studies.regimes.limits import SWING_GROWTH
from eqbench.studies.regimes.regime import Component, Window
from eqbench.studies.regimes.returns import LEAST_RETURNS, LEAST_SAMPLES
from eqbench.studies.regimes.windows import (
    ABSORBED,
    absorbed_from,
    growth_verdict,
    last_window,
    regular_from,
    slow_from,
)

# Share of the power that is in lines if a motion is regular.
DISCRETE = 0.9
# A regular motion has no trend: means move by no more than this share of the swing.
DRIFT = 0.5
# Periods p and q are commensurate if m p = n q to this precision, with small m and n.
COMMENSURATE = 1e-6
LARGEST_RATIO = 8

UNMEASURED = (
    "only absorption could be told, and there is none: regular and chaotic motion differ in the "
    "growth of a small displacement, which was not measured (play hand by hand has none)"
)


class Figures(NamedTuple):
    """What verdicts rest on.

    Attributes
    ----------
    times : float64 (K,)
    gone, returning, settled : int
        How many frequencies are gone to 0 or 1, how many of these may return after all, and how
        many others are constant.
    gone_from : float
        When the last of those that are gone came near its face for good.
    growth : float64 (K,) or None
        Largest logarithm of the length of the tangent so far.
    growth_windows : tuple of Window
        Its rates, or nothing.
    near : float64 (K,)
        Share of the frequencies that move or may return, and are not gone, that is near a face.
    near_windows : tuple of Window
    swing_growth, drift : float
        How much farther the moving log-odds swing at the end, and by which share of their swing
        their means change.
    facts : tuple of Component
    """

    times: FloatArray
    gone: int
    returning: int
    settled: int
    gone_from: float
    growth: FloatArray | None
    growth_windows: tuple[Window, ...]
    near: FloatArray
    near_windows: tuple[Window, ...]
    swing_growth: float
    drift: float
    facts: tuple[Component, ...]


class Verdict(NamedTuple):
    """The word, its reason, and the time from which on it holds."""

    word: str
    reason: str
    transient: float | None


def verdict_of(figures: Figures) -> Verdict:
    """The word that the figures bear out."""
    if not figures.facts:
        return _at_rest(figures)
    if figures.near_windows[-1].mean >= ABSORBED and figures.swing_growth >= SWING_GROWTH:
        return _absorbed(figures)
    if figures.growth is None:
        return _undecided(UNMEASURED)
    verdict = growth_verdict(figures.times, figures.growth)
    if verdict == "chaotic":
        return _chaotic(figures, figures.growth)
    if verdict == "regular":
        return _regular(figures, regular_from(figures.times, figures.growth))
    return _undecided(
        f"{_exponent(figures)}: a small displacement grows too fast for a regular motion, and too "
        "little or no longer for a chaotic one; follow the trajectory for longer"
    )


def _at_rest(figures: Figures) -> Verdict:
    if figures.returning:
        return _undecided(
            f"no frequency moves, but of those at 0 or 1 some may return: {figures.returning}. "
            "Their log-odds are on their way back, or too large to change beside rounding; "
            "follow the trajectory for longer, or choose a start farther inside"
        )
    if figures.gone:
        reason = (
            "converges: nothing moves any more; frequencies that go to 0 or 1: "
            f"{figures.gone}, that settle elsewhere: {figures.settled}"
        )
        return Verdict("boundary_absorption", reason, figures.gone_from)
    if figures.growth is None:
        return _undecided(UNMEASURED)
    return Verdict("periodic", "rests: all frequencies are constant", float(figures.times[0]))


def _absorbed(figures: Figures) -> Verdict:
    return Verdict(
        "boundary_absorption",
        f"switches along faces with growing dwell times; {_dwelling(figures)}, and their log-odds "
        f"swing {figures.swing_growth:.1f} times as far in the last half of the time as in the "
        f"first quarter; {_exponent(figures)}",
        absorbed_from(figures.times, figures.near),
    )


def _chaotic(figures: Figures, growth: FloatArray) -> Verdict:
    reason = f"{_exponent(figures)}; {_last_part(figures.times, growth)}; {_dwelling(figures)}"
    return Verdict("chaotic_transient", reason, None)


def _last_part(times: FloatArray, growth: FloatArray) -> str:
    """Whether a motion that is chaotic over the last half of the time is so at its end."""
    last, regular = last_window(times, growth), regular_from(times, growth)
    average = "chaotic on average over the last half of the time; since t ="
    if regular <= last.start:
        return f"{average} {regular:g} a small displacement grows no faster than in regular motion"
    slow = slow_from(times, growth)
    if slow is None:
        return f"still chaotic at the end of the time: {last.mean:.2g} since t = {last.start:g}"
    return (
        f"{average} {slow:g} a small displacement grows less than half as fast, at "
        f"{last.mean:.2g} since t = {last.start:g}"
    )


def _regular(figures: Figures, regular_since: float) -> Verdict:
    """The verdict on a motion whose tangent grows like a power of the time."""
    growth = f"{_exponent(figures)}: growth like a power of the time, as in regular motion"
    lacking = _lacking(figures)
    if lacking:
        return _undecided(f"{growth}, but {lacking}")
    since = max(figures.gone_from, regular_since)
    facts = figures.facts
    unclosed = [fact for fact in facts if fact.loops is None]
    if unclosed:
        share = min(fact.line_share for fact in unclosed)
        mismatch = max(fact.mismatch or 0.0 for fact in unclosed)
        reason = (
            f"{growth}; successive turns miss each other by {mismatch:.1g} of the swing, and "
            f"{share:.1%} of the power is in spectral lines"
        )
        if share < DISCRETE:
            return _undecided(f"{reason}, too little for a regular motion")
        return Verdict("quasi_periodic", reason, since)
    mismatch = max(fact.mismatch or 0.0 for fact in facts)
    periods = [fact.period or 0.0 for fact in facts]
    reason = (
        f"{growth}; comes back to the same points to {mismatch:.1g} of the swing; periods of "
        f"components that do not influence each other: {', '.join(f'{p:.6g}' for p in periods)}"
    )
    return Verdict("periodic" if _commensurate(periods) else "quasi_periodic", reason, since)


def _lacking(figures: Figures) -> str:
    """What is missing to tell regular motions apart, with what to do; empty if nothing is."""
    samples = min(fact.samples_per_return for fact in figures.facts)
    if samples < LEAST_SAMPLES:
        return (
            f"only {samples:.1f} times per turn of the {LEAST_SAMPLES} needed; follow the "
            "trajectory at times closer together (a smaller --every)"
        )
    returns = min(fact.returns for fact in figures.facts)
    if returns < LEAST_RETURNS:
        return (
            f"only {returns} of the {LEAST_RETURNS} turns needed; follow the trajectory for longer"
        )
    if figures.drift > DRIFT:
        return (
            f"log-odds drift by {figures.drift:.0%} of their swing over the last half of the "
            "time; follow the trajectory for longer"
        )
    return ""


def _undecided(reason: str) -> Verdict:
    return Verdict("undecided", reason, None)


def _exponent(figures: Figures) -> str:
    if not figures.growth_windows:
        return "the growth of a small displacement was not measured"
    before, last = figures.growth_windows[-2:]
    return (
        f"Lyapunov exponent {before.mean:.2g} until t = {before.end:g} and {last.mean:.2g} until "
        f"t = {last.end:g}"
    )


def _dwelling(figures: Figures) -> str:
    first, last = figures.near_windows[0], figures.near_windows[-1]
    return (
        f"frequencies without a limit are near 0 or 1 for {first.mean:.0%} of the time until t = "
        f"{first.end:g} and {last.mean:.0%} in its last half"
    )


def _commensurate(periods: list[float]) -> bool:
    """Whether all periods have a small common multiple."""
    whole = np.arange(1, LARGEST_RATIO + 1)
    ratios = (whole[:, None] / whole[None, :]).ravel()
    return all(np.abs(period / periods[0] / ratios - 1).min() <= COMMENSURATE for period in periods)
