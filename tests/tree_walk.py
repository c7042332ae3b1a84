"""Payoffs and regrets by plain recursion over the nodes, in Fractions: the tests' own measure.

It reads the node arrays of a tree and nothing that eqbench derives from them, and it shares no
arithmetic with the verifier, the kernels or their NumPy twin.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

from eqbench.model.tree import CHANCE, TERMINAL, GameTree


class TreeWalk:
    """One profile on one tree; floats count as the rationals that they are."""

    def __init__(self, tree: GameTree, frequencies: Sequence[float | Fraction]) -> None:
        self.n_players = len(tree.players)
        self.mover = tree.player.tolist()
        self.infoset = tree.infoset.tolist()
        self.sizes = [len(actions) for actions in tree.infoset_actions]
        self.owner = tree.infoset_player.tolist()
        self.children: list[list[int]] = [[] for _ in self.mover]
        for node, parent in enumerate(tree.parent.tolist()):
            if parent >= 0:
                self.children[parent].append(node)
        ends = itertools.accumulate(self.sizes)
        exact = [Fraction(value) for value in frequencies]
        self.row = [exact[end - size : end] for end, size in zip(ends, self.sizes, strict=True)]
        self.chance = [Fraction(value) / tree.chance_denominator for value in tree.chance.tolist()]
        self.payoff = _payoffs(tree)

    def payoffs(self) -> list[Fraction]:
        """Expected payoff of every player."""
        return [self._value(p, self._weights) for p in range(self.n_players)]

    def regrets(self) -> list[Fraction]:
        """Best-response gain of every player."""
        return [
            self.best_response_value(p) - self._value(p, self._weights)
            for p in range(self.n_players)
        ]

    def best_response_value(self, player: int) -> Fraction:
        """Value of the best reply, chosen set by set from the last own decision upwards."""
        reach = self._reach_without(player)
        members: dict[int, list[int]] = {}
        for node, infoset in enumerate(self.infoset):
            members.setdefault(infoset, []).append(node)
        chosen: dict[int, int] = {}
        known: dict[int, Fraction] = {}

        def choose(infoset: int) -> int:
            if infoset not in chosen:
                worth = [
                    sum(reach[node] * value(self.children[node][a]) for node in members[infoset])
                    for a in range(self.sizes[infoset])
                ]
                chosen[infoset] = worth.index(max(worth))
            return chosen[infoset]

        def value(node: int) -> Fraction:
            if node not in known:
                below = self.children[node]
                if self.mover[node] == TERMINAL:
                    known[node] = self.payoff[node][player]
                elif self.mover[node] == player:
                    known[node] = value(below[choose(self.infoset[node])])
                else:
                    weights = self._weights(node)
                    known[node] = sum(
                        (w * value(child) for w, child in zip(weights, below, strict=True)),
                        Fraction(0),
                    )
            return known[node]

        return value(0)

    def brute_force_value(self, player: int) -> Fraction:
        """Value of the best of all pure strategies, each played out; for tiny games only."""
        own = [i for i, owner in enumerate(self.owner) if owner == player]
        best = None
        for plan in itertools.product(*(range(self.sizes[i]) for i in own)):
            move = dict(zip(own, plan, strict=True))

            def weights(node: int, move: dict[int, int] = move) -> list[Fraction]:
                if self.mover[node] != player:
                    return self._weights(node)
                chosen = move[self.infoset[node]]
                return [Fraction(a == chosen) for a in range(len(self.children[node]))]

            value = self._value(player, weights)
            best = value if best is None else max(best, value)
        assert best is not None
        return best

    def pure_strategies(self, player: int) -> int:
        """Number of pure strategies that :meth:`brute_force_value` tries."""
        count = 1
        for size, owner in zip(self.sizes, self.owner, strict=True):
            count *= size if owner == player else 1
        return count

    def counterfactual(self) -> tuple[list[Fraction], list[list[Fraction]]]:
        """With which probability the others lead to each information set, and what actions there
        are worth, in sum over its nodes.
        """
        reach = [self._reach_without(p) for p in range(self.n_players)]
        worth: list[list[Fraction]] = [[] for _ in self.mover]
        for node in reversed(range(len(self.mover))):
            worth[node] = self.payoff.get(node) or [
                sum((w * worth[c][p] for w, c in self._below(node)), Fraction(0))
                for p in range(self.n_players)
            ]
        weights = [Fraction(0)] * len(self.sizes)
        values = [[Fraction(0)] * size for size in self.sizes]
        for node, player in enumerate(self.mover):
            if player >= 0:
                infoset = self.infoset[node]
                weights[infoset] += reach[player][node]
                for move, child in enumerate(self.children[node]):
                    values[infoset][move] += reach[player][node] * worth[child][player]
        return weights, values

    def reaches(self) -> list[Fraction]:
        """Probability of each information set."""
        reach, sums = self._reach_without(self.n_players), [Fraction(0)] * len(self.sizes)
        for node, player in enumerate(self.mover):
            if player >= 0:
                sums[self.infoset[node]] += reach[node]
        return sums

    def _below(self, node: int) -> list[tuple[Fraction, int]]:
        return list(zip(self._weights(node), self.children[node], strict=True))

    def _weights(self, node: int) -> list[Fraction]:
        if self.mover[node] == CHANCE:
            return [self.chance[child] for child in self.children[node]]
        return self.row[self.infoset[node]]

    def _value(self, player: int, weights: Callable[[int], list[Fraction]]) -> Fraction:
        total, stack = Fraction(0), [(0, Fraction(1))]
        while stack:
            node, reach = stack.pop()
            if self.mover[node] == TERMINAL:
                total += reach * self.payoff[node][player]
                continue
            for weight, child in zip(weights(node), self.children[node], strict=True):
                if weight:
                    stack.append((child, reach * weight))
        return total

    def _reach_without(self, player: int) -> list[Fraction]:
        reach = [Fraction(1)] * len(self.mover)
        for node, below in enumerate(self.children):  # parents come first
            if below:
                own = self.mover[node] == player
                weights = [Fraction(1)] * len(below) if own else self._weights(node)
                for weight, child in zip(weights, below, strict=True):
                    reach[child] = reach[node] * weight
        return reach


def _payoffs(tree: GameTree) -> dict[int, list[Fraction]]:
    """Payoffs by terminal node: base plus slope times the parameter's value."""
    base, slope = tree.payoffs.base.tolist(), tree.payoffs.slope
    value = tree.payoffs.value if slope is not None else Fraction(0)
    slopes = slope.tolist() if slope is not None else [[0] * len(tree.players)] * len(base)
    assert value is not None
    ends = [node for node, mover in enumerate(tree.player.tolist()) if mover == TERMINAL]
    return {
        node: [
            (Fraction(b) + Fraction(s) * value) / tree.payoffs.denominator
            for b, s in zip(bases, steps, strict=True)
        ]
        for node, bases, steps in zip(ends, base, slopes, strict=True)
    }
