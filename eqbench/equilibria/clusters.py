"""Names for equilibria that nobody has published: clusters, numbered as they first occur."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqbench.equilibria.components import connected_components
from eqbench.equilibria.identity import Identity, outcome_distribution
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

# Outcome distributions are compared pair by pair, so all are in memory at once.
_MOST_NUMBERS = 50_000_000


def cluster_identities(
    game: Game, profiles: Sequence[FloatArray], regrets: Sequence[float]
) -> list[Identity | None]:
    """Identity ``cluster:k`` of each of several equilibria of a game.

    Parameters
    ----------
    profiles : behavior of each, float64 (A,)
    regrets : measured max regret of each, in payoff units

    Returns
    -------
    list
        One identity per profile. In very large games only as many as fit into memory get one,
        those with the smallest regrets.
    """
    kept = max(1, _MOST_NUMBERS // len(game.sequence_form.columns))
    chosen = sorted(np.argsort(regrets, kind="stable")[:kept].tolist())
    found: list[Identity | None] = [None] * len(profiles)
    parts = connected_components(game, [profiles[i] for i in chosen], [regrets[i] for i in chosen])
    for number, part in enumerate(parts, start=1):
        members = [chosen[m] for m in part.members]
        best = outcome_distribution(game, profiles[min(members, key=lambda i: regrets[i])])
        for i in members:
            difference = outcome_distribution(game, profiles[i]) - best
            found[i] = Identity(
                name=f"cluster:{number}",
                distance=float(np.abs(difference).max()),
                dimension=None if part.dimension is None else part.dimension.total,
            )
    return found
