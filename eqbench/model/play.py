"""A profile played out on the tree: worth and reach of every node, in either arithmetic.

Arrays hold floats or Fractions alike. Symbols: M nodes, N players, I information sets, A actions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.profile import BehaviorProfile, exact_frequencies
from eqbench.model.tree import CHANCE, GameTree, sum_by

ROUNDING = 1e-12  # of the payoffs; floats that differ by less are equal


class Play:
    """Frequencies on one tree, and what follows from them at every node.

    Attributes
    ----------
    frequency : (A,)
    played : (A,)
        The frequencies that count for reach; what rounding leaves of an action is 0.
    edge : (M,)
        Probability of the move that leads to each node; 1 at the root.
    payoffs : (Z, N)
    tolerance : float
        Up to this, in payoff units, a loss counts as none; 0 for Fractions.
    """

    def __init__(
        self,
        tree: GameTree,
        frequency: NDArray,
        chance: NDArray,
        payoffs: NDArray,
        *,
        unplayed: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        self.tree, self.frequency, self.payoffs = tree, frequency, payoffs
        self.tolerance = tolerance
        self.played = np.where(abs(frequency) > unplayed, frequency, frequency * 0)
        self.moved = np.flatnonzero(tree.incoming >= 0)
        self.edge = chance.copy()
        self.edge[self.moved] = frequency[tree.incoming[self.moved]]

    @classmethod
    def of(
        cls,
        tree: GameTree,
        profile: BehaviorProfile,
        *,
        tolerance: float = 1e-6,
        unplayed: float = 1e-9,
    ) -> Play:
        """The play of a profile in floats.

        Parameters
        ----------
        tolerance : share of the payoff scale up to which a loss counts as none
        unplayed : frequency up to which an action counts as not played

        Raises
        ------
        UsageError
            If floats do not resolve what the decisions of this game are about.
        """
        if tree.is_wide:
            raise UsageError("floats do not resolve the losses of this game; use fractions")
        checked = BehaviorProfile.of(tree, profile.probabilities)
        return cls(
            tree,
            checked.probabilities,
            tree.chance_probability,
            tree.payoffs.table,
            unplayed=unplayed,
            tolerance=tolerance * tree.payoff_scale,
        )

    @classmethod
    def exactly(cls, tree: GameTree, profile: BehaviorProfile) -> Play:
        """The play of a profile in Fractions, read as by :func:`exact_frequencies`."""
        frequencies = exact_frequencies(tree, profile)
        chance = fractions(tree.chance, tree.chance_denominator)
        chance[0] = Fraction(1)
        payoffs = fractions(*tree.payoffs.rational())
        return cls(tree, np.array(frequencies, dtype=object), chance, payoffs)

    def like(self, frequency: NDArray, payoffs: NDArray | None = None) -> Play:
        """The play of other frequencies (A,), and perhaps payoffs (Z, N), on the same tree."""
        payoffs = self.payoffs if payoffs is None else payoffs
        return Play(self.tree, frequency, self.edge, payoffs, tolerance=self.tolerance)

    def evenly(self, *, exact: bool) -> Play:
        """The play, perhaps in Fractions, of the same actions, those of a set equally often."""
        starts, is_played = self.tree.action_start, (self.played > 0).astype(int)
        counts = np.repeat(np.add.reduceat(is_played, starts[:-1]), np.diff(starts))
        frequencies = map(Fraction, is_played.tolist(), counts.tolist())
        profile = BehaviorProfile.of_exact(self.tree, tuple(frequencies))
        if exact:
            return Play.exactly(self.tree, profile)
        return Play.of(self.tree, profile, tolerance=ROUNDING)

    @property
    def one(self) -> Any:
        """The number 1 in this arithmetic."""
        return Fraction(1) if self.exact else 1.0

    @property
    def exact(self) -> bool:
        """True if all numbers are Fractions."""
        return self.edge.dtype == object

    @cached_property
    def mover(self) -> NDArray[np.int8]:
        """Mover that led to each node, (M,); CHANCE also at the root."""
        mover = self.tree.player[self.tree.parent]
        mover[0] = CHANCE
        return mover

    @cached_property
    def gain(self) -> NDArray:
        """Gain of the mover from leading to a node rather than playing as prescribed, (M,).

        Everybody plays as prescribed afterwards; 0 where chance moves.
        """
        tree, gain = self.tree, np.zeros_like(self.edge)
        for player in range(tree.n_players):
            worth = self.worth(player)
            own = np.flatnonzero(self.mover == player)
            gain[own] = worth[own] - worth[tree.parent[own]]
        return gain

    def worth(self, player: int) -> NDArray:
        """Expected payoff of a player from each node on, (M,)."""
        tree, worth = self.tree, np.zeros_like(self.edge)
        worth[tree.terminals] = self.payoffs[:, player]
        for level in reversed(tree.levels[1:]):
            above = tree.parent[level]
            first = np.flatnonzero(np.diff(above, prepend=-1))  # siblings stand side by side
            worth[above[first]] = np.add.reduceat(self.edge[level] * worth[level], first)
        return worth

    @cached_property
    def others(self) -> NDArray:
        """Probability with which the others and chance lead to each decision node, (M,)."""
        tree, others = self.tree, np.zeros_like(self.edge)
        for player in range(tree.n_players):
            own = np.flatnonzero(tree.player == player)
            others[own] = self.reach(self.mover == player)[own]
        return others

    def reach(self, certain: NDArray[np.bool_]) -> NDArray:
        """Probability of each node when some moves, marked where they lead to, are certain."""
        reach = self.edge.copy()
        reach[self.moved] = self.played[self.tree.incoming[self.moved]]
        reach[certain] = self.one
        for level in self.tree.levels[1:]:
            reach[level] *= reach[self.tree.parent[level]]
        return reach

    @cached_property
    def own(self) -> NDArray:
        """Probability with which their owner's moves admit each information set, (I,)."""
        tree = self.tree
        own = np.full(tree.n_infosets, self.one)
        infoset = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
        for i, above in enumerate(tree.infoset_parent.tolist()):  # parents come first
            if above >= 0:
                own[i] = own[infoset[above]] * self.played[above]
        return own

    @cached_property
    def by_chance(self) -> NDArray:
        """Payoffs (Z, N) above the least, weighted with chance; of Fractions in integers."""
        above = self.payoffs - self.payoffs.min(axis=0)
        weighted = self.reach(self.mover >= 0)[self.tree.terminals, None] * above
        if not self.exact:
            return weighted
        common = math.lcm(*{value.denominator for value in weighted.flat})
        return np.frompyfunc(int, 1, 1)(weighted * common)

    @cached_property
    def first_child(self) -> NDArray[np.int64]:
        """First child of each node, (M+1,)."""
        return self.tree.first_children()

    @cached_property
    def deciding(self) -> NDArray[np.int64]:
        """Decision nodes by information set."""
        order = np.argsort(self.tree.infoset, kind="stable")
        return order[np.count_nonzero(self.tree.infoset < 0) :]

    @cached_property
    def first_node(self) -> NDArray[np.int64]:
        """Where the nodes of each information set begin in `deciding`, (I+1,)."""
        sets = np.arange(self.tree.n_infosets + 1)
        return np.searchsorted(self.tree.infoset[self.deciding], sets)

    def nodes_of(self, infoset: int) -> NDArray[np.int64]:
        """Nodes of an information set."""
        return self.deciding[self.first_node[infoset] : self.first_node[infoset + 1]]

    def path(self, node: int) -> list[int]:
        """Actions of all players that lead to a node, the latest first."""
        actions = []
        while node > 0:
            actions.append(int(self.tree.incoming[node]))
            node = int(self.tree.parent[node])
        return [action for action in actions if action >= 0]

    def least(self, values: NDArray) -> NDArray:
        """Least of the values (M,) at the nodes of each information set, (I,)."""
        return np.minimum.reduceat(values[self.deciding], self.first_node[:-1])

    def total(self, values: NDArray) -> NDArray:
        """Sum of the values (M,) at the nodes of each information set, (I,)."""
        return np.add.reduceat(values[self.deciding], self.first_node[:-1])

    def gains_at(self, nodes: NDArray) -> NDArray:
        """Gains of all actions, in columns, at nodes of one information set, in rows."""
        size = len(self.tree.infoset_actions[self.tree.infoset[nodes[0]]])
        return self.gain[self.first_child[nodes, None] + np.arange(size)]

    def mean_gains(self, weights: NDArray) -> NDArray:
        """Sum of the gains of each action, (A,), over nodes with weights (M,)."""
        weighted = weights[self.tree.parent[self.moved]] * self.gain[self.moved]
        return sum_by(self.tree.incoming[self.moved], weighted, self.tree.n_actions)

    def gains_of(self, mixture: NDArray) -> NDArray:
        """Gain at each node, (M,), of playing frequencies (A,) in one information set."""
        weighted = mixture[self.tree.incoming[self.moved]] * self.gain[self.moved]
        return sum_by(self.tree.parent[self.moved], weighted, self.tree.n_nodes)


def fractions(numerators: NDArray, denominator: int) -> NDArray:
    """Integers over one denominator as an array of Fractions."""
    array = np.empty(numerators.size, dtype=object)
    array[:] = [Fraction(value, denominator) for value in numerators.ravel().tolist()]
    return array.reshape(numerators.shape)
