"""The published sets of a game, as far as the verifier agrees."""

from __future__ import annotations

import numpy as np

from eqbench.equilibria.nearest import nearest_member
from eqbench.equilibria.reference import KnownSet, published_sets
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.verification import Verifier

_ROUNDING = 1e-9  # share of the payoff range


def known_sets(game: Game) -> tuple[KnownSet, ...]:
    """The published sets of equilibria of a game, in the order in which names are chosen.

    Of each one member is measured: its regret must be rounding and its payoffs as published.
    So a plugin's game that only has the name and the labels of another is not mistaken for it.
    """
    published = published_sets(game)
    if not published:
        return ()
    verifier = Verifier(game.tree)
    return tuple(known for known in published if _holds(known, verifier))


def _holds(known: KnownSet, verifier: Verifier) -> bool:
    """Whether a member is an equilibrium with the published payoffs."""
    parameters = some_member(known)
    behavior = np.clip(known.layout.behavior(known.frequencies(parameters)), 0.0, 1.0)
    measured = verifier.verify(BehaviorProfile.of(verifier.tree, behavior))
    gaps = np.array(measured.payoffs, dtype=float) - known.payoffs_near(parameters)
    tree = verifier.tree
    stands = measured.max_regret <= _ROUNDING * tree.payoff_scale
    return bool(stands and np.abs(gaps).max() <= _ROUNDING * tree.payoff_range)


def some_member(known: KnownSet) -> FloatArray:
    """Parameters (K,) of a member of a set."""
    count = len(known.layout.variables)
    return nearest_member(known, np.full(count, 0.5), np.ones(count))
