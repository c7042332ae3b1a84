"""From the nodes of a file, as they are met, to a game tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.model.assemble import InfosetTable, assemble
from eqbench.model.builder import over_one_denominator
from eqbench.model.file_labels import distinct, numbered
from eqbench.model.tree import TERMINAL, GameTree, Payoffs


@dataclass
class Infoset:
    """An information set, or a chance node that may occur repeatedly, as first defined.

    Attributes
    ----------
    at : position of the definition in the file
    before : the player's last own move before it: index of an information set and action, or -1
    probabilities : of the actions, at a chance node
    """

    number: int
    label: str
    actions: list[str]
    at: int
    before: tuple[int, int] = (-1, -1)
    probabilities: Sequence[Fraction] = ()


@dataclass
class Nodes:
    """Nodes in depth-first order, as rows (parent, move, player, information set, depth).

    Attributes
    ----------
    chance : probability by which each node is reached from its parent, 0 unless chance moves
    payoffs : of the terminals, in their order
    infosets : indices of `defined` by player and number
    """

    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    chance: list[Fraction] = field(default_factory=list)
    payoffs: list[tuple[Fraction, ...]] = field(default_factory=list)
    infosets: dict[tuple[int, int], int] = field(default_factory=dict)
    defined: list[Infoset] = field(default_factory=list)

    def tree(self, players: Sequence[str]) -> GameTree:
        """Checked game tree; information sets of equal depth stand in the order of their numbers.

        Raises
        ------
        GameFormatError, ImperfectRecallError
            As :func:`eqbench.model.assemble.assemble`.
        """
        parent, move, player, infoset, depth = np.array(self.rows, dtype=np.int64).T
        # in depth-first order the nodes of one depth already stand as they should
        order = np.argsort(depth, kind="stable")
        rank = np.empty(len(order) + 1, dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        rank[-1] = -1
        keys = sorted(self.infosets)
        index = np.full(len(keys) + 1, -1, dtype=np.int32)
        index[[self.infosets[key] for key in keys]] = np.arange(len(keys), dtype=np.int32)
        chance, denominator = over_one_denominator([self.chance[node] for node in order])
        nodes = {
            "parent": rank[parent[order]],
            "move": move[order].astype(np.int32),
            "player": player[order].astype(np.int8),
            "infoset": index[infoset[order]],
            "chance": chance,
        }
        sets = [self.defined[self.infosets[key]] for key in keys]
        table = InfosetTable(
            [player for player, _ in keys],
            _labels([player for player, _ in keys], sets),
            [tuple(numbered(known.actions)) for known in sets],
        )
        payoffs = self._payoffs(player, order, len(players))
        return assemble(players, nodes, table, payoffs, chance_denominator=denominator)

    def _payoffs(self, player: NDArray, order: NDArray, players: int) -> Payoffs:
        row = np.cumsum(player == TERMINAL) - 1
        rows = [self.payoffs[row[node]] for node in order[player[order] == TERMINAL]]
        flat, denominator = over_one_denominator([value for payoffs in rows for value in payoffs])
        return Payoffs(flat.reshape(len(rows), players), denominator)


def _labels(owners: Sequence[int], sets: Sequence[Infoset]) -> list[str]:
    """Labels of information sets that stand in order of player, distinct for each player."""
    labels: list[str] = []
    for player in sorted(set(owners)):
        own = [known for owner, known in zip(owners, sets, strict=True) if owner == player]
        substitutes = [f"{k.label}_{k.number}" if k.label else str(k.number) for k in own]
        labels += distinct([known.label for known in own], substitutes)
    return labels
