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


class FlatTree(NamedTuple):
    """A game tree without names; all arrays are read-only.

    Attributes
    ----------
    parent : int32 (M,)
    edge : int32 (M,)
        Number among the K actions of the one that leads to a node; -1 where there was no choice.
    mover : int32 (M,)
        Who chose that action, -1 where nobody did.
    chance, log_chance : float64 (M,)
        Probability of the move to a node as far as chance makes it.
    decision : int32 (H,)
        Nodes where a player has a choice, in order.
    choice, child : int32 (H,)
        Information set, among the C, and first child of these nodes.
    owner : int32 (C,)
    start : int32 (C+1,)
        First action of each information set; the first one is the reference of its log-odds.
    payoffs : float64 (M, N)
        Less the middle of each player's; 0 at nodes that are not terminal.
    """

    parent: IntArray
    edge: IntArray
    mover: IntArray
    chance: FloatArray
    log_chance: FloatArray
    decision: IntArray
    choice: IntArray
    child: IntArray
    owner: IntArray
    start: IntArray
    payoffs: FloatArray


class Workspace(NamedTuple):
    """What the kernels overwrite.

    Attributes
    ----------
    log_p, p, values : float64 (K,)
        Log frequency, frequency and conditional value of each action.
    move : float64 (M,)
        Probability of the move that leads to each node.
    log_reach : float64 (M, N)
        Log probability with which all but player n lead to a node.
    payoffs : float64 (M, N)
        Expected payoffs from each node on.
    belief : float64 (M,)
        Probability of a node given its information set, 0 where nobody has a choice.
    by_log : float64 (K, K)
        Derivatives of values (rows) by log frequencies, taken as independent.
    bordered : float64 (F+1, F+1)
    right : float64 (F+1,)
    """

    log_p: FloatArray
    p: FloatArray
    values: FloatArray
    move: FloatArray
    log_reach: FloatArray
    payoffs: FloatArray
    belief: FloatArray
    by_log: FloatArray
    bordered: FloatArray
    right: FloatArray


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
    chance = tree.chance_probability
    payoffs = np.zeros((tree.n_nodes, tree.n_players))
    table = tree.payoffs.table
    # constants change nothing but the rounding of differences
    payoffs[tree.terminals] = table - (table.min(axis=0) + table.max(axis=0)) / 2
    with np.errstate(divide="ignore"):
        log_chance = np.log(chance)
    return FlatTree(
        parent=_indices(tree.parent),
        edge=_indices(edge),
        mover=_indices(np.where(edge >= 0, tree.player[tree.parent], -1)),
        chance=_frozen(chance),
        log_chance=_frozen(log_chance),
        decision=_indices(decision),
        choice=_indices(place[tree.infoset[decision]]),
        child=_indices(np.searchsorted(tree.parent, decision)),
        owner=_indices(tree.infoset_player[choices.infoset]),
        start=_indices(choices.start + np.arange(len(choices.start))),
        payoffs=_frozen(payoffs),
    )


def workspace(flat: FlatTree) -> Workspace:
    """Memory for the kernels."""
    nodes, players = flat.payoffs.shape
    actions, sets = int(flat.start[-1]), len(flat.owner)
    unknowns = actions - sets + 1
    return Workspace(
        log_p=np.empty(actions),
        p=np.empty(actions),
        values=np.empty(actions),
        move=np.empty(nodes),
        log_reach=np.empty((nodes, players)),
        payoffs=np.empty((nodes, players)),
        belief=np.zeros(nodes),
        by_log=np.empty((actions, actions)),
        bordered=np.empty((unknowns, unknowns)),
        right=np.empty(unknowns),
    )


def bytes_needed(tree: GameTree) -> int:
    """Memory of the matrices and of the factors of one."""
    actions, unknowns = 0, 1
    for labels in tree.infoset_actions:
        if len(labels) > 1:
            actions += len(labels)
            unknowns += len(labels) - 1
    return 8 * (actions**2 + 2 * unknowns**2)


def _indices(array: NDArray) -> IntArray:
    return _frozen(array.astype(np.int32))


def _frozen(array: NDArray) -> NDArray:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
