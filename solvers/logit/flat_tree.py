"""The game tree as the kernels read it, and the memory they work in.

Symbols: M nodes, N players, C information sets with a choice, H nodes of these, K actions there,
F = K - C log-odds. Actions at information sets without a choice have no number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.choices import Choices
from eqbench.model.tree import FloatArray, GameTree, IntArray

from .kernels import walk_up


class FlatTree(NamedTuple):
    """A game tree without names; all arrays are read-only.

    Attributes
    ----------
    parent : int32 (M,)
    edge : int32 (M,)
        Number among the K actions of the one that leads to a node; -1 where there was no choice.
    mover : int32 (M,)
        Who chose that action, -1 where nobody did.
    gain_start, gain_end : int32 (M,)
        The gains over first actions that its value enters; none where nobody chose.
    gain_sign : float64 (M,)
        1, or -1 for a first action, whose value is taken off.
    chance : float64 (M,)
        Probability of the move to a node as far as chance makes it.
    owner : int32 (C,)
    start : int32 (C+1,)
        First action of each information set; the first one is the reference of its log-odds.
    node_start : int32 (C+1,)
        First of the H nodes of each information set.
    decision, child : int32 (H,)
        These nodes, and the first child of each.
    log_chance : float64 (H,)
        Log probability with which chance leads to them.
    path_start : int32 (H+1,)
    path : int32
        Actions of all but the owner that lead to each of these nodes.
    link_start : int32 (C+1,)
    link : int32
        For each information set those on whose frequencies its values depend.
    column : int32 (F,)
        Where log-odds stand in the Newton matrix: what is latest in the game comes first.
    payoffs : float64 (M, N)
        Less the middle of each player's; 0 at nodes that are not terminal.
    """

    parent: IntArray
    edge: IntArray
    mover: IntArray
    gain_start: IntArray
    gain_end: IntArray
    gain_sign: FloatArray
    chance: FloatArray
    owner: IntArray
    start: IntArray
    node_start: IntArray
    decision: IntArray
    child: IntArray
    log_chance: FloatArray
    path_start: IntArray
    path: IntArray
    link_start: IntArray
    link: IntArray
    column: IntArray
    payoffs: FloatArray


class Workspace(NamedTuple):
    """What the kernels overwrite.

    Attributes
    ----------
    log_p, p, values : float64 (K,)
        Log frequency, frequency and conditional value of each action.
    move : float64 (M,)
        Probability of the move that leads to each node.
    payoffs : float64 (M, N)
        Expected payoffs from each node on.
    belief : float64 (M,)
        Probability of a node given its information set, 0 where nobody has a choice.
    by_log : float64 (F, K)
        Derivatives of gains over first actions by log frequencies, taken as independent.
    bordered : float64 (F+1, F+1)
    right, solution : float64 (F+1,)
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


def flat_tree(tree: GameTree, choices: Choices) -> FlatTree:
    """The arrays of a tree; `choices` are its free frequencies."""
    number = np.full(tree.n_actions + 1, -1)
    sets = np.arange(len(choices.infoset))
    number[tree.action_start[choices.infoset]] = choices.start[:-1] + sets
    number[choices.action] = np.arange(choices.size) + np.repeat(sets, np.diff(choices.start)) + 1
    edge = number[tree.incoming]
    place = np.full(tree.n_infosets + 1, -1)
    place[choices.infoset] = sets
    decision = np.flatnonzero(place[tree.infoset] >= 0)
    choice = place[tree.infoset[decision]]
    order = np.argsort(choice, kind="stable")
    decision, choice = decision[order].astype(np.int32), choice[order]
    node_start = np.searchsorted(choice, np.arange(len(sets) + 1))
    owner, sizes = tree.infoset_player[choices.infoset], np.diff(choices.start)
    belongs = np.repeat(sets, sizes + 1)
    # nodes are in order of depth
    latest = np.argsort(-np.repeat(decision[node_start[:-1]], sizes), kind="stable")
    mover = np.where(edge >= 0, tree.player[tree.parent], -1)
    into = belongs[edge]
    is_first = edge == choices.start[into] + into
    gain_start = np.where(is_first, choices.start[into], edge - into - 1)
    gain_end = np.where(is_first, choices.start[into + 1], edge - into)
    payoffs = np.zeros((tree.n_nodes, tree.n_players))
    table = tree.payoffs.table
    # constants change nothing but the rounding of differences
    payoffs[tree.terminals] = table - (table.min(axis=0) + table.max(axis=0)) / 2
    path_start, path, linked, log_chance = walk_up(
        tree.parent,
        edge,
        mover,
        tree.chance_probability,
        belongs,
        decision,
        choice,
        owner,
    )
    by, link = np.nonzero(linked)
    return FlatTree(
        parent=_places(tree.parent),
        edge=_indices(edge),
        mover=_indices(mover),
        gain_start=_places(np.where(edge >= 0, gain_start, 0)),
        gain_end=_places(np.where(edge >= 0, gain_end, 0)),
        gain_sign=_frozen(np.where(is_first, -1.0, 1.0)),
        chance=_frozen(tree.chance_probability),
        owner=_indices(owner),
        start=_indices(choices.start + np.arange(len(choices.start))),
        node_start=_places(node_start),
        decision=_places(decision),
        child=_indices(np.searchsorted(tree.parent, decision)),
        log_chance=_frozen(log_chance),
        path_start=_places(path_start),
        path=_places(path),
        link_start=_places(np.searchsorted(by, np.arange(len(sets) + 1))),
        link=_places(link),
        column=_places(np.argsort(latest)),
        payoffs=_frozen(payoffs),
    )


def workspace(flat: FlatTree) -> Workspace:
    """Memory for the kernels."""
    nodes = len(flat.parent)
    actions, sets = int(flat.start[-1]), len(flat.owner)
    unknowns = actions - sets + 1
    return Workspace(
        log_p=np.empty(actions),
        p=np.empty(actions),
        values=np.empty(actions),
        move=np.empty(nodes),
        payoffs=np.empty_like(flat.payoffs),
        belief=np.zeros(nodes),
        by_log=np.zeros((unknowns - 1, actions)),
        bordered=np.empty((unknowns, unknowns)),
        right=np.empty(unknowns),
        solution=np.empty(unknowns),
    )


def bytes_needed(tree: GameTree) -> int:
    """Memory of the matrices."""
    actions, unknowns = 0, 1
    for labels in tree.infoset_actions:
        if len(labels) > 1:
            actions += len(labels)
            unknowns += len(labels) - 1
    return 8 * ((unknowns - 1) * actions + unknowns**2)


def _places(array: NDArray) -> IntArray:
    # unsigned, because indices that may be negative are checked and wrapped around
    return _frozen(array.astype(np.uint32))


def _indices(array: NDArray) -> IntArray:
    return _frozen(array.astype(np.int32))


def _frozen(array: NDArray) -> NDArray:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
