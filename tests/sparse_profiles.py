"""Random rational profiles that leave actions out, so that parts of a tree are not reached."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree


def sparse_profile(tree: GameTree, rng: np.random.Generator) -> BehaviorProfile:
    """Profile with small denominators that plays each action with probability near one half."""
    values: list[Fraction] = []
    for actions in tree.infoset_actions:
        weights = rng.integers(1, 5, len(actions)) * (rng.random(len(actions)) < 0.5)
        weights[rng.integers(len(actions))] += 1
        values += [Fraction(int(weight), int(weights.sum())) for weight in weights]
    return BehaviorProfile.of_exact(tree, values)
