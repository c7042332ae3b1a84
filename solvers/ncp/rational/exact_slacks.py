"""Whether a rational profile is an equilibrium, in integers, on the sequence form.

Symbols: N players, I information sets, A actions, S sequences, Z terminals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import GameTree


@dataclass(frozen=True, eq=False)
class ExactGame:
    """A game in sequence form with exact payoffs.

    Attributes
    ----------
    parent : Python integers (I,)
        Sequence that leads to each information set.
    block_start : Python integers (I+1,)
        First sequence of each information set.
    columns : int64 (Z', N)
        Last sequences of all players, no row twice.
    payoffs : object (Z', N)
        Integers: chance-weighted payoffs times a common positive factor.
    factor : int
        That factor, times the denominator of the payoffs.
    """

    parent: list[int]
    block_start: list[int]
    columns: NDArray[np.int64]
    payoffs: NDArray
    factor: int

    @classmethod
    def of(cls, tree: GameTree) -> ExactGame:
        """Compiled from a tree whose payoffs and chance are exact."""
        n = tree.n_players
        last = np.tile(np.arange(n), (tree.n_nodes, 1))
        chance = np.full(tree.n_nodes, Fraction(1), dtype=object)
        for node in range(1, tree.n_nodes):
            before, action = int(tree.parent[node]), int(tree.incoming[node])
            last[node], chance[node] = last[before], chance[before]
            if action >= 0:
                last[node, tree.player[before]] = action + n
            else:
                chance[node] *= Fraction(int(tree.chance[node]), tree.chance_denominator)
        weights = chance[tree.terminals]
        factor = lcm(*(weight.denominator for weight in weights))
        scaled = np.array([int(weight * factor) for weight in weights], dtype=object)
        columns, group = np.unique(last[tree.terminals], axis=0, return_inverse=True)
        numerators, denominator = tree.payoffs.rational()
        payoffs = np.zeros((len(columns), n), dtype=object)
        np.add.at(payoffs, group.ravel(), scaled[:, None] * numerators.astype(object))
        parent = np.where(tree.infoset_parent < 0, tree.infoset_player, tree.infoset_parent + n)
        return cls(
            parent.tolist(),
            (tree.action_start + n).tolist(),
            columns,
            payoffs,
            factor * denominator,
        )

    def is_equilibrium(self, frequencies: Sequence[Fraction]) -> bool:
        """Whether all frequencies (A,) are distributions and no player gains by deviating."""
        n = self.columns.shape[1]
        plans = self._plans(frequencies)
        if plans is None:
            return False
        direct = self.direct_values(plans)
        best = direct.copy()
        for i in reversed(range(len(self.parent))):
            best[self.parent[i]] += max(best[self.block(i)])
        for p in range(n):
            own = np.unique(self.columns[:, p])
            if (plans[own] * direct[own]).sum() != plans[p] * best[p]:
                return False
        return True

    def direct_values(self, plans: NDArray) -> NDArray:
        """Values of sequences over the terminals that end in them, object (S,).

        From whole plans (S,); in units of `factor`, and of the other players' factors.
        """
        values = np.zeros(len(plans), dtype=object)
        reach = plans[self.columns]
        for p in range(self.columns.shape[1]):
            others = np.delete(reach, p, axis=1).prod(axis=1)
            np.add.at(values, self.columns[:, p], others * self.payoffs[:, p])
        return values

    def _plans(self, frequencies: Sequence[Fraction]) -> NDArray | None:
        """Realization plans (S,) as integers, each player's times a factor of their own.

        None if frequencies are negative or do not sum to 1.
        """
        n = self.columns.shape[1]
        plans = [Fraction(1)] * n + list(frequencies)
        owner = list(range(n)) + [0] * len(frequencies)
        for i, parent in enumerate(self.parent):
            block = self.block(i)
            row = plans[block]
            if min(row) < 0 or sum(row) != 1:
                return None
            plans[block] = [plans[parent] * share for share in row]
            owner[block] = [owner[parent]] * len(row)
        factor = [
            lcm(*(x.denominator for x, q in zip(plans, owner, strict=True) if q == p))
            for p in range(n)
        ]
        whole = [int(x * factor[q]) for x, q in zip(plans, owner, strict=True)]
        return np.array(whole, dtype=object)

    def block(self, infoset: int) -> slice:
        """The sequences of an information set."""
        return slice(self.block_start[infoset], self.block_start[infoset + 1])
