"""How much an action can gain over another one, whatever the players do."""

from __future__ import annotations

import numpy as np

from eqbench.model.tree import CHANCE, FloatArray, GameTree


def gain_bounds(tree: GameTree) -> FloatArray:
    """Bounds of differences of counterfactual values at each information set, float64 (I,).

    At a node, payoffs differ by at most what all players together can make of it. A sum over
    the nodes of a set counts them with the reach of chance, and that of all players is 1 at most.
    """
    nodes = np.flatnonzero(tree.infoset >= 0)
    own, sets = tree.player[nodes], tree.infoset[nodes]
    with np.errstate(over="ignore"):  # infinite is a bound too
        spread = (_values(tree, np.maximum) - _values(tree, np.minimum))[nodes, own]
        by_chance = np.bincount(sets, _chance_reach(tree)[nodes] * spread, tree.n_infosets)
    largest = np.zeros(tree.n_infosets)
    np.maximum.at(largest, sets, spread)
    return np.minimum(by_chance, largest)


def _values(tree: GameTree, choose: np.ufunc) -> FloatArray:
    """Value of each node to each player (M, N) if all moves are those that `choose` likes."""
    values = np.zeros((tree.n_nodes, tree.n_players))
    values[tree.terminals] = tree.payoffs.table
    for level in reversed(tree.levels[1:]):
        first = np.flatnonzero(np.diff(tree.parent[level], prepend=-1))
        above = tree.parent[level][first]
        mean = np.add.reduceat(tree.chance_probability[level, None] * values[level], first)
        chosen = choose.reduceat(values[level], first)
        values[above] = np.where((tree.player[above] == CHANCE)[:, None], mean, chosen)
    return values


def _chance_reach(tree: GameTree) -> FloatArray:
    """Probability of each node if all players go there, (M,)."""
    reach = tree.chance_probability.copy()
    for level in tree.levels[1:]:
        reach[level] *= reach[tree.parent[level]]
    return reach
