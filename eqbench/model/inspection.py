"""How a profile is played: what it reaches, and what the actions there are worth.

Symbols: M nodes, N players, I information sets, A actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray, GameTree


@dataclass(frozen=True, eq=False)
class Inspection:
    """Reach and action values of a profile.

    Attributes
    ----------
    reach : float64 (I,)
        Probability that play reaches each information set: chance and all players.
    own_reach : float64 (I,)
        The owner's part of it, as if everybody else played to get there.
    counterfactual_reach : float64 (I,)
        The part of chance and the other players, as if the owner played to get there.
    gaps : float64 (A,)
        Value of the best action at the information set minus that of each action, in payoff
        units, given that the information set is reached when the owner plays to get there
        and plays the profile afterwards; NaN where the counterfactual reach is 0.
    """

    reach: FloatArray
    own_reach: FloatArray
    counterfactual_reach: FloatArray
    gaps: FloatArray


def inspect_profile(game: Game, behavior: NDArray) -> Inspection:
    """Reach and action values of the frequencies `behavior`, float64 (A,)."""
    tree, counterfactual = game.tree, counterfactual_reach(game.tree, behavior)
    values = game.payoff_model().counterfactual_values(behavior)
    form, row = game.sequence_form, tree.action_infoset
    weight = np.where(counterfactual > 0, counterfactual, np.nan)[row]
    best = np.maximum.reduceat(values, tree.action_start[:-1]) if tree.n_infosets else values
    return Inspection(
        reach=infoset_reach(tree, behavior),
        own_reach=RealizationPlan.of(form, behavior).weights[form.parent],
        counterfactual_reach=counterfactual,
        gaps=(best[row] - values) / weight,
    )


def infosets_as_played(game: Game, behavior: NDArray) -> list[dict[str, Any]]:
    """All information sets as JSON values: what reaches them, and each action's frequency and gap.

    A gap is None where the counterfactual reach is 0.
    """
    tree, seen = game.tree, inspect_profile(game, behavior)
    reaches = ("reach", "own_reach", "counterfactual_reach")
    gaps = (None if np.isnan(gap) else gap for gap in seen.gaps.tolist())
    moves = iter(zip(behavior.tolist(), gaps, strict=True))  # of all information sets in turn
    return [
        {
            "player": tree.players[tree.infoset_player[at]],
            "label": label,
            **{name: float(getattr(seen, name)[at]) for name in reaches},
            "actions": [
                {"action": action, "frequency": frequency, "gap": gap}
                for action, (frequency, gap) in zip(tree.infoset_actions[at], moves, strict=False)
            ],
        }
        for at, label in enumerate(tree.infoset_labels)
    ]


def infoset_reach(tree: GameTree, behavior: NDArray, but: int = -1) -> FloatArray:
    """Reach of all information sets, where the moves of player `but` count as certain; (I,)."""
    reach = tree.chance_probability.copy()
    made = tree.incoming >= 0
    if but >= 0:
        made &= tree.player[tree.parent] != but
    reach[made] = behavior[tree.incoming[made]]
    reach, inside = tree.along_paths(reach), tree.infoset >= 0
    return np.bincount(tree.infoset[inside], reach[inside], tree.n_infosets).astype(np.float64)


def counterfactual_reach(tree: GameTree, behavior: NDArray) -> FloatArray:
    """Reach of each information set where its owner's moves count as certain, (I,)."""
    reach = [infoset_reach(tree, behavior, player) for player in range(tree.n_players)]
    return np.array(reach)[tree.infoset_player, np.arange(tree.n_infosets)]


def payoff_bounds(tree: GameTree) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest payoffs of each player that can follow on each node, (M, N) each."""
    low = np.full((tree.n_nodes, tree.n_players), np.inf)
    high = -low
    low[tree.terminals] = high[tree.terminals] = tree.payoffs.table
    for level in tree.levels[:0:-1]:
        np.minimum.at(low, tree.parent[level], low[level])
        np.maximum.at(high, tree.parent[level], high[level])
    return low, high


def moves_to(tree: GameTree, node: int) -> list[tuple[int, int]]:
    """Information sets and moves of the players on the way to a node, from the root on."""
    found = []
    while node > 0:
        parent = int(tree.parent[node])
        if tree.infoset[parent] >= 0:
            found.append((int(tree.infoset[parent]), int(tree.move[node])))
        node = parent
    return found[::-1]


def on_the_way(tree: GameTree, ends: NDArray) -> NDArray[np.bool_]:
    """Nodes, bool (M,), that are some of `ends` (numbers of nodes) or on the way there."""
    passed = np.zeros(tree.n_nodes, dtype=bool)
    passed[ends] = True
    for level in reversed(tree.levels[1:]):
        passed[tree.parent[level][passed[level]]] = True
    return passed
