"""Branch and prune over the cases of all information sets.

A node of the search has decided some of them and keeps a box with all profiles that its cases
allow: frequency 0 and a negative value gap (`BELOW`), frequency 1 and a positive one (`ABOVE`),
any frequency and a gap of zero (`EVEN`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx
from numpy.typing import NDArray

from eqbench.model.inspection import moves_to
from eqbench.model.tree import CHANCE, GameTree

from .elimination import used

ZERO, ONE = fmpq(0), fmpq(1)
BELOW, ABOVE, EVEN, OPEN = range(4)
# Ends of boxes are rounded outward to multiples of 1 / GRID, which keeps fractions short. A
# contraction counts if it leaves at most three quarters of an interval: with seven eighths SKP
# at pot 5 takes five times as long for as many nodes, with a half two-player Kuhn poker with
# five cards takes twice as many nodes.
GRID = 2**24
LARGEST_SHARE = fmpq(3, 4)


@dataclass(frozen=True, eq=False)
class BoxedGap:
    """A value gap on a box, by its values at the corners of the box.

    Gaps are multilinear in the frequencies: the corners determine them, and have their exact
    minimum and maximum over the box.
    """

    variables: tuple[int, ...]  # the frequencies that it depends on, ascending
    # rationals, shape (2 ** len(variables),): bit p of the position says which end of its interval
    # variables[p] is at
    corners: NDArray[np.object_]

    @classmethod
    def of(cls, polynomial: fmpq_mpoly) -> BoxedGap:
        """The gap on the unit cube; a corner adds up the terms of which no factor is 0."""
        variables = tuple(used(polynomial))
        gap = cls(variables, np.full(1 << len(variables), ZERO))
        for powers, coefficient in polynomial.to_dict().items():
            gap.corners[sum(1 << p for p, k in enumerate(variables) if powers[k])] = coefficient
        for k in variables:
            low, high = gap.ends(k)
            high += low
        return gap

    def ends(self, variable: int) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Values with a variable at its low and at its high end; views of the corners."""
        pairs = self.corners.reshape(-1, 2, 1 << self.variables.index(variable))
        return pairs[:, 0], pairs[:, 1]

    def narrowed(self, variable: int, start: fmpq, end: fmpq) -> BoxedGap:
        """The gap on the part of the box between two shares of the interval of a variable."""
        low, high = self.ends(variable)
        step = high - low
        if start < end:
            corners = np.stack((low + step * start, low + step * end), axis=1)
            return BoxedGap(self.variables, corners.ravel())
        return self._without(variable, low + step * start)

    def _without(self, variable: int, values: NDArray[np.object_]) -> BoxedGap:
        """The gap by its values at a fixed variable, and without others that went with it."""
        gap = BoxedGap(tuple(k for k in self.variables if k != variable), values.ravel())
        for k in gap.variables:
            low, high = gap.ends(k)
            if (low == high).all():
                return gap._without(k, low)
        return gap

    def contracted(self, variable: int, sign: int) -> tuple[fmpq, fmpq] | None:
        """Smallest interval of a variable with all points where sign times the gap is >= 0.

        As shares of its present interval; None if there are no such points. At each corner of
        the others the gap is linear in this variable, and its maximum over the others is the
        largest of these linear functions, which is convex.
        """
        low, high = (end * sign for end in self.ends(variable))
        starts_below, ends_below = low.max() < 0, high.max() < 0
        if starts_below and ends_below:
            return None
        rises = high > low if starts_below else high < low
        zeros = low[rises] / (low[rises] - high[rises])
        return zeros.min() if starts_below else ZERO, zeros.max() if ends_below else ONE


