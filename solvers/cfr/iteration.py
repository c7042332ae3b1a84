"""What full-width and sampling CFR share: their state, its profiles, and the outer loop.

Symbols in shapes: A actions, S sequences.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqbench.model.game import Game
from eqbench.model.kernels import realize
from eqbench.model.payoff_model import PayoffModel
from eqbench.model.profile import BehaviorProfile
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray
from eqbench.solver import Candidate, Monitor, Termination

from .kernels import State

# Below this an average reach is an underflow, and its ratios are noise.
SMALLEST_REACH = 1e-300


def begin(form: SequenceForm, behavior: FloatArray) -> State:
    """State before the first iteration, playing `behavior` (A,)."""
    n = form.n_players
    state = State(*(np.zeros(form.n_sequences) for _ in State._fields))
    state.behavior[:n], state.behavior[n:] = 1.0, behavior
    for player in range(n):
        realize(form.arrays, player, state.behavior, state.reach)
    return state


def last_iterate(form: SequenceForm, state: State) -> FloatArray:
    """Frequencies of the next iteration, (A,); a view of the state."""
    return state.behavior[form.n_players :]


def average(form: SequenceForm, state: State) -> FloatArray:
    """Frequencies whose realization plan is the weighted average over the iterations, (A,).

    They are uniform at information sets that the player has never reached.
    """
    weights, row = state.average[form.n_players :], form.sequence_infoset[form.n_players :]
    total = np.bincount(row, weights, form.n_infosets)
    uniform = 1.0 / np.diff(form.block_start)[row]
    return np.divide(weights, total[row], out=uniform, where=total[row] > SMALLEST_REACH)


def better_candidate(model: PayoffModel, game: Game, state: State) -> Candidate:
    """The average or the last iterate, whichever has the smaller max regret."""
    form = game.sequence_form
    by_average, last = average(form, state), last_iterate(form, state)
    if model.regrets(last).max() < model.regrets(by_average).max():
        return Candidate(BehaviorProfile.of(game.tree, last), "iterate")
    return Candidate(BehaviorProfile.of(game.tree, by_average), "average")


def iterate(
    game: Game, monitor: Monitor, state: State, advance: Callable[[int, int], None]
) -> Termination:
    """Call ``advance(start, count)`` until the budget or the target ends, and report."""
    form, model = game.sequence_form, game.payoff_model()
    for start, count, due in monitor.chunks():
        advance(start, count)
        if due:
            monitor.snapshot(lambda: better_candidate(model, game, state), work=start + count)
    monitor.candidate(average(form, state), claim="average")
    monitor.candidate(last_iterate(form, state), claim="iterate")
    return monitor.termination()
