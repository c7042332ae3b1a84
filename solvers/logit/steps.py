"""Steps along a branch, compiled: predict, correct, judge, choose the next length.

A point (F+1,) holds the log-odds and lambda. Where lambda is large they grow in proportion, so
each is measured in a unit of its own, sqrt(1 + z^2) and lambda plus a constant; then a step may
multiply lambda. Newton's method goes back to the branch within the plane across the tangent, in
these units; so lambda may turn around. At a lambda that is asked for the plane is that of this
lambda.

The predictor, corrector and control of `arclength` are the model. They run in Python on another
system of equations; here a step takes less time than one of their calls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.tree import FloatArray

from . import kernels
from .flat_tree import FlatTree, Workspace

RUNNING, ENDED, STALLED = 0, 1, 2
ITERATIONS = 8
# Error left by the last Newton step, as the decrease of the last two foretells it.
CONVERGED = 1e-11
# Where rounding of values times lambda moves the solution by more: small steps that get no
# smaller, once the residual is of that size.
STAGNANT, SHRINKING, ROUNDING, EPSILON = 1e-4, 0.5, 1e-13, 2e-16
WILD = 1.0
# Largest correction of an accepted step as a share of its length, and the one aimed at.
CORRECTION, AIM = 0.4, 0.2
SHORTEST, LARGEST = 1e-10, 16.0
SHRINK, GROWTH = 0.5, 4.0


@kernel
def correct(
    flat: FlatTree,
    work: Workspace,
    prior: FloatArray,
    border: FloatArray,
    unit: float,
    scale: FloatArray,
    point: FloatArray,
    tangent: FloatArray,
) -> int:
    """Newton iterations to the branch, negative if they failed; `point` and `tangent` change."""
    before, last = np.inf, len(point) - 1
    for iteration in range(1, ITERATIONS + 1):
        kernels.newton_system(flat, prior, point, scale, border, work)
        try:
            solved = np.linalg.solve(work.bordered, work.right)
        except Exception:  # the matrix is singular; compiled code can catch no other class
            return -iteration
        size = 0.0
        # beliefs depend on differences of log-odds, whose rounding grows with them
        rate = abs(point[last]) / unit
        noise = ROUNDING * (1.0 + rate) + EPSILON * rate * np.abs(point[:last]).max()
        exact = np.abs(work.right[:last, 0] * scale[:last]).max() <= noise
        for i in range(len(point)):
            point[i] -= solved[i, 0] * scale[i]
            size = max(size, abs(solved[i, 0]))
        if not np.isfinite(solved).all() or size > WILD:
            return -iteration
        stuck = SHRINKING * before < size
        # steps decrease quadratically
        foretold = size * (size / before) ** 2 if iteration > 1 else size**2
        if foretold <= CONVERGED or (stuck and exact and size <= STAGNANT):
            for i in range(len(point)):
                tangent[i] = solved[i, 1] * scale[i]
            return iteration
        if stuck:
            return -iteration
        before = size
    return -ITERATIONS


@kernel
def units(point: FloatArray, unit: float, scale: FloatArray) -> None:
    """The unit in which each coordinate of a point is measured, float64 (F+1,)."""
    last = len(point) - 1
    for i in range(last):
        scale[i] = np.sqrt(1.0 + point[i] ** 2)
    scale[last] = abs(point[last]) + unit


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
    tangent: FloatArray,
) -> tuple[float, float, bool]:
    """Correction as a share of the step (inf if refused), the length taken, whether at a stop.

    `point` and `tangent` become the end of the step.
    """
    last = len(before) - 1
    scale, border = np.empty(last + 1), np.zeros(last + 1)
    stop = stop_between(stops, before[last], before[last] + length * direction[last])
    landing = not np.isnan(stop)
    if landing:
        length = (stop - before[last]) / direction[last]
    guess = before + length * direction
    units(guess, unit, scale)
    if landing:
        guess[last] = stop
        border[last] = 1.0
    else:
        border[:] = direction / scale
        border /= np.sqrt((border**2).sum())
    point[:] = guess
    made = correct(flat, work, prior, border, unit, scale, point, tangent)
    counts[0] += abs(made)
    if made < 0:
        return np.inf, length, landing
    if landing:
        point[last] = stop
        if direction[last] < 0:
            tangent[:] = -tangent
    elif not np.isnan(stop_between(stops, before[last], point[last])):
        return np.inf, length, False
    moved = np.abs((guess - before) / scale).max()
    return np.abs((point - guess) / scale).max() / moved, length, landing


@kernel
def advance(
    flat: FlatTree,
    work: Workspace,
    prior: FloatArray,
    unit: float,
    stops: FloatArray,
    tangent: FloatArray,
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
    tangent : float64 (F+1,)
        At the first point; becomes that of the last one.
    control : float64 (1,)
        Length of the next step; changes.
    counts : int64 (2,)
        Newton iterations and refused steps; they grow.
    points : float64 (P+1, F+1)
        The first row is given; the others are filled, as far as the branch goes.
    """
    last = len(tangent) - 1
    scale, direction = np.empty(last + 1), tangent.copy()
    for k in range(1, len(points)):
        before = points[k - 1]
        units(before, unit, scale)
        direction[:] = tangent / np.abs(tangent / scale).max()
        while True:
            share, length, landed = try_step(
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
                tangent,
            )
            if share <= CORRECTION:
                break
            counts[1] += 1
            control[0] = SHRINK * length
            if control[0] < SHORTEST:
                tangent[:] = direction
                return k - 1, STALLED
        grown = length * min(GROWTH, np.sqrt(AIM / max(share, 1e-6)))
        control[0] = min(LARGEST, max(grown, control[0]) if landed else max(grown, SHRINK * length))
        if landed and points[k, last] == stops[-1]:
            return k, ENDED
    return len(points) - 1, RUNNING
