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
    """A game tree without names; nothing of it is overwritten.

    Attributes
    ----------
    parent : uint32 (M,)
    inner : uint32
        Nodes that are not terminal.
    children : uint32 (M+1,)
        First child of each node; children of a node stand together.
    edge : int32 (M,)
        Number among the K actions of the one that leads to a node; -1 where there was no choice.
    mover : int32 (M,)
        Who chose that action, -1 where nobody did.
    gain_start, gain_end : uint32 (M,)
        The gains over first actions that its value enters; none where nobody chose.
    gain_sign : float64 (M,)
        1, or -1 for a first action, whose value is taken off.
    chance : float64 (M,)
        Probability of the move to a node as far as chance makes it.
    owner : int32 (C,)
    start : int32 (C+1,)
        First action of each information set; the first one is the reference of its log-odds.
    action : int64 (K,)
        Number of each action among all of the tree.
    node_start : uint32 (C+1,)
        First of the H nodes of each information set.
    decision, child : uint32 (H,)
        These nodes, and the first child of each.
    log_chance : float64 (H,)
        Log probability with which chance leads to them.
    path_start : uint32 (H+1,)
    path : uint32
        Actions of all but the owner that lead to each of these nodes.
    link_start : uint32 (C+1,)
    link : uint32
        For each information set those on whose frequencies its values depend.
    payoffs : float64 (N, M)
        Less the middle of each player's; 0 at nodes that are not terminal.
    prior : float64 (F,)
        Log-odds where lambda is 0.
    unit : float
        Lambda that counts as 1.
    """

    parent: IntArray
    inner: IntArray
    children: IntArray
    edge: IntArray
    mover: IntArray
    gain_start: IntArray
    gain_end: IntArray
    gain_sign: FloatArray
    chance: FloatArray
    owner: IntArray
    start: IntArray
    action: NDArray[np.int64]
    node_start: IntArray
    decision: IntArray
    child: IntArray
    log_chance: FloatArray
    path_start: IntArray
    path: IntArray
    link_start: IntArray
    link: IntArray
    payoffs: FloatArray
    prior: FloatArray
    unit: float


class Workspace(NamedTuple):
    """Memory that the kernels overwrite.

    Attributes
    ----------
    log_p, p, values : float64 (K,)
        Log frequency, frequency and conditional value of each action.
    move : float64 (M,)
        Probability of the move that leads to each node.
    payoffs : float64 (N, M)
        Expected payoffs from each node on.
    belief : float64 (M,)
        Probability of a node given its information set, 0 where nobody has a choice.
    by_log : float64 (F, K)
        Derivatives of gains over first actions by log frequencies, taken as independent.
    bordered : float64 (F+1, F+1)
    right, solution : float64 (2, F+1)
        Of Newton's equations, and of those of the tangent.
    top : int32 (C,)
        The log-odds of the most probable action of each set, -1 where it is the first action.
    scale, border : float64 (F+1,)
        Units of log-odds and of lambda, and the last row of the matrix.
    """

    log_p: FloatArray
    p: FloatArray
    values: FloatArray
    move: FloatArray
    payoffs: FloatArray
    belief: FloatArray
    by_log: FloatArray
    bordered: FloatArray
    right: FloatArray
    solution: FloatArray
    top: IntArray
    scale: FloatArray
    border: FloatArray


def flat_tree(tree: GameTree, prior: FloatArray | None = None) -> FlatTree:
    """Return the arrays of a tree, with log-odds of a prior (F,), by default the uniform one."""
    (owner, start, action), moves, reaches, linked = _walk(
        tree.parent,
        tree.incoming,
        tree.infoset,
        tree.player,
        tree.chance_probability,
        tree.action_start,
        tree.infoset_player,
    )
    node_start, decision, log_chance, path_start, path = reaches
    by, link = np.nonzero(linked)
    children = np.searchsorted(tree.parent, np.arange(tree.n_nodes + 1))
    table = tree.payoffs.table
    payoffs = np.zeros((tree.n_players, tree.n_nodes))
    # constants change nothing but the rounding of differences
    payoffs[:, tree.terminals] = (table - (table.min(axis=0) + table.max(axis=0)) / 2).T
    return FlatTree(
        _places(tree.parent),
        _places(np.flatnonzero(np.diff(children))),
        _places(children),
        *moves,
        tree.chance_probability,
        owner,
        start,
        action,
        _places(node_start),
        _places(decision),
        _places(children[decision]),
        log_chance,
        _places(path_start),
        _places(path),
        _places(np.searchsorted(by, np.arange(len(owner) + 1))),
        _places(link),
        payoffs,
        np.zeros(len(action) - len(owner)) if prior is None else prior,
        1.0 / (tree.payoff_range or 1.0),
    )


