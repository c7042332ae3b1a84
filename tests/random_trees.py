"""Random games with perfect recall and no other regularity."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np

from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.tree import CHANCE, GameTree, Payoffs

OwnPast = tuple[str, int] | None  # the last own information set and the move there


class _Grower:
    """Grows a tree in random order of depth; chance and every player may move anywhere.

    A node may join any information set that follows the same last own move, at whatever depth
    it stands. That is all that perfect recall asks for.
    """

    def __init__(self, rng: np.random.Generator, players: int, depth: int) -> None:
        self.rng, self.players, self.depth = rng, players, depth
        self.builder = TreeBuilder([f"P{p + 1}" for p in range(players)])
        self.known: dict[tuple[int, OwnPast], list[tuple[str, int]]] = {}
        self.count = 0

    def grow(self, place: tuple[int, int] | None, depth: int, past: tuple[OwnPast, ...]) -> None:
        pick = self.rng.random()
        if depth == self.depth or (depth > 1 and pick < 0.15):
            payoffs = self.rng.integers(-12, 13, self.players).tolist()
            thirds = self.rng.integers(1, 4, self.players).tolist()
            self.builder.terminal(place, [Fraction(a, b) for a, b in zip(payoffs, thirds)])  # noqa: B905
        elif pick < 0.4:
            weights = self.rng.integers(0, 4, self.rng.integers(1, 4)).tolist()
            weights[0] += 1
            total = sum(weights)
            node = self.builder.chance(place, [Fraction(w, total) for w in weights])
            for outcome in range(len(weights)):
                self.grow((node, outcome), depth + 1, past)
        else:
            self._decide(place, depth, past)

    def _decide(self, place: tuple[int, int] | None, depth: int, past: tuple[OwnPast, ...]) -> None:
        player = int(self.rng.integers(self.players))
        sets = self.known.setdefault((player, past[player]), [])
        if not sets or self.rng.random() < 0.35:
            self.count += 1
            sets.append((f"I{self.count}", int(self.rng.integers(1, 4))))
        label, size = sets[self.rng.integers(len(sets))]
        actions = [f"a{move}" for move in range(size)]
        node = self.builder.decision(place, player, label, actions)
        for move in self.rng.permutation(size).tolist():
            after = (*past[:player], (label, move), *past[player + 1 :])
            self.grow((node, move), depth + 1, after)


def random_tree(seed: int, *, depth: int = 6) -> GameTree:
    """Random exact tree of one to four players; the same seed gives the same tree."""
    rng = np.random.default_rng(seed)
    players = 1 + seed % 4
    grower = _Grower(rng, players, depth)
    grower.grow(None, 0, (None,) * players)
    return grower.builder.tree()


def spread_infosets(tree: GameTree) -> int:
    """Number of information sets with nodes at different depths."""
    depths: dict[int, set[int]] = {}
    for depth, level in enumerate(tree.levels):
        for infoset in tree.infoset[level].tolist():
            depths.setdefault(infoset, set()).add(depth)
    return sum(len(found) > 1 for infoset, found in depths.items() if infoset >= 0)


def inner_chance_nodes(tree: GameTree) -> int:
    """Number of chance nodes below the root."""
    return int((tree.player[1:] == CHANCE).sum())


def repeated_movers(tree: GameTree) -> int:
    """Number of players with an information set behind another of their own."""
    return len(Counter(tree.infoset_player[tree.infoset_parent >= 0].tolist()))


def sparse_profile(tree: GameTree, rng: np.random.Generator) -> BehaviorProfile:
    """Profile with small denominators that plays each action with probability near one half."""
    values: list[Fraction] = []
    for actions in tree.infoset_actions:
        weights = rng.integers(1, 5, len(actions)) * (rng.random(len(actions)) < 0.5)
        weights[rng.integers(len(actions))] += 1
        values += [Fraction(int(weight), int(weights.sum())) for weight in weights]
    return BehaviorProfile.of_exact(tree, values)


def scattered_game(seed: int) -> tuple[GameTree, BehaviorProfile]:
    """Random tree with payoffs over twelve orders of magnitude, and a profile in floats.

    They are apart within the game, or from one game to another in floats or in fractions. Every
    third game has chances in floats.
    """
    tree, rng = random_tree(seed, depth=4 + seed % 5), np.random.default_rng(seed)
    shape, scale = tree.payoffs.base.shape, 10.0 ** rng.uniform(-6, 6)
    numbers = rng.normal(size=shape)
    payoffs = (
        Payoffs(np.sign(numbers) * 10.0 ** rng.uniform(-6, 6, shape)),
        Payoffs(scale * numbers),
        Payoffs(rng.integers(-9, 10, shape) * round(1e6 * scale), 7 * 10**6),
    )[seed // 4 % 3]
    tree = replace(tree, payoffs=payoffs)
    if seed % 3 == 0:
        tree = replace(tree, chance=tree.chance / tree.chance_denominator, chance_denominator=1)
    return tree, BehaviorProfile.of(tree, random_profile(tree, rng))
