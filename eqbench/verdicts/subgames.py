"""Subgame perfection: regrets in every subgame of a tree (Selten 1965)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.regularity import best_values
from eqbench.model.play import Play
from eqbench.model.tree import GameTree


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
        """Number of subgames less the whole game."""
        return len(self.roots) - 1

    @property
    def perfect(self) -> bool:
        """True if no player gains by deviating in any subgame."""
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
