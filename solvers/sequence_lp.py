"""Two-player constant-sum games by linear programming over realization plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eqbench.errors import ProfileError, counted
from eqbench.model.facts import constant_sum, payoff_sums
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.solver import Monitor, Termination

from .handover import PairOffPath, handed_over, warm_up


@dataclass(frozen=True)
class SequenceLP:
    """Linear program over realization plans (von Stengel 1996; Koller et al. 1996).

    For two players whose payoffs sum to a constant, in expectation over chance for every pair
    of sequences. One program, solved by the dual simplex method of HiGHS, gives the plans of
    both: that of the first player as its primal and that of the second as its dual solution.
    Both are vertices, so the profile is exact to rounding, but only one of the equilibria.
    At information sets that the own plan does not reach, frequencies are uniform, unless `offpath`
    says otherwise.

    An iteration is one of the simplex method. What the last one gives is claimed to be an
    equilibrium; nothing is handed over before.

    Parameters
    ----------
    offpath : what is played where the plans do not lead
        ``keep``: equal frequencies. ``logit``: credible play off the same path, by logit.
        ``perturbed``: every sequence is played a little, in
        powers of an infinitesimal, which makes the equilibrium quasi-perfect and so sequential
        (Miltersen and Sorensen 2010). It may be another one of the same value.
    """

    offpath: PairOffPath = "keep"
    deterministic: ClassVar[bool] = True

    def supports(self, game: Game) -> bool | str:
        """True for two players and constant sum, otherwise the reason why not."""
        demand = "sequence_lp solves two-player constant-sum games"
        if game.tree.n_players != 2:
            return f"{demand}; this game has {counted(game.tree.n_players, 'player')}"
        if constant_sum(game) is not None:
            return True
        lowest, highest = payoff_sums(game.sequence_form)
        return (
            f"{demand}; here the sum of the payoffs varies by {highest - lowest:.6g}, from "
            f"{lowest:.6g} to {highest:.6g} (lcp solves such games)"
        )

    def prepare(self, game: Game) -> None:
        """Import what `solve` uses."""
        from . import maximin  # noqa: F401

        warm_up(self.offpath, game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Solve the program within the budget; `rng` is not used."""
        from .maximin import MaximinProgram

        form = game.sequence_form
        program = MaximinProgram.of(game.tree, 0)
        solution = program.solve(monitor.remaining_s, monitor.budget.iterations)
        monitor.record(**program.size, simplex_iterations=solution.iterations)
        if solution.ending is not None:
            return solution.ending
        weights = np.ones(form.n_sequences)
        weights[program.own.action[1:] + form.n_players] = solution.plan[1:]
        weights[program.others.action[1:] + form.n_players] = solution.answer[1:]
        try:
            behavior = RealizationPlan(weights).to_behavior(form)
        except ProfileError as error:
            return Termination("failed", f"HiGHS returned no realization plans: {error}")
        monitor.record(value=solution.value)
        profile = BehaviorProfile.of(game.tree, behavior)
        found = handed_over(self.offpath, game, monitor, profile)
        monitor.snapshot(found, work=solution.iterations)
        monitor.candidate(found)
        return Termination("converged", f"value of the game to P1: {solution.value:.12g}")
