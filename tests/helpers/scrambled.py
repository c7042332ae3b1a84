"""Game files of a tree with other labels, in other orders, and with one thing changed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from eqbench.model.tree import CHANCE, TERMINAL, GameTree


class Scrambled:
    """A tree as an ``.efg`` text with new labels and orders, from which a test may change things.

    Attributes
    ----------
    payoffs : one list of Fractions per terminal
    odds : Fractions by node
    sets : information set of each node
    """

    def __init__(self, tree: GameTree, seed: int) -> None:
        self.tree, self.rng = tree, np.random.default_rng(seed)
        numerators, denominator = tree.payoffs.rational()
        self.payoffs = [[Fraction(int(v), denominator) for v in row] for row in numerators]
        self.odds = [Fraction(int(c), tree.chance_denominator) for c in tree.chance]
        self.sets = tree.infoset.tolist()
        self.seats = self.rng.permutation(tree.n_players)

    def text(self) -> str:
        tree, rng = self.tree, self.rng
        orders = [rng.permutation(len(actions)) for actions in tree.infoset_actions]
        names = rng.permutation(10 * tree.n_infosets)
        first, outcome = tree.first_children(), {int(t): k for k, t in enumerate(tree.terminals)}
        numbers = np.zeros(tree.n_infosets, dtype=int)
        for player in range(tree.n_players):
            own = list(tree.infosets_of(player))
            numbers[own] = rng.permutation(len(own)) + 1
        at = np.argsort(self.seats)  # old player in each new seat
        players = " ".join(f'"someone {p}"' for p in range(tree.n_players))
        lines = [f'EFG 2 R "a game" {{ {players} }} ""']
        stack = [0]
        while stack:
            node = stack.pop()
            children = np.arange(first[node], first[node + 1])
            if tree.player[node] == TERMINAL:
                values = ", ".join(str(self.payoffs[outcome[node]][p]) for p in at)
                lines.append(f't "" {outcome[node] + 1} "" {{ {values} }}')
                continue
            if tree.player[node] == CHANCE:
                children = rng.permutation(children)
                moves = " ".join(f'"c{k}" {self.odds[c]}' for k, c in enumerate(children.tolist()))
                lines.append(f'c "" {len(lines)} "" {{ {moves} }} 0')
            else:
                i = self.sets[node]
                children = children[orders[i]]
                moves = " ".join(f'"do {k}|{names[i]}"' for k in range(len(children)))
                seat = self.seats[tree.player[node]] + 1
                lines.append(f'p "" {seat} {numbers[i]} "set {names[i]}" {{ {moves} }} 0')
            stack.extend(children[::-1].tolist())
        return "\n".join(lines) + "\n"

    def change_payoff(self) -> None:
        row = self.rng.integers(len(self.payoffs))
        self.payoffs[row][self.rng.integers(self.tree.n_players)] += Fraction(1, 7)

    def change_probability(self) -> None:
        tree, first = self.tree, self.tree.first_children()
        nodes = np.flatnonzero((tree.player == CHANCE) & (np.diff(first) > 1))
        begin = int(first[self.rng.choice(nodes)])
        self.odds[begin] += Fraction(1, 1000)
        self.odds[begin + 1] -= Fraction(1, 1000)

    def change_information(self) -> None:
        """Let two nodes of a player trade places between information sets that end their play."""
        tree = self.tree
        before = tree.infoset_parent[tree.infoset_parent >= 0]
        last = set(range(tree.n_infosets)) - set(tree.action_infoset[before].tolist())
        size = np.bincount(tree.infoset[tree.infoset >= 0])
        kinds: dict[tuple[int, int, int], list[int]] = {}
        for i in sorted(i for i in last if size[i] > 1):
            key = int(tree.infoset_player[i]), int(tree.infoset_parent[i])
            kinds.setdefault((*key, len(tree.infoset_actions[i])), []).append(i)
        pairs = [own for own in kinds.values() if len(own) > 1]
        one, two = self.rng.permutation(pairs[self.rng.integers(len(pairs))])[:2]
        a, b = (self.rng.choice(np.flatnonzero(tree.infoset == i)) for i in (one, two))
        self.sets[a], self.sets[b] = int(two), int(one)
