"""Compiled steps of repeated play with a limited memory.

Symbols: M nodes, N players, A actions, S sequences, F log-odds, D the largest number of moves in a
hand. Vectors over sequences hold 1 at the empty ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.kernels import continue_own_play, direct_values, realize
from eqbench.model.tree import FloatArray, IntArray

from .kernels import frequencies


class Rules(NamedTuple):
    """What hands are drawn by; arrays are read only.

    Attributes
    ----------
    child_start : int64 (M+1,)
        First child of each node; none where it is also that of the next node.
    first_action : int64 (M,)
        First action at a decision node, -1 elsewhere.
    chance : float64 (M,)
        Probability of the chance outcome that leads to a node.
    payoffs : float64 (M, N)
        Payoffs at terminals, 0 elsewhere.
    set_start, set_stop : int64 (A,)
        The actions of the information set of each action.
    """

    child_start: NDArray[np.int64]
    first_action: NDArray[np.int64]
    chance: FloatArray
    payoffs: FloatArray
    set_start: NDArray[np.int64]
    set_stop: NDArray[np.int64]


class Table(NamedTuple):
    """Where play stands; kernels write into all arrays.

    Attributes
    ----------
    state : float64 (F,)
        Log-odds of the free frequencies.
    behavior, estimate : float64 (S,)
        What the players do, and what the others believe of them.
    seen : int64 (A,)
        How often each action was seen in the remembered hands.
    hands : int32 (memory, D)
        Actions of the remembered hands, filled up with -1; the oldest is overwritten.
    clock : int64 (1,)
        Number of hands so far.
    won : float64 (N,)
        Payoffs won so far.
    """

    state: FloatArray
    behavior: FloatArray
    estimate: FloatArray
    seen: NDArray[np.int64]
    hands: IntArray
    clock: NDArray[np.int64]
    won: FloatArray


@kernel
def _estimate_set(rules, table, action):
    """Take the shares of what was seen at a set; where nothing is left, keep the estimate."""
    offset = len(table.behavior) - len(table.seen)
    total = 0
    for a in range(rules.set_start[action], rules.set_stop[action]):
        total += table.seen[a]
    if total > 0:
        for a in range(rules.set_start[action], rules.set_stop[action]):
            table.estimate[offset + a] = table.seen[a] / total


@kernel
def _play_hand(rules, table, draws):
    """Draw a hand from the behavior, remember it instead of the oldest; its last node."""
    offset = len(table.behavior) - len(table.seen)
    hand = table.hands[table.clock[0] % len(table.hands)]
    for d in range(len(hand)):
        if hand[d] < 0:
            break
        table.seen[hand[d]] -= 1
        _estimate_set(rules, table, hand[d])
        hand[d] = -1
    node, depth, decisions = 0, 0, 0
    while rules.child_start[node] < rules.child_start[node + 1]:
        first = rules.child_start[node]
        action = rules.first_action[node]
        rest = draws[depth]
        child = rules.child_start[node + 1] - 1
        while child > first:  # the first one takes what the others leave
            if action < 0:
                rest -= rules.chance[child]
            else:
                rest -= table.behavior[offset + action + child - first]
            if rest < 0:
                break
            child -= 1
        if action >= 0:
            hand[decisions] = action + child - first
            decisions += 1
        node = child
        depth += 1
    for d in range(decisions):
        table.seen[hand[d]] += 1
        _estimate_set(rules, table, hand[d])
    table.clock[0] += 1
    return node


@kernel
def watch(rules, table, draws):
    """Play a hand for each row of `draws`, by which nobody is moved."""
    for row in range(len(draws)):
        _play_hand(rules, table, draws[row])


@kernel
def adjust(rules, table, draws, field, hand_time):
    """Play a hand for each row of `draws`; after each one every player moves the log-odds.

    They move by their speed times `hand_time` times the gain over the first action, if all others
    played as estimated and the player went on with its true behavior.
    """
    players = len(table.won)
    reach, values = np.empty_like(table.estimate), np.empty_like(table.estimate)
    for row in range(len(draws)):
        node = _play_hand(rules, table, draws[row])
        for p in range(players):
            table.won[p] += rules.payoffs[node, p]
            realize(field.form, p, table.estimate, reach)
        for p in range(players):
            direct_values(field.form, p, reach, values)
            continue_own_play(field.form, p, table.behavior, values)
        for f in range(len(field.speed)):
            gain = values[field.action[f]] - values[field.first[f]]
            table.state[f] += field.speed[f] * hand_time * gain
        frequencies(field, table.state, table.behavior)
