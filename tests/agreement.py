"""All ways to measure a profile, side by side, the profiles, and the same game in OpenSpiel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tree_path import children
from tree_walk import TreeWalk

from eqbench.model import reference
from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.verification import verify
from eqbench.verification.compiled_sweep import CompiledSweep

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
    """Payoffs and regrets (2, N) by each of the six ways."""
    tree, form, own = game.tree, game.sequence_form, game.payoff_model()
    generic = SequenceFormModel(form)
    walk = TreeWalk(tree, behavior.tolist())
    verified = verify(tree, BehaviorProfile.of(tree, behavior))
    paid, best = CompiledSweep(tree).evaluate(behavior)
    payoffs = reference.expected_payoffs(form, behavior)
    return {
        "walk": np.array([walk.payoffs(), walk.regrets()], dtype=np.float64),
        "verifier": np.array([verified.payoffs, verified.regrets]),
        "compiled verifier": np.array([paid, best - paid]),
        "model": np.array([own.expected_payoffs(behavior), own.regrets(behavior)]),
        "kernels": np.array([generic.expected_payoffs(behavior), generic.regrets(behavior)]),
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


def matched_moves(tree: GameTree, node: int, state: Any) -> Iterator[tuple[int, Any]]:
    """Pairs of a node below `node` and OpenSpiel's state below `state`, matched by position.

    Asserts that both are the same decision or chance move, or that both pay the same.
    """
    player, below = int(tree.player[node]), children(tree, node)
    if player == TERMINAL:
        row = np.searchsorted(tree.terminals, tree.terminals.dtype.type(node))
        assert state.is_terminal()
        assert np.abs(tree.payoffs.table[row] - state.returns()).max() <= 1e-15
        return
    assert state.current_player() == player, "OpenSpiel's chance player is -1, as ours is"
    moves = state.legal_actions()
    assert len(moves) == len(below)
    if player == CHANCE:
        theirs = [probability for _, probability in state.chance_outcomes()]
        assert np.abs(tree.chance_probability[list(below)] - theirs).max() <= 1e-15
    yield from ((child, state.child(move)) for child, move in zip(below, moves, strict=True))
