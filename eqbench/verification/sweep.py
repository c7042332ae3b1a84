"""Sweeps over the flat tree, for floating-point numbers and for exact integers alike.

Symbols: M nodes, N players, A actions, Z terminals. Own actions are numbered from 1 here, so
that 0 can stand for "no own action yet".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import GameTree


@dataclass(frozen=True)
class Numbers:
    """A profile and the chances and payoffs of a game in one arithmetic.

    Attributes
    ----------
    action : (A,)
        Frequency of each action.
    chance : (M,)
        Probability with which chance leads to each node; 1 where a player does.
    payoffs : (Z, N)
    scale : N+1 arrays, or None
        With integers, paths of different lengths have different denominators. Entry p of the
        list gives, by the last own action of player p (A+1,), the factor that makes them
        equal; the last entry gives the same for chance, by terminal (Z,).
    """

    action: NDArray
    chance: NDArray
    payoffs: NDArray
    scale: list[NDArray] | None = None


class TreeSweep:
    """The structure of one tree, prepared for measuring many profiles on it."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.mover = np.where(tree.incoming < 0, -1, tree.player[tree.parent])
        self.last_own = [self._last_own_action(p) for p in range(tree.n_players)]
        self.own_depth = self._own_depth()

    def _last_own_action(self, player: int) -> NDArray[np.int32]:
        """Last action of a player before each terminal, from 1, 0 if there is none; (Z,)."""
        tree = self.tree
        last = np.zeros(tree.n_nodes, dtype=np.int32)
        for level in tree.levels[1:]:
            inherited = last[tree.parent[level]]
            own = self.mover[level] == player
            inherited[own] = tree.incoming[level][own] + 1
            last[level] = inherited
        return last[tree.terminals]

    def _own_depth(self) -> NDArray[np.int64]:
        """Earlier own decisions before each information set, (I,)."""
        tree = self.tree
        infoset_of = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
        depth = np.zeros(tree.n_infosets, dtype=np.int64)
        for i, above in enumerate(tree.infoset_parent):  # parents come first
            if above >= 0:
                depth[i] = depth[infoset_of[above]] + 1
        return depth

    def evaluate(self, numbers: Numbers) -> tuple[NDArray, NDArray]:
        """Expected payoffs and best-response values of all players, two (N,)."""
        reach = self._reach(numbers, left_out=None)
        # along contiguous rows NumPy sums in pairs, which keeps rounding small
        payoffs = (reach * np.ascontiguousarray(numbers.payoffs.T)).sum(axis=1)
        best = [self._best_response(numbers, p) for p in range(self.tree.n_players)]
        # NumPy would make floats of Python integers from 2**63 to 2**64
        return payoffs, np.array(best, dtype=payoffs.dtype)

    def _reach(self, numbers: Numbers, left_out: int | None) -> NDArray:
        """Probability of each terminal when one player's own moves count as certain; (Z,)."""
        tree = self.tree
        edge = numbers.chance.copy()
        counted = (self.mover >= 0) & (self.mover != (-1 if left_out is None else left_out))
        edge[counted] = numbers.action[tree.incoming[counted]]
        for level in tree.levels[1:]:
            edge[level] *= edge[tree.parent[level]]
        reach = edge[tree.terminals]
        if numbers.scale is not None:
            *by_player, by_chance = numbers.scale
            reach = reach * by_chance
            for p, factor in enumerate(by_player):
                if p != left_out:
                    reach = reach * factor[self.last_own[p]]
        return reach

    def _best_response(self, numbers: Numbers, player: int) -> float | int:
        """Value of a best response, by the player's own decisions, the latest first."""
        tree = self.tree
        weighted = self._reach(numbers, left_out=player) * numbers.payoffs[:, player]
        value = sum_by(self.last_own[player], weighted, tree.n_actions + 1)
        own = tree.infosets_of(player)
        infosets = np.arange(own.start, own.stop)
        for depth in range(int(self.own_depth[infosets].max(initial=-1)), -1, -1):
            here = infosets[self.own_depth[infosets] == depth]
            first, stop = tree.action_start[here[0]], tree.action_start[here[-1] + 1]
            starts = tree.action_start[here] - first
            best = np.maximum.reduceat(value[first + 1 : stop + 1], starts)
            np.add.at(value, tree.infoset_parent[here] + 1, best)
        return value[0]


def sum_by(index: NDArray, values: NDArray, size: int) -> NDArray:
    """Sums of `values` over equal `index`, in the arithmetic of `values`."""
    if values.dtype == np.float64:
        return np.bincount(index, values, size)
    total = np.zeros(size, dtype=values.dtype)
    np.add.at(total, index, values)
    return total
