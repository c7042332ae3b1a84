"""All ways to measure a profile, side by side, and the profiles to measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tree_walk import TreeWalk

from eqbench.model import reference
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.tree import GameTree
from eqbench.verification import verify

KINDS = ("random", "near-pure", "pure")


def draw_behavior(tree: GameTree, rng: np.random.Generator, kind: str) -> NDArray[np.float64]:
    """Frequencies (A,): random, pure, or pure but for a billionth at every information set."""
    if kind == "random":
        return random_profile(tree, rng)
    slip = 1e-9 if kind == "near-pure" else 0.0
    behavior = np.empty(tree.n_actions)
    for start, stop in zip(tree.action_start[:-1], tree.action_start[1:], strict=True):
        others = stop - start - 1
        behavior[start:stop] = slip / max(others, 1)
        behavior[rng.integers(start, stop)] = 1.0 - (slip if others else 0.0)
    return behavior


def measures(game: Game, behavior: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Payoffs and regrets (2, N) by each of the four ways."""
    tree, form, model = game.tree, game.sequence_form, game.payoff_model()
    walk = TreeWalk(tree, behavior.tolist())
    verified = verify(tree, BehaviorProfile.of(tree, behavior))
    payoffs = reference.expected_payoffs(form, behavior)
    return {
        "walk": np.array([walk.payoffs(), walk.regrets()], dtype=np.float64),
        "verifier": np.array([verified.payoffs, verified.regrets]),
        "kernels": np.array([model.expected_payoffs(behavior), model.regrets(behavior)]),
        "twin": np.array([payoffs, reference.best_response_values(form, behavior) - payoffs]),
    }


def disagreement(game: Game, behavior: NDArray[np.float64]) -> dict[str, float]:
    """Largest difference of each way from the walk, in payoff units."""
    found = measures(game, behavior)
    return {
        name: float(np.abs(values - found["walk"]).max())
        for name, values in found.items()
        if name != "walk"
    }
