"""Compiled iterations of fictitious play on the sequence form.

Vectors over sequences have length S; entries of the empty sequences come first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eqbench.model.compiled import Kernel, inlined, kernel, variant
from eqbench.model.game import Game
from eqbench.model.kernels import direct_values
from eqbench.model.product_kernels import product_direct_values
from eqbench.model.sequence_form import FormArrays
from eqbench.model.tree import FloatArray

from ..cfr.iteration import CFRRule

direct_values_inlined = inlined(direct_values)


class PlaySums(NamedTuple):
    """What iterations change; all arrays are float64 (S,) and belong to one call of `solve`."""

    # sum of all realization plans so far; at a player's empty sequence their number: best responses
    # are pure, so these are whole numbers if the first plans are pure too
    plans: FloatArray
    values: FloatArray  # scratch
    played: FloatArray  # last best responses, first as frequencies, then as realization plans


@inlined
def respond(form: FormArrays, rule: CFRRule, player: int, state: PlaySums) -> None:
    """Best response of one player to the sums of the others' plans, into `state.played`.

    Values stand against sums, not averages, so they grow with the number of plans, and so
    does what counts as a tie.
    """
    values = state.values
    direct_values_inlined(form, player, state.plans, values)
    tie = rule.negligible
    for other in range(len(form.infoset_start) - 1):
        if other != player:
            tie *= state.plans[other]
    start, stop = form.infoset_start[player], form.infoset_start[player + 1]
    for back in range(stop - start):
        i = stop - 1 - back
        first, last = form.block_start[i], form.block_start[i + 1]
        best = -np.inf
        for s in range(first, last):
            best = max(best, values[s])
            state.played[s] = 0.0
        chosen = first
        while values[chosen] < best - tie:
            chosen += np.uint32(1)
        state.played[chosen] = 1.0
        values[form.parent[i]] += best


@inlined
def add_response(form: FormArrays, player: int, state: PlaySums) -> None:
    """Add the realization plan of the last best response to the sum of the player's plans."""
    plans, played = state.plans, state.played
    played[player] = 1.0
    plans[player] += 1.0
    for i in range(form.infoset_start[player], form.infoset_start[player + 1]):
        for s in range(form.block_start[i], form.block_start[i + 1]):
            played[s] *= played[form.parent[i]]
            plans[s] += played[s]


@kernel
def advance(form: FormArrays, rule: CFRRule, count: int, state: PlaySums) -> None:
    """Do `count` iterations, in place; of the rule, values within `negligible` are equal."""
    players = len(form.infoset_start) - 1
    for _ in range(count):
        for player in range(players):
            respond(form, rule, player, state)
            if rule.alternating:
                add_response(form, player, state)
        if not rule.alternating:
            for player in range(players):
                add_response(form, player, state)


advance_products = variant(
    advance,
    "products",
    respond=variant(respond, "products", direct_values_inlined=product_direct_values),
)


def advance_of(game: Game) -> Kernel:
    """The kernel for the arrays of a game."""
    return advance if game.product_form is None else advance_products
