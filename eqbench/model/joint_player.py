"""One player, or several who act as one, in sequence form.

Symbols in shapes: C sequences of the joint player, J information sets of theirs, Z terminals,
A actions of the tree. Sequence 0 is the empty one, and parents stand before what follows them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eqbench.model.tree import FloatArray, GameTree


@dataclass(frozen=True, eq=False)
class JointPlayer:
    """Sequences of players who share what they know and remember it.

    Where one of them moves, all of them know the information set of that one, and in which
    information sets who chose what before, in this order. What a member was informed of but has not
    yet had to act on is unknown to the others. A single player is the special case in which
    the information sets are those of the tree.

    Attributes
    ----------
    action : int64 (C,)
        Action of the tree that each sequence ends in; -1 at the empty one.
    infoset : int64 (C,)
        Joint information set that each sequence ends in; -1 at the empty one.
    parent : int64 (J,)
        Sequence that leads to each joint information set.
    last : int64 (Z,)
        Last sequence on the path to each terminal.
    """

    action: NDArray[np.int64]
    infoset: NDArray[np.int64]
    parent: NDArray[np.int64]
    last: NDArray[np.int64]

    @property
    def n_sequences(self) -> int:
        return len(self.action)

    @property
    def n_infosets(self) -> int:
        return len(self.parent)

    def flow(self) -> sparse.csr_array:
        """Matrix E, float64 (J+1, C): x >= 0 is a plan if E x = (1, 0, ..., 0).

        Row 0 is the weight of the empty sequence, row j + 1 the weights within information
        set j less that of the sequence leading there (von Stengel 1996, §3).
        """
        size = self.n_sequences
        rows = np.concatenate((self.infoset + 1, np.arange(self.n_infosets) + 1))
        columns = np.concatenate((np.arange(size), self.parent))
        signs = np.concatenate((np.ones(size), -np.ones(self.n_infosets)))
        return sparse.csr_array((signs, (rows, columns)), shape=(self.n_infosets + 1, size))

    def least_value(self, values: NDArray) -> Any:
        """Least total that any plan leads to, in the arithmetic of `values`.

        Parameters
        ----------
        values : (Z,), float64, integer or object
            What each terminal adds where the joint player goes there: its payoff, times chance
            and the others' weights.
        """
        total = np.zeros(self.n_sequences, dtype=values.dtype)
        np.add.at(total, self.last, values)
        first = np.searchsorted(self.infoset, np.arange(self.n_infosets + 1))
        for sets in reversed(self._set_blocks(first)):
            start, stop = first[sets.start], first[sets.stop]
            least = np.minimum.reduceat(total[start:stop], first[sets] - start)
            np.add.at(total, self.parent[sets], least)
        return total[0]

    def _set_blocks(self, first: NDArray[np.int64]) -> list[slice]:
        """Information sets by the number of earlier own moves, which grows with their index.

        `first` (J+1,) is the first sequence of each set; parents never decrease.
        """
        blocks: list[slice] = []
        begin, above = 0, 1
        while begin < self.n_infosets:
            end = int(np.searchsorted(self.parent, above))
            blocks.append(slice(begin, end))
            begin, above = end, first[end]
        return blocks


def joint_player(tree: GameTree, members: Collection[int]) -> JointPlayer:
    """The players `members` of a game as one player with perfect recall."""
    moved, rank, latest = _own_moves(tree, members)
    row = tree.action_infoset
    sequence = np.zeros(tree.n_nodes, dtype=np.int64)
    actions, infosets, parents = [np.array([-1])], [np.array([-1])], [np.empty(0, dtype=np.int64)]
    size, sets = 1, 0
    # Nodes reached by equally many own moves; a sequence has one length, so none comes twice.
    for nodes in np.split(moved, np.flatnonzero(np.diff(rank[moved])) + 1 if len(moved) else []):
        above = sequence[latest[tree.parent[nodes]]]
        key = above * max(tree.n_actions, 1) + tree.incoming[nodes]
        found, which = np.unique(key, return_inverse=True)
        sequence[nodes] = size + which
        before, action = np.divmod(found, max(tree.n_actions, 1))
        starts = np.ones(len(found), dtype=bool)
        starts[1:] = (np.diff(before) != 0) | (np.diff(row[action]) != 0)
        actions.append(action)
        infosets.append(sets - 1 + np.cumsum(starts))
        parents.append(before[starts])
        size, sets = size + len(found), sets + int(starts.sum())
    return JointPlayer(
        np.concatenate(actions),
        np.concatenate(infosets),
        np.concatenate(parents),
        sequence[latest[tree.terminals]],
    )


def _own_moves(
    tree: GameTree, members: Collection[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Nodes that moves of `members` lead to, by their number of such moves on the path.

    With them, for all nodes: this number, and the last such node on the path (0 if none).
    """
    moved = np.isin(tree.player[tree.parent], list(members))
    moved[0] = False
    rank, latest = np.zeros((2, tree.n_nodes), dtype=np.int64)
    for level in tree.levels[1:]:
        above = tree.parent[level]
        rank[level] = rank[above] + moved[level]
        latest[level] = np.where(moved[level], np.arange(level.start, level.stop), latest[above])
    nodes = np.flatnonzero(moved)
    return nodes[np.argsort(rank[nodes], kind="stable")], rank, latest


def payoff_matrix(
    tree: GameTree, payoffs: FloatArray, rows: JointPlayer, columns: JointPlayer
) -> sparse.csr_array:
    """Payoffs times chance, float64 (C of `rows`, C of `columns`).

    With `payoffs` float64 (Z,) at the terminals, entry (s, t) is the sum over those whose last
    sequences are s and t. So plans x and y give the expected payoff ``x @ matrix @ y`` (von
    Stengel 1996, §3).
    """
    chance = tree.along_paths(tree.chance_probability)
    entries, shape = chance[tree.terminals] * payoffs, (rows.n_sequences, columns.n_sequences)
    return sparse.csr_array((entries, (rows.last, columns.last)), shape=shape)
