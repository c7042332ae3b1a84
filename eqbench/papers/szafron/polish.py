"""From a profile that is nearly an equilibrium to one that is one, in floats or in fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.verification import verify_exactly

# smallest frequency of an action that counts as played; iterates leave traces of several sizes
SUPPORTS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
DENOMINATORS = (2, 4, 8, 12, 24, 48, 96, 120, 240, 960)
_ROUNDS = 8
_CUT = 1e-9  # of singular values; smaller ones belong to directions in which nothing changes


def polished(game: Game, behavior: FloatArray) -> Iterator[BehaviorProfile]:
    """Profiles near `behavior`, float64 (A,), in which actions in use are equally good.

    One for each guess of what is in use, if the Newton steps of least length stay within the
    simplices. Whether nothing else is better is for the verifier to say.
    """
    for support in SUPPORTS:
        found = _newton(game, behavior, support)
        if found is not None:
            yield found


def exact_near(game: Game, behavior: FloatArray) -> BehaviorProfile | None:
    """An exact equilibrium with small denominators near `behavior`, None if none is found."""
    tree = game.tree
    for largest in DENOMINATORS:
        rounded = [Fraction(value).limit_denominator(largest) for value in behavior.tolist()]
        for first, last in zip(tree.action_start[:-1], tree.action_start[1:], strict=True):
            rounded[last - 1] = 1 - sum(rounded[first : last - 1], Fraction(0))
        try:
            profile = BehaviorProfile.of_exact(tree, rounded)
        except ProfileError:
            continue
        if verify_exactly(tree, profile).max_regret == 0:
            return profile
    return None


def _newton(game: Game, behavior: FloatArray, support: float) -> BehaviorProfile | None:
    tree, model = game.tree, game.payoff_model()
    owner = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    used = behavior > support
    current = _normalized(np.where(used, behavior, 0.0), owner)
    reached = (infoset_reach(tree, current) > 0)[owner]
    first = np.array([np.flatnonzero(used & (owner == i))[0] for i in range(tree.n_infosets)])
    others = np.flatnonzero(used & (np.arange(tree.n_actions) != first[owner]))
    moves = np.zeros((tree.n_actions, len(others)))
    moves[others, np.arange(len(others))] = 1.0
    moves[first[owner[others]], np.arange(len(others))] = -1.0
    rows = others[reached[others]]
    for _ in range(_ROUNDS):
        values, jacobian = model.counterfactual_values(current), model.jacobian(current)
        gaps = values[rows] - values[first[owner[rows]]]
        slopes = (jacobian[rows] - jacobian[first[owner[rows]]]) @ moves
        current = current + moves @ np.linalg.lstsq(slopes, -gaps, rcond=_CUT)[0]
        if current.min() < -support:
            return None
    return BehaviorProfile.of(tree, _normalized(np.clip(current, 0.0, None), owner))


def _normalized(frequencies: FloatArray, owner: NDArray[np.intp]) -> FloatArray:
    return frequencies / np.bincount(owner, frequencies)[owner]
