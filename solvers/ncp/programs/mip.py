"""Nash equilibrium of a strategic form with a binary variable for each pure strategy."""

from __future__ import annotations

import numpy as np

from .compact import CompactGame
from .formulations import Draft, Formulated
from .program import Polynomial


def formulate_mip(game: CompactGame) -> Formulated:
    """The mixed-integer bilinear program of a game in strategic form.

    For each pure strategy s of player i with probability x_s, value V_s, u_i the best value
    and b_s binary (Sandholm, Gilpin and Conitzer 2005, formulation 1; Ganzfried 2024 for more
    than two players):

        r_s = u_i - V_s >= 0,   x_s <= 1 - b_s,   r_s <= U_i b_s

    where U_i is the range of payoffs of player i, each expected over chance. So a strategy has
    no probability or no regret.
    """
    draft = Draft(game)
    draft.plans(eliminate=False)
    draft.multipliers()
    slack = draft.slacks()
    # columns that chance leads to together add up, so the range is that of payoffs without it
    possible = game.form.chance > 0
    span = np.ptp(game.form.payoffs[possible] / game.form.chance[possible, None], axis=0)
    for sequence, regret in slack.items():
        idle = draft.builder.variable(0.0, 1.0, binary=True)
        probability = Polynomial(draft.x[sequence]).add(idle)
        draft.builder.require(probability.add(Polynomial.constant(-1.0)), "<=")
        draft.builder.require(
            Polynomial(regret).add(idle, -float(span[game.owner[sequence]])), "<="
        )
    return Formulated(draft.builder.program(), game, tuple(draft.x))
