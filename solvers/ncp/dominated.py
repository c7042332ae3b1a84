"""Dominated actions of a game, found from bounds on what can still happen.

Symbols in shapes: M nodes, N players, A actions, Z terminals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import CHANCE, INT64_SAFE, GameTree, IntArray


@dataclass(frozen=True, eq=False)
class Dominated:
    """Which actions are dominated, and when that was found.

    Attributes
    ----------
    round_of : int32 (A,), read-only
        Round in which an action was removed, from 1; 0 if it stays.
    """

    round_of: IntArray

    @property
    def removed(self) -> NDArray[np.bool_]:
        """Whether each action is dominated, bool (A,), read-only."""
        removed = self.round_of > 0
        removed.setflags(write=False)
        return removed

    @property
    def rounds(self) -> int:
        """Number of rounds that removed something."""
        return int(self.round_of.max(initial=0))


def dominated_actions(tree: GameTree) -> Dominated:
    """Actions that a player can do without, whatever all players do later.

    An action goes if its information set keeps another one such that at every node of the set
    the worst that can happen to the player after the other is at least as good as the best that
    can happen after it. Worst and best are over all remaining play of everybody, with
    expectations at chance nodes. Of actions with the same single payoff the first stays. Removed
    actions narrow the play, so this is repeated until nothing changes; nodes that only removed
    actions lead to count for nothing, and a set without other nodes loses nothing more.

    Every equilibrium of the game that is left is one of the whole game. The others play no
    removed action there. Against that, a strategy that uses a removed action gains nothing over
    the one that takes the dominating action instead, at every node of the set that is reached,
    and then goes on with whatever actions are left; what the player would have done after the
    removed action is never asked. Going through a player's sets from the first decision on, and
    through the rounds from the last one back, every reply is so replaced by one in the remaining
    game that is at least as good. The converse does not hold: dominance is weak, so equilibria
    that use removed actions are lost.

    Comparisons are exact if the game is; otherwise bounds carry the rounding of their sums.
    """
    play = _Play(tree)
    round_of = np.zeros(tree.n_actions, dtype=np.int32)
    rounds = 0
    while True:
        found = play.dominated(round_of > 0)
        if not found.any():
            round_of.setflags(write=False)
            return Dominated(round_of)
        rounds += 1
        round_of[found] = rounds


class _Play:
    """A tree prepared for passes over what can still happen."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.payoffs, self.chance, self.beyond = _numbers(tree)
        self.first = np.flatnonzero(np.diff(tree.parent)) + 1  # the first child of each parent
        self.first_child = np.full(tree.n_nodes, -1)
        self.first_child[tree.parent[self.first]] = self.first
        self.sizes = np.diff(tree.action_start)

    def dominated(self, removed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Remaining actions that are dominated when some are removed already, bool (A,)."""
        tree = self.tree
        bounds, lost = self._bounds(removed), self._lost(removed)
        node = np.flatnonzero((tree.infoset >= 0) & ~lost)
        infoset = tree.infoset[node]
        worst_at, best_at = tree.player[node], tree.n_players + tree.player[node]
        child, first = self.first_child[node], tree.action_start[infoset]

        def covers(better: int, worse: int) -> NDArray[np.bool_]:
            """Sets (I,) that keep both actions and where one is never worse than the other."""
            both = self.sizes[infoset] > max(better, worse)
            both[both] = ~(removed[first[both] + better] | removed[first[both] + worse])
            worst = bounds[child[both] + better, worst_at[both]]
            best = -bounds[child[both] + worse, best_at[both]]
            holds = np.zeros(tree.n_infosets, dtype=bool)
            holds[infoset[both]] = True
            holds[infoset[both][worst < best]] = False
            return holds

        found = np.zeros(tree.n_actions, dtype=bool)
        for a in range(int(self.sizes.max(initial=0))):
            for b in range(a):
                earlier = covers(b, a)
                later = covers(a, b) & ~earlier  # of two equal ones the first stays
                found[tree.action_start[:-1][earlier] + a] = True
                found[tree.action_start[:-1][later] + b] = True
        return found

    def _bounds(self, removed: NDArray[np.bool_]) -> NDArray:
        """Lowest payoffs after each node and, negated, the highest; (M, 2N).

        Since both halves look for a minimum, one pass from the leaves does. A node after k
        moves of chance has the k-th power of chance's denominator left out, see `_numbers`.
        """
        tree = self.tree
        bounds = np.zeros((tree.n_nodes, 2 * tree.n_players), dtype=self.payoffs.dtype)
        bounds[tree.terminals] = np.hstack([self.payoffs, -self.payoffs])
        gone = self._led_by(removed)
        for level in tree.levels[:0:-1]:
            start, stop = np.searchsorted(self.first, [level.start, level.stop])
            first = self.first[start:stop] - level.start
            parents = tree.parent[self.first[start:stop]]
            below = bounds[level]
            open_play = np.where(gone[level, None], self.beyond, below)
            bounds[parents] = np.minimum.reduceat(open_play, first)
            by_chance = tree.player[parents] == CHANCE
            if by_chance.any():
                means = np.add.reduceat(below * self.chance[level, None], first)
                bounds[parents[by_chance]] = means[by_chance]
        return bounds

    def _lost(self, removed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Nodes that only removed actions lead to, bool (M,)."""
        lost = self._led_by(removed)
        for level in self.tree.levels[1:]:
            lost[level] |= lost[self.tree.parent[level]]
        return lost

    def _led_by(self, removed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Nodes to which a removed action leads directly, bool (M,)."""
        return np.append(removed, False)[self.tree.incoming]  # -1: no action leads there


def _numbers(tree: GameTree) -> tuple[NDArray, NDArray, float | int]:
    """Payoffs (Z, N) and chances (M,) in one arithmetic, and a number above all payoffs.

    Of an exact game they are integers: a payoff after k moves of chance is lifted by chance's
    denominator to the power of the most such moves on any path, less k, so that all children of
    a node are over the same denominator and expectations need no division.
    """
    if not tree.exact:
        return tree.payoffs.table, tree.chance_probability, np.inf
    moves = np.zeros(tree.n_nodes, dtype=np.int64)
    for level in tree.levels[1:]:
        above = tree.parent[level]
        moves[level] = moves[above] + (tree.player[above] == CHANCE)
    most = int(moves.max())
    payoffs, _ = tree.payoffs.rational()
    beyond = int(abs(payoffs).max()) * tree.chance_denominator**most + 1
    dtype: type = np.int64 if beyond < INT64_SAFE else object
    lift: NDArray = np.array(
        [tree.chance_denominator ** (most - k) for k in range(most + 1)], dtype=dtype
    )
    lifted = payoffs.astype(dtype) * lift[moves[tree.terminals], None]
    return lifted, tree.chance.astype(dtype), beyond
