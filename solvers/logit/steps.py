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
CORRECTION, AIM = 0.4, 0.1
SHORTEST, LARGEST = 1e-10, 3.0
SHRINK, GROWTH = 0.5, 4.0
# Points that a prediction is made from, and how far apart they are at least, as a share of the
# step that is planned.
HISTORY, APART = 4, 0.01


@kernel
def correct(
    flat: FlatTree,
    work: Workspace,
    prior: FloatArray,
    border: FloatArray,
    unit: float,
    scale: FloatArray,
    point: FloatArray,
) -> int:
    """Newton iterations to the branch, negative if they failed; `point` changes."""
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
        exact = np.abs(work.right[:last] * scale[:last]).max() <= noise
        for i in range(len(point)):
            point[i] -= solved[i] * scale[i]
            size = max(size, abs(solved[i]))
        if not np.isfinite(solved).all() or size > WILD:
            return -iteration
        stuck = SHRINKING * before < size
        # steps decrease quadratically
        foretold = size * (size / before) ** 2 if iteration > 1 else size**2
        if foretold <= CONVERGED or (stuck and exact and size <= STAGNANT):
            return iteration
        if stuck:
            return -iteration
        before = size
    return -ITERATIONS


@kernel
def coordinates(point: FloatArray, unit: float) -> FloatArray:
    """Coordinates in which prediction takes place, float64 (F+1,)."""
    made = np.arcsinh(point)
    made[-1] = np.arcsinh(point[-1] / unit)
    return made


@kernel
def predict(history: FloatArray, known: int, length: float, unit: float, guess: FloatArray) -> None:
    """Extrapolate."""
    at = np.zeros(HISTORY)
    for i in range(1, known):
        at[i] = at[i - 1] - np.sqrt(((history[i] - history[i - 1]) ** 2).sum())
    guess[:] = 0.0
    for i in range(known):
        weight = 1.0
        for j in range(known):
            if j != i:
                weight *= (length - at[j]) / (at[i] - at[j])
        guess += weight * history[i]


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
    history: FloatArray,
    known: int,
    length: float,
    counts: NDArray[np.int64],
    point: FloatArray,
) -> tuple[float, float, bool]:
    """Correction as a share of the step (inf if refused), the length taken, whether at a stop.

    `point` becomes the end of the step.
    """
    last = len(before) - 1
    guess = np.empty(last + 1)
    predict(history, known, length, unit, guess)
    far = np.abs(guess - history[0]).max()
    if far > LARGEST:
        length *= LARGEST / far
        predict(history, known, length, unit, guess)
    stop = stop_between(stops, before[last], unit * np.sinh(guess[last]))
    landing = not np.isnan(stop)
    if landing:
        goal = np.arcsinh(stop / unit) - history[0, last]
        for _ in range(4):
            length *= goal / (guess[last] - history[0, last])
            predict(history, known, length, unit, guess)
    border = guess - history[0]
    moved = np.abs(border).max()
    border /= np.sqrt((border**2).sum())
    point[:] = np.sinh(guess)
    point[last] *= unit
    scale = np.sqrt(1.0 + point**2)
    scale[last] = np.sqrt(unit**2 + point[last] ** 2)
    if landing:
        point[last] = stop
        border[:] = 0.0
        border[last] = 1.0
    start = point.copy()
    made = correct(flat, work, prior, border, unit, scale, point)
    counts[0] += abs(made)
    if made < 0:
        return np.inf, length, landing
    if landing:
        point[last] = stop
    elif not np.isnan(stop_between(stops, before[last], point[last])):
        return np.inf, length, False
    return np.abs((point - start) / scale).max() / moved, length, landing


@kernel
def advance(
    flat: FlatTree,
    work: Workspace,
    prior: FloatArray,
    unit: float,
    stops: FloatArray,
    history: FloatArray,
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
    history : float64 (HISTORY, F+1)
        Coordinates of the last points, the latest first; changes.
    control : float64 (2,)
        Length of the next step, and how many points of the history are known; changes.
    counts : int64 (2,)
        Newton iterations and refused steps; they grow.
    points : float64 (P+1, F+1)
        The first row is given; the others are filled, as far as the branch goes.
    """
    last = points.shape[1] - 1
    for k in range(1, len(points)):
        known = int(control[1])
        while True:
            share, length, landed = try_step(
                flat, work, prior, unit, stops, points[k - 1], history, known, control[0], counts, points[k],
            )
            if share <= CORRECTION:
                break
            counts[1] += 1
            control[0] = SHRINK * length
            if control[0] < SHORTEST:
                return k - 1, STALLED
        here = coordinates(points[k], unit)
        if np.sqrt(((here - history[0])**2).sum()) > APART * control[0]:
            known = min(known + 1, HISTORY)
            for i in range(known - 1, 0, -1):
                history[i] = history[i - 1]
        history[0] = here
        control[1] = known
        grown = length * min(GROWTH, (AIM / max(length*share, 1e-6))**(1.0/known))
        control[0] = max(grown, control[0]) if landed else max(grown, SHRINK * length)
        if landed and points[k, last] == stops[-1]:
            return k, ENDED
    return len(points) - 1, RUNNING
