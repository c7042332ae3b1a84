"""Recognize a game that has no name of ours, such as one read from a file, by its content."""

from __future__ import annotations

import hashlib
import json
from math import gcd

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import GameTree

LARGEST = 1_000  # nodes; none of the games with published sets is larger


def fingerprint(tree: GameTree) -> str | None:
    """Hash of structure, labels, chance and payoffs; None if the game is large or not exact.

    Equal for equal games, in whatever order their information sets stand and whatever the
    denominators are; a payoff parameter counts with its value.
    """
    if tree.n_nodes > LARGEST or not tree.exact:
        return None
    decisions = tree.infoset[tree.infoset >= 0]
    met = decisions[np.sort(np.unique(decisions, return_index=True)[1])]
    rank = np.full(tree.n_infosets + 1, -1)
    rank[met] = np.arange(len(met))
    numerators, denominator = tree.payoffs.rational()
    facts = [
        tree.players,
        [(tree.infoset_labels[i], tree.infoset_actions[i]) for i in met.tolist()],
        [array.tolist() for array in (tree.parent, tree.player, rank[tree.infoset])],
        _lowest_terms(tree.chance, tree.chance_denominator),
        _lowest_terms(numerators, denominator),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def _lowest_terms(numerators: NDArray, denominator: int) -> list[int]:
    flat = [denominator, *numerators.ravel().tolist()]
    common = gcd(*flat)
    return [value // common for value in flat]
