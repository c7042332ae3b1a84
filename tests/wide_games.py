"""Games in which payoffs are so far apart that floats see only some of them."""

from __future__ import annotations

from fractions import Fraction

from eqbench.model.builder import TreeBuilder
from eqbench.model.tree import GameTree


def wide_game(prize: int | float) -> GameTree:
    """P1 learns a coin and moves, P2 sees the move only; two of eight ends are worth `prize`.

    The sum is zero, so P2 must not let P1 have the prize; the other payoffs are -1, 0 and 1. The
    actions in order: A, B after heads; A, B after tails; X, Y after A; X, Y after B.
    """
    builder = TreeBuilder(["P1", "P2"])
    coin = builder.chance(None, [Fraction(1, 2), Fraction(1, 2)])
    ends = {
        "heads": ((prize, 1), (-1, 0)),
        "tails": ((-1, 1), (0, prize)),
    }
    for outcome, side in enumerate(ends):
        first = builder.decision((coin, outcome), 0, side, ["A", "B"])
        for move, values in enumerate(ends[side]):
            second = builder.decision((first, move), 1, "AB"[move], ["X", "Y"])
            for reply, value in enumerate(values):
                builder.terminal((second, reply), [value, -value])
    return builder.tree()
