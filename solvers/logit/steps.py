"""Steps along a branch, compiled: predict, correct, judge, choose the next length.

A point (F+1,) holds the log-odds and lambda. Where lambda is large they grow in proportion, so
each is measured in a unit of its own, sqrt(1 + z^2) and lambda plus a constant; then a step may
multiply lambda. Newton's method goes back to the branch within the plane across the direction of
the step, in these units; so lambda may turn around. At a lambda that is asked for the plane is
that of this lambda.

The direction is that of the chord of the last two points. Tangents would save few iterations,
for steps end at bends where no derivative foretells the branch; and where the equilibria in the
limit form a continuum, the tangent is lost in rounding long before the points are. It is tried
where the chord leads nowhere, as after a sharp bend.

The control of `arclength` is the model. It runs in Python on another system of equations; here a
step takes less time than one of its calls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.tree import FloatArray, IntArray

from . import kernels
from .elimination import eliminate
from .flat_tree import FlatTree, Workspace

RUNNING, ENDED, STALLED = 0, 1, 2
ITERATIONS = 8
# Error left by the last Newton step, as the decrease of the last two foretells it: at points that
# were asked for, and elsewhere.
EXACT, CONVERGED = 1e-11, 1e-10
# Rounding of values times lambda, which no step can make smaller: shares of lambda, and of lambda
# times the largest log-odds.
ROUNDING, EPSILON = 1e-13, 1e-15
WILD, SHRINKING = 1.0, 0.5
# Corrections of accepted steps are at most that share of the step, or that large; and the size
# aimed at.
CORRECTION, SMALL, AIM = 1.0, 0.1, 0.5
SHORTEST, LARGEST = 1e-10, 16.0
SHRINK, GROWTH = 0.5, 4.0
# After so many refusals of the chord the tangent is tried as well, for the branch may bend sharply.
PATIENCE = 3
# Points that lie closer together give no direction.
APART = 0.01


@kernel
def correct(
    flat: FlatTree,
    work: Workspace,
    prior: FloatArray,
    border: FloatArray,
    unit: float,
    scale: FloatArray,
    top: IntArray,
    tolerance: float,
    point: FloatArray,
) -> int:
    """Newton iterations to the branch, negative if they failed; `point` changes."""
    before, last = np.inf, len(point) - 1
    change = np.empty(last + 1)
    for iteration in range(1, ITERATIONS + 1):
        kernels.newton_system(flat, prior, point, scale, border, work)
        residual = np.abs(work.right[:last] * scale[:last]).max()
        if not eliminate(work.bordered, work.right, work.solution):
            return -iteration
        for i in range(last):
            change[i] = work.solution[flat.column[i]] * scale[i]
        change[last] = work.solution[last] * scale[last]
        size = length_of(flat.start, top, scale, change)
        if not size <= min(WILD, SHRINKING * before):
            # beliefs depend on differences of log-odds, whose rounding grows with them
            rate = abs(point[last]) / unit
            noise = ROUNDING * (1.0 + rate) + EPSILON * rate * np.abs(point[:last]).max()
            return iteration if iteration > 1 and residual <= noise else -iteration
        point -= change
        # steps decrease quadratically
        foretold = size * (size / before) ** 2 if iteration > 1 else size**2
        if foretold <= tolerance:
            return iteration
        before = size
    return -ITERATIONS


@kernel
def units(
    start: IntArray, point: FloatArray, unit: float, scale: FloatArray, top: IntArray
) -> None:
    """The unit in which each coordinate of a point is measured, float64 (F+1,), and `top`."""
    last = len(point) - 1
    for c in range(len(start) - 1):
        begin, end = start[c] - c, start[c + 1] - c - 1
        top[c], highest = -1, 0.0
        for i in range(begin, end):
            if point[i] > highest:
                top[c], highest = i, point[i]
        for i in range(begin, end):
            odds = (0.0 if i == top[c] else point[i]) - highest
            scale[i] = np.sqrt(1.0 + odds**2)
    scale[last] = abs(point[last]) + unit


@kernel
def against_top(start: IntArray, top: IntArray, change: FloatArray) -> FloatArray:
    """Changes of log-odds against the most probable actions, from those against the first."""
    made = change.copy()
    for c in range(len(start) - 1):
        if top[c] >= 0:
            for i in range(start[c] - c, start[c + 1] - c - 1):
                made[i] = (0.0 if i == top[c] else change[i]) - change[top[c]]
    return made


@kernel
def length_of(start: IntArray, top: IntArray, scale: FloatArray, change: FloatArray) -> float:
    """Largest change in units."""
    return np.abs(against_top(start, top, change) / scale).max()


@kernel
def across(start: IntArray, top: IntArray, scale: FloatArray, direction: FloatArray) -> FloatArray:
    """Border: the plane across a direction, in units, float64 (F+1,)."""
    border = against_top(start, top, direction) / scale
    border /= np.sqrt((border**2).sum())
    for c in range(len(start) - 1):
        if top[c] >= 0:
            total = 0.0
            for i in range(start[c] - c, start[c + 1] - c - 1):
                total -= border[i] / scale[i]
            border[top[c]] = total * scale[top[c]]
    return border


@kernel
def stop_between(stops: FloatArray, here: float, there: float) -> float:
    """The stop nearest to `here` on the way to `there`, which counts; nan if there is none."""
    found = np.nan
    for stop in stops:
        between = here < stop <= there or there <= stop < here
        if between and not abs(stop - here) >= abs(found - here):
            found = stop
    return found


@kernel
def try_step(
    flat: FlatTree,
    work: Workspace,
    prior: FloatArray,
    unit: float,
    stops: FloatArray,
    before: FloatArray,
    direction: FloatArray,
    length: float,
    counts: NDArray[np.int64],
    point: FloatArray,
) -> tuple[float, float, float, bool]:
    """Correction (inf if refused), what the step moved, its length, and whether it is at a stop.

    `point` becomes the end of the step.
    """
    last = len(before) - 1
    scale, border = np.empty(last + 1), np.zeros(last + 1)
    top = np.empty(len(flat.start) - 1, np.int32)
    stop = stop_between(stops, before[last], before[last] + length * direction[last])
    landing = not np.isnan(stop)
    if landing:
        length = (stop - before[last]) / direction[last]
    guess = before + length * direction
    units(flat.start, guess, unit, scale, top)
    if landing:
        guess[last] = stop
        border[last] = 1.0
    else:
        border[:] = across(flat.start, top, scale, direction)
    point[:] = guess
    tolerance = EXACT if landing else CONVERGED
    made = correct(flat, work, prior, border, unit, scale, top, tolerance, point)
    counts[0] += abs(made)
    if landing:
        point[last] = stop
    elif not np.isnan(stop_between(stops, before[last], point[last])):
        made = -1
    if made < 0:
        return np.inf, 0.0, length, landing
    moved = length_of(flat.start, top, scale, guess - before)
    return length_of(flat.start, top, scale, point - guess), moved, length, landing


@kernel
def tangent(
    flat: FlatTree,
    work: Workspace,
    prior: FloatArray,
    forward: FloatArray,
    scale: FloatArray,
    top: IntArray,
    point: FloatArray,
) -> tuple[FloatArray, int]:
    """Direction of the branch at a point, float64 (F+1,), on the side of `forward`, and a sign.

    Along a branch the sign stays the same as long as `forward` really is forward. It is 0 where
    the branch has no direction.
    """
    border = across(flat.start, top, scale, forward)
    kernels.newton_system(flat, prior, point, scale, border, work)
    work.right[:] = 0.0
    work.right[-1] = 1.0
    sign = eliminate(work.bordered, work.right, work.solution)
    ahead = np.empty_like(forward)
    for i in range(len(ahead) - 1):
        ahead[i] = work.solution[flat.column[i]] * scale[i]
    ahead[-1] = work.solution[-1] * scale[-1]
    return ahead / length_of(flat.start, top, scale, ahead), sign


@kernel
def advance(
    flat: FlatTree,
    work: Workspace,
    prior: FloatArray,
    unit: float,
    stops: FloatArray,
    behind: FloatArray,
    control: FloatArray,
    counts: NDArray[np.int64],
    points: FloatArray,
) -> tuple[int, int]:
    """Number of new points, and whether the branch goes on, has ended or has stalled.

    Parameters
    ----------
    prior : float64 (F,)
        Log-odds at lambda = 0.
    unit : lambda that counts as 1
    stops : float64 (L,), ascending
        Where lambda is hit exactly; the branch ends at the last one.
    behind : float64 (F+1,)
        A point before the first one; becomes one before the last one.
    control : float64 (2,)
        Length of the next step, which changes, and the sign of `tangent` on this branch.
    counts : int64 (2,)
        Newton iterations and refused steps; they grow.
    points : float64 (P+1, F+1)
        The first row is given; the others are filled, as far as the branch goes.
    """
    last = len(behind) - 1
    scale, top = np.empty(last + 1), np.empty(len(flat.start) - 1, np.int32)
    for k in range(1, len(points)):
        before = points[k - 1]
        units(flat.start, before, unit, scale, top)
        chord = before - behind
        chord /= length_of(flat.start, top, scale, chord)
        direction, ahead, sign, refused = chord, chord, 0, 0
        while True:
            size, moved, length, landed = try_step(
                flat,
                work,
                prior,
                unit,
                stops,
                before,
                direction,
                control[0],
                counts,
                points[k],
            )
            if size <= max(CORRECTION * moved, SMALL):
                break
            counts[1] += 1
            refused += 1
            if refused == PATIENCE:
                ahead, sign = tangent(flat, work, prior, chord, scale, top, before)
                # after a sharp bend the chord may point back
                ahead *= sign * control[1]
            if refused >= PATIENCE and sign != 0 and direction is chord:
                direction = ahead
                continue
            direction = chord
            control[0] = SHRINK * length
            if control[0] < SHORTEST:
                return k - 1, STALLED
        behind[:] = before if moved > APART else points[k] - APART * direction
        grown = length * min(GROWTH, np.sqrt(AIM / max(size, 1e-6))) / (1.0 + moved)
        control[0] = min(LARGEST, max(grown, control[0]) if landed else max(grown, SHRINK * length))
        if landed and points[k, last] == stops[-1]:
            return k, ENDED
    return len(points) - 1, RUNNING
