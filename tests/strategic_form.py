"""Dominated plans by the definition: a linear program over all pure plans of a small game."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from eqbench.model.tree import GameTree


def dominated_plans(tree: GameTree, played: NDArray) -> list[bool]:
    """Whether a plan of each player that plays these of the A actions is weakly dominated.

    Which of them it plays more often makes no difference. It is held against mixtures of pure
    plans, whatever pure plans the others have.
    """
    needed, reach = np.zeros((tree.n_nodes, tree.n_actions), bool), tree.chance_probability.copy()
    for node in range(1, tree.n_nodes):
        needed[node] = needed[tree.parent[node]]
        if tree.incoming[node] >= 0:
            needed[node, tree.incoming[node]] = True
        reach[node] *= reach[tree.parent[node]]
    needed, reach = needed[tree.terminals], reach[tree.terminals]
    rows = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    even, owner = played / np.bincount(rows, played)[rows], tree.infoset_player[rows]
    pure = []  # of each player: the terminals (Z,) that each pure plan admits
    for player in range(tree.n_players):
        sets = [np.flatnonzero(rows == i) for i in tree.infosets_of(player)]
        left_out = (np.setdiff1d(np.flatnonzero(owner == player), each) for each in product(*sets))
        pure.append(np.unique([~needed[:, each].any(axis=1) for each in left_out], axis=0))
    found = []
    for player in range(tree.n_players):
        others = np.ones((1, len(reach)), bool)
        for other in (*pure[:player], *pure[player + 1 :]):
            others = np.unique((others[:, None] & other).reshape(-1, len(reach)), axis=0)
        own = np.where(needed & (owner == player), even, 1).prod(axis=1)
        payoffs = others * reach * tree.payoffs.table[:, player]
        gains = (pure[player] - own) @ payoffs.T
        gains[abs(gains) <= 1e-12 * abs(payoffs).max()] = 0
        gains /= abs(gains).max() or 1
        best = linprog(-gains.sum(axis=1), -gains.T, np.zeros(len(others)), [[1] * len(gains)], 1)
        found.append(bool(best.fun < -1e-6))
    return found
