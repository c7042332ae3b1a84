"""Compiled iterations of regularized mirror descent on the sequence form.

Symbols in shapes: I information sets, S sequences, E entries of the sequence form.

They differ from CFR's in the local update: frequencies are not proportional to positive regrets
but a mirror step away from the last ones, and a regularizer pulls them to equal ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eqbench.model.compiled import inlined, kernel
from eqbench.model.sequence_form import FormArrays
from eqbench.model.tree import FloatArray

from .iteration import State, add_plan

FORMS = BEHAVIORAL, DILATED, BIDILATED = range(3)


class MirrorRule(NamedTuple):
    """A variant of mirror descent, as the kernels read it.

    Attributes
    ----------
    averaging : exponent of t in the weight of iteration t
    step : size of the mirror steps of iteration 1, per payoff unit
    slowing : those of iteration t are ``step * t ** -slowing``
    temperature : weight of the regularizer in iteration 1, payoff units
    cooling : that of iteration t is ``temperature * t ** -cooling``
    form : BEHAVIORAL, DILATED or BIDILATED
    euclidean : whether the regularizer is half the squared norm, not the negative entropy
    optimistic : whether the last values count once more for the next frequencies
    alternating : whether a player faces frequencies that others changed in this iteration
    """

    averaging: int
    step: float
    slowing: float
    temperature: float
    cooling: float
    form: int
    euclidean: bool
    optimistic: bool
    alternating: bool


class Regularized(NamedTuple):
    """What a mirror step needs besides the :class:`State`, whose regrets are its dual vectors.

    Attributes
    ----------
    chance : float64 (E,), chance probability of each entry
    mass : float64 (S,), scratch: how much of chance and of the others leads there
    penalty : float64 (I,), regularizer of the frequencies; 0 in the first iteration
    path : float64 (S,), sum of the penalties on the way to a sequence, its own included
    """

    chance: FloatArray
    mass: FloatArray
    penalty: FloatArray
    path: FloatArray


@inlined
def to_entropy_simplex(x: FloatArray, first: int, last: int) -> float:
    """Replace logits by their softmax; returns its negative entropy."""
    greatest, total, inner = x[first:last].max(), 0.0, 0.0
    for s in range(first, last):
        logit = x[s] - greatest
        x[s] = np.exp(logit)
        total += x[s]
        inner += x[s] * logit
    for s in range(first, last):
        x[s] /= total
    return inner / total - np.log(total)


@inlined
def to_euclidean_simplex(x: FloatArray, first: int, last: int) -> float:
    """Replace a vector by the nearest frequencies (Michelot 1986); returns half their square."""
    level, count, left = -np.inf, 0, last - first + 1
    while count != left:  # without those that are below the level, until there are none
        left, count, total = count, 0, 0.0
        for s in range(first, last):
            if x[s] > level:
                total += x[s]
                count += 1
        level = (total - 1.0) / count
    square = 0.0
    for s in range(first, last):
        x[s] = max(x[s] - level, 0.0)
        square += x[s] * x[s]
    return square / 2.0


@inlined
def direct_values(
    form: FormArrays,
    rule: MirrorRule,
    player: int,
    temperature: float,
    state: State,
    more: Regularized,
) -> None:
    """Values and masses of a player's sequences over the terminals that end in them."""
    starts = form.infoset_start
    bonus_share = temperature if rule.form == BIDILATED else 0.0
    for s in range(form.block_start[starts[player]], form.block_start[starts[player + 1]]):
        value, mass = 0.0, 0.0
        for entry in range(form.entry_start[s], form.entry_start[s + 1]):
            product, bonus = 1.0, 0.0
            for j in range(len(form.others)):
                product *= state.reach[form.opponents[entry, j]]
                bonus += more.path[form.opponents[entry, j]]
            mass += product * more.chance[entry]
            value += product * (form.weight[entry] + bonus_share * bonus * more.chance[entry])
        state.values[s], more.mass[s] = value, mass


@inlined
def mirror_step(
    form: FormArrays,
    rule: MirrorRule,
    player: int,
    step: float,
    temperature: float,
    state: State,
    more: Regularized,
) -> None:
    """Next frequencies of a player, from the direct values."""
    duals, behavior, values = state.regrets, state.behavior, state.values
    keep = 1.0 / (1.0 + step * temperature)
    start, stop = form.infoset_start[player], form.infoset_start[player + 1]
    for back in range(stop - start):
        i = stop - 1 - back
        first, last = form.block_start[i], form.block_start[i + 1]
        value, mass = 0.0, more.mass[first]  # all actions of an information set have equal masses
        for s in range(first, last):
            value += behavior[s] * values[s]
        above, cost = form.parent[i], 0.0
        if rule.form != BEHAVIORAL:
            cost = temperature * more.penalty[i] * (mass if rule.form == BIDILATED else 1.0)
        if above > len(form.others):
            values[above] += value - cost
            more.mass[above] += mass
        # values given that the others and chance lead here; no product with 1 / mass may overflow
        share = mass if rule.form != DILATED and mass > 0.0 else 1.0
        for s in range(first, last):
            values[s] = step * ((values[s] - value) / share)
            duals[s] = keep * (duals[s] + values[s])
        if rule.euclidean:
            to_euclidean_simplex(duals, first, last)
        for s in range(first, last):
            behavior[s] = duals[s]
            if rule.optimistic:
                behavior[s] = keep * (duals[s] + values[s])
        if rule.euclidean:
            more.penalty[i] = to_euclidean_simplex(behavior, first, last)
        else:
            more.penalty[i] = to_entropy_simplex(behavior, first, last)


@kernel
def advance(
    form: FormArrays,
    rule: MirrorRule,
    start: int,
    count: int,
    state: State,
    more: Regularized,
) -> None:
    """Do the iterations ``start + 1`` to ``start + count``, in place."""
    players = len(form.others) + 1
    for t in range(start + 1, start + count + 1):
        weight, step = float(t) ** rule.averaging, rule.step * t**-rule.slowing
        temperature = rule.temperature * t**-rule.cooling
        for turn in range(players if rule.alternating else 2 * players):
            player = turn if turn < players else turn - players
            if rule.alternating or turn < players:
                direct_values(form, rule, player, temperature, state, more)
            if rule.alternating or turn >= players:
                mirror_step(form, rule, player, step, temperature, state, more)
                for i in range(form.infoset_start[player], form.infoset_start[player + 1]):
                    add_plan(form, i, weight, state)
                    for s in range(form.block_start[i], form.block_start[i + 1]):
                        more.path[s] = more.path[form.parent[i]] + more.penalty[i]