@dataclass(eq=False)
class CaseNode:
    """Cases of the n information sets, the box, and the gaps on it."""

    cases: list[int]
    low: list[fmpq]
    high: list[fmpq]
    gaps: list[BoxedGap]

    @classmethod
    def root(cls, gaps: Sequence[fmpq_mpoly]) -> CaseNode | None:
        """The node of which no case is chosen, with all that follows; None if it is empty."""
        n = len(gaps)
        node = cls([OPEN] * n, [ZERO] * n, [ONE] * n, [BoxedGap.of(gap) for gap in gaps])
        return node if node._settle(set(range(n))) else None

    @property
    def open(self) -> list[int]:
        """Information sets whose case is not decided."""
        return [k for k, case in enumerate(self.cases) if case == OPEN]

    def child(self, k: int, case: int) -> CaseNode | None:
        """The node with one more case decided and all that follows; None if it is empty."""
        node = CaseNode(self.cases[:], self.low[:], self.high[:], self.gaps[:])
        changed: set[int] = set()
        return node if node._decide(k, case, changed) and node._settle(changed) else None

    def _decide(self, k: int, case: int, changed: set[int]) -> bool:
        self.cases[k] = case
        changed.add(k)
        value = {BELOW: ZERO, ABOVE: ONE}.get(case)
        return value is None or self._restrict(k, value, value, changed)

    def _restrict(self, k: int, low: fmpq, high: fmpq, changed: set[int]) -> bool:
        """Intersect the interval of frequency k; False if nothing remains."""
        start, end = self.low[k], self.high[k]
        low, high = max(low, start), min(high, end)
        if low > high:
            return False
        if (low, high) != (start, end):
            self.low[k], self.high[k] = low, high
            shares = (low - start) / (end - start), (high - start) / (end - start)
            for j, gap in enumerate(self.gaps):
                if k in gap.variables:
                    changed.add(j)
                    self.gaps[j] = gap.narrowed(k, *shares)
        return True

    def _settle(self, changed: set[int]) -> bool:
        """Draw all conclusions from the gaps that changed; False if the node is empty."""
        while changed:
            k = min(changed)
            changed.remove(k)
            if not (self._judge(k, changed) and self._contract(k, changed)):
                return False
        return True

    def _judge(self, k: int, changed: set[int]) -> bool:
        """Hold the case of k against the range of its gap, and decide it if one is left."""
        least, most = self.gaps[k].corners.min(), self.gaps[k].corners.max()
        possible = {
            BELOW: least < 0 and self.low[k] <= 0,
            ABOVE: most > 0 and self.high[k] >= 1,
            EVEN: least <= 0 <= most,
        }
        if self.cases[k] != OPEN:
            return possible[self.cases[k]]
        left = [case for case, is_possible in possible.items() if is_possible]
        return len(left) > 1 or (bool(left) and self._decide(k, left[0], changed))

    def _contract(self, k: int, changed: set[int]) -> bool:
        """Cut off the box what contradicts the sign of the gap of k."""
        signs = {BELOW: (-1,), ABOVE: (1,), EVEN: (1, -1), OPEN: ()}[self.cases[k]]
        for sign in signs:
            for j in self.gaps[k].variables:
                if j not in self.gaps[k].variables:
                    continue  # it was fixed on the way
                shares = self.gaps[k].contracted(j, sign)
                if shares is None:
                    return False
                width = self.high[j] - self.low[j]
                start, end = (self.low[j] + share * width for share in shares)
                low, high = fmpq((start * GRID).floor(), GRID), fmpq((end * GRID).ceil(), GRID)
                if high - low <= LARGEST_SHARE * width:
                    self._restrict(j, low, high, changed)
        return True


def binary_sets(tree: GameTree) -> list[int]:
    """Information sets with two actions; the k-th of them has frequency k."""
    return [i for i, actions in enumerate(tree.infoset_actions) if len(actions) == 2]


def frequencies(count: int) -> tuple[fmpq_mpoly, ...]:
    """Variables of the polynomials: frequencies of action 1."""
    return fmpq_mpoly_ctx.get([f"f{k}" for k in range(count)], Ordering.lex).gens()


def value_gaps(tree: GameTree, check: Callable[[], None]) -> tuple[fmpq_mpoly, ...]:
    """Value gaps of an exact tree with at most two actions at every information set.

    That is, for each set with two actions, the counterfactual value of action 1 less that of
    action 0: the owner's payoff, weighted with chance and with the moves of the others on the
    whole path, but with the owner's moves only from the information set on. Every frequency has
    degree at most 1. `check` is called at every terminal and may raise to break off.
    """
    sets = binary_sets(tree)
    by_set = dict(zip(sets, frequencies(len(sets)), strict=True))
    gaps = {i: 0 * frequency for i, frequency in by_set.items()}
    chance = [ONE]
    for node in range(1, tree.n_nodes):
        above, weight = tree.parent[node], ONE
        if tree.player[above] == CHANCE:
            weight = fmpq(int(tree.chance[node]), int(tree.chance_denominator))
        chance.append(chance[above] * weight)
    table, denominator = tree.payoffs.rational()
    for leaf, payoffs in zip(tree.terminals.tolist(), table.tolist(), strict=True):
        check()
        decisions = [
            (i, move, by_set[i] if move else 1 - by_set[i])
            for i, move in reversed(moves_to(tree, leaf))
            if i in by_set
        ]
        for player, payoff in enumerate(payoffs):
            others = (factor for i, _, factor in decisions if tree.infoset_player[i] != player)
            part = prod(others, start=chance[leaf] * fmpq(int(payoff), int(denominator)))
            for i, move, factor in decisions:
                if tree.infoset_player[i] == player:
                    gaps[i] += part if move else -part
                    part *= factor
    return tuple(gaps.values())
