"""From realization plans near an equilibrium to the equilibrium itself, to rounding.

Newton's method on the support first: it takes a millisecond and suffices nearly always. Where
the support is not clear, semismooth steps that need none, which solve most of what is left; then
a linear program comes nearer and shows it, and Newton's method again. Nothing counts but the
measured regret.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

from ...semismooth.system import System, descend
from .linear_program import closer
from .newton import BEYOND, Held, corrected
from .point import PlanGame

ROUNDS = 8
# Regret, as a share of the payoff range, from which on a polish is not worth seconds.
ROUNDING = 1e-13
# Actions up to which a step of any method takes a tenth of a second at most.
MOST_ACTIONS = 1000
# Polishing a game of so many actions takes about as long as compiling.
FEW_ACTIONS = 300


@dataclass(frozen=True, eq=False)
class Polished:
    """Feasible plans, behavior that plays like them, and its largest regret.

    Attributes
    ----------
    weights : float64 (S,)
    behavior : float64 (A,)
        Where the own plan does not lead: a best action, or equal frequencies if the other
        players do not lead there either.
    regret : float
        In payoff units, measured by the game's payoff model.
    """

    weights: FloatArray
    behavior: FloatArray
    regret: float


def polish(game: Game, weights: NDArray) -> Polished:
    """The profile with the smallest regret on the way to an equilibrium near `weights`.

    Parameters
    ----------
    weights : float64 (S,)
        About realization plans of all players; small violations of any kind are put right. If
        nothing lowers the regret, the result is these plans made feasible.

    Raises
    ------
    UsageError
        If the shape is wrong or a weight is not finite.
    """
    plan_game = PlanGame(game)
    return improve(plan_game, plan_game.feasible(weights))


def improve(game: PlanGame, plans: FloatArray) -> Polished:
    """Like `polish`, from feasible plans (S,)."""
    is_large = game.form.n_actions > MOST_ACTIONS
    best = measured(game, plans)
    if is_large and best.regret <= ROUNDING * game.scale:
        return best
    best = _best([best, *by_newton(game, plans)])
    if best.regret > ROUNDING * game.scale and not is_large:
        best = _best([best, *by_newton(game, descended(game, plans))])
    for _ in range(ROUNDS):
        if best.regret <= ROUNDING * game.scale:
            break
        nearer = closer(game, plans)
        if nearer is None:
            break
        plans = nearer
        best = _best([best, *by_newton(game, plans)])
    return best


def by_newton(game: PlanGame, plans: FloatArray) -> list[Polished]:
    """Feasible plans (S,) as they are, and what Newton's method makes of their support."""
    slack = game.slacks(plans) / game.scale
    made = corrected(game, plans, plans > slack, Held.nothing(game))
    return [measured(game, plans), *(measured(game, rounded(game, each)) for each in made)]


def descended(game: PlanGame, plans: FloatArray) -> FloatArray:
    """Feasible plans (S,) at the end of semismooth steps."""
    system = System(game.game)
    *_, last = descend(system, system.start(game.behavior(plans)))
    return game.feasible(last.point.weights)


def measured(game: PlanGame, plans: FloatArray) -> Polished:
    """Feasible plans (S,) with their behavior and regret."""
    behavior = game.behavior(plans)
    return Polished(plans, behavior, float(game.measure.regrets(behavior).max()))


def rounded(game: PlanGame, weights: FloatArray) -> FloatArray:
    """Feasible plans (S,); weights that are nothing but rounding become 0."""
    return game.feasible(np.where(weights < BEYOND, 0.0, weights))


def _best(made: list[Polished]) -> Polished:
    """The one with the smallest regret, the earlier one of equals."""
    return min(made, key=lambda polished: polished.regret)


def warm_up_polish(game: Game) -> None:
    """Compile what polishing runs, with the types of this game."""
    plans = PlanGame(game)
    uniform = plans.feasible(np.ones(game.sequence_form.n_sequences))
    if game.tree.n_actions <= FEW_ACTIONS:
        polish(game, uniform)
    else:  # the machine code depends on the number of players only
        plans.slacks(plans.feasible(uniform))
        plans.model.direct_derivatives(uniform)
