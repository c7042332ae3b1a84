"""Follow moves down a tree by their labels, and read off what is there."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from eqbench.model.tree import GameTree


def children(tree: GameTree, node: int) -> range:
    """Nodes below a node, in the order of the moves."""
    # of another type, the numbers would make NumPy convert all nodes
    ends = np.array([node, node + 1], dtype=tree.parent.dtype)
    first, last = np.searchsorted(tree.parent, ends)
    return range(int(first), int(last))


def follow(tree: GameTree, moves: Iterable[int | str]) -> int:
    """Node that the moves lead to from the root: actions by label, chance by position."""
    node = 0
    for move in moves:
        if isinstance(move, str):
            assert tree.infoset[node] >= 0, f"nobody can {move} here"
            move = tree.infoset_actions[tree.infoset[node]].index(move)
        node = children(tree, node)[move]
    return node


def label_at(tree: GameTree, moves: Iterable[int | str]) -> tuple[str, str, tuple[str, ...]]:
    """Player, label and actions of the information set that the moves lead to."""
    infoset = int(tree.infoset[follow(tree, moves)])
    player = tree.players[tree.infoset_player[infoset]]
    return player, tree.infoset_labels[infoset], tree.infoset_actions[infoset]


def payoffs_at(tree: GameTree, moves: Iterable[int | str]) -> list[Fraction]:
    """Exact payoffs at the terminal that the moves lead to."""
    numerators, denominator = tree.payoffs.rational()
    row = tree.terminals.tolist().index(follow(tree, moves))
    return [Fraction(value, denominator) for value in numerators[row].tolist()]
