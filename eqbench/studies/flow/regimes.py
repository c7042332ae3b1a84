"""The regime of a trajectory: periodic, quasi-periodic, chaotic, absorbed, or undecided.

Symbols in shapes: K times, F free frequencies, M actions, m moving ones, R returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.sparse.csgraph import connected_components

from eqbench.dynamics import Flow, Trajectory
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.tree import FloatArray, IntArray
from eqbench.report.rows import Column
from eqbench.studies.frame import legend

WORDS = ("periodic", "quasi_periodic", "chaotic_transient", "boundary_absorption", "undecided")
AT = ("at_zero", "at_one")
ENDS = ("to_zero", "to_one", *AT, "frozen")

SHORTEST = 64  # times that the shortest window has at least
LEAST_TIMES = 8 * SHORTEST  # enough for two windows that double the time

NEAR_FACE = 1e-3  # distance from 0 or 1 within which a frequency is near a face
NEAR_FACE_LOG_ODDS = float(np.log((1 - NEAR_FACE) / NEAR_FACE))
CONSTANT = 0.01  # log-odds that vary by less over the last half of the time are constant
ROUNDS_TO_PURE = 36.0  # log-odds of frequencies that are 0 or 1 in double precision
# Log-odds may retreat over the last half of the time by this share of their distance from the
# inside, so that they could not come back in as long a time; or of what they gained, if they
# trend away.
RETREAT = 0.5
TREND_PARTS = 8  # parts of the last half whose means show a trend
# The largest log-odds of what moves grow by this factor, or more, while time is quadrupled: then
# dwelling near faces gets longer and longer.
SWING_GROWTH = 1.5
LONG_DWELLING = 7 / 8
ABSORBED = 0.75  # share of the moving frequencies that is near faces in absorption

# Growth of the logarithm of the tangent while time doubles. In a regular motion it is log 2 times
# the degree of a polynomial, in a chaotic one the exponent times the length of the window.
REGULAR_GROWTH = 2.0
CHAOTIC_GROWTH = 10.0
# Regular motion must be so since this share of the time, or before; chaos must last as long.
REGULAR_SINCE, CHAOTIC_UNTIL = 0.5, 0.75
# The last share of the time, over which chaos must last; growth is slow if its rate is
# less than this share of that over the last half.
LAST, SLOWED = 0.1, 0.5

SAME_POINT = 1e-3  # share of the largest swing within which returns are to the same point
MOST_LOOPS = 8  # of a closed orbit through the section
LEAST_RETURNS = 24  # that must show them
LEAST_SAMPLES = 12  # per return; with fewer the spline between them is too coarse to judge by
BISECTIONS = 20  # steps, which divide the spacing by a million
MOST_COORDINATES = 64  # that are compared, those with the largest swings

LINE_BINS = 2  # to both sides of a peak, as far as the Hann window spreads a line
MOST_LINES = 24
SHOWN_LINES = 4
LEAST_SHARE = 1e-6  # of the power; what has less is not a line
DISCRETE = 0.9  # share of the power that is in lines if a motion is regular
DRIFT = 0.5  # share of the swing by which means of a regular motion may move
# Periods p and q are commensurate if m p = n q to this precision, with small m and n.
COMMENSURATE = 1e-6
LARGEST_RATIO = 8

MOST_POINTS = 16  # at which Jacobians are computed
NO_INFLUENCE = 1e-5  # share of the largest entry below which there is none

Verdict = tuple[str, str, float | None]  # word, reason, and the time from which on it holds


class Window(Struct, frozen=True):
    """A mean over a stretch of time; None if it is not finite."""

    start: float
    end: float
    mean: float | None


class SpectralLine(Struct, frozen=True):
    """A peak of the power spectrum: cycles per unit of time, and its share of the power."""

    frequency: float
    share: float


class Component(Struct, frozen=True):
    """Moving actions that influence each other, over the last half of the time.

    Attributes
    ----------
    section : of the actions, and of what stays at 0 or 1 but belongs to them, the one whose
        log-odds rise through their mean most often; these are the returns
    loops : after how many returns the motion is back at the same point, if it ever is; they take
        the time `period`
    mismatch : by how much it then misses that point, or if it does not come back, misses it after
        one return; the largest distance, as a share of the largest swing in log-odds
    lines : the strongest lines of the log-odds of `section`, strongest first
    line_share : share of the power in lines; 1 minus it is continuous
    """

    actions: list[str]
    section: str
    returns: int
    samples_per_return: float
    loops: int | None
    mismatch: float | None
    period: float | None
    lines: list[SpectralLine]
    line_share: float


def _near_if_moving(regime: Regime) -> float | None:
    moves = regime.components or regime.at_zero or regime.at_one
    return regime.near_face_fraction if moves else None


class Regime(Struct, frozen=True, kw_only=True):
    """The regime of a trajectory, with labels of actions.

    Where an information set has two actions, its second one stands for both.

    Attributes
    ----------
    regime : one of `WORDS`
    reason : a sentence with the figures that the word rests on
    to_zero, to_one : actions whose frequency is within `NEAR_FACE` of 0 or 1 for the whole last
        half of the time, while its log-odds keep growing, or are constant
    at_zero, at_one : others as near for as long, which may return: their log-odds are on their way
        back, show no trend, or are so large that rounding hides it
    frozen : other actions that settle to a constant
    components : what still moves, in groups that influence each other. Log-odds of what may return
        count wherever those of moving actions are tested, but are not listed here
    lyapunov_windows : mean growth rates of a small displacement over windows each of which doubles
        the time, the last one last; none if they were not measured. `lyapunov` is the last one
    near_face_windows : share of what still moves or may return within `NEAR_FACE` of 0 or 1, the
        last one is `near_face_fraction`
    transient : when the motion became what `regime` says, for good; not if it is undecided or
        chaotic
    """

    regime: Annotated[str, Column()]
    reason: str
    to_zero: list[str] = []
    to_one: list[str] = []
    at_zero: list[str] = []
    at_one: list[str] = []
    frozen: list[str] = []
    components: list[Component] = []
    lyapunov: Annotated[float | None, Column("Lyapunov", "number", layout="+.4f")] = None
    lyapunov_windows: list[Window] = []
    near_face_fraction: Annotated[
        float | None, Column("near a face", "number", layout=".3f", of=_near_if_moving)
    ] = None
    near_face_windows: list[Window] = []
    transient: Annotated[float | None, Column("settled at", "number", layout=",.0f")] = None


def classify(flow: Flow, trajectory: Trajectory, labels: Sequence[str]) -> Regime:
    """Return the regime of a trajectory, by the last half of its time.

    Times are evenly spaced, at least `LEAST_TIMES`, and so close that the shortest oscillation has
    a dozen of them; else UsageError, or an undecided regime. Without the growth of a tangent only
    absorption can be recognized. `labels` are those of all actions.
    """
    times, ending = trajectory.times, trajectory.ending
    ended = f"; the trajectory ended early: {ending}" if ending else ""
    if len(times) < LEAST_TIMES:
        reason = legend("regimes.short", times=len(times), least=LEAST_TIMES)
        return Regime(regime="undecided", reason=reason + ended)
    spacing = np.diff(times)
    if np.ptp(spacing) > 1e-6 * spacing.mean():
        raise UsageError(
            f"a regime needs evenly spaced times; got spacings from {spacing.min():g} to "
            f"{spacing.max():g}. Use an even grid"
        )
    motion = _Motion(flow, trajectory, labels)
    word, reason, transient = motion.verdict()
    named = np.array(labels)[motion.action]
    ends = {end: named[motion.limits.end == end].tolist() for end in ENDS}
    staying = {*ends["at_zero"], *ends["at_one"]}
    moving = (
        replace(each, actions=[action for action in each.actions if action not in staying])
        for each in motion.components
    )
    growth, near = motion.growth_windows, motion.near_windows
    return Regime(
        regime=word,
        reason=reason + ended,
        **ends,
        components=[each for each in moving if each.actions],
        lyapunov=growth[-1].mean if growth else None,
        lyapunov_windows=growth,
        near_face_fraction=near[-1].mean,
        near_face_windows=near,
        transient=transient,
    )


# -- limits ---------------------------------------------------------------------------------------


def _described(choices: Choices, states: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Describe states (K, F) by one action of sets of two, by all of larger ones.

    Returns their global indices (M,), their places in ``Choices.infoset`` (M,), log-odds (K, M).
    """
    action, choice, columns = [], [], []
    for c, (start, end) in enumerate(pairwise(choices.start)):
        block = states[:, start:end]
        own = choices.action[start:end].tolist()
        if end - start > 1:
            block, own = _log_odds(block), [int(choices.first[start]), *own]
        action += own
        choice += [c] * len(own)
        columns.append(block)
    return np.array(action), np.array(choice), np.concatenate(columns, axis=1)


