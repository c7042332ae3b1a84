"""Bounds of multipliers and slacks that follow from the payoffs at the terminals.

That such bounds help branch and bound is published (Ganzfried 2026, arXiv 2606.25997); these
are simple ones: from every node on, play lies between what an enemy and a friend would make of
it who decide for everybody and see everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eqbench.model.tree import CHANCE, FloatArray, GameTree

from .compact import CompactGame


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on what sequences and information sets are worth to their owner.

    Attributes
    ----------
    low, high : float64 (s,)
        Bounds of the value of each sequence of the compact game with best play after it,
        weighted with the reach of chance and of the others, whatever these do.
    infoset_low, infoset_high : float64 (i,)
        The same for information sets: the larger ones of their sequences.
    """

    low: FloatArray
    high: FloatArray
    infoset_low: FloatArray
    infoset_high: FloatArray

    @classmethod
    def of(cls, game: CompactGame, tree: GameTree, unit: float = 1.0) -> Bounds:
        """Bounds from the payoffs of the game's tree, in units of payoffs."""
        worst, best = extremes(tree)
        chance = _chance(tree)
        low, high = np.zeros(game.n_sequences), np.zeros(game.n_sequences)
        ends = np.flatnonzero(tree.incoming >= 0)
        sequence = tree.incoming[ends] + game.n_players
        player = game.form.infoset_player[game.form.sequence_infoset[sequence]]
        here = game.alias[sequence]
        # an alias must count once, where its own choice was made
        real = (here >= 0) & _is_choice(game)[sequence]
        at, who, node = here[real], player[real], ends[real]
        # others may not come here at all, so 0 is always possible
        np.add.at(low, at, chance[node] * np.minimum(worst[node, who] / unit, 0.0))
        np.add.at(high, at, chance[node] * np.maximum(best[node, who] / unit, 0.0))
        starts = game.start[:-1]
        inside = slice(game.n_players, None)
        return cls(
            low,
            high,
            np.maximum.reduceat(low[inside], starts - game.n_players),
            np.maximum.reduceat(high[inside], starts - game.n_players),
        )

    def infoset(self, infoset: int) -> tuple[float, float]:
        """Bounds of a multiplier."""
        return float(self.infoset_low[infoset]), float(self.infoset_high[infoset])


def _is_choice(game: CompactGame) -> np.ndarray:
    """Whether each sequence of the game stands for itself, bool (S,)."""
    first = np.full(game.n_sequences, -1)
    ids = np.flatnonzero(game.alias >= 0)
    first[game.alias[ids[::-1]]] = ids[::-1]
    result = np.zeros(len(game.alias), dtype=bool)
    result[first[first >= 0]] = True
    return result


def _chance(tree: GameTree) -> FloatArray:
    """Probability with which chance leads to each node, float64 (M,)."""
    reach = tree.chance_probability.copy()
    for level in tree.levels[1:]:
        reach[level] *= reach[tree.parent[level]]
    return reach


def extremes(tree: GameTree) -> tuple[FloatArray, FloatArray]:
    """Worst and best expected payoffs of each player from each node on, two float64 (M, N)."""
    worst = np.zeros((tree.n_nodes, tree.n_players))
    worst[tree.player >= 0] = np.inf
    best = -worst
    worst[tree.terminals] = best[tree.terminals] = tree.payoffs.table
    for level in reversed(tree.levels[1:]):
        above = tree.parent[level]
        drawn = tree.player[above] == CHANCE
        chosen, by_chance = above[~drawn], above[drawn]
        np.minimum.at(worst, chosen, worst[level][~drawn])
        np.maximum.at(best, chosen, best[level][~drawn])
        weight = tree.chance_probability[level][drawn, None]
        np.add.at(worst, by_chance, weight * worst[level][drawn])
        np.add.at(best, by_chance, weight * best[level][drawn])
    return worst, best
