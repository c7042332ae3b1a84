"""Compiled iterations of mirror descent with entropy, on the arrays and plans of CFR.

Symbols in shapes: I information sets, S sequences, E entries of the sequence form.

Regrets are logits here: they are discounted by the pull of the entropy to equal frequencies, and
the next frequencies are their softmax.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eqbench.model.compiled import exp, inlined, kernel, log, variant
from eqbench.model.product_kernels import ProductArrays, product_direct_values
from eqbench.model.products import ProductForm
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

from .iteration import State, add_plan

BEHAVIORAL, DILATED, BIDILATED = range(3)


class Mirror(NamedTuple):
    """All that the kernels read and change."""

    form: Any  # FormArrays or ProductArrays
    values: int  # BEHAVIORAL, DILATED or BIDILATED
    # of iteration 1, per payoff unit and in payoff units; iteration t has them times
    # ``t ** -slowing`` and ``t ** -cooling``
    step: float
    slowing: float
    temperature: float
    cooling: float
    # as in a `CFRRule`
    averaging: float
    predictive: bool
    alternating: bool
    # float64 (E,), chance probability of each entry; or arrays of products that have it
    chance: Any
    mass: FloatArray  # float64 (S,), scratch: how much of chance and of the others leads there
    # float64 (I,), negative entropy of the frequencies; 0 in the first iteration
    penalty: FloatArray
    # float64 (S,), sum of the penalties on the way to a sequence, its own included
    path: FloatArray


@inlined
def softmax(logits: FloatArray, first: int, last: int) -> float:
    """Replace logits by frequencies; returns the negative entropy of these."""
    greatest, total, product = logits[first:last].max(), 0.0, 0.0
    for s in range(first, last):
        logit = logits[s] - greatest
        logits[s] = exp(logit)
        total += logits[s]
        product += logits[s] * logit
    for s in range(first, last):
        logits[s] /= total
    return product / total - log(total)


@inlined
def direct_values(mirror: Mirror, player: int, temperature: float, state: State) -> None:
    """Values and masses of a player's sequences over the terminals that end in them."""
    form, starts = mirror.form, mirror.form.infoset_start
    paid = temperature if mirror.values == BIDILATED else 0.0
    others = form.opponents.shape[1]
    for s in range(form.block_start[starts[player]], form.block_start[starts[player + 1]]):
        # as in :func:`eqbench.model.kernels.direct_values`
        if others == 1:
            sums = _value_and_mass(mirror, s, 1, paid, state.reach)
        elif others == 2:
            sums = _value_and_mass(mirror, s, 2, paid, state.reach)
        elif others == 3:
            sums = _value_and_mass(mirror, s, 3, paid, state.reach)
        else:
            sums = _value_and_mass(mirror, s, np.uint64(others), paid, state.reach)
        state.values[s], mirror.mass[s] = sums


@inlined
def _value_and_mass(
    mirror: Mirror, s: int, others: int, paid: float, reach: FloatArray
) -> tuple[float, float]:
    """Value and mass of one sequence over the terminals that end in it."""
    form, chance, path = mirror.form, mirror.chance, mirror.path
    value, mass = 0.0, 0.0
    for entry in range(form.entry_start[s], form.entry_start[s + 1]):
        product, penalties = 1.0, 0.0
        for j in range(others):
            product *= reach[form.opponents[entry, j]]
            penalties += path[form.opponents[entry, j]]
        mass += product * chance[entry]
        value += product * (form.weight[entry] + paid * penalties * chance[entry])
    return value, mass


@inlined
def product_values(mirror: Mirror, player: int, temperature: float, state: State) -> None:
    """The same from sums over products, without the others' entropy."""
    product_direct_values(mirror.form, player, state.reach, state.values)
    product_direct_values(mirror.chance, player, state.reach, mirror.mass)


@inlined
def mirror_step(mirror: Mirror, player: int, t: int, temperature: float, state: State) -> None:
    """Next frequencies of a player, from the direct values in `state.values`."""
    form, logits, behavior, values = mirror.form, state.regrets, state.behavior, state.values
    penalty, masses, step = mirror.penalty, mirror.mass, mirror.step * t**-mirror.slowing
    keep = 1.0 / (1.0 + step * temperature)
    start, stop = form.infoset_start[player], form.infoset_start[player + 1]
    for back in range(stop - start):
        i = stop - 1 - back
        first, last, above = form.block_start[i], form.block_start[i + 1], form.parent[i]
        value, mass, share = 0.0, masses[first], 1.0  # masses of all actions are the same
        for s in range(first, last):
            value += behavior[s] * values[s]
        if above >= len(form.infoset_start) - 1:
            values[above] += value
            masses[above] += mass
            if mirror.values != BEHAVIORAL:
                paid = mass if mirror.values == BIDILATED else 1.0
                values[above] -= temperature * paid * penalty[i]
        if mirror.values != DILATED and mass > 0.0:
            share = mass
        for s in range(first, last):
            gain = step * ((values[s] - value) / share)  # 1 / share may be infinite
            logits[s] = keep * (logits[s] + gain)
            behavior[s] = keep * (logits[s] + gain) if mirror.predictive else logits[s]
        penalty[i] = softmax(behavior, first, last)


@kernel
def advance(mirror: Mirror, start: int, count: int, state: State) -> None:
    """Do the iterations ``start + 1`` to ``start + count``, in place."""
    form, path, penalty = mirror.form, mirror.path, mirror.penalty
    players = len(form.infoset_start) - 1
    for t in range(start + 1, start + count + 1):
        weight, temperature = float(t) ** mirror.averaging, mirror.temperature * t**-mirror.cooling
        for turn in range(players if mirror.alternating else 2 * players):
            player = turn % players
            if mirror.alternating or turn < players:
                direct_values(mirror, player, temperature, state)
            if mirror.alternating or turn >= players:
                mirror_step(mirror, player, t, temperature, state)
                for i in range(form.infoset_start[player], form.infoset_start[player + 1]):
                    add_plan(form, i, weight, state)
                    for s in range(form.block_start[i], form.block_start[i + 1]):
                        path[s] = path[form.parent[i]] + penalty[i]


advance_products = variant(advance, "products", direct_values=product_values)


def chances(form: SequenceForm | ProductForm) -> FloatArray | ProductArrays:
    """What stands for the chance probability of each entry."""
    if isinstance(form, ProductForm):
        return form.chances
    chance = np.repeat(form.chance[:, None], form.n_players, axis=1)
    return replace(form, base=chance, slope=None).arrays.weight