def _log_odds(states: FloatArray) -> FloatArray:
    """Log-odds (K, n+1) of all actions of one information set from its states (K, n)."""
    weights = np.concatenate([np.zeros((len(states), 1)), states], axis=1)
    others = (np.delete(weights, action, axis=1) for action in range(weights.shape[1]))
    return weights - np.column_stack([np.logaddexp.reduce(own, axis=1) for own in others])


class Limits(NamedTuple):
    """What becomes of each of M actions.

    Attributes
    ----------
    end : one of `ENDS`, str (M,), or empty for what moves without staying near a face
    gone : bool (M,), near a face, and log-odds grow or could not come back in as long a time
    moving : bool (M,), neither gone nor frozen
    since : index of the time from which on frequencies that are gone had to be near 0 or 1
    """

    end: NDArray[np.str_]
    gone: NDArray[np.bool_]
    moving: NDArray[np.bool_]
    since: int

    @classmethod
    def of(cls, log_odds: FloatArray) -> Limits:
        """Return the limits of the actions with log-odds (K, M), by the last half of the time.

        Where the others swing farther and farther, dwelling is no limit: there an action must have
        been near its face for the last `LONG_DWELLING` of the time, or it may return.
        """
        limits = cls._since(log_odds, len(log_odds) // 2)
        moving = log_odds[:, limits.moving]
        if moving.size and _swing_growth(moving) >= SWING_GROWTH:
            return cls._since(log_odds, round(len(log_odds) * (1 - LONG_DWELLING)))
        return limits

    @classmethod
    def _since(cls, log_odds: FloatArray, since: int) -> Limits:
        half = log_odds[len(log_odds) // 2 :]
        side = np.sign(half[-1])
        distance = side * half
        away, onward = _goes_away(distance)
        gone = away & (side * log_odds[since:] >= NEAR_FACE_LOG_ODDS).all(axis=0)
        frozen = ~gone & (np.ptp(half, axis=0) <= CONSTANT)
        limit = gone & onward
        at = (distance >= NEAR_FACE_LOG_ODDS).all(axis=0) & ~limit & ~frozen
        zero = side < 0
        end = np.select([limit & zero, limit, at & zero, at, frozen], ENDS, default="")
        return cls(end, gone, ~gone & ~frozen, since)


def _swing_growth(log_odds: FloatArray) -> float:
    """Largest log-odds (K, m) of the last half of the time over those until a quarter of it."""
    swing = np.abs(log_odds).max(axis=1)
    early, late = swing[: len(swing) // 4].max(), swing[len(swing) // 2 :].max()
    return float(late / max(early, np.finfo(float).tiny))


def _goes_away(distance: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which distances (K, M) grow, or are beyond return, and which of these do not shrink."""
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


# -- components -----------------------------------------------------------------------------------


def _component(times: FloatArray, log_odds: FloatArray, actions: Sequence[str]) -> Component:
    """Returns and spectral lines of moving actions (m,), from evenly spaced log-odds (K, m)."""
    swing = np.ptp(log_odds, axis=0)
    widest = np.argsort(-swing, kind="stable")[:MOST_COORDINATES]
    # What crosses most often also shows whether the grid is close enough.
    section = max(widest, key=lambda column: len(_rises(log_odds[:, column])))
    crossings, points = returns(times, log_odds[:, widest], log_odds[:, section])
    loops, mismatch = _loops(points, swing.max())
    period = None
    if loops:
        whole = (len(crossings) - 1) // loops * loops
        period = float(crossings[whole] - crossings[0]) / whole * loops
    lines = _spectral_lines(times, log_odds[:, section])
    return Component(
        actions=[*actions],
        section=actions[section],
        returns=len(crossings),
        samples_per_return=len(times) / max(len(crossings), 1),
        loops=loops,
        mismatch=mismatch,
        period=period,
        lines=lines[:SHOWN_LINES],
        line_share=sum((line.share for line in lines), 0.0),
    )


def _rises(values: FloatArray) -> NDArray[np.int64]:
    """Indices after which values (K,) rise through their mean."""
    above = values >= values.mean()
    return np.flatnonzero(~above[:-1] & above[1:])


def returns(
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
    closed = (each for each in enumerate(mismatches, start=1) if each[1] <= SAME_POINT)
    return next(closed, (None, mismatches[0]))


def _spectral_lines(times: FloatArray, values: FloatArray) -> list[SpectralLine]:
    """Return the lines of the spectrum of values (K,), strongest first."""
    power = np.abs(np.fft.rfft((values - values.mean()) * np.hanning(len(values)))) ** 2
    power[: LINE_BINS + 1] = 0  # the mean, and what drifts
    total = power.sum()
    if total == 0:
        return []
    power /= total
    bin_width = 1 / ((times[1] - times[0]) * len(values))
    lines = []
    for _ in range(MOST_LINES):
        peak = int(power.argmax())
        around = slice(max(peak - LINE_BINS, 0), peak + LINE_BINS + 1)
        share = float(power[around].sum())
        if share < LEAST_SHARE:
            break
        center = float(power[around] @ np.arange(len(power))[around]) / share
        lines.append(SpectralLine(center * float(bin_width), share))
        power[around] = 0
    return sorted(lines, key=lambda line: -line.share)


# -- verdicts -------------------------------------------------------------------------------------


class _Motion:
    """What a trajectory does, in figures, and the word that they bear out.

    Attributes
    ----------
    growth : largest logarithm of the length of the tangent so far (K,), so that oscillations within
        a period do not show
    near : share of what moves or may return, and is not gone, that is near a face (K,)
    """

    def __init__(self, flow: Flow, trajectory: Trajectory, labels: Sequence[str]) -> None:
        self.times = times = trajectory.times
        self.half = half = len(times) // 2
        self.action, self.choice, self.log_odds = _described(flow.choices, trajectory.states)
        self.limits = limits = Limits.of(self.log_odds)
        self.components = [
            _component(
                times[half:], self.log_odds[half:, part], [labels[a] for a in self.action[part]]
            )
            for part in self._components(flow, trajectory.states)
        ]
        self.moving = self.log_odds[:, limits.moving]
        self.growth: FloatArray | None = None
        self.growth_windows: list[Window] = []
        if trajectory.growth is not None:
            self.growth = growth = np.maximum.accumulate(trajectory.growth)
            self.growth_windows = self._windows(
                lambda a, b: (growth[b] - growth[a]) / (times[b] - times[a])
            )
        self.near = np.zeros(len(times))
        if self.components:
            self.near = (np.abs(self.moving) >= NEAR_FACE_LOG_ODDS).mean(axis=1)
        self.near_windows = self._windows(lambda a, b: self.near[a : b + 1].mean())

    def _components(self, flow: Flow, states: FloatArray) -> list[NDArray[np.int64]]:
        """Return positions of moving actions that influence each other, in their order."""
        places, since = np.flatnonzero(self.limits.moving), self.limits.since
        if not len(places):
            return []
        # Near a face an action has hardly any influence, so Jacobians there would not show it.
        inside = np.unique(np.abs(self.log_odds[since:, places]).argmin(axis=0))
        chosen = np.linspace(0, len(inside) - 1, min(len(inside), MOST_POINTS))
        points = since + inside[chosen.round().astype(int)]
        influence = np.max([np.abs(flow.state_jacobian(states[point])) for point in points], axis=0)
        # The largest entry of each pair of information sets.
        start = flow.choices.start[:-1]
        between = np.maximum.reduceat(np.maximum.reduceat(influence, start), start, axis=1)
        sets, place = np.unique(self.choice[places], return_inverse=True)
        between = between[np.ix_(sets, sets)]
        least = NO_INFLUENCE * max(between.max(), np.finfo(float).tiny)
        count, label = connected_components(between > least, directed=False)
        parts = (places[label[place] == part] for part in range(count))
        return sorted(parts, key=lambda part: int(part[0]))

    def _windows(self, mean: Callable[[int, int], float]) -> list[Window]:
        """Means from index to index over [K/4, K/2], [K/2, K] and so on, the last one last."""
        ends = [len(self.times) - 1]
        while ends[-1] // 2 >= SHORTEST:
            ends.append(ends[-1] // 2)
        return [
            Window(float(self.times[a]), float(self.times[b]), float(mean(a, b)))
            for a, b in pairwise(reversed(ends))
        ]

    def verdict(self) -> Verdict:
        if not self.components:
            return self._at_rest()
        swing_growth = _swing_growth(self.moving)
        if (self.near_windows[-1].mean or 0.0) >= ABSORBED and swing_growth >= SWING_GROWTH:
            seen = {"near": self._dwelling(), "growth": swing_growth, "exponent": self._exponent()}
            return "boundary_absorption", legend("regimes.switching", **seen), self._absorbed_from()
        if self.growth is None:
            return "undecided", legend("regimes.unmeasured"), None
        since = self._regular_from(self.growth)
        share = (since - self.times[0]) / (self.times[-1] - self.times[0])
        if share <= REGULAR_SINCE:
            return self._regular(since)
        if self.growth[-1] - self.growth[self.half] >= CHAOTIC_GROWTH and share >= CHAOTIC_UNTIL:
            end = self._end_of_chaos(self.growth, since)
            return "chaotic_transient", f"{self._exponent()}; {end}; {self._dwelling()}", None
        return "undecided", legend("regimes.neither", exponent=self._exponent()), None

    def _at_rest(self) -> Verdict:
        gone, end = self.limits.gone, self.limits.end
        returning = int((gone & np.isin(end, AT)).sum())
        if returning:
            return "undecided", legend("regimes.returning", returning=returning), None
        if gone.any():
            frozen = (end == "frozen").sum()
            reason = legend("regimes.converges", gone=gone.sum(), frozen=frozen)
            return "boundary_absorption", reason, self._gone_from()
        if self.growth is None:
            return "undecided", legend("regimes.unmeasured"), None
        return "periodic", "rests: all frequencies are constant", float(self.times[0])

    def _regular(self, regular_since: float) -> Verdict:
        growth = f"{self._exponent()}: growth like a power of the time, as in regular motion"
        lacking = self._lacking()
        if lacking:
            return "undecided", f"{growth}, but {lacking}", None
        since = max(self._gone_from(), regular_since)
        unclosed = [each for each in self.components if each.loops is None]
        mismatch = max(each.mismatch or 0.0 for each in unclosed or self.components)
        if unclosed:
            share = min(each.line_share for each in unclosed)
            reason = legend("regimes.unclosed", growth=growth, mismatch=mismatch, share=share)
            if share < DISCRETE:
                return "undecided", f"{reason}, too little for a regular motion", None
            return "quasi_periodic", reason, since
        periods = [each.period or 0.0 for each in self.components]
        shown = ", ".join(f"{period:.6g}" for period in periods)
        reason = legend("regimes.closed", growth=growth, mismatch=mismatch, periods=shown)
        return "periodic" if _commensurate(periods) else "quasi_periodic", reason, since

    def _lacking(self) -> str:
        """Say what is missing to tell regular motions apart, with what to do."""
        samples = min(each.samples_per_return for each in self.components)
        if samples < LEAST_SAMPLES:
            return legend("regimes.coarse", samples=samples, least=LEAST_SAMPLES)
        returns = min(each.returns for each in self.components)
        if returns < LEAST_RETURNS:
            return legend("regimes.few", returns=returns, least=LEAST_RETURNS)
        late = self.moving[self.half :]
        part = len(late) // TREND_PARTS
        change = np.abs(late[-part:].mean(axis=0) - late[:part].mean(axis=0))
        drift = float((change / np.ptp(late, axis=0)).max())
        return legend("regimes.drift", drift=drift) if drift > DRIFT else ""

    def _end_of_chaos(self, growth: FloatArray, regular: float) -> str:
        times, half = self.times, self.half
        last = round((1 - LAST) * (len(times) - 1))  # where the last tenth of the time begins
        if regular <= times[last]:
            return legend("regimes.became_regular", since=regular)
        # From each time before the last tenth to the end.
        rate = (growth[-1] - growth[half : last + 1]) / (times[-1] - times[half : last + 1])
        fast = half + int(np.flatnonzero(rate >= SLOWED * rate[0])[-1])
        late = {"rate": rate[-1], "last": times[last]}
        if fast == last:
            return legend("regimes.still_chaotic", **late)
        return legend("regimes.slowed", since=times[fast + 1], **late)

    def _regular_from(self, growth: FloatArray) -> float:
        """The time from which on the tangent grew no faster than a power of the time."""
        times = self.times
        elapsed = np.maximum(times - times[0], times[1] - times[0])
        allowed = 1 + REGULAR_GROWTH * np.log2(elapsed[-1] / elapsed)
        return self._after(growth[-1] - growth > allowed)

    def _gone_from(self) -> float:
        log_odds = self.log_odds[:, self.limits.gone]
        return self._after(np.any(np.abs(log_odds) < NEAR_FACE_LOG_ODDS, axis=1))

    def _absorbed_from(self) -> float:
        """The time t from which on every window [s, 2s], s at least t, is spent near faces."""
        total = np.concatenate(([0.0], np.cumsum(self.near)))
        start = np.arange(1, (len(self.times) - 1) // 2 + 1)
        mean = (total[2 * start + 1] - total[start]) / (start + 1)
        return self._after(np.concatenate(([False], mean < ABSORBED)))

    def _after(self, holds: NDArray[np.bool_]) -> float:
        """The time after the last one at which something holds; the first one if it never does."""
        found = np.flatnonzero(holds)
        return float(self.times[found[-1] + 1] if len(found) else self.times[0])

    def _exponent(self) -> str:
        if not self.growth_windows:
            return "the growth of a small displacement was not measured"
        before, last = self.growth_windows[-2:]
        return legend("regimes.exponent", before=before, last=last)

    def _dwelling(self) -> str:
        return legend("regimes.near", first=self.near_windows[0], last=self.near_windows[-1])


def _commensurate(periods: list[float]) -> bool:
    whole = np.arange(1, LARGEST_RATIO + 1)
    ratios = (whole[:, None] / whole[None, :]).ravel()
    return all(np.abs(period / periods[0] / ratios - 1).min() <= COMMENSURATE for period in periods)
