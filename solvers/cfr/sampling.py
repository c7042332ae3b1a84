"""Compiled iterations of external sampling on the tree's arrays.

Symbols in shapes: M nodes, Z terminals, N players, S sequences.

A walk is two sweeps over a queue. The first lists the visited nodes, parents before
children; the second goes back and carries values up. So no recursion is needed, whatever the
depth of the tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import inlined, kernel
from eqbench.model.sequence_form import FormArrays
from eqbench.model.tree import CHANCE, TERMINAL, FloatArray, GameTree, IntArray

from .iteration import CFRRule, State, add_plan, normalize


class WalkArrays(NamedTuple):
    """The tree as a walk reads it."""

    player: NDArray[np.int8]  # int8 (M,): who moves: 0..N-1, CHANCE or TERMINAL
    # int32 (M+1,): first child of each node; the children of a node are contiguous
    child_start: IntArray
    # int32 (M,): at decision nodes the sequence that the first action leads to, otherwise 0
    sequence: IntArray
    # float64 (M,): at a chance outcome the probability of it and its earlier siblings, 1 at the
    # last one
    cumulative: FloatArray
    payoff_row: IntArray  # int32 (M,): row of each terminal node in `payoffs`, otherwise 0
    payoffs: FloatArray  # float64 (Z, N)


class Queue(NamedTuple):
    """Visited nodes of one walk; there is room for all M."""

    node: IntArray  # int32 (M,)
    child: IntArray  # int32 (M,): place in the queue of the first visited child
    # float64 (M,): payoff to the walk's player that is to be expected from the node on
    value: FloatArray


def walk_arrays(tree: GameTree) -> WalkArrays:
    """Arrays of a tree for :func:`advance`."""
    child_start = tree.first_children()
    decision = tree.infoset >= 0
    sequence = np.zeros(tree.n_nodes, dtype=np.int32)
    sequence[decision] = tree.n_players + tree.action_start[tree.infoset[decision]]
    payoff_row = np.zeros(tree.n_nodes, dtype=np.int32)
    payoff_row[tree.terminals] = np.arange(tree.n_terminals)
    cumulative = tree.chance_probability.copy()
    for node in np.flatnonzero(tree.player == CHANCE):
        outcomes = slice(child_start[node], child_start[node + 1])
        cumulative[outcomes] = np.cumsum(cumulative[outcomes])
        # whatever is drawn from [0, 1) must find an outcome
        cumulative[outcomes.stop - 1] = 1.0
    return WalkArrays(
        tree.player,
        child_start.astype(np.int32),
        sequence,
        cumulative,
        payoff_row,
        np.ascontiguousarray(tree.payoffs.table),
    )


@inlined
def draw_outcome(cumulative: FloatArray, first: int, last: int, draw: float) -> int:
    """First node from `first` on whose cumulative probability exceeds `draw`, by bisection."""
    while last - first > 1:
        middle = (first + last) // 2
        if cumulative[middle - 1] > draw:
            last = middle
        else:
            first = middle
    return first


@inlined
def draw_action(frequencies: FloatArray, first: int, last: int, draw: float) -> int:
    """Child whose share of the frequencies `draw` falls into; the last one catches rounding."""
    child = first
    for action in range(last - first - 1):
        draw -= frequencies[action]
        if draw < 0.0:
            break
        child += 1
    return child


@inlined
def walk_down(
    tree: WalkArrays, player: int, rng: np.random.Generator, queue: Queue, state: State
) -> int:
    """List the nodes that a walk for `player` visits; returns their number."""
    queue.node[0] = 0
    length = 1
    place = 0
    while place < length:
        node = queue.node[place]
        mover = tree.player[node]
        first, last = tree.child_start[node], tree.child_start[node + 1]
        queue.child[place] = length
        if mover == TERMINAL:
            queue.value[place] = tree.payoffs[tree.payoff_row[node], player]
        elif mover == player:
            for child in range(first, last):
                queue.node[length] = child
                length += 1
        else:
            if mover == CHANCE:
                queue.node[length] = draw_outcome(tree.cumulative, first, last, rng.random())
            else:
                frequencies = state.behavior[tree.sequence[node] :]
                queue.node[length] = draw_action(frequencies, first, last, rng.random())
            length += 1
        place += 1
    return length


@inlined
def walk_up(
    tree: WalkArrays, rule: CFRRule, player: int, visited: int, queue: Queue, state: State
) -> None:
    """Carry values from the ends of a walk to its root; change regrets and frequencies.

    With perfect recall a walk visits an information set of its player at most once, so the
    frequencies there may change before the walk is over.
    """
    regrets, behavior = state.regrets, state.behavior
    for back in range(visited):
        place = visited - 1 - back
        node = queue.node[place]
        mover = tree.player[node]
        if mover == TERMINAL:
            continue
        child = queue.child[place]
        if mover != player:
            queue.value[place] = queue.value[child]
            continue
        first = tree.sequence[node]
        actions = tree.child_start[node + 1] - tree.child_start[node]
        value = 0.0
        for action in range(actions):
            value += behavior[first + action] * queue.value[child + action]
        queue.value[place] = value
        total = 0.0
        for action in range(actions):
            regret = regrets[first + action] + queue.value[child + action] - value
            regrets[first + action] = regret
            positive = regret if regret > rule.negligible else 0.0
            behavior[first + action] = positive
            total += positive
        normalize(behavior, first, first + actions, total)


@kernel
def advance(
    form: FormArrays,
    tree: WalkArrays,
    rule: CFRRule,
    start: int,
    count: int,
    rng: np.random.Generator,
    queue: Queue,
    state: State,
) -> None:
    """Do the iterations ``start + 1`` to ``start + count``, in place."""
    players = len(form.infoset_start) - 1
    for t in range(start + 1, start + count + 1):
        weight = float(t) ** rule.averaging
        for player in range(players):
            visited = walk_down(tree, player, rng, queue, state)
            walk_up(tree, rule, player, visited, queue, state)
        for i in range(len(form.parent)):
            add_plan(form, i, weight, state)
