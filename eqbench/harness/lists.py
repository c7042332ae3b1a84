"""Whether all equilibria that the cells of a run found on a game can be all that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from eqbench.equilibria import Completeness, completeness
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.store.schema import EquilibriumRecord

# Frequencies that are read and compared at the end of a run; more would take seconds.
MOST_FREQUENCIES = 2_000_000


def completeness_of(
    game: Game,
    found: Iterable[EquilibriumRecord],
    read: Callable[[str], BehaviorProfile | None],
    tolerance: float,
) -> Completeness | None:
    """What the indices of stored equilibria of a game say; None if there are none, or too many.

    Parameters
    ----------
    found : candidates of all cells on this game
    read : gives the profile at a path, None if it cannot be read any more
    tolerance : max regret in payoff units up to which a candidate is an equilibrium
    """
    items = [item for item in found if item.max_regret <= tolerance]
    if not items or len(items) * game.tree.n_actions > MOST_FREQUENCIES:
        return None
    profiles, regrets = [], []
    for item in items:
        profile = read(item.profile or "")
        if profile is None:
            return None
        # decimals of a file are no proof that a profile is exactly what the solver had
        profiles.append(profile if item.is_proved else BehaviorProfile(profile.probabilities))
        regrets.append(item.max_regret)
    return completeness(game, profiles, regrets)
