"""A compiled sweep over the flat tree in floats, for large games.

It goes depth first through nodes that stand breadth first. At every depth it meets them from left
to right, so it only has to know the next node of each: every array is read once and in order, and
next to the tree it takes memory for the depths and the actions alone.

Nothing is shared with the kernels of solvers but the decorator that compiles;
:class:`eqbench.verification.sweep.TreeSweep` is the oracle.

Symbols: D depths, N players, A actions.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.tree import CHANCE, TERMINAL, FloatArray, GameTree
from eqbench.verification.sweep import UNIT, chance_units, entry_units

# Indices are unsigned: Numba lets negative ones wrap around, which made the walk 1.4 times slower.
# With an ordinary integer they would become floats.
_ONE = np.uint64(1)


class CompiledSweep:
    """Measures many profiles on one tree in floating-point numbers."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        # below the last depth there is nothing
        levels = (*tree.levels, slice(tree.n_nodes, tree.n_nodes))
        ends = [np.count_nonzero(tree.player[level] == TERMINAL) for level in levels]
        starts, stops = [level.start for level in levels], [level.stop for level in levels]
        self._depths = np.array([starts, stops, np.cumsum(ends) - ends], dtype=np.uint64)

    def evaluate(self, behavior: NDArray) -> tuple[FloatArray, FloatArray]:
        """Expected payoffs and best-response values of all players, two float64 (N,).

        Parameters
        ----------
        behavior : float64 (A,)
            Frequencies of all actions.

        Raises
        ------
        ValueError
            If there is not one for each action; compiled code checks no bounds.
        """
        tree = self.tree
        if np.shape(behavior) != (tree.n_actions,):
            raise ValueError(
                f"the frequencies have shape {np.shape(behavior)}; expected ({tree.n_actions},)"
            )
        if tree.n_nodes == 1:
            return tree.payoffs.table[0].copy(), tree.payoffs.table[0].copy()
        value = np.zeros(tree.n_actions)
        payoffs, best = _walk(
            (tree.parent, tree.player, tree.infoset, tree.chance, tree.payoffs.table),
            float(tree.chance_denominator),
            tree.action_start,
            np.array(behavior, dtype=np.float64),
            self._depths.copy(),
            value,
            (0,) * tree.n_players,
        )
        _respond(tree.action_start, tree.infoset_parent, tree.infoset_player, value, best)
        return payoffs, best

    def errors(self, behavior: FloatArray) -> FloatArray:
        """Bounds as of :meth:`TreeSweep.errors`, as if all terms were the worst that there is."""
        tree, (chance, additions, payoffs) = self.tree, self._fixed
        units = max(chance, np.max(entry_units(behavior, tree.action_start), initial=0))
        return 2 * UNIT * (units * (len(tree.levels) - 1) + additions + 2) * payoffs

    @cached_property
    def _fixed(self) -> tuple[float, int, FloatArray]:
        """Units of a move of chance, most additions of a term, and largest payoffs (N,)."""
        tree = self.tree
        # over children, over nodes of an information set, and over sets that follow an action
        additions = sum(int(np.max(tree.move[level])) + 1 for level in tree.levels[1:])
        additions += int(np.max(np.bincount(tree.infoset[tree.infoset >= 0]), initial=0))
        additions += int(np.max(np.bincount(tree.infoset_parent + 1), initial=0)) * len(tree.levels)
        return np.max(chance_units(tree)), additions, np.max(np.abs(tree.payoffs.table), axis=0)


@kernel
def _walk(nodes, denominator, action_start, behavior, depths, value, players):
    """Meet every node once, and return two (N,): expected payoffs, and those without a move.

    The latter are a player's payoffs at the terminals that come before any move of that player,
    weighted with the reach of chance and of the others. `value` (A,), zero on entry, receives the
    same of the terminals that follow each action without another move of its player.

    `depths` (3, D+1) has the first node, the end, and the first row of payoffs of each depth. The
    length of `players` is known to the compiler, which unrolls the loops over them.
    """
    parent, player, infoset, chance, payoffs = nodes
    start, stop, row = depths
    # of the node that is open at each depth
    mover = np.full(len(start), player[0], dtype=np.int64)
    action = np.zeros(
        len(start), dtype=np.uint64
    )  # to its next child; without a meaning for chance
    share = np.ones(len(start))  # probability of the move to it
    reach = np.ones((len(start), len(players)))  # its probability as far as all others make it
    mean = np.zeros((len(start), len(players)))  # payoffs from there on
    bare = np.zeros((len(start), len(players)))  # those without another own move
    depth = node = np.uint64(0)
    start[0] = _ONE
    if player[0] != CHANCE:
        action[0] = action_start[infoset[0]]
    while True:
        below = depth + _ONE
        child = start[below]
        if child < stop[below] and np.uint64(parent[child]) == node:
            start[below] = child + _ONE
            who, last = mover[depth], action[depth]
            action[depth] = last + _ONE
            part = chance[child] / denominator if who == CHANCE else behavior[last]
            if player[child] == TERMINAL:
                z = row[below]
                row[below] = z + _ONE
                for p in range(len(players)):
                    mean[depth, p] += part * payoffs[z, p]
                    if p == who:
                        value[last] += reach[depth, p] * payoffs[z, p]
                    else:
                        bare[depth, p] += part * payoffs[z, p]
            else:
                mover[below], share[below] = player[child], part
                if player[child] != CHANCE:
                    action[below] = action_start[np.uint64(infoset[child])]
                for p in range(len(players)):
                    reach[below, p] = reach[depth, p] * (1.0 if p == who else part)
                    mean[below, p] = bare[below, p] = 0.0
                depth, node = below, child
        elif depth > 0:  # no child is left, so the node counts for its parent
            part, below, depth = share[depth], depth, depth - _ONE
            who, last, node = mover[depth], action[depth] - _ONE, start[depth] - _ONE
            for p in range(len(players)):
                mean[depth, p] += part * mean[below, p]
                if p == who:
                    value[last] += reach[depth, p] * bare[below, p]
                else:
                    bare[depth, p] += part * bare[below, p]
        else:
            return mean[0], bare[0]


@kernel
def _respond(action_start, infoset_parent, infoset_player, value, best):
    """Add what players gain by their moves to `best` (N,); later sets stand behind earlier ones."""
    for back in range(len(infoset_player)):
        i = len(infoset_player) - 1 - back
        highest = value[action_start[i] : action_start[i + 1]].max()
        if infoset_parent[i] < 0:
            best[infoset_player[i]] += highest
        else:
            value[infoset_parent[i]] += highest
