"""The game as the programs see it: without sequences that carry no choice.

Symbols: N players, S sequences and A actions of the game; s sequences, i information sets and
z columns that are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray


@dataclass(frozen=True, eq=False)
class CompactGame:
    """Sequences, information sets and payoffs after presolve.

    An information set with one remaining action is an alias: its sequence is the one that
    leads there, so weight, slack and multiplier of that sequence go. Removed actions go with
    everything that follows them.

    Attributes
    ----------
    form : SequenceForm
        The game's own.
    alias : int64 (S,)
        Sequence here that stands for each sequence of the game; -1 if it was removed.
    owner : int64 (s,)
        Player of each sequence; the N empty ones come first.
    parent, infoset_player : int64 (i,)
        Sequence that leads to each information set, and who moves there.
    start : int64 (i+1,)
        First sequence of each information set; blocks are contiguous.
    columns : int64 (z, N)
        Sequences of all players, no row twice.
    payoffs : float64 (z, N)
        Weighted with chance.
    rooted : bool
        Whether the weights of empty sequences are variables, and not just 1.
    """

    form: SequenceForm
    alias: NDArray[np.int64]
    owner: NDArray[np.int64]
    parent: NDArray[np.int64]
    infoset_player: NDArray[np.int64]
    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    payoffs: FloatArray
    rooted: bool = False

    @classmethod
    def of(cls, form: SequenceForm, removed: NDArray | None = None) -> CompactGame:
        """The game with aliases for sets of one action, less removed actions, bool (A,)."""
        n = form.n_players
        kept = np.ones(form.n_sequences, dtype=bool)
        if removed is not None:
            kept[n:] = ~removed
        alias = np.full(form.n_sequences, -1)
        alias[:n] = np.arange(n)
        owner, parent, player, start = list(range(n)), [], [], [n]
        for i in range(form.n_infosets):
            above = alias[form.parent[i]]
            block = np.arange(form.block_start[i], form.block_start[i + 1])
            block = block[kept[block]]
            if above < 0:
                continue
            if len(block) == 1:
                alias[block] = above
                continue
            alias[block] = len(owner) + np.arange(len(block))
            owner += [int(form.infoset_player[i])] * len(block)
            parent.append(int(above))
            player.append(int(form.infoset_player[i]))
            start.append(len(owner))
        columns, payoffs = _merge(alias[form.columns], form.payoffs)
        indices = [np.array(part, dtype=np.int64) for part in (owner, parent, player, start)]
        return cls(form, alias, indices[0], indices[1], indices[2], indices[3], columns, payoffs)

    @classmethod
    def verbatim(cls, form: SequenceForm) -> CompactGame:
        """The game as it is, with the weights of empty sequences as variables."""
        n = form.n_players
        owner = np.concatenate(
            (np.arange(n), np.repeat(form.infoset_player, np.diff(form.block_start)))
        ).astype(np.int64)
        return cls(
            form=form,
            alias=np.arange(form.n_sequences),
            owner=owner,
            parent=form.parent.astype(np.int64),
            infoset_player=form.infoset_player.astype(np.int64),
            start=form.block_start.astype(np.int64),
            columns=form.columns.astype(np.int64),
            payoffs=form.payoffs,
            rooted=True,
        )

    @property
    def n_players(self) -> int:
        return self.form.n_players

    @property
    def n_sequences(self) -> int:
        return len(self.owner)

    @property
    def n_infosets(self) -> int:
        return len(self.parent)

    def sequences(self, infoset: int) -> range:
        """The sequences that end at an information set."""
        return range(int(self.start[infoset]), int(self.start[infoset + 1]))

    def weights(self, found: FloatArray) -> FloatArray:
        """Weights of the game's own sequences, float64 (S,), from those here (s,)."""
        return np.where(self.alias >= 0, found[self.alias], 0.0)


def _merge(columns: NDArray, payoffs: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """Distinct columns without removed sequences, and the sums of their payoffs."""
    possible = (columns >= 0).all(axis=1)
    rows, group = np.unique(columns[possible], axis=0, return_inverse=True)
    total = np.zeros((len(rows), columns.shape[1]))
    np.add.at(total, group.ravel(), payoffs[possible])
    return rows.astype(np.int64), total
