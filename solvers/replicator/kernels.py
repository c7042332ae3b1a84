"""Compiled right sides of the flow, averages of plans, and series for Taylor steps.

Symbols: N players, S sequences, A actions, C information sets with a choice, F log-odds.
What is integrated is one vector: log-odds (F,), profits (N,), and the tangent (F,) if one is
followed. All kernels write into arrays that the caller owns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.kernels import payoffs_and_values, realize
from eqbench.model.sequence_form import FormArrays
from eqbench.model.tree import FloatArray

# The derivative by an imaginary step is exact to rounding, since nothing is subtracted.
IMAGINARY = 1e-30
# A step of a series may carry log-odds toward 0 by this much however far away they are.
NEARBY = 10.0
# The tangent is shortened or lengthened to 1 where its length leaves this range.
SHORTEST, LONGEST = 1e-3, 1e3
# How far apart two times must be to differ.
RESOLUTION = 4e-16


class Field(NamedTuple):
    """The game as the right side reads it.

    Attributes
    ----------
    form : FormArrays
    start : uint32 (C+1,)
        First log-odds of each information set with a choice.
    action, first : uint32 (F,)
        Sequences that end in the free action and in the first action of its set.
    speed : float64 (F,)
        Rate times the factor of the information set.
    """

    form: FormArrays
    start: NDArray[np.uint32]
    action: NDArray[np.uint32]
    first: NDArray[np.uint32]
    speed: FloatArray


class Room(NamedTuple):
    """Work space of the right side; vectors over sequences (S,) and players (N,).

    Those whose names begin with `c` are complex128, and empty where no tangent is followed.
    """

    behavior: FloatArray
    reach: FloatArray
    values: FloatArray
    payoffs: FloatArray
    cstate: NDArray[np.complex128]
    cbehavior: NDArray[np.complex128]
    creach: NDArray[np.complex128]
    cvalues: NDArray[np.complex128]
    cpayoffs: NDArray[np.complex128]


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
            ratio = np.exp(-odds if odds.real > 0.0 else odds)
            share = 1.0 / (1.0 + ratio)
            behavior[more], behavior[less] = share, ratio * share
            continue
        largest = 0.0
        for f in range(begin, end):
            largest = max(largest, state[f].real)
        total = np.exp(-largest) + 0.0 * state[begin]
        behavior[field.first[begin]] = total
        for f in range(begin, end):
            behavior[field.action[f]] = np.exp(state[f] - largest)
            total += behavior[field.action[f]]
        behavior[field.first[begin]] /= total
        for f in range(begin, end):
            behavior[field.action[f]] /= total


@kernel
def derivative(field, room, state, slope):
    """Derivative by time of log-odds, profits and, if there is one, tangent."""
    size, players = len(field.action), len(room.payoffs)
    if len(state) > size + players:
        step = room.cstate
        for f in range(size):
            step[f] = complex(state[f], IMAGINARY * state[size + players + f])
        frequencies(field, step, room.cbehavior)
        payoffs_and_values(field.form, room.cbehavior, room.creach, room.cvalues, room.cpayoffs)
        for f in range(size):
            gain = room.cvalues[field.action[f]] - room.cvalues[field.first[f]]
            slope[f] = field.speed[f] * gain.real
            slope[size + players + f] = field.speed[f] * gain.imag / IMAGINARY
        for p in range(players):
            slope[size + p] = room.cpayoffs[p].real
        return
    frequencies(field, state, room.behavior)
    payoffs_and_values(field.form, room.behavior, room.reach, room.values, room.payoffs)
    for f in range(size):
        gain = room.values[field.action[f]] - room.values[field.first[f]]
        slope[f] = field.speed[f] * gain
    for p in range(players):
        slope[size + p] = room.payoffs[p]


@kernel
def all_payoffs(field, room, states, payoffs):
    """Expected payoffs (K, N) at states (K, F)."""
    for k in range(len(states)):
        frequencies(field, states[k], room.behavior)
        payoffs_and_values(field.form, room.behavior, room.reach, room.values, payoffs[k])


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
    """How long a step may be after which no log-odds have come back from where they are unseen.

    NaN if the state (M,) after it is not finite.

    Where log-odds exceed `silent`, their frequency is below the tolerance in all coefficients of
    `series` (M, order+1), whose decay then does not foretell that they may return to 0.
    """
    longest = np.inf
    for m in range(len(state)):
        if not np.isfinite(state[m]):
            return np.nan
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


def room(field: Field, *, tangent: bool) -> Room:
    """Work space for states without or with a tangent."""
    players, sequences = len(field.form.others) + 1, len(field.form.entry_start) - 1
    odds = len(field.action) if tangent else 0
    complex_players, complex_sequences = (players, sequences) if tangent else (0, 0)
    return Room(
        behavior=np.ones(sequences),
        reach=np.ones(sequences),
        values=np.ones(sequences),
        payoffs=np.ones(players),
        cstate=np.ones(odds, dtype=np.complex128),
        cbehavior=np.ones(complex_sequences, dtype=np.complex128),
        creach=np.ones(complex_sequences, dtype=np.complex128),
        cvalues=np.ones(complex_sequences, dtype=np.complex128),
        cpayoffs=np.ones(complex_players, dtype=np.complex128),
    )
