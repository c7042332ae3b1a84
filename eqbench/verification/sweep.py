"""Sweeps over the flat tree, for floating-point numbers and for exact integers alike.

Symbols: M nodes, N players, A actions, Z terminals. Own actions are numbered from 1 here, so
that 0 can stand for "no own action yet".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import CHANCE, FloatArray, GameTree, sum_by

# Relative error of an operation, and a little for products of such errors.
UNIT = 1.01 * 2.0**-53
# Of the largest payoff: more than what is lost where products are too small for floats.
SMALLEST = 2.0**-1000


@dataclass(frozen=True)
class Numbers:
    """A profile and the chances and payoffs of a game in one arithmetic.

    Attributes
    ----------
    action : (A,)
        Frequency of each action.
    chance : (M,)
        Probability with which chance leads to each node; 1 where a player does.
    payoffs : (Z, N)
    scale : N+1 arrays, or None
        With integers, paths of different lengths have different denominators. Entry p of the
        list gives, by the last own action of player p (A+1,), the factor that makes them
        equal; the last entry gives the same for chance, by terminal (Z,).
    reaches : dict
        Of terminals, in floats, as far as they are computed.
    """

    action: NDArray
    chance: NDArray
    payoffs: NDArray
    scale: list[NDArray] | None = None
    reaches: dict[int | None, NDArray] = field(default_factory=dict)


class TreeSweep:
    """The structure of one tree, prepared for measuring many profiles on it."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.mover = np.where(tree.incoming < 0, -1, tree.player[tree.parent])
        self.last_own = [self._last_own_action(p) for p in range(tree.n_players)]
        self.own_depth = self._own_depth()
        # own actions by own depth, the latest first: numbers, where sets begin, actions above
        self._steps: list[list[tuple[slice, NDArray, NDArray]]] = []
        for p in range(tree.n_players):
            own = np.array(tree.infosets_of(p), dtype=np.int64)
            steps = []
            for depth in range(int(self.own_depth[own].max(initial=-1)), -1, -1):
                here = own[self.own_depth[own] == depth]
                first, stop = tree.action_start[here[0]], tree.action_start[here[-1] + 1]
                starts = tree.action_start[here] - first
                steps.append((slice(first + 1, stop + 1), starts, tree.infoset_parent[here] + 1))
            self._steps.append(steps)
        # NumPy looks up positions of this type without a copy
        self._levels = [(level, tree.parent[level].astype(np.intp)) for level in tree.levels[1:]]
        self._counted = {}
        for p in range(-1, tree.n_players):
            counted = np.flatnonzero((self.mover >= 0) & (self.mover != p))
            self._counted[p] = counted, tree.incoming[counted].astype(np.intp)

    def _last_own_action(self, player: int) -> NDArray[np.int32]:
        """Last action of a player before each terminal, from 1, 0 if there is none; (Z,)."""
        tree = self.tree
        last = np.zeros(tree.n_nodes, dtype=np.int32)
        for level in tree.levels[1:]:
            inherited = last[tree.parent[level]]
            own = self.mover[level] == player
            inherited[own] = tree.incoming[level][own] + 1
            last[level] = inherited
        return last[tree.terminals]

    def _own_depth(self) -> NDArray[np.int64]:
        """Earlier own decisions before each information set, (I,)."""
        depth = np.zeros(self.tree.n_infosets, dtype=np.int64)
        for i, above in enumerate(self.tree.infoset_parent):  # parents come first
            if above >= 0:
                depth[i] = depth[self.tree.action_infoset[above]] + 1
        return depth

    def evaluate(self, numbers: Numbers) -> tuple[NDArray, NDArray]:
        """Expected payoffs and best-response values of all players, two (N,)."""
        reach = self._reach(numbers, left_out=None)
        # along contiguous rows NumPy sums in pairs, which keeps rounding small
        payoffs = (reach * np.ascontiguousarray(numbers.payoffs.T)).sum(axis=1)
        best = [self._best_response(numbers, p) for p in range(self.tree.n_players)]
        # NumPy would make floats of Python integers from 2**63 to 2**64
        return payoffs, np.array(best, dtype=payoffs.dtype)

    def _reach(self, numbers: Numbers, left_out: int | None) -> NDArray:
        """Probability of each terminal when one player's own moves count as certain; (Z,)."""
        if left_out in numbers.reaches:
            return numbers.reaches[left_out]
        edge = numbers.chance.copy()
        counted, actions = self._counted[-1 if left_out is None else left_out]
        edge[counted] = numbers.action[actions]
        for level, above in self._levels:
            edge[level] *= edge[above]
        reach = edge[self.tree.terminals]
        if numbers.scale is None:
            numbers.reaches[left_out] = reach
        else:
            *by_player, by_chance = numbers.scale
            reach = reach * by_chance
            for p, factor in enumerate(by_player):
                if p != left_out:
                    reach = reach * factor[self.last_own[p]]
        return reach

    def _best_response(self, numbers: Numbers, player: int) -> float | int:
        """Value of a best response, by the player's own decisions, the latest first."""
        tree = self.tree
        weighted = self._reach(numbers, left_out=player) * numbers.payoffs[:, player]
        value = sum_by(self.last_own[player], weighted, tree.n_actions + 1)
        for actions, starts, above in self._steps[player]:
            np.add.at(value, above, np.maximum.reduceat(value[actions], starts))
        return value[0]

    def errors(self, numbers: Numbers) -> FloatArray:
        """Bounds (N,) on what rounding does to the difference of both values of :meth:`evaluate`.

        Every term, a payoff times its reach, is off by the roundings of its factors and of all
        sums that it goes through, in proportion to its size. What the best response computed in
        floats is worth is the largest of what all pure strategies would come to in that order, so
        its error is at most that of one of them.

        The frequencies stand for those of :func:`~eqbench.model.profile.completed_rows`.
        """
        tree, (chance, sums) = self.tree, self._roundings
        units, (counted, actions) = chance.copy(), self._counted[-1]
        units[counted] = entry_units(numbers.action, tree.action_start)[actions]
        for level, above in self._levels:
            units[level] += units[above]
        payoffs = np.abs(numbers.payoffs) * (units[tree.terminals, None] + sums)
        scaled = replace(numbers, payoffs=payoffs)
        best = [self._best_response(scaled, p) for p in range(tree.n_players)]
        return UNIT * (self._reach(scaled, left_out=None) @ payoffs + best)

    @cached_property
    def _roundings(self) -> tuple[FloatArray, NDArray]:
        """Units of moves of chance (M,); other roundings of a term that are always there (Z, N)."""
        tree, ends = self.tree, self.tree.n_terminals
        later = np.bincount(tree.infoset_parent + 1, minlength=tree.n_actions + 1)
        for steps in self._steps:
            for actions, starts, above in reversed(steps):
                sizes = np.diff(starts, append=actions.stop - actions.start)
                later[actions] += np.repeat(later[above], sizes)
        by_action = [(np.bincount(last)[last] + later[last]) for last in self.last_own]
        # NumPy sums blocks of at most 128 along eight ways, and these in pairs
        sums = ends // 8 + 2 + ends % 8 if ends <= 128 else 26 + math.ceil(math.log2(ends / 128))
        return chance_units(tree), 2 + np.maximum(np.transpose(by_action) - 1, sums)


