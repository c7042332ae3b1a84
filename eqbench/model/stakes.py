"""What the decisions of a game are about, without what players avoid whatever others do.

One action that ruins everybody is dominated, so play does not go there, and it says nothing about
the size of a regret. Symbols: M nodes, A actions, R rows of n columns. A row is a node at which a
player decides, or the same moves of others and of chance after each action of it, which do not
depend on the decision; its columns are the nodes that the actions lead to.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

GameTree = Any  # its module imports this one

CHANCE = -1
_ROUNDING = 2.0**-48  # relative, of payoffs that come from a few sums of floats


def at_stake(tree: GameTree, payoffs: NDArray) -> tuple[Fraction, Fraction]:
    """Least that is ever at stake in a row, and most that is where play can go; 0 for nothing.

    At stake is the difference between the largest and the smallest of the payoffs (Z, N) of the
    player by actions that are not dominated; where there is none, the least loss by one that is.
    Dominated actions are removed until there are none, since without them others are.
    """
    rows = [list(_rows(tree, player)) for player in range(tree.n_players)]
    kept = np.ones(tree.n_actions + 1, dtype=bool)  # the last one stands for chance
    least: list[float | int] = []
    most, gone = least, [0]
    while gone:
        edge, reached, gone, found = kept[tree.incoming], kept[tree.incoming], [], []
        for level in tree.levels[1:]:
            reached[level] &= reached[tree.parent[level]]
        for player, own in enumerate(payoffs.T):
            lowest, highest = _bounds(tree, own, edge)
            # averages over chance moves in floats are exact enough to find what is dominated
            worst, best = _bounds(tree, tree.payoffs.table[:, player], edge, averaged=True)
            for sets, columns in rows[player]:
                here = reached[columns].any(axis=1)
                sets, columns = sets[here], columns[here]
                actions = tree.action_start[sets][:, None] + np.arange(columns.shape[1])
                stays = kept[actions]
                dominated = stays & _dominated(sets, worst[columns], best[columns], stays)
                gone, stays = gone + actions[dominated].tolist(), stays & ~dominated
                top = np.where(stays, highest[columns], own.min()).max(axis=1)[:, None]
                bottom = np.where(stays, lowest[columns], own.max()).min(axis=1)[:, None]
                loss = top - np.where(stays, bottom, lowest[columns])
                if own.dtype.kind == "f":  # floats that differ by rounding are equal payoffs
                    loss[loss <= _ROUNDING * np.maximum(abs(top), abs(top - loss))] = 0
                loss = loss[(loss > 0).any(axis=1)]
                if len(loss):
                    found += np.where(loss > 0, loss, loss.max()).min(axis=1).tolist()
        kept[gone], least, most = False, [*least, min(found, default=0)], found
    return Fraction(min(filter(None, least), default=0)), Fraction(max(most, default=0))


def _bounds(
    tree: GameTree, payoffs: NDArray, edge: NDArray[np.bool_], *, averaged: bool = False
) -> NDArray:
    """Smallest and largest payoff (Z,) at or below each node, (2, M), along edges (M,)."""
    bounds = np.zeros((2, tree.n_nodes), dtype=payoffs.dtype)
    bounds[:, tree.terminals] = payoffs
    neutral = payoffs.max(), payoffs.min()
    for level in reversed(tree.levels[1:]):
        first = np.flatnonzero(np.diff(tree.parent[level], prepend=-1))  # siblings stand together
        above = tree.parent[level][first]
        for values, bound, none in zip(bounds, (np.minimum, np.maximum), neutral, strict=True):
            values[above] = bound.reduceat(np.where(edge[level], values[level], none), first)
            if averaged:
                means = np.add.reduceat(tree.chance_probability[level] * values[level], first)
                values[above] = np.where(tree.player[above] == CHANCE, means, values[above])
    return bounds


def _rows(tree: GameTree, player: int) -> Iterator[tuple[NDArray, NDArray]]:
    """Information sets (R,), sorted, and columns (R, n) of rows of a player, for each n."""
    nodes = np.arange(tree.n_nodes + 1, dtype=tree.parent.dtype)
    first = np.searchsorted(tree.parent, nodes)
    count, alike = np.diff(first), tree.infoset.astype(np.int64)
    odds: dict[bytes, int] = {}
    for node in np.flatnonzero(tree.player == CHANCE):
        drawn = tree.chance[first[node] : first[node + 1]].tobytes()
        alike[node] = tree.n_infosets + odds.setdefault(drawn, len(odds))
    own = np.flatnonzero(tree.player == player)
    for size in np.unique(count[own]):
        here = own[count[own] == size]
        sets, columns, parts = tree.infoset[here], first[here][:, None] + np.arange(size), []
        while len(sets):
            kinds = alike[columns]
            same = (kinds[:, 0] >= 0) & (kinds == kinds[:, :1]).all(axis=1)
            parts.append((sets[~same], columns[~same]))
            moves = count[columns[same, 0]]
            move = np.arange(moves.sum()) - np.repeat(np.cumsum(moves) - moves, moves)
            sets = np.repeat(sets[same], moves)
            columns = first[np.repeat(columns[same], moves, axis=0)] + move[:, None]
        sets, columns = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(sets, kind="stable")
        yield sets[order], columns[order]


def _dominated(sets: NDArray, worst: NDArray, best: NDArray, kept: NDArray) -> NDArray[np.bool_]:
    """Which actions (R, n) a kept one dominates in all rows of their set, of sorted sets (R,)."""
    _, first, which, size = np.unique(
        sets, return_index=True, return_inverse=True, return_counts=True
    )
    covers = kept[first][:, :, None] & ~np.eye(kept.shape[1], dtype=bool)  # [set, better, worse]
    exceeds = np.zeros_like(covers)
    for k in range(size.max(initial=0)):
        here = np.flatnonzero((size > k) & covers.any(axis=(1, 2)))
        if not len(here):
            break
        better, other = worst[first[here] + k][:, :, None], best[first[here] + k][:, None, :]
        covers[here] &= better >= other
        exceeds[here] |= better > other
    dominated: NDArray[np.bool_] = np.any(covers & exceeds, axis=1)
    return dominated[which]
