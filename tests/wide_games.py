"""Games in which payoffs are so far apart that floats see only some of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from random_trees import scattered_game

from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import parse_profile, profile_from_json, profile_text
from eqbench.model.tree import FloatArray, GameTree
from eqbench.verification import Verification, Verifier
from eqbench.verification.exact import ExactRules, measure_exactly
from eqbench.verification.sweep import TreeSweep


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


def long_path(
    spare: float, *, players: int = 1, sets: int = 300, prize: int = 90_000, off: int | None = None
) -> tuple[GameTree, FloatArray]:
    """A path on which each may leave for 1 less than the prize, and P1 leaves at last by 1/50.

    Rows on it, in the order of the tree, sum to 1 + `spare`; of one player alone if `off` is given.
    """
    builder = TreeBuilder([f"P{player + 1}" for player in range(players)])
    place = None
    for depth in range(sets + 1):
        node = builder.decision(place, (sets - depth) % players, f"{depth}", ["on", "stop"])
        builder.terminal((node, 1), [prize - 1] * players)
        place = node, 0
    builder.terminal(place, [prize] * players)
    tree = builder.tree()
    rows = np.tile([1 + min(spare, 0.0), max(spare, 0.0)], (sets + 1, 1))
    rows[[off not in (None, player) for player in tree.infoset_player]] = [1, 0]
    rows[tree.infoset_of(0, f"{sets}")] = [0.98, 0.02]
    return tree, rows.ravel()


def farthest(tree: GameTree, profile: BehaviorProfile, measured: Verification) -> float:
    """Largest difference of measured regrets from those of the stored profile, in fractions."""
    stored = profile_from_json(tree, parse_profile(profile_text(tree, profile)))
    assert stored.exact is not None
    exact = measure_exactly(TreeSweep(tree), ExactRules.of(tree), stored.exact).regrets
    pairs = zip(measured.regrets, exact, strict=True)
    return float(max(abs(Fraction(given) - regret) for given, regret in pairs))


def error_ratio(seed: int) -> float:
    """Error of regrets per largest difference from exact ones, at least 1 if they lie within it."""
    tree, profile = scattered_game(seed)
    measured = Verifier(tree)._in_floats(profile.probabilities)
    off = farthest(tree, profile, measured)
    return measured.error / off if off else math.inf
