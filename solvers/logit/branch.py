"""A branch of logit quantal response equilibria, followed from its prior on.

Its steps are compiled: predict, correct, judge, choose the next length.

A point (F+1,) holds the log-odds and lambda. Where lambda is large they grow in proportion, so
each is measured in a unit of its own: lambda plus a constant, and sqrt(1 + y^2) for log-odds y
against the most probable action of the set. Against another one, whose log probability may be
-7000 and changes fast, all others would seem not to move. In these units a step may multiply
lambda. Newton's method goes back to the branch within the plane across the direction of the
step; so lambda may turn around. At a lambda that is requested the plane is that of this lambda.

The direction is the tangent, from the last matrix that was factorized. Where the equilibria in
the limit form a continuum, it is lost in rounding long before the points are; so after a refusal
the chord of the last two points takes its place, and the other way around.

Newton's method may end on another branch. So a step is taken again with half its length if the
determinant has another sign than the direction foretells, if the correction is long, or, where
corrections or angles are not small, if the branch does not pass where the middle is expected. Over
two turning points at once only the latter tests notice a jump; they are no proof. Where the sign
still changes over the shortest of these steps another branch meets this one, or comes as close.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import ResponsePath
from eqbench.model.compiled import inlined, inner_product, kernel
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.tree import FloatArray

from .kernels import (
    FIRST,
    FREE,
    FlatTree,
    Workspace,
    action_values,
    flat_tree,
    log_frequencies,
    newton_system,
    softmax,
    workspace,
)

FIRST_LENGTH = 1.0
# Points for which memory is taken at a time.
BLOCK = 64
RUNNING, ENDED, STALLED = 0, 1, 2
ITERATIONS = 8
# Error left by the last Newton step, as the decrease of the last two foretells it: at points that
# were requested, and elsewhere.
EXACT, CONVERGED = 1e-11, 1e-5
# Rounding of values times lambda, which no step can make smaller: shares of lambda, and of lambda
# times the largest log-odds.
ROUNDING, EPSILON = 1e-13, 1e-15
WILD, SHRINKING = 1.0, 0.5
# Corrections of accepted steps are at most that share of the step, or that large; and the size
# aimed at.
CORRECTION, SMALL, AIM = 1.0, 0.1, 0.2
# In normal form corrections count that often: with 1, two of 240 branches of random trees still
# jump over two turning points.
CARE = 4.0
SHORTEST, LARGEST = 1e-10, 16.0
SHRINK, GROWTH = 0.5, 3.0
# After so many refusals the branch may bend sharply, and the determinant tells what is forward.
PATIENCE = 3
# Points that lie closer together give no direction.
APART = 0.01
# Longer steps do not pass turning points, lest they pass two of them at once.
TURNING = 0.25
# Tests of a step, Euclidean: largest share of it that its correction may have; share and cosine of
# the angle to the next tangent from which on its middle needs no test; and how far, as a share of
# the step, the branch may pass from there. In 1,700 random games the sign alone would do; the
# others are for two turning points in one step, as in some symmetric games.
FAR, CLOSE, STRAIGHT, MIDDLE = 0.35, 0.12, 0.94, 0.02
# Shorter steps are not repeated, nor those off by less: points are off by `CONVERGED`.
RESOLUTION = 1e-4
# Eigenvalues are looked at in games of so many log-odds; as real counts an imaginary part of such a
# share. Lengths and number of the steps of a second pass, how far its end may be, and the size of
# eigenvalues that have just changed their sign.
MOST_EIGENVALUES, REAL = 64, 0.1
SHORT, MOST_SHORT, SAME, NEAR_ZERO = 0.05, 5_000, 1e-3, 0.2
PASSED, TURNED, FAILED = 0, 1, 2


class LogitBranch:
    """The branch that starts at a prior where lambda is 0.

    Parameters
    ----------
    game : Game
        With at least one choice.
    rng : generator of a prior, or None for the uniform one
    flat : the tree with a prior, and what is pinned; unless given nothing is
    longest, tested : the longest step, and whether steps are tested

    `counts` are Newton iterations and refused steps so far.
    """

    def __init__(
        self,
        game: Game,
        rng: np.random.Generator | None = None,
        flat: FlatTree | None = None,
        *,
        longest: float = LARGEST,
        tested: bool = True,
    ) -> None:
        tree = game.tree
        self.game, self.flat = game, flat or flat_tree(tree)
        if rng is not None:
            logs, start = np.log(random_profile(tree, rng))[self.flat.action], self.flat.start
            odds = logs - np.repeat(logs[start[:-1]], np.diff(start))
            self.flat = self.flat._replace(prior=np.delete(odds, start[:-1]))
        self._work = workspace(self.flat)
        first = np.append(self.flat.prior, 0.0)
        course, self.counts = np.empty((2, len(first))), np.zeros(2, dtype=np.int64)
        begin(self.flat, self._work, course)
        self._longest, self._tested = longest, tested
        length = min(FIRST_LENGTH, longest)
        self._control = np.array([length, 1.0, 1.0, tested, np.nan, np.nan])
        self._state = course, self._control, self.counts
        self._points = [first[None]]
        self.steps = 0
        self.stalled = False

    @property
    def last(self) -> float:
        """Lambda at the last point."""
        return float(self._points[-1][-1, -1])

    def advance(self, stops: FloatArray, count: int, regret: float | None = None) -> bool:
        """Take at most `count` steps towards the last stop; whether the branch continues.

        Lambda hits the stops, float64 (L,), ascending, exactly. With a `regret` the branch ends
        at a point of at most this max regret.
        """
        width = len(self.flat.prior) + 1
        while count > 0 and not self.stalled:
            points = np.empty((1 + (min(count, BLOCK) if regret is None else 1), width))
            points[0] = self._points[-1][-1]
            made, status = advance(
                self.flat, self._work, stops, *self._state, self._longest, points
            )
            if made:
                self._points.append(points[1 : made + 1])
            self.steps += made
            count -= made
            self.stalled = status == STALLED
            if status == ENDED or (
                regret is not None and made and self.regret(self.behavior()) <= regret
            ):
                return False
        return not self.stalled

    def check(self) -> str:
        """Whether all steps passed their tests, or where the branch met another one or was left.

        Empty if they were not tested.
        """
        met, left = self._control[4:].tolist()
        if self._tested and np.isnan(met) and np.isnan(left):
            met, left = self._crossed()
        if not np.isnan(left) and not met < left:
            return f"left at lambda = {left:.4g}"
        fine = "checked" if self._tested else ""
        return fine if np.isnan(met) else f"bifurcation at lambda = {met:.4g}"

    def _crossed(self) -> tuple[float, float]:
        """Lambda where two eigenvalues change their sign at once, or nan, as `met` and `left`.

        The determinant keeps its sign there. Two may also become real far from 0, so where there
        are such in the end, the branch is followed again by short steps to where they appeared.
        """
        points, nowhere = self.points(), (np.nan, np.nan)
        if len(self.flat.prior) > MOST_EIGENVALUES or len(self._rising(points[-1])) < 2:
            return nowhere
        counts = np.array([len(self._rising(point)) for point in points])
        appeared = np.flatnonzero(np.diff(counts) >= 2)
        if not len(appeared):
            return nowhere
        here, there = points[appeared[0] : appeared[0] + 2]
        again = LogitBranch(self.game, flat=self.flat, longest=SHORT)
        while again.steps < MOST_SHORT and again.advance(there[-1:], BLOCK):
            pass
        behavior = np.exp(self.log_probabilities(there[None])[0])
        if np.abs(again.behavior() - behavior).max() > SAME:
            return np.nan, here[-1]
        followed = again.points()
        first, last = 0, len(followed) - 1
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (
                (first, middle) if len(self._rising(followed[middle])) >= 2 else (middle, last)
            )
        sizes = np.sort(np.abs(self._rising(followed[last])))
        return (followed[first, -1], np.nan) if sizes[1] <= NEAR_ZERO else nowhere

    def _rising(self, point: FloatArray) -> FloatArray:
        """Real eigenvalues below 0 of the derivatives of the equations by log-odds."""
        set_units(units_of(self.flat, self._work), point)
        newton_system(self.flat, self._work, point)
        values = np.linalg.eigvals(self._work.bordered[:-1, :-1] * self._work.scale[:-1])
        real = (values.real < 0.0) & (np.abs(values.imag) <= REAL * np.abs(values.real))
        return np.asarray(values.real[real])

    def points(self) -> FloatArray:
        """All points, log-odds and lambda, float64 (steps + 1, F+1)."""
        return np.concatenate(self._points)

    def log_probabilities(self, points: FloatArray) -> FloatArray:
        """Logarithms of all frequencies, float64 (K, A), at points (K, F+1)."""
        logs = np.zeros((len(points), self.game.tree.n_actions))
        logs[:, self.flat.action] = log_frequencies(self.flat.start, points)
        return logs

    def behavior(self) -> FloatArray:
        """Frequencies at the last point, float64 (A,)."""
        return np.asarray(np.exp(self.log_probabilities(self._points[-1][-1:])[0]))

    def regret(self, behavior: FloatArray) -> float:
        """Largest regret in payoff units, on the kernels."""
        return float(self.game.payoff_model().regrets(behavior).max())

    def path(self, at: FloatArray, ending: str) -> ResponsePath:
        """All points, as studies see them."""
        points = self.points()
        logs = self.log_probabilities(points)
        behavior = np.exp(logs)
        return ResponsePath(
            lambdas=points[:, -1],
            behavior=behavior,
            log_probabilities=logs,
            turns=turns(points[:, -1]),
            landings=np.flatnonzero((points[:, -1:] == at).any(axis=1)),
            ending=ending,
            check=self.check(),
        )


def turns(lambdas: FloatArray) -> NDArray[np.int64]:
    """Points at which lambda turns around, int64 (T,)."""
    rising = np.diff(lambdas) > 0
    return np.flatnonzero(rising[1:] != rising[:-1]) + 1


class Units(NamedTuple):
    """What is measured in: few arrays, since every call between kernels passes each of its own."""

    # of the `FlatTree`, and of the `Workspace`
    start: NDArray
    unit: float
    top: NDArray
    scale: FloatArray
    border: FloatArray


@inlined
def units_of(flat: FlatTree, work: Workspace) -> Units:
    """Units in a workspace."""
    return Units(flat.start, flat.unit, work.top, work.scale, work.border)


@kernel
def set_units(units: Units, point: FloatArray) -> None:
    """Set the most probable action of each information set and the units at a point."""
    start, top, scale = units.start, units.top, units.scale
    for c in range(len(top)):
        begin, end = start[c] - c, start[c + 1] - c - 1
        top[c], highest = -1, 0.0
        for i in range(begin, end):
            if point[i] > highest:
                top[c], highest = i, point[i]
        for i in range(begin, end):
            odds = (0.0 if i == top[c] else point[i]) - highest
            scale[i] = np.sqrt(1.0 + odds * odds)
    scale[-1] = abs(point[-1]) + units.unit


@kernel
def in_units(units: Units, change: FloatArray, measured: FloatArray) -> float:
    """Largest change of a coordinate in its unit, infinite if one is none; `measured` are all."""
    start, top, scale = units.start, units.top, units.scale
    measured[-1] = change[-1] / scale[-1]
    for c in range(len(top)):
        shift = change[top[c]] if top[c] >= 0 else 0.0
        for i in range(start[c] - c, start[c + 1] - c - 1):
            # in the place of the most probable action stands the first one
            measured[i] = ((0.0 if i == top[c] else change[i]) - shift) / scale[i]
    largest = 0.0
    for entry in measured:
        if not np.isfinite(entry):
            return np.inf
        largest = max(largest, abs(entry))
    return largest


@kernel
def set_plane(units: Units, direction: FloatArray) -> None:
    """Set the border of the matrix to the plane across a direction."""
    start, top, scale, border = units.start, units.top, units.scale, units.border
    in_units(units, direction, border)
    border /= np.sqrt(inner_product(border, border))
    for c in range(len(top)):
        if top[c] >= 0:
            total = 0.0
            for i in range(start[c] - c, start[c + 1] - c - 1):
                total -= border[i] / scale[i]
            border[top[c]] = total * scale[top[c]]
    border /= scale


@kernel
def correct(
    flat: FlatTree, work: Workspace, units: Units, tolerance: float, point: FloatArray
) -> int:
    """Newton iterations to the branch, negative if they failed; `point` changes.

    `work.solution[1]` becomes the tangent, on the side that the sign of the determinant tells.
    """
    before, last = np.inf, len(point) - 1
    step, measured = work.solution[0], np.empty(last + 1)
    for iteration in range(1, ITERATIONS + 1):
        newton_system(flat, work, point)
        residual = np.abs(work.right[0] * work.scale).max()
        sign = eliminate(work.bordered, work.right, work.solution)
        if not sign:
            return -iteration
        work.solution[1] *= sign
        size = in_units(units, step, measured)
        if size > min(WILD, SHRINKING * before):
            # beliefs depend on differences of log-odds, whose rounding grows with them
            rate = abs(point[last]) / flat.unit
            noise = ROUNDING * (1.0 + rate) + EPSILON * rate * np.abs(point[:last]).max()
            return iteration if iteration > 1 and residual <= noise else -iteration
        point -= step
        # steps decrease quadratically
        foretold = size * (size / before * (size / before) if iteration > 1 else size)
        if foretold <= tolerance:
            return iteration
        before = size
    return -ITERATIONS


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
def norm(units: Units, change: FloatArray, measured: FloatArray) -> float:
    """Euclidean length of a change in the units; `measured` are its coordinates."""
    in_units(units, change, measured)
    return np.sqrt(inner_product(measured, measured))


@kernel
def passes_middle(
    flat: FlatTree,
    work: Workspace,
    units: Units,
    before: FloatArray,
    point: FloatArray,
    direction: FloatArray,
    tangent: FloatArray,
    counts: NDArray[np.int64],
) -> bool:
    """Whether the branch passes the middle of a step, on a cubic through both ends or their chord.

    Where tangents are lost in rounding, the chord is not.
    """
    chord, measured = point - before, np.empty_like(point)
    length = norm(units, chord, measured)
    bend = direction / norm(units, direction, measured)
    bend -= tangent / norm(units, tangent, measured)
    for share in (0.125 * length, 0.0):
        middle = 0.5 * (before + point) + share * bend
        set_units(units, middle)
        set_plane(units, chord)
        newton_system(flat, work, middle)
        counts[0] += 1
        if eliminate(work.bordered, work.right, work.solution):
            far = norm(units, work.solution[0], measured)
            if far <= max(MIDDLE * norm(units, chord, measured), RESOLUTION):
                return True
    return False


@kernel
def try_step(
    flat: FlatTree,
    work: Workspace,
    units: Units,
    stops: FloatArray,
    before: FloatArray,
    direction: FloatArray,
    control: FloatArray,
    counts: NDArray[np.int64],
    point: FloatArray,
    tangent: FloatArray,
) -> tuple[float, float, float, bool, int]:
    """Correction (inf if refused), what the step moved, its length, whether it is at a stop, tests.

    `point` and `tangent` become those at the end of the step.
    """
    last, length = len(before) - 1, control[0]
    stop = stop_between(stops, before[last], before[last] + length * direction[last])
    landing = not np.isnan(stop)
    if landing:
        length = (stop - before[last]) / direction[last]
    guess = before + length * direction
    set_units(units, guess)
    if landing:
        guess[last] = stop
        work.border[:] = 0.0
        work.border[last] = 1.0
    else:
        set_plane(units, direction)
    point[:] = guess
    made = correct(flat, work, units, EXACT if landing else CONVERGED, point)
    counts[0] += abs(made)
    if landing:
        point[last] = stop
    elif not np.isnan(stop_between(stops, before[last], point[last])):
        made = -1
    if made < 0 or point[last] < 0.0:  # where lambda is 0 there is nothing but the prior
        return np.inf, 0.0, length, landing, PASSED
    measured, ahead = np.empty(last + 1), np.empty(last + 1)
    tangent[:] = control[2] * work.solution[1]
    moved = in_units(units, guess - before, measured)
    whole = np.sqrt(inner_product(measured, measured))
    cosine = norm(units, tangent, ahead)
    cosine = inner_product(measured, ahead) / (whole * cosine)
    if cosine < 0.0:
        tangent *= -1.0
    if moved > TURNING and tangent[last] * direction[last] < 0.0:
        return np.inf, moved, length, landing, PASSED
    size = in_units(units, point - guess, measured)
    far = np.sqrt(inner_product(measured, measured))
    if flat.normal:
        size *= CARE
    if not size <= max(CORRECTION * moved, SMALL):
        return np.inf, moved, length, landing, PASSED
    test = PASSED
    if control[3]:
        near = far <= max(CLOSE * whole, RESOLUTION) and abs(cosine) >= STRAIGHT
        if cosine < 0.0:
            test = TURNED if near else FAILED
        elif not near and (
            not far <= max(FAR * whole, RESOLUTION)
            or not passes_middle(flat, work, units, before, point, direction, tangent, counts)
        ):
            test = FAILED
    return size, moved, length, landing, test


@kernel
def begin(flat: FlatTree, work: Workspace, course: FloatArray) -> None:
    """Set the course where lambda is 0, and log-odds change by gains."""
    softmax(flat.start, flat.prior, work.log_prior, work.p)
    action_values(flat, flat.prior, work)
    course[0, -1], course[1, -1] = -1.0, 1.0
    for c in range(len(flat.owner)):
        first = flat.start[c]
        for i in range(first - c, flat.start[c + 1] - c - 1):
            course[1, i] = work.values[i + c + 1] - work.values[first]
    for i in range(len(flat.prior)):
        if flat.pinned[i] != FREE:
            course[1, i] = course[1, flat.pinned[i]] if flat.pinned[i] != FIRST else 0.0
        course[0, i] = flat.prior[i] - course[1, i]


@kernel
def advance(
    flat: FlatTree,
    work: Workspace,
    stops: FloatArray,
    course: FloatArray,
    control: FloatArray,
    counts: NDArray[np.int64],
    longest: float,
    points: FloatArray,
) -> tuple[int, int]:
    """Number of new points, and whether the branch continues, has ended or has stalled.

    Parameters
    ----------
    stops : float64 (L,), ascending
        Where lambda is hit exactly; the branch ends at the last one.
    course : float64 (2, F+1)
        A point before the first one, and a tangent there; become those of the last one.
    control : float64 (6,)
        Length of the next step, whether the tangent is tried before the chord, sign of the
        determinant forward, whether steps are tested; lambda where the sign first changed, and
        where a test failed however short the step, nan as long as there is none. They change.
    counts : int64 (2,)
        Newton iterations and refused steps; they grow.
    points : float64 (P+1, F+1)
        The first row is given; the others are filled, as far as the branch goes.
    """
    units = units_of(flat, work)
    behind, ahead = course
    measured, tangent = np.empty_like(ahead), np.empty_like(ahead)
    for k in range(1, len(points)):
        before = points[k - 1]
        set_units(units, before)
        chord = before - behind
        chord /= in_units(units, chord, measured)
        size = in_units(units, ahead, measured)
        if 0.0 < size < np.inf:
            ahead /= size
        else:
            ahead[:] = chord
        refused = 0
        while True:
            direction = ahead if control[1] else chord
            size, moved, length, landed, test = try_step(
                flat, work, units, stops, before, direction, control, counts, points[k], tangent
            )
            if size < np.inf and (test == PASSED or length <= RESOLUTION):
                if test == TURNED:
                    control[2] = -control[2]
                elif test == FAILED:
                    control[3] = 0.0
                if test != PASSED and np.isnan(control[3 + test]):
                    control[3 + test] = before[-1]
                break
            counts[1] += 1
            refused += 1
            if refused == PATIENCE and test != TURNED:
                set_units(units, before)
                set_plane(units, chord)
                newton_system(flat, work, before)
                # it is 1 at the beginning, and remains so if the chord really is forward
                sign = eliminate(work.bordered, work.right, work.solution)
                if sign:
                    fresh = work.solution[1]
                    sign *= control[2]
                    ahead[:] = fresh * (sign / in_units(units, fresh, measured))
            control[1] = 1.0 - control[1]
            control[0] = SHRINK * length
            if control[0] < SHORTEST:
                return k - 1, STALLED
        behind[:] = before if moved > APART else points[k] - APART * direction
        ahead[:] = tangent
        grown = length * min(GROWTH, np.sqrt(AIM / max(size, 1e-6))) / (1.0 + moved)
        control[0] = min(longest, max(grown, control[0]) if landed else max(grown, SHRINK * length))
        if landed and points[k, -1] == stops[-1]:
            return k, ENDED
    return len(points) - 1, RUNNING


# -- elimination that leaves out zeros -------------------------------------------------------------

# Values at an information set depend on what others did before and what anybody does later, so
# most entries of the matrices are 0, and remain 0 if what comes last in the game is eliminated
# first. At a thousand unknowns of Leduc poker a library for sparse matrices is no faster; at fifty
# the calls of one would take longer than the work.

# Share of nonzero entries from which a row is updated as a whole.
FILLED = 0.25


@kernel
def eliminate(matrix: FloatArray, right: FloatArray, solution: FloatArray) -> int:
    """Sign of the determinant of a matrix (n, n); if not 0, `solution` (2, n) solves the equations.

    Columns are eliminated in their order, with the largest entry as pivot. `matrix` and `right`
    (2, n), which holds two right sides, are overwritten.
    """
    n = len(matrix)
    left, pivots = np.arange(n).astype(np.uint32), np.empty(n, np.uint32)
    rows, columns = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for k in range(n):
        largest, best, n_rows, n_columns = 0.0, 0, 0, 0
        for i in range(n - k):
            rows[n_rows] = i  # overwritten by the next one if the entry is 0
            n_rows += matrix[left[i], k] != 0.0
        for i in range(n_rows):
            place = rows[i]
            rows[i] = left[place]
            entry = abs(matrix[rows[i], k])
            if entry > largest:
                largest, best = entry, place
        if not 0.0 < largest < np.inf:
            return 0
        pivot = pivots[k] = left[best]
        left[best] = left[n - k - 1]
        for j in range(k + 1, n):
            columns[n_columns] = j
            n_columns += matrix[pivot, j] != 0.0
        filled = n_columns >= FILLED * (n - k)
        inverse = 1.0 / matrix[pivot, k]
        for i in range(n_rows):
            row = rows[i]
            if row == pivot:
                continue
            factor = matrix[row, k] * inverse
            right[0, row] -= factor * right[0, pivot]
            right[1, row] -= factor * right[1, pivot]
            if filled:
                for j in range(k + 1, n):
                    matrix[row, j] -= factor * matrix[pivot, j]
            else:
                for j in range(n_columns):
                    matrix[row, columns[j]] -= factor * matrix[pivot, columns[j]]
    sign = 1
    for k in range(n - 1, -1, -1):
        row = pivots[k]
        one, other = right[0, row], right[1, row]
        for j in range(k + 1, n):
            one -= matrix[row, j] * solution[0, j]
            other -= matrix[row, j] * solution[1, j]
        corner = matrix[row, k]
        solution[0, k], solution[1, k] = one / corner, other / corner
        if corner < 0:
            sign = -sign
    for k in range(n):  # each exchange on the way to the order of the pivots turns the sign
        while pivots[k] != k:
            swapped = pivots[k]
            pivots[k], pivots[swapped] = pivots[swapped], swapped
            sign = -sign
    return sign
