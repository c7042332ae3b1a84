"""Which frequencies go to 0 or 1, which settle, and which keep moving."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
