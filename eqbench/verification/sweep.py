"""Sweeps over the flat tree, for floating-point numbers and for exact integers alike.

Symbols: M nodes, N players, A actions, Z terminals. Own actions are numbered from 1 here, so
that 0 can stand for "no own action yet".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.model.profile import largest_entries
from eqbench.model.tree import CHANCE, FloatArray, GameTree

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
    """

    action: NDArray
    chance: NDArray
    payoffs: NDArray
    scale: list[NDArray] | None = None


class TreeSweep:
    """The structure of one tree, prepared for measuring many profiles on it."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.mover = np.where(tree.incoming < 0, -1, tree.player[tree.parent])
        self.last_own = [self._last_own_action(p) for p in range(tree.n_players)]
        self.own_depth = self._own_depth()
        self._steps = [self._steps_of(p) for p in range(tree.n_players)]

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
        tree = self.tree
        infoset_of = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
        depth = np.zeros(tree.n_infosets, dtype=np.int64)
        for i, above in enumerate(tree.infoset_parent):  # parents come first
            if above >= 0:
                depth[i] = depth[infoset_of[above]] + 1
        return depth

    def _steps_of(self, player: int) -> list[tuple[slice, NDArray, NDArray]]:
        """Own actions by own depth, the latest first: numbers, where sets begin, actions above."""
        tree, own, steps = self.tree, self.tree.infosets_of(player), []
        infosets = np.arange(own.start, own.stop)
        for depth in range(int(self.own_depth[infosets].max(initial=-1)), -1, -1):
            here = infosets[self.own_depth[infosets] == depth]
            first, stop = tree.action_start[here[0]], tree.action_start[here[-1] + 1]
            starts = tree.action_start[here] - first
            steps.append((slice(first + 1, stop + 1), starts, tree.infoset_parent[here] + 1))
        return steps

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
        tree = self.tree
        edge = numbers.chance.copy()
        counted = (self.mover >= 0) & (self.mover != (-1 if left_out is None else left_out))
        edge[counted] = numbers.action[tree.incoming[counted]]
        for level in tree.levels[1:]:
            edge[level] *= edge[tree.parent[level]]
        reach = edge[tree.terminals]
        if numbers.scale is not None:
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

    def errors(self, behavior: FloatArray) -> FloatArray:
        """Bounds (N,) on what rounding does to the difference of both values of :meth:`evaluate`.

        A running error analysis: every term, a payoff times its reach, carries the roundings of
        its factors and of the sums that it goes through, and a maximum is off by no more than
        one of its arguments. The reach of one player is the product of their own frequencies.

        Parameters
        ----------
        behavior : float64 (A,)
            For which those of :func:`~eqbench.model.profile.completed_rows` are meant.
        """
        tree, size = self.tree, self.tree.n_actions + 1
        plan, units = np.ones(size), np.zeros(size)
        own = entry_units(behavior, tree.action_start[:-1]) + (behavior != 1)
        for player in range(tree.n_players):
            for actions, starts, above in reversed(self._steps[player]):
                each = np.repeat(above, np.diff(starts, append=actions.stop - actions.start))
                plan[actions] = behavior[actions.start - 1 : actions.stop - 1] * plan[each]
                units[actions] = own[actions.start - 1 : actions.stop - 1] + units[each]
        chance, certain, payoffs, sums, additions = self._rounding
        reach, of_player = plan[self.last_own], units[self.last_own]
        total = of_player.sum(axis=0) + certain
        error = (chance * reach.prod(axis=0) * (total + sums) * payoffs).sum(axis=1)
        for player, last in enumerate(self.last_own):
            others = chance * np.delete(reach, player, axis=0).prod(axis=0) * payoffs[player]
            weighted = others * (total - of_player[player] + additions[player])
            value = np.stack([sum_by(last, each, size) for each in (others, weighted)], axis=1)
            for actions, starts, above in self._steps[player]:
                best = np.maximum.reduceat(value[actions], starts)
                best[:, 1] += self._sets[above] * best[:, 0]
                np.add.at(value, above, best)
            error[player] += value[0, 1]
        return UNIT * error

    @cached_property
    def _sets(self) -> NDArray[np.int64]:
        """Own information sets that follow each action at once, (A+1,); sums add their values."""
        return np.bincount(self.tree.infoset_parent + 1, minlength=self.tree.n_actions + 1)

    @cached_property
    def _rounding(self) -> tuple[FloatArray, FloatArray, FloatArray, int, FloatArray]:
        """Parts of :meth:`errors` that are the same for all profiles.

        By terminal (Z,): reach of chance, and roundings of it, of payoffs and of their product.
        Then the absolute payoffs (N, Z), the roundings of a sum in pairs over all terminals, and
        those of sums over terminals with the same last own action (N, Z).
        """
        tree = self.tree
        reach, units = tree.chance_probability.copy(), chance_units(tree)
        for level in tree.levels[1:]:
            reach[level] *= reach[tree.parent[level]]
            units[level] += units[tree.parent[level]]
        ends = tree.n_terminals
        # NumPy sums blocks of at most 128 along eight ways, and these in pairs
        sums = ends // 8 + 2 + ends % 8 if ends <= 128 else 26 + math.ceil(math.log2(ends / 128))
        counts = [np.bincount(last, minlength=tree.n_actions + 1) for last in self.last_own]
        additions = [
            (count + self._sets - 1)[last]
            for count, last in zip(counts, self.last_own, strict=True)
        ]
        payoffs = np.ascontiguousarray(np.abs(tree.payoffs.table).T)
        return reach[tree.terminals], units[tree.terminals] + 2, payoffs, sums, np.array(additions)


def entry_units(values: FloatArray, starts: NDArray) -> FloatArray:
    """Relative errors, in units of 2**-53 at most, of floats that stand for completed rows.

    An entry stands for the decimal that it prints as or for a rational of which it is the
    rounding, the largest of a row for what the others leave of 1.
    """
    if len(starts) == 0:
        return np.zeros(len(values))
    largest, others = largest_entries(values, starts)
    # what is too small for this is covered by SMALLEST
    error = np.minimum(np.spacing(values) * 2.0**52, values)
    error[largest] = 0
    sums = np.maximum(np.diff(starts, append=len(values)) - 1, 0) * others
    off = np.abs((1 - values[largest]) - others) * 2.0**53
    error[largest] = off + sums + np.add.reduceat(error, starts)
    return np.divide(error, values, out=error, where=values > 0)


def chance_units(tree: GameTree) -> FloatArray:
    """Relative errors of what chance leads to each node with, and of a product with it, (M,)."""
    units, drawn = np.zeros(tree.n_nodes), np.flatnonzero(tree.player[tree.parent] == CHANCE)
    drawn = drawn[drawn > 0]
    if tree.chance.dtype.kind == "i":  # integers are rounded too where they are long
        units[drawn] = 2 if tree.chance_denominator < 2**53 else 4
    else:
        starts = np.flatnonzero(np.diff(tree.parent[drawn], prepend=-1))
        units[drawn] = 1 + entry_units(tree.chance_probability[drawn], starts)
    return units


def sum_by(index: NDArray, values: NDArray, size: int) -> NDArray:
    """Sums of `values` over equal `index`, in the arithmetic of `values`."""
    if values.dtype == np.float64:
        return np.bincount(index, values, size)
    total = np.zeros(size, dtype=values.dtype)
    np.add.at(total, index, values)
    return total
