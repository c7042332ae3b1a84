"""From the end of a branch to the equilibrium near it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray

from ..arclength.polish import Polished, polish
from ..arclength.regularization import RegularizedGame
from ..ncp.polish.polish import polish as polish_plans

# Actions of smaller log frequency are taken to be unplayed in the limit.
UNPLAYED = -30.0
# Regrets, as shares of the payoff range: nothing is left to do, and the equilibrium is near.
EXACT, NEAR = 1e-13, 1e-6


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
    made = polish(system, start, log_probabilities > UNPLAYED)
    span = game.tree.payoff_range or 1.0
    if not EXACT * span < made.regret <= NEAR * span:
        return made
    # in frequencies small reach makes the equations singular, in realization plans it does not
    before_work()
    plans = RealizationPlan.of(game.sequence_form, made.behavior).weights
    other = polish_plans(game, plans)
    if other.regret >= made.regret:
        return made
    return Polished(other.behavior, made.parameter, other.regret)
