"""Linear programs that close the gap of realization plans near an equilibrium.

The gap is the sum over players of best-response value less payoff: nowhere negative, and 0 at
equilibria only. Linearized at plans it is the objective of a linear program over the plans and
the values of information sets (von Stengel 1996, for the best responses). Unlike Newton's
method this needs no support; it shows one.

Symbols: N players, I information sets, S sequences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from eqbench.model.tree import FloatArray

from .point import PlanGame

# Prices of the gap against distance. A high one goes far to close the last of it, and so it does
# where equilibria are nearly degenerate; a low one stays where the linearization is true.
PRICES = (1e7, 1e5, 1e3)
# A gap that falls to this share is small enough not to try the other prices.
CLOSED = 0.1


def closer(game: PlanGame, plans: FloatArray) -> FloatArray | None:
    """Feasible plans (S,) with a smaller gap than the feasible `plans`; None if none are found."""
    best, least = None, gap(game, plans)
    goal = CLOSED * least
    for price in PRICES:
        found = linearized(game, plans, price)
        if found is None:
            continue
        made = game.feasible(found)
        left = gap(game, made)
        if left < least:
            best, least = made, left
        if left <= goal:
            break
    return best


def gap(game: PlanGame, plans: FloatArray) -> float:
    """Sum of the regrets of feasible plans (S,), in payoff units."""
    return float(plans @ game.slacks(plans))


def linearized(game: PlanGame, plans: FloatArray, price: float) -> FloatArray | None:
    """Weights (S,) with the least sum of price times linearized gap and of all changes.

    Because changes cost, what need not move stays, and the error of the linearization is of
    second order in the distance of the equilibrium, without a region of trust. None if there is
    no gap or the program fails.
    """
    form, n = game.form, game.form.n_players
    slack = game.slacks(plans)
    # changes are counted in this unit: the program has absolute tolerances
    unit = float(plans @ slack) / game.scale
    if not unit > 0.0:
        return None
    values = game.model.direct_values(plans) / game.scale
    derivatives = game.model.direct_derivatives(plans) / game.scale
    # the slack of a sequence is lambda_I - (sum of lambda_J below) - its own value
    value_rows = game.flow.T
    gain = derivatives[:n].sum(axis=0) - values - plans @ derivatives
    move = gain[n:]
    ones = np.full(len(move), 1.0 / price)
    cost = np.concatenate((move + ones, ones - move, -value_rows[:n].sum(axis=0)))
    change = csr_array(derivatives[n:, n:])
    # Any: SciPy takes sparse matrices, its annotations do not say so
    inequalities: Any = hstack((change, -change, csr_array(-value_rows[n:])), format="csr")
    still = csr_array((form.n_infosets, form.n_infosets))
    shift = csr_array(game.flow[:, n:])
    flow: Any = hstack((shift, -shift, still), format="csr")
    bounds: Any = _bounds(plans[n:] / unit, form.n_infosets)
    made = linprog(
        cost,
        inequalities,
        slack[n:] / (game.scale * unit),
        flow,
        -(game.flow @ plans) / unit,
        bounds,
        method="highs-ds",
    )
    if made.x is None:
        return None
    up, down = made.x[: len(move)], made.x[len(move) : 2 * len(move)]
    result = plans.copy()
    kept = np.where(down >= plans[n:] / unit, 0.0, plans[n:] - unit * down)
    result[n:] = kept + unit * up
    return result


def _bounds(most_down: FloatArray, infosets: int) -> FloatArray:
    """Bounds of growth (A,), of decrease (A,) and of the values of information sets (I,)."""
    free = np.full(infosets, np.inf)
    none = np.zeros(len(most_down))
    low = np.concatenate((none, none, -free))
    high = np.concatenate((none + np.inf, most_down, free))
    return np.stack((low, high), axis=1)
