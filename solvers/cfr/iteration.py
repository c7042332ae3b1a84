"""Full-width CFR: its state, compiled iterations on the sequence form, and the loop around them.

Symbols in shapes: A actions, S sequences. Vectors over sequences have length S; entries of the
empty sequences come first. A player's iteration is three passes: values of the sequences over
the terminals, then information sets from the last to the first for values, regrets and
frequencies, then from the first to the last for the realization plans. Sampling shares all but
the first two.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import has_numba, inlined, kernel, variant, wait_for_all
from eqbench.model.game import Game
from eqbench.model.interleaved import Interleaved
from eqbench.model.kernels import realize, unit_values
from eqbench.model.payoff_model import PayoffModel
from eqbench.model.product_kernels import ProductArrays, product_values
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import shares
from eqbench.model.sequence_form import FormArrays, SequenceStructure
from eqbench.model.tree import FloatArray
from eqbench.solver import Candidate, Claim

# Share of the payoff range up to which a positive regret is rounding.
NEGLIGIBLE = 1e-12
# More arrivals than threads wait for.
NOBODY_WAITS = 2**62
# Sequences from which on threads pay where values are sums over products.
SHAREABLE = 20_000
# Whether values of a unit's sequences come from several threads; not in trees.
VALUES_ARE_SHARED = False


class CFRRule(NamedTuple):
    """A variant of CFR, as the kernels read it."""

    averaging: float  # exponent of t in the weight of iteration t
    negligible: float  # positive regrets up to here count as zero
    # exponents of the discount of positive and of other regrets: infinite ones keep everything (+)
    # or nothing (-), see :func:`kept_share`
    alpha: float = np.inf
    beta: float = np.inf
    predictive: bool = False  # whether the last regret counts once more for the next frequencies
    # whether a player faces frequencies that others changed in this iteration
    alternating: bool = True
    shift: float = 1.0  # what the discounts have in place of 1, see :func:`kept_share`
    prediction: float = 1.0  # how many times the last regret counts once more


class State(NamedTuple):
    """What iterations change; all arrays are float64 (S,) and belong to one call of `solve`."""

    regrets: FloatArray  # accumulated regrets; unused at empty sequences
    behavior: FloatArray  # frequencies of the next iteration; 1 at empty sequences
    reach: FloatArray  # realization plans of `behavior`
    values: FloatArray  # scratch
    average: FloatArray  # sum of realization plans times the weights of their iterations


@inlined
def kept_share(t: int, exponent: float, shift: float) -> float:
    """``t^e / (t^e + shift)``, the discount of iteration t; 1 in Brown and Sandholm (2019).

    An infinite exponent means its limit also at t = 1: nothing or everything is forgotten.
    """
    if np.isinf(exponent):
        return 1.0 if exponent > 0 else 0.0
    return 1.0 / (1.0 + shift * np.float64(t) ** -exponent)


@inlined
def normalize(behavior: FloatArray, first: int, last: int, total: float) -> None:
    """Divide frequencies of an information set by their sum; equal ones where it is zero."""
    if total > 0.0:
        for s in range(first, last):
            behavior[s] /= total
    else:
        for s in range(first, last):
            behavior[s] = 1.0 / (last - first)


@inlined
def update_regrets(
    form: FormArrays,
    entries: Interleaved,
    rule: CFRRule,
    unit: int,
    keep_positive: float,
    keep_other: float,
    state: State,
) -> None:
    """Regrets and next frequencies in one unit, from the direct values in `state.values`."""
    regrets, behavior, values = state.regrets, state.behavior, state.values
    start, stop = entries.unit_infoset[unit], entries.unit_infoset[unit + 1]
    for back in range(stop - start):
        i = entries.infosets[stop - np.uint64(1) - back]
        first, last = form.block_start[i], form.block_start[i + 1]
        value = 0.0
        for s in range(first, last):
            value += behavior[s] * values[s]
        above = form.parent[i]
        if above >= len(form.infoset_start) - 1:  # values of empty sequences are never needed
            values[above] += value
        total = 0.0
        for s in range(first, last):
            gain = values[s] - value
            regret = regrets[s] + gain
            regret *= keep_positive if regret > rule.negligible else keep_other
            regrets[s] = regret
            if rule.predictive:
                regret += rule.prediction * gain
            positive = regret if regret > rule.negligible else 0.0
            behavior[s] = positive
            total += positive
        normalize(behavior, first, last, total)


@inlined
def add_plan(form: FormArrays, i: int, weight: float, state: State) -> None:
    """Add the plan just played at an information set to the average, then put in the next."""
    reach = state.reach
    above = reach[form.parent[i]]
    for s in range(form.block_start[i], form.block_start[i + 1]):
        state.average[s] += weight * reach[s]
        reach[s] = above * state.behavior[s]


@inlined
def update_plans(
    form: FormArrays, entries: Interleaved, unit: int, weight: float, state: State
) -> None:
    """Add the plans just played in one unit to the average, and put the next in their place."""
    for place in range(entries.unit_infoset[unit], entries.unit_infoset[unit + 1]):
        add_plan(form, entries.infosets[place], weight, state)


@kernel
def advance(
    form: FormArrays,
    entries: Interleaved,
    rule: CFRRule,
    start: int,
    count: int,
    state: State,
    thread: int,
    threads: int,
    arrivals: NDArray[np.int64],
) -> None:
    """Do one thread's parts of the iterations ``start + 1`` to ``start + count``, in place.

    A player's turn changes nothing but his own frequencies and plans and reads nothing but the
    others' plans. So threads wait for each other only when it ends, or where all players move
    at once, before the first plan changes and after the last. They count in `arrivals`, (1,).
    """
    players, turns = len(form.infoset_start) - 1, 0
    for t in range(start + 1, start + count + 1):
        weight = float(t) ** rule.averaging
        keep_positive = kept_share(t, rule.alpha, rule.shift)
        keep_other = kept_share(t, rule.beta, rule.shift)
        for step in range(players if rule.alternating else 2 * players):
            player = step if step < players else step - players
            for part in range(thread, entries.parts, threads):
                unit = player * entries.parts + part
                if rule.alternating or step < players:
                    unit_values(entries, unit, state.reach, state.values)
                    if VALUES_ARE_SHARED and threads > 1 and rule.alternating:
                        turns += 1
                        wait_for_all(arrivals, turns * threads)
                if rule.alternating or step >= players:
                    update_regrets(form, entries, rule, unit, keep_positive, keep_other, state)
                    update_plans(form, entries, unit, weight, state)
            if threads > 1 and (rule.alternating or player == players - 1):
                turns += 1
                wait_for_all(arrivals, turns * threads)


advance_products = variant(advance, "products", unit_values=product_values, VALUES_ARE_SHARED=True)


def advance_with(
    threads: int,
    form: FormArrays | ProductArrays,
    entries: Interleaved | ProductArrays,
    rule: CFRRule,
    start: int,
    count: int,
    state: State,
) -> None:
    """Do the iterations ``start + 1`` to ``start + count``, in place, with several threads.

    The result is the same to the last bit for any number; without Numba it is one.
    """
    arrivals = np.zeros(1, dtype=np.int64)
    run = advance_products if isinstance(entries, ProductArrays) else advance
    if threads == 1 or not has_numba():
        run(form, entries, rule, start, count, state, 0, 1, arrivals)
        return
    run.compile(form, entries, rule, start, count, state, 0, threads, arrivals)
    work = functools.partial(run, form, entries, rule, start, count, state)
    with ThreadPoolExecutor(threads) as pool:
        try:
            shares = [pool.submit(work, k, threads, arrivals) for k in range(threads)]
        except BaseException:  # no more threads may be started, or Ctrl-C was pressed
            arrivals[0] = NOBODY_WAITS
            raise
        for share in shares:
            share.result()


def is_shareable(entries: Interleaved | ProductArrays) -> bool:
    """Whether a game is so large that threads gain more than they wait for each other."""
    if isinstance(entries, ProductArrays):
        return entries.block_start[-1] >= SHAREABLE
    return entries.parts > 1


def begin(form: SequenceStructure, behavior: FloatArray) -> State:
    """State before the first iteration, playing `behavior` (A,)."""
    n = form.n_players
    state = State(*(np.zeros(form.n_sequences) for _ in State._fields))
    state.behavior[:n], state.behavior[n:] = 1.0, behavior
    for player in range(n):
        realize(form.arrays, player, state.behavior, state.reach)
    return state


def profiles(game: Game, state: State) -> tuple[tuple[FloatArray, Claim], ...]:
    """Frequencies (A,) of the average, uniform where its player has never been, and the iterate."""
    average = shares(game.plan_form, state.average)
    return (average, "average"), (state.behavior[game.tree.n_players :], "iterate")


def better_candidate(model: PayoffModel, game: Game, state: State) -> Candidate:
    """The one of both profiles with the smaller max regret; the average in a tie."""
    better, claim = min(profiles(game, state), key=lambda made: model.regrets(made[0]).max())
    return Candidate(BehaviorProfile.of(game.tree, better), claim)