def workspace(flat: FlatTree) -> Workspace:
    """Return memory for the kernels."""
    nodes, actions, unknowns = len(flat.parent), len(flat.action), len(flat.prior) + 1
    return Workspace(
        log_p=np.empty(actions),
        p=np.empty(actions),
        values=np.empty(actions),
        move=np.empty(nodes),
        payoffs=flat.payoffs.copy(),
        belief=np.zeros(nodes),
        by_log=np.zeros((unknowns - 1, actions)),
        bordered=np.empty((unknowns, unknowns)),
        right=np.empty((2, unknowns)),
        solution=np.empty((2, unknowns)),
        top=np.empty(len(flat.owner), np.int32),
        scale=np.empty(unknowns),
        border=np.empty(unknowns),
    )


def bytes_needed(tree: GameTree) -> int:
    """Return the memory of the matrices."""
    sizes = [len(labels) for labels in tree.infoset_actions if len(labels) > 1]
    unknowns = sum(sizes) - len(sizes)
    return 8 * (unknowns * sum(sizes) + (unknowns + 1) ** 2)


def _places(array: NDArray) -> IntArray:
    # unsigned, because indices that may be negative are checked and wrapped around
    return array.astype(np.uint32)


@kernel
def _walk(parent, incoming, infoset, player, chance, action_start, infoset_player):
    """Walk over the tree; the arguments are arrays of `GameTree`.

    Returns
    -------
    owner, start, action : arrays
    edge, mover, gain_start, gain_end, gain_sign : arrays
    node_start, decision, log_chance, path_start, path : arrays
        As in `FlatTree`.
    linked : bool (C, C)
        Whether values at a set (rows) depend on frequencies at another one.
    """
    nodes, sizes = len(parent), np.diff(action_start)
    earliest = np.zeros(len(sizes), np.int64)
    for x in range(nodes - 1, -1, -1):
        if infoset[x] >= 0:
            earliest[infoset[x]] = x
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
    gain_sign, node_start = np.ones(nodes), np.zeros(sets + 1, np.int64)
    belongs = np.full(nodes, -1)  # set at which the move to a node was chosen
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
    node_start = np.cumsum(node_start)
    decision, filled = np.empty(node_start[-1], np.int64), node_start.copy()
    for x in range(nodes):
        if infoset[x] >= 0 and place[infoset[x]] >= 0:
            c = place[infoset[x]]
            decision[filled[c]] = x
            filled[c] += 1
    path_start, path = np.zeros(len(decision) + 1, np.int64), np.empty(4 * len(decision), np.int64)
    log_chance, linked, used = np.zeros(len(decision)), np.zeros((sets, sets), np.bool_), 0
    for c in range(sets):
        for d in range(node_start[c], node_start[c + 1]):
            x = decision[d]
            while x > 0:
                if edge[x] < 0:
                    log_chance[d] += np.log(chance[x]) if chance[x] > 0.0 else -np.inf
                elif mover[x] != owner[c]:
                    if used == len(path):
                        path = np.append(path, np.empty_like(path))
                    path[used] = edge[x]
                    used += 1
                    linked[c, belongs[x]] = True
                x = parent[x]
            path_start[d + 1] = used
    for x in range(1, nodes):
        y = parent[x] if edge[x] >= 0 else 0
        while y > 0:
            if edge[y] >= 0:
                linked[belongs[y], belongs[x]] = True
            y = parent[y]
    moves = edge, mover, gain_start, gain_end, gain_sign
    return (
        (owner, start, action),
        moves,
        (node_start, decision, log_chance, path_start, path[:used]),
        linked,
    )
