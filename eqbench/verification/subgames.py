"""Subgame perfection: regrets in every subgame of a tree (Selten 1965)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import GameTree
from eqbench.verification.play import Play
from eqbench.verification.sweep import sum_by


@dataclass(frozen=True, eq=False)
class SubgameRegrets:
    """Regrets of all players in all subgames.

    Attributes
    ----------
    roots : (R,)
        Nodes at which subgames begin, the root of the whole game first.
    regrets : (R, N) floats, or Fractions as objects
    tolerance : float
        In payoff units; 0 in exact mode.
    """

    roots: NDArray
    regrets: NDArray
    tolerance: float

    @property
    def n_proper(self) -> int:
        """Number of subgames beside the whole game."""
        return len(self.roots) - 1

    @property
    def perfect(self) -> bool:
        """True if nobody gains by deviating in any subgame."""
        return bool((self.regrets <= self.tolerance).all())

    def __str__(self) -> str:
        if not self.n_proper:
            return "no proper subgame"
        good = int((self.regrets[1:].max(axis=1) <= self.tolerance).sum())
        return f"{good}/{self.n_proper}"


def subgame_roots(tree: GameTree) -> NDArray[np.int64]:
    """Nodes at which subgames begin: no information set is partly below them; (R,) ascending.

    Numbers in preorder make the nodes below one node an interval, so that it is enough to look at
    the first and last node of the information sets below; linear time.
    """
    n, above = tree.n_nodes, tree.parent
    size = np.ones(n, dtype=np.int64)
    for level in reversed(tree.levels[1:]):
        np.add.at(size, above[level], size[level])
    before = np.cumsum(size) - size  # of the nodes that stand earlier in the same level
    order = np.zeros(n, dtype=np.int64)
    for level in tree.levels[1:]:
        first = np.flatnonzero(np.diff(above[level], prepend=-1))
        counts = np.diff(np.append(first, level.stop - level.start))
        start = np.repeat(before[level][first], counts)
        order[level] = order[above[level]] + 1 + before[level] - start
    decided = tree.infoset >= 0
    first_of = np.full(tree.n_infosets, n)
    last_of = np.zeros(tree.n_infosets, dtype=np.int64)
    np.minimum.at(first_of, tree.infoset[decided], order[decided])
    np.maximum.at(last_of, tree.infoset[decided], order[decided])
    low, high = order.copy(), order.copy()
    low[decided], high[decided] = first_of[tree.infoset[decided]], last_of[tree.infoset[decided]]
    for level in reversed(tree.levels[1:]):
        np.minimum.at(low, above[level], low[level])
        np.maximum.at(high, above[level], high[level])
    closed = (low >= order) & (high < order + size)
    return np.flatnonzero(closed & (size > 1))


def subgame_perfect(play: Play) -> SubgameRegrets:
    """Regrets in all subgames, in time linear in the tree and its subgames."""
    tree, roots = play.tree, subgame_roots(play.tree)
    regrets = [best_responses(play, roots, p) - play.worth(p)[roots] for p in range(tree.n_players)]
    return SubgameRegrets(roots, np.stack(regrets, axis=1), play.tolerance)


def best_responses(play: Play, roots: NDArray, player: int) -> NDArray:
    """Values (R,) of best responses in all subgames."""
    return best_values(play, roots, player)[play.tree.n_actions :]


def best_values(play: Play, roots: NDArray, player: int) -> NDArray:
    """Values of a player's actions, (A,) and 0 for others, then of subgames, (R,), played best.

    Those of actions are weighted with how the others reach them in their innermost subgame.

    A smaller subgame counts in a larger one like a terminal with its value: whoever plays best
    there needs to know nothing of the rest. So every information set is solved once, with reaches
    from the innermost subgame on. Values are gathered by the last own action in this subgame, or
    by its root where there is none yet.
    """
    tree, n_actions = play.tree, play.tree.n_actions
    own = play.mover == player
    reach, key = play.edge.copy(), tree.incoming.astype(np.int64)
    reach[own] = play.one
    depth = own.astype(np.int64)
    outer_reach, outer_key = reach[roots], key[roots]
    begins = np.full(tree.n_nodes, -1)
    begins[roots] = np.arange(len(roots))
    reach[0], key[0] = play.one, n_actions
    for level in tree.levels[1:]:
        above = tree.parent[level]
        depth[level] += depth[above]
        reach[level] *= reach[above]
        key[level] = np.where(own[level], key[level], key[above])
        here = np.flatnonzero(begins[level] >= 0)
        nodes, subgames = here + level.start, begins[level][here]
        outer_reach[subgames], outer_key[subgames] = reach[nodes], key[nodes]
        reach[nodes], key[nodes] = play.one, n_actions + subgames
    value = sum_by(
        key[tree.terminals], reach[tree.terminals] * play.payoffs[:, player], n_actions + len(roots)
    )
    sets = np.array(tree.infosets_of(player), dtype=np.int64)
    first_nodes = play.deciding[play.first_node[sets]]
    for now in range(int(depth.max()), -1, -1):
        here = depth[first_nodes] == now
        if here.any():
            starts = tree.action_start[sets[here]]
            stop = tree.action_start[sets[here][-1] + 1]
            best = np.maximum.reduceat(value[starts[0] : stop], starts - starts[0])
            np.add.at(value, key[first_nodes[here]], best)
        for r in reversed(np.flatnonzero(depth[roots] == now).tolist()):
            if r:
                value[outer_key[r]] += outer_reach[r] * value[n_actions + r]
    return value
