"""Maximin realization plans: what a player can make sure of, whatever the others do together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from eqbench.model.game import Game
from eqbench.model.joint_player import JointPlayer, joint_player, payoff_matrix
from eqbench.model.tree import FloatArray, GameTree
from eqbench.solver import Monitor, Termination

# The smallest tolerances that HiGHS accepts. The vertex that its simplex ends at satisfies the
# constraints to rounding anyway.
TOLERANCE = 1e-10
# Weights up to here are rounding: a vertex has exact zeros, and a few that miss by 1e-16.
NEGLIGIBLE_WEIGHT = 1e-12
OUT_OF_BUDGET = 1  # as scipy.optimize.linprog numbers its endings


@dataclass(frozen=True, eq=False)
class MaximinProgram:
    """The linear program for a maximin plan of one player.

    The player (plan x, constraints E x = e) faces all others as one :class:`JointPlayer`
    (constraints F y = f) who wants the player to have as little as possible. With A the payoffs
    of the player, the program is: maximize the first entry of v subject to E x = e, x >= 0 and
    F^T v <= A^T x. Its dual variables are the plan y of the others (von Stengel 1996, §4;
    Koller, Megiddo and von Stengel 1996).

    In a strategic form the others may so correlate their actions. In an extensive form they
    know as much as :class:`JointPlayer` says, and there the value is at most that against
    others who cannot communicate.
    """

    # with C and D sequences
    own: JointPlayer
    others: JointPlayer
    payoffs: sparse.csr_array  # float64 (C, D): payoffs of the player, less `middle`, times chance
    middle: float  # mean of the largest and the smallest payoff of the player

    @classmethod
    def of(cls, tree: GameTree, player: int) -> MaximinProgram:
        """The program of one player of a game."""
        own = joint_player(tree, [player])
        others = joint_player(tree, [p for p in range(tree.n_players) if p != player])
        payoffs = tree.payoffs.table[:, player]
        middle = float(payoffs.max() + payoffs.min()) / 2
        return cls(own, others, payoff_matrix(tree, payoffs - middle, own, others), middle)

    @property
    def size(self) -> dict[str, int]:
        """Rows, columns and nonzeros of the constraint matrix."""
        own, others = self.own, self.others
        flows = own.n_sequences + own.n_infosets + others.n_sequences + others.n_infosets
        return {
            "rows": own.n_infosets + 1 + others.n_sequences,
            "columns": own.n_sequences + others.n_infosets + 1,
            "nonzeros": flows + int(np.count_nonzero(self.payoffs.data)),
        }

    def solve(self, time_s: float, iterations: int | None = None) -> MaximinSolution:
        """Solution by the dual simplex method of HiGHS.

        Parameters
        ----------
        time_s : seconds that it may take
        iterations : simplex iterations that it may take, unbounded if None
        """
        own_flow, other_flow = self.own.flow(), self.others.flow()
        size, values = own_flow.shape[1], other_flow.shape[0]
        # Chance can make all payoffs tiny, and the tolerances of HiGHS are absolute.
        scale = float(np.abs(self.payoffs.data).max(initial=0.0)) or 1.0
        # Any, since the stubs of SciPy know neither sparse constraints nor maxiter with highs-ds
        replies: Any = sparse.hstack([-self.payoffs.T / scale, other_flow.T], format="csr")
        unused = sparse.csr_array((own_flow.shape[0], values))
        plans: Any = sparse.hstack([own_flow, unused], format="csr")
        options: Any = {
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
            "time_limit": max(time_s, 0.0),
        }
        result: Any = linprog(
            -np.eye(1, size + values, size)[0],
            A_ub=replies,
            b_ub=np.zeros(other_flow.shape[1]),
            A_eq=plans,
            b_eq=np.eye(1, own_flow.shape[0])[0],
            bounds=[(0, None)] * size + [(None, None)] * values,
            method="highs-ds",
            options=options if iterations is None else options | {"maxiter": iterations},
        )
        if result.status != 0:
            ending = Termination(
                "limit" if result.status == OUT_OF_BUDGET else "failed",
                f"the linear program was not solved: {result.message}",
            )
            return MaximinSolution(np.nan, np.empty(0), np.empty(0), int(result.nit), ending)
        plan, answer = (
            np.where(weights > NEGLIGIBLE_WEIGHT, weights, 0.0)
            for weights in (result.x[:size], -result.ineqlin.marginals)
        )
        value = self.middle - float(result.fun) * scale
        return MaximinSolution(value, plan, answer, int(result.nit))


@dataclass(frozen=True, eq=False)
class MaximinSolution:
    """Outcome of a :class:`MaximinProgram`."""

    value: float  # payoff that the plan makes sure of; NaN without a solution
    # float64 (C,) and (D,): plan of the player, and an optimal one of the others against it; empty
    # without a solution. Owned by the caller
    plan: FloatArray
    answer: FloatArray
    iterations: int  # simplex iterations
    ending: Termination | None = None  # None if solved, otherwise how to end the run


def maximin_plans(game: Game, monitor: Monitor) -> FloatArray | Termination:
    """Maximin plans of all players, float64 (S,), owned by the caller.

    Also records what they make sure of as `maximin_values`. Returns how to end the run if a
    linear program was not solved within the monitor's time.
    """
    n = game.tree.n_players
    weights, values = np.ones(game.sequence_form.n_sequences), []
    for player in range(n):
        program = MaximinProgram.of(game.tree, player)
        solution = program.solve(monitor.remaining_s)
        if solution.ending is not None:
            return solution.ending
        weights[n + program.own.action[1:]] = solution.plan[1:]
        values.append(solution.value)
    monitor.record(maximin_values=values)
    return weights
