"""From the end of a branch to the equilibrium near it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

from ..arclength.polish import Polished, polish
from ..arclength.regularization import RegularizedGame

# Actions of smaller log frequency are taken to be unplayed in the limit.
UNPLAYED = -30.0


def polished(
    game: Game, log_probabilities: FloatArray, before_work: Callable[[], None] = lambda: None
) -> Polished:
    """The equilibrium on the support of a point of a branch or one near it.

    Where the regret cannot be lowered it is that point.

    Parameters
    ----------
    log_probabilities : float64 (A,)
    before_work : called before each evaluation of derivatives; may raise to end the work
    """
    behavior = np.exp(log_probabilities)
    system = RegularizedGame(game, before_work=before_work)
    start = Polished(behavior, system.parameter, float(system.model.regrets(behavior).max()))
    return polish(system, start, log_probabilities > UNPLAYED)
