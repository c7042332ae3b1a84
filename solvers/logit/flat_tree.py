"""The game tree as the kernels read it, and the memory they work in.

Symbols: M nodes, N players, C information sets with a choice, H nodes of these, K actions there,
F = K - C log-odds. Actions at information sets without a choice have no number. What is latest in
the game comes first, so that Newton matrices, eliminated in this order, remain sparse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.tree import FloatArray, GameTree, IntArray


class FlatTree(NamedTuple):
    """A game tree without names; nothing of it is overwritten."""

    parent: IntArray  # uint32 (M,)
    inner: IntArray  # uint32: nodes that are not terminal
    children: IntArray  # uint32 (M+1,): first child; children of a node stand together
    # int32 (M,): number of the action that leads to a node, who chose it; -1 where nobody did
    edge: IntArray
    mover: IntArray
    # uint32 (M,): the gains over first actions that its value enters, none where nobody chose
    gain_start: IntArray
    gain_end: IntArray
    gain_sign: FloatArray  # (M,): 1, or -1 for a first action, whose value is taken off
    chance: FloatArray  # (M,): probability of the move to a node as far as chance makes it
    owner: IntArray  # int32 (C,)
    # int32 (C+1,): first action of each information set, the reference of its log-odds
    start: IntArray
    action: NDArray[np.int64]  # (K,): number of each action among all of the tree
    node_start: IntArray  # uint32 (C+1,): first of the H nodes of each information set
    # uint32 (H,): these nodes, and the first child of each
    decision: IntArray
    child: IntArray
    log_chance: FloatArray  # (H,): log probability with which chance leads to them
    # uint32 (H+1,) and any length: actions of all but the owner that lead to each of them
    path_start: IntArray
    path: IntArray
    # uint32 (C+1,) and any length: sets on whose frequencies the values at each set depend
    link_start: IntArray
    link: IntArray
    payoffs: FloatArray  # (N, M): less the middle of each player's; 0 at inner nodes
    prior: FloatArray  # (F,): log-odds where lambda is 0
    unit: float  # lambda that counts as 1


class Workspace(NamedTuple):
    """Memory that the kernels overwrite, float64 where nothing else is said."""

    # (K,): log frequency, frequency and conditional value of each action
    log_p: FloatArray
    p: FloatArray
    values: FloatArray
    move: FloatArray  # (M,): probability of the move that leads to each node
    payoffs: FloatArray  # (N, M): expected payoffs from each node on
    belief: FloatArray  # (M,): probability of a node given its set, 0 where nobody has a choice
    by_log: FloatArray  # (F, K): derivatives of gains by log frequencies, taken as independent
    bordered: FloatArray  # (F+1, F+1)
    # (2, F+1): of Newton's equations, and of those of the tangent
    right: FloatArray
    solution: FloatArray
    top: IntArray  # int32 (C,): log-odds of the most probable action, -1 if it is the first one
    # (F+1,): units of log-odds and of lambda, and the last row of the matrix
    scale: FloatArray
    border: FloatArray


def flat_tree(tree: GameTree) -> FlatTree:
    """Return the arrays of a tree, with the uniform prior."""
    moves = tree.parent, tree.incoming, tree.infoset, tree.player, tree.chance_probability
    sets, unit = (tree.action_start, tree.infoset_player), 1.0 / (tree.payoff_range or 1.0)
    return _flattened(*moves, *sets, tree.terminals, tree.payoffs.table, unit)


def workspace(flat: FlatTree) -> Workspace:
    """Return memory for the kernels."""
    nodes, actions, unknowns = len(flat.parent), len(flat.action), len(flat.prior) + 1
    rows = np.empty((6, unknowns))
    return Workspace(
        *np.empty((3, actions)),
        move=np.empty(nodes),
        payoffs=flat.payoffs.copy(),
        belief=np.zeros(nodes),
        by_log=np.zeros((unknowns - 1, actions)),
        bordered=np.empty((unknowns, unknowns)),
        right=rows[:2],
        solution=rows[2:4],
        top=np.empty(len(flat.owner), np.int32),
        scale=rows[4],
        border=rows[5],
    )


def bytes_needed(tree: GameTree) -> int:
    """Return the memory of the matrices."""
    sizes = [len(labels) for labels in tree.infoset_actions if len(labels) > 1]
    unknowns = sum(sizes) - len(sizes)
    return 8 * (unknowns * sum(sizes) + (unknowns + 1) ** 2)


@kernel
def _flattened(
    parent, incoming, infoset, player, chance, action_start, infoset_player, terminals, table, unit
):
    """Return the `FlatTree` of the arrays of a `GameTree`."""
    nodes, sizes = len(parent), np.diff(action_start)
    earliest, children = np.zeros(len(sizes), np.int64), np.ones(nodes + 1, np.uint32)
    for x in range(nodes - 1, -1, -1):
        if infoset[x] >= 0:
            earliest[infoset[x]] = x
    for x in range(1, nodes):
        children[parent[x] + 1] += 1
    for x in range(nodes):
        children[x + 1] += children[x] - 1
    chosen = np.flatnonzero(sizes > 1)
    # nodes are in order of depth
    chosen = chosen[np.argsort(-earliest[chosen], kind="mergesort")]
    sets, actions = len(chosen), sizes[chosen].sum()
    place, number = np.full(len(sizes), -1), np.full(action_start[-1], -1)
    owner, start = np.empty(sets, np.int32), np.zeros(sets + 1, np.int32)
    action = np.empty(actions, np.int64)
    for c in range(sets):
        i = chosen[c]
        place[i], owner[c], start[c + 1] = c, infoset_player[i], start[c] + sizes[i]
        action[start[c] : start[c + 1]] = np.arange(action_start[i], action_start[i + 1])
        number[action_start[i] : action_start[i + 1]] = np.arange(start[c], start[c + 1])
    edge, mover = np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32)
    gain_start, gain_end = np.zeros(nodes, np.uint32), np.zeros(nodes, np.uint32)
    gain_sign, belongs = np.ones(nodes), np.full(nodes, -1)
    node_start = np.zeros(sets + 1, np.uint32)
    for x in range(nodes):
        if infoset[x] >= 0 and place[infoset[x]] >= 0:
            node_start[place[infoset[x]] + 1] += 1
        if x == 0 or incoming[x] < 0 or number[incoming[x]] < 0:
            continue
        edge[x], mover[x] = number[incoming[x]], player[parent[x]]
        c = belongs[x] = place[infoset[parent[x]]]
        if edge[x] == start[c]:
            gain_start[x], gain_end[x], gain_sign[x] = start[c] - c, start[c + 1] - c - 1, -1.0
        else:
            gain_start[x], gain_end[x] = edge[x] - c - 1, edge[x] - c
    for c in range(sets):
        node_start[c + 1] += node_start[c]
    decision, used = np.empty(node_start[sets], np.uint32), node_start.copy()
    for x in range(nodes):
        if infoset[x] >= 0 and place[infoset[x]] >= 0:
            c = place[infoset[x]]
            decision[used[c]] = x
            used[c] += 1
    payoffs = np.zeros((table.shape[1], nodes))
    for n in range(len(payoffs)):
        # constants change nothing but the rounding of differences
        middle = (table[:, n].min() + table[:, n].max()) / 2
        for i in range(len(terminals)):
            payoffs[n, terminals[i]] = table[i, n] - middle
    log_chance, path_start, path, link_start, link = _dependences(
        parent, edge, mover, chance, belongs, node_start, decision, owner
    )
    return FlatTree(
        parent.astype(np.uint32),
        np.flatnonzero(np.diff(children) > 0).astype(np.uint32),
        children,
        edge,
        mover,
        gain_start,
        gain_end,
        gain_sign,
        chance,
        owner,
        start,
        action,
        node_start,
        decision,
        children[decision],
        log_chance,
        path_start,
        path,
        link_start,
        link,
        payoffs,
        np.zeros(actions - sets),
        unit,
    )


@kernel
def _dependences(parent, edge, mover, chance, belongs, node_start, decision, owner):
    """Return `log_chance`, `path_start`, `path`, `link_start`, and `link` of a `FlatTree`.

    `belongs` (M,) are the sets at which the moves to nodes were chosen.
    """
    sets = len(owner)
    path_start = np.zeros(len(decision) + 1, np.uint32)
    path, used = np.empty(4 * len(decision), np.uint32), 0
    log_chance, linked = np.zeros(len(decision)), np.zeros((sets, sets), np.bool_)
    for c in range(sets):
        for d in range(node_start[c], node_start[c + 1]):
            x = np.int64(decision[d])
            while x > 0:
                if edge[x] < 0:
                    log_chance[d] += np.log(chance[x]) if chance[x] > 0.0 else -np.inf
                elif mover[x] != owner[c]:
                    if used == len(path):
                        path = np.append(path, np.empty_like(path))
                    path[used] = edge[x]
                    used += 1
                    linked[c, belongs[x]] = True
                x = np.int64(parent[x])
            path_start[d + 1] = used
    for x in range(1, len(parent)):
        y = np.int64(parent[x]) if edge[x] >= 0 else 0
        while y > 0:
            if edge[y] >= 0:
                linked[belongs[y], belongs[x]] = True
            y = np.int64(parent[y])
    by, link = np.nonzero(linked)
    link_start = np.searchsorted(by, np.arange(sets + 1)).astype(np.uint32)
    return log_chance, path_start, path[:used], link_start, link.astype(np.uint32)
