"""What the decisions of a game are about, outcomes left out that are avoided whatever others do.

One action that ruins everybody says nothing about the size of a regret: it is dominated, so play
does not go there. Symbols: M nodes, A actions, R rows; a row is a node at which a player decides,
or the same moves of others and of chance after each action of such a node, which do not depend on
the decision; its columns are the nodes that the actions lead to.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from eqbench.model.tree import GameTree

CHANCE = -1
_ROUNDING = 2.0**-48  # relative, of payoffs that come from a few sums of floats


def least_difference(tree: GameTree) -> Fraction:
    """Least difference of two payoffs of one player, which nothing at stake is below; or 0."""
    payoffs, denominator = _numbers(tree)
    found = []
    for own in payoffs.T:
        values = np.unique(own)
        found.append(_least(values[1:] - values[:-1], values[1:], values[:-1]))
    return Fraction(min(filter(None, found), default=0)) / denominator


def least_at_stake(tree: GameTree) -> Fraction:
    """Least that is at stake in a decision where anything is; or 0.

    At stake is the difference between the largest and the smallest payoff of the player at the
    terminals below a row, less actions that are dominated; of these, what playing one can cost.
    Dominated actions are removed until there are none, since without them others are.
    """
    if not tree.n_actions:
        return Fraction(0)
    (payoffs, denominator), least = _numbers(tree), [0]
    rows = [list(_rows(tree, player)) for player in range(tree.n_players)]
    kept, removed = np.ones(tree.n_actions, dtype=bool), np.zeros(1, dtype=np.intp)
    while len(removed):
        edge = kept[tree.incoming] | (tree.incoming < 0)
        reached, gone = edge.copy(), []
        for level in tree.levels[1:]:
            reached[level] &= reached[tree.parent[level]]
        for player, own in enumerate(payoffs.T):
            lowest, highest = _bounds(tree, own, edge)
            # on average over chance moves, which is exact enough to find what is dominated
            worst, best = _bounds(tree, tree.payoffs.table[:, player], edge, averaged=True)
            for sets, columns in rows[player]:
                played = reached[columns].any(axis=1)
                sets, columns = sets[played], columns[played]
                actions = tree.action_start[sets][:, None] + np.arange(columns.shape[1])
                dominated = kept[actions] & _dominated(
                    sets, worst[columns], best[columns], kept[actions]
                )
                gone.append(actions[dominated])
                stays = kept[actions] & ~dominated
                top = np.where(stays, highest[columns], own.min()).max(axis=1)[:, None]
                bottom = np.where(stays, lowest[columns], own.max()).min(axis=1)[:, None]
                bottom = np.where(stays, bottom, lowest[columns])
                least.append(_least(top - bottom, top, bottom))
        removed = np.concatenate(gone) if gone else removed[:0]
        kept[removed] = False
    return Fraction(min(filter(None, least), default=0)) / denominator


def _numbers(tree: GameTree) -> tuple[NDArray, int]:
    """Payoffs (Z, N) as integers over a denominator, or as they are if they are floats."""
    if not tree.payoffs.exact:
        return tree.payoffs.table, 1
    payoffs, denominator = tree.payoffs.rational()
    fits = -(2**62) < int(payoffs.min()) <= int(payoffs.max()) < 2**62  # so do differences
    return payoffs if fits else payoffs.astype(object), denominator


def _least(differences: NDArray, *of: NDArray) -> Any:
    """Least positive difference, or 0; floats that differ by rounding are equal."""
    if differences.dtype.kind == "f":
        differences[differences <= _ROUNDING * np.maximum(*map(abs, of))] = 0
    return min(differences[differences > 0].tolist(), default=0)


def _bounds(
    tree: GameTree, payoffs: NDArray, edge: NDArray[np.bool_], *, averaged: bool = False
) -> tuple[NDArray, NDArray]:
    """Smallest and largest payoff (Z,) at or below each node, two (M,), along edges (M,)."""
    highest = np.zeros(tree.n_nodes, dtype=payoffs.dtype)
    highest[tree.terminals] = payoffs
    lowest, least, most = highest.copy(), payoffs.min(), payoffs.max()
    for level in reversed(tree.levels[1:]):
        above = tree.parent[level]
        first = np.flatnonzero(np.diff(above, prepend=-1))  # siblings stand side by side
        parents, drawn = above[first], tree.player[above[first]] == CHANCE
        for values, bound, none in (
            (highest, np.maximum, least),
            (lowest, np.minimum, most),
        ):
            values[parents] = bound.reduceat(np.where(edge[level], values[level], none), first)
            if averaged and drawn.any():
                mean = np.add.reduceat(tree.chance_probability[level] * values[level], first)
                values[parents[drawn]] = mean[drawn]
    return lowest, highest


def _rows(tree: GameTree, player: int) -> Iterator[tuple[NDArray, NDArray]]:
    """Information sets (R,) and columns (R, n) of rows of a player, by the number of actions."""
    nodes = np.arange(tree.n_nodes + 1, dtype=tree.parent.dtype)
    bounds = np.searchsorted(tree.parent, nodes)
    first, count = bounds[:-1], np.diff(bounds)
    own = np.flatnonzero(tree.player == player)
    alike, drawn = tree.infoset.astype(np.int64), {}
    for node in np.flatnonzero(tree.player == CHANCE).tolist():
        odds = tree.chance[first[node] : first[node] + count[node]].tobytes()
        alike[node] = tree.n_infosets + drawn.setdefault(odds, len(drawn))
    for size in np.unique(count[own][count[own] > 1]):
        here = own[count[own] == size]
        sets, columns, parts = tree.infoset[here], first[here][:, None] + np.arange(size), []
        while len(sets):
            same = (alike[columns] == alike[columns[:, :1]]).all(axis=1)
            same &= alike[columns[:, 0]] >= 0
            parts.append((sets[~same], columns[~same]))
            moves = count[columns[same, 0]]
            move = np.arange(moves.sum()) - np.repeat(np.cumsum(moves) - moves, moves)
            sets = np.repeat(sets[same], moves)
            columns = first[np.repeat(columns[same], moves, axis=0)] + move[:, None]
        sets, columns = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(sets, kind="stable")
        yield sets[order], columns[order]


def _dominated(sets: NDArray, worst: NDArray, best: NDArray, kept: NDArray) -> NDArray[np.bool_]:
    """Which actions others dominate in all rows of their set, (R, n); rows stand by set (R,)."""
    _, first, which, size = np.unique(
        sets, return_index=True, return_inverse=True, return_counts=True
    )
    # [set, better, worse]
    covers = kept[first][:, :, None] & ~np.eye(kept.shape[1], dtype=bool)
    exceeds = np.zeros_like(covers)
    for k in range(size.max(initial=0)):
        here = np.flatnonzero((size > k) & covers.any(axis=(1, 2)))
        if not len(here):
            break
        better, other = worst[first[here] + k][:, :, None], best[first[here] + k][:, None, :]
        covers[here] &= better >= other
        exceeds[here] |= better > other
    return (covers & exceeds).any(axis=1)[which]
