"""From the end of a branch to the equilibrium near it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray

from ..ncp.polish.polish import polish as polish_plans
from ..polish.frequencies import GainSystem, Polished, polish

# Actions of smaller log frequency are taken to be unplayed in the limit.
UNPLAYED = -30.0
# Regrets, as shares of the payoff range: nothing is left to do, and the equilibrium is near. The
# polish in plans goes to some equilibrium from anywhere, so it is used near one only.
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
    system = GainSystem(game, before_work=before_work)
    start = Polished(behavior, system.parameter, float(system.model.regrets(behavior).max()))
    span = game.tree.payoff_range or 1.0
    best = start
    if start.regret <= NEAR * span:
        before_work()
        best = in_plans(game, start)
    if best.regret <= EXACT * span:
        return best
    made = polish(system, start, log_probabilities > UNPLAYED)
    if made.regret < best.regret and EXACT * span < made.regret <= NEAR * span:
        before_work()
        made = in_plans(game, made)
    return min(best, made, key=lambda found: found.regret)


def in_plans(game: Game, start: Polished) -> Polished:
    """The equilibrium near a profile, by the polish of `ncp`; the profile if that is better.

    In frequencies small reach makes the equations singular, in realization plans it does not.
    """
    plans = RealizationPlan.of(game.sequence_form, start.behavior).weights
    made = polish_plans(game, plans)
    if made.regret >= start.regret:
        return start
    return Polished(made.behavior, start.parameter, made.regret)