def entry_units(values: FloatArray, bounds: NDArray) -> FloatArray:
    """Bounds on relative errors of floats and of a product with them, in units of 2**-53.

    An entry stands for the decimal that it prints as or for a rational of which it is the
    rounding, the largest of a row for what the others leave of 1. Row i ends before `bounds[i+1]`.
    """
    starts, sizes = bounds[:-1], bounds[1:] - bounds[:-1]
    if len(starts) == 0:
        return np.zeros(len(values))
    largest = np.maximum.reduceat(values, starts)
    missing = np.abs(1 - np.add.reduceat(values, starts)) * 2.0**53
    units = (missing + sizes - largest) / largest
    units = np.where(values == np.repeat(largest, sizes), np.repeat(units, sizes), 1.0)
    return units + (values != 1)


def chance_units(tree: GameTree) -> FloatArray:
    """Relative errors of what chance leads to each node with, and of a product with it, (M,)."""
    units, drawn = np.zeros(tree.n_nodes), np.flatnonzero(tree.player[tree.parent] == CHANCE)
    drawn = drawn[drawn > 0]
    if tree.chance.dtype.kind == "i":  # integers are rounded too where they are long
        units[drawn] = 2 if tree.chance_denominator < 2**53 else 4
    else:
        bounds = np.flatnonzero(np.diff(tree.parent[drawn], prepend=-1, append=-1))
        units[drawn] = entry_units(tree.chance_probability[drawn], bounds)
    return units
