"""An explicit Runge-Kutta method of order eight, compiled together with the right side.

Symbols: M entries of what is integrated, see :mod:`.kernels`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.tree import FloatArray

from .kernels import LONGEST, RESOLUTION, SHORTEST, derivative

# The step never changes by more than this at once, and aims at less than the tolerance.
SHRINK, STRETCH, SAFETY = 0.2, 10.0, 0.9

REACHED, UNFINISHED, COLLAPSED, OVERFLOWED = range(4)


class Method(NamedTuple):
    """Coefficients of the Runge-Kutta method, and its tolerance; see :mod:`.dop853`."""

    A: FloatArray
    B: FloatArray
    E3: FloatArray
    E5: FloatArray
    A_EXTRA: FloatArray
    D: FloatArray
    tolerance: float


class Walk(NamedTuple):
    """Where an integration stands; all arrays are changed in place.

    Attributes
    ----------
    clock : float64 (4,)
        Time; time before the last step; length of the next step; logarithm of what the tangent
        was divided by.
    counts : int64 (3,)
        Accepted steps; evaluations of the right side; the step that `dense` belongs to.
    state : float64 (M,)
    before : float64 (M,)
        State before the last step.
    slopes : float64 (16, M)
        Derivatives at the stages of the last step; row 12 is that at its end.
    dense : float64 (7, M)
        Coefficients of the interpolation over the last step, of degree seven.
    """

    clock: FloatArray
    counts: NDArray[np.int64]
    state: FloatArray
    before: FloatArray
    slopes: FloatArray
    dense: FloatArray


@kernel
def begin(field, room, method, walk):
    """Derivative at the start, and a length for the first step (Hairer et al. 1993, p. 169)."""
    slope, trial, ahead = walk.slopes[12], walk.slopes[1], walk.slopes[2]
    derivative(field, room, walk.state, slope)
    size, steep = _norm(walk.state, walk.state), _norm(slope, walk.state)
    if np.isnan(steep):
        walk.clock[2] = np.nan  # no step is short enough
        return
    least = 1e-5 * method.tolerance
    length = 1e-6 if size < least or steep < least else 0.01 * size / steep
    for m in range(len(trial)):
        trial[m] = walk.state[m] + length * slope[m]
    derivative(field, room, trial, ahead)
    for m in range(len(trial)):
        ahead[m] -= slope[m]
    bent = max(steep, _norm(ahead, walk.state) / length)
    if np.isfinite(bent):
        rest = 1e-15 * method.tolerance
        usual = (0.01 * method.tolerance / max(bent, rest)) ** 0.125
        following = max(1e-6, 1e-3 * length) if bent <= rest else usual
        length = min(100.0 * length, following)
    walk.clock[2] = length
    walk.counts[1] += 2


@kernel
def _norm(vector, state):
    """Largest entry beside one plus the state; NaN where one is not finite."""
    largest = 0.0
    for m in range(len(vector)):
        if not np.isfinite(vector[m]):
            return np.nan
        largest = max(largest, abs(vector[m]) / (1.0 + abs(state[m])))
    return largest


@kernel
def follow(field, room, method, walk, times, rows, logs, filled, most):
    """Write states (M,) at ascending `times` (K,) into `rows` (K, M), from row `filled` on.

    Returns how it ended and how many rows are filled. Steps are never cut at the times, so the
    trajectory does not depend on them. After `most` further steps it is left unfinished.
    """
    last = walk.counts[0] + most
    while filled < len(times):
        while walk.clock[0] < times[filled]:
            if walk.counts[0] >= last:
                return UNFINISHED, filled
            ending = _advance(field, room, method, walk)
            if ending != REACHED:
                return ending, filled
        if walk.counts[0] == 0:
            rows[filled] = walk.state
        else:
            _interpolate(field, room, method, walk, times[filled], rows[filled])
        if not np.isfinite(np.sum(rows[filled])):
            return OVERFLOWED, filled
        logs[filled] = walk.clock[3]
        filled += 1
    return REACHED, filled


@kernel
def _advance(field, room, method, walk):
    """Make one step that meets the tolerance; how it ended.

    It has overflowed if no try, or not even the derivative at the start, was finite.
    """
    clock, state, trial = walk.clock, walk.state, walk.dense[0]
    _rescale(field, room, walk)
    walk.slopes[0] = walk.slopes[12]  # the derivative at the end of the last step
    longest, error = STRETCH, 1.0
    while True:
        length = clock[2]
        if not length > RESOLUTION * abs(clock[0]):
            walk.slopes[12] = walk.slopes[0]
            return OVERFLOWED if np.isnan(length + error) else COLLAPSED
        _stages(field, room, method, walk, trial)
        error = _error(method, walk, trial)
        if error < 1.0:
            break
        # what has overflowed has no error to be compared
        clock[2] *= max(SHRINK, SAFETY * error**-0.125) if error >= 1.0 else SHRINK
        longest = 1.0
    walk.before[:] = state
    state[:] = trial
    clock[1] = clock[0]
    clock[0] += length
    factor = SAFETY * error**-0.125 if error > 0.0 else STRETCH
    clock[2] *= min(longest, max(SHRINK, factor))
    walk.counts[0] += 1
    return REACHED


@kernel
def _rescale(field, room, walk):
    """Give the tangent length 1 where it has become too short or too long."""
    tangent = walk.state[len(field.action) + len(room.payoffs) :]
    if len(tangent) == 0:
        return
    length = np.sqrt(np.sum(tangent**2))
    if not SHORTEST < length < LONGEST:
        tangent /= length
        walk.slopes[12, len(field.action) + len(room.payoffs) :] /= length
        walk.clock[3] += np.log(length)


@kernel
def _interpolate(field, room, method, walk, time, row):
    """Write the state at a time within the last step into `row`."""
    slopes, dense = walk.slopes, walk.dense
    length = walk.clock[0] - walk.clock[1]
    if walk.counts[2] != walk.counts[0]:
        for stage in range(3):
            _combine(walk.before, slopes, method.A_EXTRA[stage], length, 13 + stage, row)
            derivative(field, room, row, slopes[13 + stage])
        walk.counts[1] += 3
        for m in range(len(row)):
            change = walk.state[m] - walk.before[m]
            dense[0, m] = change
            dense[1, m] = length * slopes[0, m] - change
            dense[2, m] = 2.0 * change - length * (slopes[12, m] + slopes[0, m])
            for k in range(4):
                total = 0.0
                for stage in range(16):
                    total += method.D[k, stage] * slopes[stage, m]
                dense[3 + k, m] = length * total
        walk.counts[2] = walk.counts[0]
    share = (time - walk.clock[1]) / length
    for m in range(len(row)):
        value = 0.0
        for back in range(7):
            value = (value + dense[6 - back, m]) * (share if back % 2 == 0 else 1.0 - share)
        row[m] = walk.before[m] + value


@kernel
def _stages(field, room, method, walk, trial):
    """Try a step: derivatives at all stages, and the state after it in `trial`."""
    length, slopes = walk.clock[2], walk.slopes
    for stage in range(1, 12):
        _combine(walk.state, slopes, method.A[stage], length, stage, trial)
        derivative(field, room, trial, slopes[stage])
    _combine(walk.state, slopes, method.B, length, 12, trial)
    derivative(field, room, trial, slopes[12])
    walk.counts[1] += 12


@kernel
def _combine(state, slopes, weights, length, stages, result):
    """State plus a weighted sum of the derivatives at the first stages."""
    for m in range(len(state)):
        result[m] = 0.0
    for stage in range(stages):
        weight = weights[stage]
        if weight != 0.0:
            for m in range(len(state)):
                result[m] += weight * slopes[stage, m]
    for m in range(len(state)):
        result[m] = state[m] + length * result[m]


@kernel
def _error(method, walk, trial):
    """Error of a tried step over the tolerance; NaN where the step has overflowed.

    The estimates of orders five and three are combined as Hairer et al. do, but over the worst
    entries and not the mean squares, so that one fast frequency among many slow ones counts.
    A switch after long rest, met by a long step, is at times seen late: of swings of 200 in
    log-odds one in fifty is followed to 1e-5 only.
    """
    fifth, third = 0.0, 0.0
    for m in range(len(trial)):
        scale = method.tolerance * (1.0 + max(abs(walk.state[m]), abs(trial[m])))
        high, low = 0.0, 0.0
        for stage in range(13):
            high += method.E5[stage] * walk.slopes[stage, m]
            low += method.E3[stage] * walk.slopes[stage, m]
        # where the state has overflowed, so has the scale, and the error would be none
        if not np.isfinite(high + low + trial[m]):
            return np.nan
        fifth = max(fifth, abs(high) / scale)
        third = max(third, abs(low) / scale)
    if fifth == 0.0:
        return 0.0
    return walk.clock[2] * fifth / np.sqrt(1.0 + 0.01 * (third / fifth) ** 2)
