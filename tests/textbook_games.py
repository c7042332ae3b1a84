"""Games of the literature on refinements."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree


def selten_horse() -> GameTree:
    """Selten (1975), figure 1: P1 and P2 go across or down, P3 does not know who went down.

    Actions in order: P1 down, across; P2 down, across; P3 left, right.
    """
    builder = TreeBuilder(["P1", "P2", "P3"])
    first = builder.decision(None, 0, "1", ["D", "A"])
    second = builder.decision((first, 1), 1, "2", ["d", "a"])
    builder.terminal((second, 1), [1, 1, 1])
    for place, left, right in (
        ((first, 0), [3, 2, 2], [0, 0, 0]),
        ((second, 0), [4, 4, 0], [0, 0, 1]),
    ):
        last = builder.decision(place, 2, "3", ["L", "R"])
        builder.terminal((last, 0), left)
        builder.terminal((last, 1), right)
    return builder.tree()


def entry_deterrence() -> GameTree:
    """Selten (1978), one market: P1 stays out or enters, P2 fights or yields."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "1", ["out", "in"])
    builder.terminal((root, 0), [1, 5])
    answer = builder.decision((root, 1), 1, "2", ["fight", "yield"])
    builder.terminal((answer, 0), [0, 0])
    builder.terminal((answer, 1), [2, 2])
    return builder.tree()


def beer_and_quiche() -> GameTree:
    """Cho and Kreps (1987), section II: whoever has breakfast is rather strong, and may be fought.

    Actions of P1, strong and weak: beer, quiche; of P2 after each: duel, no.
    """
    builder = TreeBuilder(["P1", "P2"])
    root = builder.chance(None, [Fraction(9, 10), Fraction(1, 10)])
    for weak, kind in enumerate(("strong", "weak")):
        node = builder.decision((root, weak), 0, kind, ["beer", "quiche"])
        for move, meal in enumerate(("beer", "quiche")):
            answer = builder.decision((node, move), 1, meal, ["duel", "no"])
            liked = int(move == weak)
            builder.terminal((answer, 0), [liked, weak])
            builder.terminal((answer, 1), [liked + 2, 1 - weak])
    return builder.tree()


def exact_profile(tree: GameTree, *rows: Sequence[Fraction | int | str]) -> BehaviorProfile:
    """Profile from the rows of all information sets."""
    return BehaviorProfile.of_exact(tree, [Fraction(value) for row in rows for value in row])
