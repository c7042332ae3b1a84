"""Profiles to and from OpenSpiel's policies."""

from __future__ import annotations

from typing import Any

import numpy as np

from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray

from .matching import Match, match


def tabular_policy(game: Game, profile: BehaviorProfile) -> Any:
    """`pyspiel.TabularPolicy` of a profile, for OpenSpiel's form of the game.

    That form has simultaneous moves in turn (`pyspiel.load_game_as_turn_based`).

    Raises
    ------
    UsageError
        If OpenSpiel does not have the game.
    SolverUnavailableError
        If OpenSpiel is not installed.
    """
    found = match(game)
    import pyspiel

    rows = np.split(profile.probabilities, game.tree.action_start[1:-1])
    table = {
        text: list(zip(actions, row.tolist(), strict=True))
        for text, actions, row in zip(found.texts, found.actions, rows, strict=True)
    }
    return pyspiel.TabularPolicy(table)


def profile_of_policy(game: Game, policy: Any) -> BehaviorProfile:
    """Profile of a policy of OpenSpiel, one of its C++ or of its Python classes.

    An action that the policy does not name has frequency 0.

    Raises
    ------
    ProfileError
        If the policy is no distribution somewhere.
    UsageError, SolverUnavailableError
        As :func:`tabular_policy`.
    """
    return BehaviorProfile.of(game.tree, frequencies(match(game), policy))


def frequencies(found: Match, policy: Any) -> FloatArray:
    """Frequencies (A,) of a policy; what rounding puts above 1 is 1."""
    values: list[float] = []
    for state, actions in zip(found.states, found.actions, strict=True):
        row = policy.action_probabilities(state)
        values += [row.get(action, 0.0) for action in actions]
    array = np.array(values)
    array[(array > 1) & (array < 1 + 1e-12)] = 1.0
    return array
