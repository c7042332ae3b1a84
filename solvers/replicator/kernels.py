"""Compiled code: right side, averages of plans, series of Taylor steps, DOP853, and hands of play.

Symbols: N players, M entries of what is integrated, S sequences, A actions, C information sets with
a choice, F log-odds, D the largest number of moves in a hand.
What is integrated is one vector: log-odds (F,), profits (N,), and the tangent (F,) if one is
followed. Vectors over sequences hold 1 at the empty ones. All kernels write into arrays that the
caller owns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from eqbench.model import product_kernels
from eqbench.model.compiled import (
    Kernel,
    exp,
    inlined,
    inner_product,
    kernel,
    log,
    rebound,
    variant,
)
from eqbench.model.kernels import continue_own_play, direct_values, payoffs_and_values, realize
from eqbench.model.product_kernels import ProductArrays
from eqbench.model.tree import CHANCE, TERMINAL, FloatArray, IntArray

from ..cfr.sampling import draw_action, draw_outcome

# The derivative by an imaginary step is exact to rounding, since nothing is subtracted.
IMAGINARY = 1e-30
# A step of a series may carry log-odds toward 0 by this much however far away they are.
NEARBY = 10.0
# The tangent is shortened or lengthened to 1 where its length leaves this range.
SHORTEST, LONGEST = 1e-3, 1e3
# How far apart two times must be to differ.
RESOLUTION = 4e-16
# No step of DOP853 changes by more than this at once, and it aims at less than the tolerance.
SHRINK, STRETCH, SAFETY = 0.2, 10.0, 0.9
REACHED, UNFINISHED, COLLAPSED, OVERFLOWED = range(4)
# The coefficients that SciPy publishes (Hairer, Nørsett and Wanner 1993, II.5). Stage 12 is the end
# of a step, and those after it serve the interpolation alone.
E3, E5, D = (np.ascontiguousarray(table) for table in (DOP853.E3, DOP853.E5, DOP853.D))
WEIGHTS = np.zeros((16, 16))
WEIGHTS[:12, :12], WEIGHTS[12, :12], WEIGHTS[13:] = DOP853.A, DOP853.B, DOP853.A_EXTRA


class VectorField(NamedTuple):
    """The game as the right side reads it."""

    form: Any  # FormArrays or ProductArrays
    start: NDArray[np.uint32]  # (C+1,), first log-odds of each information set with a choice
    action: NDArray[np.uint32]  # (F,), sequences that end in the free actions
    first: NDArray[np.uint32]  # (F,), and those in the first actions of the same sets
    speed: FloatArray  # (F,), rate times the factor of the information set


class Room(NamedTuple):
    """Work space of the right side: float64, or complex128 where a tangent is followed."""

    parts: FloatArray  # (F, 1 or 2), of `state`: log-odds, and a small step along the tangent
    state: NDArray  # (F,)
    behavior: NDArray  # (S,), as the next two
    reach: NDArray
    values: NDArray
    payoffs: NDArray  # (N,)


@kernel
def frequencies(field, state, behavior):
    """Write softmax frequencies of log-odds `state` into a vector over sequences.

    No exponent is positive, so nothing overflows; complex log-odds are those of a complex step.
    """
    for c in range(len(field.start) - 1):
        begin, end = field.start[c], field.start[c + 1]
        if end == begin + 1:  # half of the exponentials, where most time is spent
            odds = state[begin]
            free, first = field.action[begin], field.first[begin]
            more, less = (free, first) if odds.real > 0.0 else (first, free)
            ratio = exp(-odds if odds.real > 0.0 else odds)
            share = 1.0 / (1.0 + ratio)
            behavior[more], behavior[less] = share, ratio * share
            continue
        largest = 0.0
        for f in range(begin, end):
            largest = max(largest, state[f].real)
        total = exp(-largest) + 0.0 * state[begin]
        behavior[field.first[begin]] = total
        for f in range(begin, end):
            behavior[field.action[f]] = exp(state[f] - largest)
            total += behavior[field.action[f]]
        behavior[field.first[begin]] /= total
        for f in range(begin, end):
            behavior[field.action[f]] /= total


@kernel
def _evaluate(field, room, state):
    """Write payoffs and counterfactual values at log-odds into the work space."""
    frequencies(field, state, room.behavior)
    payoffs_and_values(field.form, room.behavior, room.reach, room.values, room.payoffs)


@kernel
def derivative(field, room, state, slope):
    """Derivative by time of log-odds, profits and, if there is one, tangent."""
    size, rest = len(field.action), len(field.action) + len(room.payoffs)
    for f in range(size):
        room.parts[f, 0] = state[f]
    for f in range(len(state) - rest):
        room.parts[f, 1] = IMAGINARY * state[rest + f]
    _evaluate(field, room, room.state)
    for f in range(size):
        gain = room.values[field.action[f]] - room.values[field.first[f]]
        slope[f] = field.speed[f] * gain.real
        if len(slope) > rest:
            slope[rest + f] = field.speed[f] * gain.imag / IMAGINARY
    for p in range(len(room.payoffs)):
        slope[size + p] = room.payoffs[p].real


@kernel
def all_payoffs(field, room, states, payoffs):
    """Expected payoffs (K, N) at states (K, F)."""
    for k in range(len(states)):
        _evaluate(field, room, states[k])
        payoffs[k] = room.payoffs


@kernel
def all_frequencies(field, states, behavior):
    """Vectors over sequences (K, S) at states (K, F); what is no choice must hold 1 before."""
    for k in range(len(states)):
        frequencies(field, states[k], behavior[k])


@kernel
def add_plans(field, room, states, total):
    """Add the realization plans (S,) of states (K, F) to `total`; the last stays in `room`."""
    for k in range(len(states)):
        frequencies(field, states[k], room.behavior)
        for p in range(len(room.payoffs)):
            realize(field.form, p, room.behavior, room.reach)
        for s in range(len(total)):
            total[s] += room.reach[s]


@kernel
def trusted_step(series, state, size, silent):
    """Longest step after which no log-odds have come back from where they are unseen.

    NaN if the state (M,) after it is not finite.

    Where log-odds exceed `silent`, their frequency is below the tolerance in all coefficients of
    `series` (M, order+1), whose decay then does not foretell that they may return to 0.
    """
    if not np.all(np.isfinite(state)):
        return np.nan
    longest = np.inf
    for f in range(size):
        odds, speed = series[f, 0], series[f, 1]
        if odds * speed < 0.0:
            longest = min(longest, (max(abs(odds) - silent, 0.0) + NEARBY) / abs(speed))
    return longest


@kernel
def sum_series(coefficients, since, rows):
    """Write Taylor series (M, order + 1) at the times `since` (K,) into `rows` (K, M)."""
    order = coefficients.shape[1] - 1
    for k in range(len(since)):
        for m in range(len(coefficients)):
            value = coefficients[m, order]
            for back in range(order):
                value = value * since[k] + coefficients[m, order - 1 - back]
            rows[k, m] = value


def size_without_tangent(field: VectorField) -> int:
    """Length of what is integrated where no tangent is followed: log-odds and profits."""
    return len(field.action) + len(field.form.infoset_start) - 1


def room(field: VectorField, length: int = 0) -> Room:
    """Work space for states of a length: with a tangent if it tells that there is one."""
    tangent = length > size_without_tangent(field)
    kind = np.complex128 if tangent else np.float64
    players, sequences = len(field.form.infoset_start) - 1, int(field.form.block_start[-1])
    state = np.zeros(len(field.action), kind)
    vectors = [np.ones(size, kind) for size in (sequences, sequences, sequences, players)]
    return Room(state.view(np.float64).reshape(len(state), 1 + tangent), state, *vectors)


class Walk(NamedTuple):
    """Where an integration stands; all arrays are changed in place."""

    # (4,): time, that before the last step, length of the next one, logarithm of what the tangent
    # was divided by
    clock: FloatArray
    counts: NDArray[np.int64]  # (3,): accepted steps, evaluations, the step that `dense` is of
    state: FloatArray  # (M,)
    before: FloatArray  # (M,), before the last step
    slopes: FloatArray  # (16, M), derivatives at its stages; row 12 is that at its end
    dense: FloatArray  # (7, M), coefficients of the interpolation over it, of degree seven


@kernel
def begin(field, room, tolerance, walk):
    """Derivative at the start, and a length for the first step (Hairer et al. 1993, p. 169)."""
    slope, trial, ahead = walk.slopes[12], walk.slopes[1], walk.slopes[2]
    derivative(field, room, walk.state, slope)
    size, steep = _norm(walk.state, walk.state), _norm(slope, walk.state)
    if np.isnan(steep):
        walk.clock[2] = np.nan  # no step is short enough
        return
    least = 1e-5 * tolerance
    length = 1e-6 if size < least or steep < least else 0.01 * size / steep
    trial[:] = walk.state + length * slope
    derivative(field, room, trial, ahead)
    bent = max(steep, _norm(ahead - slope, walk.state) / length)
    if np.isfinite(bent):
        rest = 1e-15 * tolerance
        usual = (0.01 * tolerance / max(bent, rest)) ** 0.125
        following = max(1e-6, 1e-3 * length) if bent <= rest else usual
        length = min(100.0 * length, following)
    walk.clock[2] = length
    walk.counts[1] += 2


@kernel
def _norm(vector, state):
    """Largest entry relative to one plus the state; NaN where one is not finite."""
    largest = 0.0
    for m in range(len(vector)):
        if not np.isfinite(vector[m]):
            return np.nan
        largest = max(largest, abs(vector[m]) / (1.0 + abs(state[m])))
    return largest


@kernel
def follow(field, room, tolerance, walk, times, rows, logs, filled, most):
    """Write states (M,) at ascending `times` (K,) into `rows` (K, M), from row `filled` on.

    Returns how it ended and how many rows are filled. Steps are never cut at the times, so the
    trajectory does not depend on them. After `most` further steps it is left unfinished.
    """
    last = walk.counts[0] + most
    while filled < len(times):
        while walk.clock[0] < times[filled]:
            if walk.counts[0] >= last:
                return UNFINISHED, filled
            ending = _advance(field, room, tolerance, walk)
            if ending != REACHED:
                return ending, filled
        if walk.counts[0] == 0:
            rows[filled] = walk.state
        else:
            if walk.counts[2] != walk.counts[0]:
                length = walk.clock[0] - walk.clock[1]
                _try(field, room, walk, walk.before, length, 13, 16, rows[filled])
            _interpolate(walk, times[filled], rows[filled])
        if not np.all(np.isfinite(rows[filled])):
            return OVERFLOWED, filled
        logs[filled] = walk.clock[3]
        filled += 1
    return REACHED, filled


@kernel
def _advance(field, room, tolerance, walk):
    """Make one step that meets the tolerance; how it ended.

    It has overflowed if no try, or not even the derivative at the start, was finite.
    """
    clock, state, trial = walk.clock, walk.state, walk.dense[0]
    rest = len(field.action) + len(room.payoffs)
    if len(state) > rest:
        divisor = unit_length(state[rest:])
        walk.slopes[12, rest:] /= divisor
        clock[3] += log(divisor)
    walk.slopes[0] = walk.slopes[12]  # the derivative at the end of the last step
    longest, error = STRETCH, 1.0
    while True:
        length = clock[2]
        if not length > RESOLUTION * abs(clock[0]):
            walk.slopes[12] = walk.slopes[0]
            return OVERFLOWED if np.isnan(length + error) else COLLAPSED
        _try(field, room, walk, state, length, 1, 13, trial)
        error = _error(tolerance, walk, trial)
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
def unit_length(tangent):
    """Give a tangent length 1 where it has become too short or too long; what it is divided by."""
    length = np.sqrt(inner_product(tangent, tangent))
    if SHORTEST < length < LONGEST:
        return 1.0
    tangent /= length
    return length


@kernel
def _interpolate(walk, time, row):
    """Write the state at a time within the last step, of which all stages are there, into `row`."""
    slopes, dense = walk.slopes, walk.dense
    length = walk.clock[0] - walk.clock[1]
    if walk.counts[2] != walk.counts[0]:
        for m in range(len(row)):
            change = walk.state[m] - walk.before[m]
            dense[0, m] = change
            dense[1, m] = length * slopes[0, m] - change
            dense[2, m] = 2.0 * change - length * (slopes[12, m] + slopes[0, m])
            for k in range(4):
                total = 0.0
                for stage in range(16):
                    total += D[k, stage] * slopes[stage, m]
                dense[3 + k, m] = length * total
        walk.counts[2] = walk.counts[0]
    share = (time - walk.clock[1]) / length
    for m in range(len(row)):
        value = 0.0
        for back in range(7):
            value = (value + dense[6 - back, m]) * (share if back % 2 == 0 else 1.0 - share)
        row[m] = walk.before[m] + value


@kernel
def _place(state, length, slopes, stage, trial):
    """Write the state at a stage of a step from `state` into `trial`, both (M,)."""
    trial[:] = 0.0
    for k in range(stage):
        weight = WEIGHTS[stage, k]
        if weight != 0.0:
            for m in range(len(trial)):
                trial[m] += weight * slopes[k, m]
    for m in range(len(trial)):
        trial[m] = state[m] + length * trial[m]


@kernel
def _try(field, room, walk, state, length, first, last, trial):
    """Write derivatives at stages `first` to ``last - 1``; `trial` ends as the last state."""
    slopes = walk.slopes
    for stage in range(first, last):
        _place(state, length, slopes, stage, trial)
        derivative(field, room, trial, slopes[stage])
        walk.counts[1] += 1


@kernel
def _error(tolerance, walk, trial):
    """Error of a tried step over the tolerance; NaN where the step has overflowed.

    The estimates of orders five and three are combined as Hairer et al. do, but over the worst
    entries and not the mean squares, so that one fast frequency among many slow ones counts.
    A switch after long rest, met by a long step, is at times seen late: of swings of 200 in
    log-odds one in fifty is followed to 1e-5 only.
    """
    fifth, third = 0.0, 0.0
    for m in range(len(trial)):
        scale = tolerance * (1.0 + max(abs(walk.state[m]), abs(trial[m])))
        high, low = 0.0, 0.0
        for stage in range(13):
            high += E5[stage] * walk.slopes[stage, m]
            low += E3[stage] * walk.slopes[stage, m]
        # where the state has overflowed, so has the scale, and the error would be none
        if not np.isfinite(high + low + trial[m]):
            return np.nan
        fifth = max(fifth, abs(high) / scale)
        third = max(third, abs(low) / scale)
    if fifth == 0.0:
        return 0.0
    share = third / fifth
    return walk.clock[2] * fifth / np.sqrt(1.0 + 0.01 * (share * share))


# Compiling a kernel compiles those that it calls again. By products an evaluation takes far longer
# than the calls around it, so evaluations are one kernel, and steps of them plain Python.
_by_products: dict[str, Callable] = {
    "_evaluate": variant(
        inlined(_evaluate),
        "products",
        payoffs_and_values=inlined(product_kernels.payoffs_and_values),
    )
}
for _each in (derivative, all_payoffs):
    _by_products[_each.py_func.__name__] = variant(_each, "products", **_by_products)
for _each in (_try, _advance, begin, follow):
    _by_products[_each.py_func.__name__] = rebound(_each, "products", **_by_products)


def suited(function: Kernel, field: VectorField) -> Callable:
    """Return `begin`, `follow` or `all_payoffs` for the arrays of a game."""
    by_products = isinstance(field.form, ProductArrays)
    return _by_products[function.py_func.__name__] if by_products else function


class PlayState(NamedTuple):
    """Where play stands; kernels write into all arrays."""

    state: FloatArray  # (F,), log-odds of the free frequencies
    behavior: FloatArray  # (S,), what the players do
    estimate: FloatArray  # (S,), what the others believe of them
    seen: NDArray[np.int64]  # (S,), how often the last action was seen in remembered hands
    hands: IntArray  # (memory, D), sequences of these hands, then -1; the oldest is overwritten
    clock: NDArray[np.int64]  # (1,), number of hands so far
    won: FloatArray  # (N,), payoffs so far


@kernel
def _count(form, infoset, table, hand, change):
    """Count the moves of a hand once more, or once less, and take the shares at their sets.

    Where nothing is left, the last estimate stands.
    """
    for sequence in hand:
        if sequence < 0:
            break
        table.seen[sequence] += change
        first, last = form.block_start[infoset[sequence] : infoset[sequence] + 2]
        total = np.sum(table.seen[first:last])
        if total > 0:
            for s in range(first, last):
                table.estimate[s] = table.seen[s] / total


@kernel
def _play_hand(form, infoset, tree, table, draws):
    """Draw a hand from the behavior, remember it instead of the oldest; its last node."""
    hand = table.hands[table.clock[0] % len(table.hands)]
    _count(form, infoset, table, hand, -1)
    hand[:] = -1
    node, depth, moves = 0, 0, 0
    while tree.player[node] != TERMINAL:
        first, last = tree.child_start[node], tree.child_start[node + 1]
        if tree.player[node] == CHANCE:
            node = draw_outcome(tree.cumulative, first, last, draws[depth])
        else:
            sequence = tree.sequence[node]
            node = draw_action(table.behavior[sequence:], first, last, draws[depth])
            hand[moves] = sequence + node - first
            moves += 1
        depth += 1
    _count(form, infoset, table, hand, 1)
    table.clock[0] += 1
    return node


@kernel
def play(field, infoset, tree, table, draws, hand_time):
    """Play a hand for each row of `draws`; after each one every player moves the log-odds.

    They move by their speed times `hand_time` times the gain over the first action, if all others
    played as estimated and the player went on with its true behavior. Hands that take no time are
    watched: none moves or wins. `infoset` (S,) has the set of each sequence, and `tree` are the
    arrays of :func:`eqbench.solvers.cfr.sampling.walk_arrays`.
    """
    players = len(table.won)
    reach, values = np.empty_like(table.estimate), np.empty_like(table.estimate)
    for row in range(len(draws)):
        node = _play_hand(field.form, infoset, tree, table, draws[row])
        if hand_time == 0.0:
            continue
        for p in range(players):
            table.won[p] += tree.payoffs[tree.payoff_row[node], p]
            realize(field.form, p, table.estimate, reach)
        for p in range(players):
            direct_values(field.form, p, reach, values)
            continue_own_play(field.form, p, table.behavior, values)
        for f in range(len(field.speed)):
            gain = values[field.action[f]] - values[field.first[f]]
            table.state[f] += field.speed[f] * hand_time * gain
        frequencies(field, table.state, table.behavior)
