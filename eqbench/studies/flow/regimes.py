"""Tell which regime a trajectory is in: periodic, quasi-periodic, chaotic, absorbed, or undecided.

Symbols in shapes: K times, m moving actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.sparse.csgraph import connected_components

from eqbench.dynamics import Flow, Trajectory
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.tree import FloatArray, IntArray

# A frequency within this distance of 0 or 1 is near a face, and its log-odds there.
NEAR_FACE = 1e-3
NEAR_FACE_LOG_ODDS = float(np.log((1 - NEAR_FACE) / NEAR_FACE))

# Log-odds that vary by less than this over the last half of the time are constant.
CONSTANT = 0.01
# Log-odds beyond this belong to frequencies that are 0 or 1 in double precision.
ROUNDS_TO_PURE = 36.0
# Log-odds may retreat over the last half of the time by this share of their distance from the
# inside, so that they could not come back in as long a time; or of what they gained, if they
# trend away.
RETREAT = 0.5
# Parts of the last half whose means show a trend.
TREND_PARTS = 8

# The largest log-odds of what moves grow by this factor, or more, while time is quadrupled: then
# dwelling near faces gets longer and longer.
SWING_GROWTH = 1.5
LONG_DWELLING = 7 / 8


class Actions(NamedTuple):
    """The actions by which a trajectory is described, and their log-odds.

    One for an information set with two actions, all of a larger one. M of them.

    Attributes
    ----------
    action : int32 (M,)
        Global indices.
    choice : int64 (M,)
        Which information set with a choice, counted as in ``Choices.infoset``.
    log_odds : float64 (K, M)
        Logarithm of the frequency over that of all other actions of the set.
    """

    action: IntArray
    choice: IntArray
    log_odds: FloatArray

    @classmethod
    def of(cls, choices: Choices, states: FloatArray) -> Actions:
        """The actions of states (K, F)."""
        action, choice, columns = [], [], []
        for c, (start, end) in enumerate(zip(choices.start[:-1], choices.start[1:], strict=True)):
            block = states[:, start:end]
            if end - start > 1:
                block = _log_odds(block)
                action.append(choices.first[start])
                choice.append(c)
            action.extend(choices.action[start:end])
            choice.extend([c] * (end - start))
            columns.append(block)
        return cls(np.array(action), np.array(choice), np.concatenate(columns, axis=1))


class Limits(NamedTuple):
    """What becomes of each of M actions, each as bool (M,), by name.

    Words rest on `gone`, `frozen` and `moving`, one of which holds for each action. What is
    reported is `to_zero`, `to_one`, `at_zero`, `at_one`, `frozen`, or else motion.

    Attributes
    ----------
    gone : near a face, and log-odds grow or could not come back in as long a time
    frozen : constant, and not gone
    moving : all others
    to_zero, to_one : gone, and log-odds still grow, or are constant
    at_zero, at_one : near a face for the whole last half, but none of the above except gone
    since : int
        Index of the time from which on frequencies that are gone had to be near 0 or 1.
    """

    gone: np.ndarray
    frozen: np.ndarray
    moving: np.ndarray
    to_zero: np.ndarray
    to_one: np.ndarray
    at_zero: np.ndarray
    at_one: np.ndarray
    since: int


def limits_of(log_odds: FloatArray) -> Limits:
    """Limits of the actions whose log-odds are (K, M), by the last half of the time.

    Where the others swing farther and farther, dwelling is no limit: there an action must have
    been near its face for the last `LONG_DWELLING` of the time, or it may return.
    """
    limits = _limits(log_odds, len(log_odds) // 2)
    moving = log_odds[:, limits.moving]
    if moving.size and swing_growth(moving) >= SWING_GROWTH:
        return _limits(log_odds, round(len(log_odds) * (1 - LONG_DWELLING)))
    return limits


def swing_growth(log_odds: FloatArray) -> float:
    """Largest log-odds (K, m) of the last half of the time over those until a quarter of it."""
    swing = np.abs(log_odds).max(axis=1)
    early, late = swing[: len(swing) // 4].max(), swing[len(swing) // 2 :].max()
    return float(late / max(early, np.finfo(float).tiny))


def _limits(log_odds: FloatArray, near_since: int) -> Limits:
    half = log_odds[len(log_odds) // 2 :]
    side = np.sign(half[-1])
    distance = side * half
    away, onward = _goes_away(distance)
    gone = away & (side * log_odds[near_since:] >= NEAR_FACE_LOG_ODDS).all(axis=0)
    frozen = ~gone & (np.ptp(half, axis=0) <= CONSTANT)
    limit = gone & onward
    at = (distance >= NEAR_FACE_LOG_ODDS).all(axis=0) & ~limit & ~frozen
    zero, one = side < 0, side > 0
    return Limits(
        gone=gone,
        frozen=frozen,
        moving=~gone & ~frozen,
        to_zero=limit & zero,
        to_one=limit & one,
        at_zero=at & zero,
        at_one=at & one,
        since=near_since,
    )


def _goes_away(distance: FloatArray) -> tuple[np.ndarray, np.ndarray]:
    """Which of the distances (K, M) grow, or are beyond return, and which of these do not shrink.

    Both are bool (M,).
    """
    # Means over parts, since a trend may carry oscillations.
    mean = np.array([part.mean(axis=0) for part in np.array_split(distance, TREND_PARTS)])
    first, middle, last = mean[0], mean[TREND_PARTS // 2], mean[-1]
    nearest = mean.min(axis=0)
    retreat = (np.maximum.accumulate(mean) - mean).max(axis=0)
    trends = (last - first > CONSTANT) & (last >= middle) & (middle >= first)
    trends &= retreat <= RETREAT * np.maximum(nearest, last - first)
    pure = (nearest >= ROUNDS_TO_PURE) & (retreat <= RETREAT * nearest)
    # Rounding in every step may add up to as much, and hide or feign that much of a change.
    rounding = np.spacing(np.abs(distance).max(axis=0)) * len(distance)
    onward = trends & (last >= mean[-2]) & (last - first > rounding)
    constant = (np.ptp(distance, axis=0) <= CONSTANT) & (rounding <= CONSTANT)
    return trends | pure, onward | constant


def _log_odds(states: FloatArray) -> FloatArray:
    """Log-odds (K, n+1) of all actions of one information set from its states (K, n)."""
    weights = np.concatenate([np.zeros((len(states), 1)), states], axis=1)
    own = np.empty_like(weights)
    for action in range(weights.shape[1]):
        others = np.delete(weights, action, axis=1)
        own[:, action] = weights[:, action] - np.logaddexp.reduce(others, axis=1)
    return own


WORDS = ("periodic", "quasi_periodic", "chaotic_transient", "boundary_absorption", "undecided")


@dataclass(frozen=True)
class Window:
    """A mean over a stretch of time.

    Attributes
    ----------
    start, end : float
    mean : float
    """

    start: float
    end: float
    mean: float


@dataclass(frozen=True)
class SpectralLine:
    """A peak of the power spectrum.

    Attributes
    ----------
    frequency : float
        Cycles per unit of time.
    share : float
        Of the power, the mean left out.
    """

    frequency: float
    share: float


@dataclass(frozen=True)
class Component:
    """Moving actions that influence each other, over the last half of the time.

    Attributes
    ----------
    actions : tuple of int
        Global indices.
    section : int
        Of these, and of what stays at 0 or 1 but belongs to them, the one whose log-odds rise
        through their mean most often; these are the returns.
    returns : int
        How many there were.
    samples_per_return : float
    loops : int or None
        After how many returns the motion comes back to the same point; None if it does not.
    mismatch : float or None
        By how much it then misses that point, or if it does not come back, misses it after one
        return; the largest distance, as a share of the largest swing in log-odds.
    period : float or None
        Time that the loops take, if it comes back.
    lines : tuple of SpectralLine
        The strongest lines of the log-odds of `section`, strongest first.
    line_share : float
        Share of the power in lines; 1 minus it is continuous.
    """

    actions: tuple[int, ...]
    section: int
    returns: int
    samples_per_return: float
    loops: int | None
    mismatch: float | None
    period: float | None
    lines: tuple[SpectralLine, ...]
    line_share: float


@dataclass(frozen=True)
class Regime:
    """The regime of a trajectory. Actions are global indices.

    Where an information set has two actions, its second one stands for both.

    Attributes
    ----------
    word : str
        One of `WORDS`.
    reason : str
        A sentence with the figures that the word rests on.
    to_zero, to_one : tuple of int
        Actions whose frequency goes to 0 or to 1: it is within `NEAR_FACE` of it for the whole
        last half of the time, while its log-odds go on growing, or are constant.
    at_zero, at_one : tuple of int
        Other actions that are as near to 0 or to 1 for as long, but whose log-odds are on their
        way back, show no trend, or are so large that rounding hides it; so they may return.
    frozen : tuple of int
        Other actions that settle to a constant.
    components : tuple of tuple of int
        What still moves, in groups that influence each other. Log-odds of what may return count
        wherever those of moving actions are tested, but are not listed here.
    lyapunov : float or None
        Mean growth rate of a small displacement over the last half of the time, per unit of
        time; None if it was not measured.
    lyapunov_windows : tuple of Window
        The same over windows each of which doubles the time, the last one last.
    near_face_fraction : float
        Of the frequencies that still move or may return, over the last half of the time, the
        share within `NEAR_FACE` of 0 or 1; 0 if there are none.
    near_face_windows : tuple of Window
    transient : float or None
        When the motion became what `word` says, for good; None if it is undecided or chaotic.
    facts : tuple of Component
        Returns, periods and spectral lines of the components, in their order.
    """

    word: str
    reason: str
    to_zero: tuple[int, ...]
    to_one: tuple[int, ...]
    at_zero: tuple[int, ...]
    at_one: tuple[int, ...]
    frozen: tuple[int, ...]
    components: tuple[tuple[int, ...], ...]
    lyapunov: float | None
    lyapunov_windows: tuple[Window, ...]
    near_face_fraction: float
    near_face_windows: tuple[Window, ...]
    transient: float | None
    facts: tuple[Component, ...]


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
    reason = f"{_exponent(figures)}; {_end_of_chaos(figures.times, growth)}; {_dwelling(figures)}"
    return Verdict("chaotic_transient", reason, None)


def _end_of_chaos(times: FloatArray, growth: FloatArray) -> str:
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


# Jacobians that are computed at most.
MOST_POINTS = 16
# Entries below this share of the largest one are no influence.
NO_INFLUENCE = 1e-5


def components_of(
    flow: Flow, states: FloatArray, actions: Actions, limits: Limits
) -> tuple[np.ndarray, ...]:
    """Moving actions that influence each other, as indices into `actions`, in their order.

    Parameters
    ----------
    states : float64 (K, F)
    """
    places = np.flatnonzero(limits.moving)
    if not len(places):
        return ()
    points = limits.since + _points(actions.log_odds[limits.since :, places])
    influence = _influence(flow, states, points)
    start = flow.choices.start
    # Of each free frequency the information set, then the largest entry of each pair of sets.
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    between = np.zeros((len(start) - 1, len(start) - 1))
    np.maximum.at(between, (owner[:, None], owner[None, :]), influence)
    sets = np.unique(actions.choice[places])
    between = between[np.ix_(sets, sets)]
    count, label = connected_components(
        between > NO_INFLUENCE * max(between.max(), np.finfo(float).tiny), directed=False
    )
    group = label[np.searchsorted(sets, actions.choice[places])]
    parts = [places[group == part] for part in range(count)]
    return tuple(sorted(parts, key=lambda part: int(part[0])))


def _points(log_odds: FloatArray) -> np.ndarray:
    """Indices of times at which each action is as far inside as it gets, some if too many."""
    # Near a face an action has hardly any influence, so Jacobians there would not show it.
    inside = np.unique(np.abs(log_odds).argmin(axis=0))
    chosen = np.linspace(0, len(inside) - 1, min(len(inside), MOST_POINTS))
    return inside[chosen.round().astype(int)]


def _influence(flow: Flow, states: FloatArray, points: np.ndarray) -> FloatArray:
    """Largest sizes of the entries of the Jacobian at some points, float64 (F, F)."""
    size = flow.choices.size
    largest = np.zeros((size, size))
    for point in points:
        np.maximum(largest, np.abs(flow.state_jacobian(states[point])), out=largest)
    return largest


# Enough for two windows that double the time.
LEAST_TIMES = 8 * SHORTEST


def classify(flow: Flow, trajectory: Trajectory) -> Regime:
    """The regime of a trajectory.

    Limits, components and returns are those of the last half of its time.

    Parameters
    ----------
    trajectory : Trajectory
        On an evenly spaced grid of at least `LEAST_TIMES` times, so close that the shortest
        oscillation has a dozen of them, and with the growth of a tangent. Without one only
        absorption can be told.

    Raises
    ------
    UsageError
        If the times are not evenly spaced, or too few although all were reached.
    """
    actions = Actions.of(flow.choices, trajectory.states)
    if len(trajectory.times) < LEAST_TIMES and trajectory.ending:
        return _too_short(trajectory, actions)
    _check_grid(trajectory.times)
    limits = limits_of(actions.log_odds)
    parts = components_of(flow, trajectory.states, actions, limits)
    half = len(trajectory.times) // 2
    facts = tuple(
        component_facts(
            trajectory.times[half:], actions.log_odds[half:, part], actions.action[part]
        )
        for part in parts
    )
    figures = _figures(trajectory, actions.log_odds, limits, facts)
    verdict = verdict_of(figures)
    at_zero, at_one = (_indices(actions.action[at]) for at in (limits.at_zero, limits.at_one))
    moving = tuple(_without(facts, {*at_zero, *at_one}))
    ended = f"; the trajectory ended early: {trajectory.ending}" if trajectory.ending else ""
    return Regime(
        word=verdict.word,
        reason=verdict.reason + ended,
        to_zero=_indices(actions.action[limits.to_zero]),
        to_one=_indices(actions.action[limits.to_one]),
        at_zero=at_zero,
        at_one=at_one,
        frozen=_indices(actions.action[limits.frozen]),
        components=tuple(fact.actions for fact in moving),
        lyapunov=figures.growth_windows[-1].mean if figures.growth_windows else None,
        lyapunov_windows=figures.growth_windows,
        near_face_fraction=figures.near_windows[-1].mean,
        near_face_windows=figures.near_windows,
        transient=verdict.transient,
        facts=moving,
    )


def _without(facts: tuple[Component, ...], actions: set[int]) -> Iterator[Component]:
    """What is left of components without some actions."""
    for fact in facts:
        left = tuple(action for action in fact.actions if action not in actions)
        if left:
            yield replace(fact, actions=left)


def _figures(
    trajectory: Trajectory, log_odds: FloatArray, limits: Limits, facts: tuple[Component, ...]
) -> Figures:
    """Figures of a trajectory whose actions have these log-odds (K, M)."""
    times = trajectory.times
    growth = None if trajectory.growth is None else np.maximum.accumulate(trajectory.growth)
    moving = log_odds[:, limits.moving]
    near = near_faces(moving) if facts else np.zeros(len(times))
    return Figures(
        times=times,
        gone=int(limits.gone.sum()),
        returning=int((limits.gone & (limits.at_zero | limits.at_one)).sum()),
        settled=int(limits.frozen.sum()),
        gone_from=_near_from(times, log_odds[:, limits.gone]),
        growth=growth,
        growth_windows=() if growth is None else growth_windows(times, growth),
        near=near,
        near_windows=near_face_windows(times, near),
        swing_growth=swing_growth(moving) if facts else 1.0,
        drift=_drift(moving[len(times) // 2 :]) if facts else 0.0,
        facts=facts,
    )


def _near_from(times: FloatArray, log_odds: FloatArray) -> float:
    """When the last of the actions with these log-odds (K, m) came near its face for good."""
    inside = np.flatnonzero((np.abs(log_odds) < NEAR_FACE_LOG_ODDS).any(axis=1))
    return float(times[inside[-1] + 1] if len(inside) else times[0])


def _drift(log_odds: FloatArray) -> float:
    """Largest change of the mean of log-odds (K, m), as a share of how far they swing."""
    part = len(log_odds) // TREND_PARTS
    change = np.abs(log_odds[-part:].mean(axis=0) - log_odds[:part].mean(axis=0))
    return float((change / np.ptp(log_odds, axis=0)).max())


def _indices(actions: np.ndarray) -> tuple[int, ...]:
    return tuple(int(action) for action in actions)


def _too_short(trajectory: Trajectory, actions: Actions) -> Regime:
    """The regime of a trajectory that ended before anything could be told."""
    return Regime(
        word="undecided",
        reason=f"only {len(trajectory.times)} times of {LEAST_TIMES}: {trajectory.ending}",
        to_zero=(),
        to_one=(),
        at_zero=(),
        at_one=(),
        frozen=(),
        components=(),
        lyapunov=None,
        lyapunov_windows=(),
        near_face_fraction=float(near_faces(actions.log_odds).mean()),
        near_face_windows=(),
        transient=None,
        facts=(),
    )


def _check_grid(times: FloatArray) -> None:
    if len(times) < LEAST_TIMES:
        raise UsageError(
            f"a regime needs at least {LEAST_TIMES} times; got {len(times)}. Follow the "
            "trajectory for longer or on a closer grid"
        )
    spacing = np.diff(times)
    if np.ptp(spacing) > 1e-6 * spacing.mean():
        raise UsageError(
            f"a regime needs evenly spaced times; got spacings from {spacing.min():g} to "
            f"{spacing.max():g}. Use an even grid"
        )


__all__ = [
    "LEAST_TIMES",
    "NEAR_FACE",
    "WORDS",
    "Component",
    "Regime",
    "SpectralLine",
    "Window",
    "classify",
]
