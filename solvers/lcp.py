"""Lemke's algorithm for two-player games in extensive form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.linalg import LinAlgError

from eqbench.errors import ProfileError, counted
from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan
from eqbench.solver import Monitor, Termination

from .handover import DistinctEquilibria, PairOffPath, warm_up
from .search import first_profile, memory_refusal

# Building the tableau takes up to twice its own memory next to it.
MEMORY_FACTOR = 3
# A solved basis is exact to rounding. More regret than this share of the payoff range, and
# this share of the largest payoff for the rounding of the regret itself, means a wrong basis.
LARGEST_REGRET, ROUNDING = 1e-9, 1e-14


@dataclass(frozen=True)
class LCP:
    """One equilibrium of a two-player game by Lemke's algorithm on its sequence form.

    The linear complementarity problem is that of Koller, Megiddo and von Stengel 1996, for any
    payoffs and perfect recall. The covering vector is that of von Stengel, van den Elzen and
    Talman 2002: the path starts at a prior with both players' best responses to it, and moves
    along profiles in which both best-respond to the mixture of the other's plan, with weight
    lambda, and the prior. At lambda = 1 it has arrived at an equilibrium.

    What it arrives at is claimed to be an equilibrium.

    An iteration is a pivot on a dense tableau, with one row and one column for each sequence. The
    path can be exponentially long: in the traveler's dilemma it grows by 1.7 with each claim.
    Ties are broken lexicographically, so that degenerate games do not cycle. The last basis is
    solved again from the payoffs. If the budget ends the path, the mixtures where it stands are
    handed over; regrets need not fall along it, so there are no snapshots before the end.

    Priors of all starts are completely mixed, which makes the equilibrium normal-form perfect
    (von Stengel et al. 2002). Differs from the papers in that variables without a sign are
    eliminated, and in that numbers are floating-point.

    Parameters
    ----------
    start : prior of the path, uniform or drawn from all simplices
        Other priors may lead to other equilibria.
    offpath : what is played where the plans do not lead
        ``keep``: equal frequencies. ``logit``: credible play off the same path, by logit.
        ``perturbed``: from the equilibrium that was found a second path leads to one that is
        quasi-perfect and so sequential (Miltersen and Sorensen 2010); if the first one is not,
        this may be another. If it ends in a ray, the first one is kept.
    """

    start: Literal["uniform", "random"] = "uniform"
    offpath: PairOffPath = "keep"

    @property
    def deterministic(self) -> bool:
        """Whether all seeds give the same result."""
        return self.start == "uniform"

    def supports(self, game: Game) -> bool | str:
        """True for two players, otherwise the reason why not."""
        number = game.tree.n_players
        players = counted(number, "player")
        return number == 2 or f"lcp solves two-player games; this game has {players}"

    def prepare(self, game: Game) -> None:
        """Compile everything that `solve` runs; keeps nothing but the machine code."""
        from .complementarity import advance, tableau_of

        advance(tableau_of(np.zeros((0, 2)), np.zeros(0, dtype=bool)), 0)
        warm_up(self.offpath, game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Follow the path within the budget; `rng` only draws random priors."""
        from .complementarity import RAY, RUNNING, SOLVED, Problem, advance

        form = game.sequence_form
        size = form.n_sequences
        refusal = memory_refusal(
            f"the tableau of {size:,} sequences and its construction",
            MEMORY_FACTOR * 8 * size * (size + 2),
            monitor.budget.memory_bytes,
        )
        if refusal:
            return Termination("limit", refusal)
        status = RUNNING
        prior = first_profile(game.tree, self.start, rng)
        problem = Problem.of(form, RealizationPlan.of(form, prior).weights)
        tableau = problem.first_tableau()
        monitor.record(rows=tableau.entries.shape[0], columns=tableau.entries.shape[1])
        for start, count, _ in monitor.chunks():
            done, status = advance(tableau, count)
            monitor.work = start + done
            if status != RUNNING:
                break
        monitor.record(pivots=monitor.work)
        if status == RAY:
            return Termination(
                "failed", "the path ended in a ray: rounding has spoiled the tableau"
            )
        try:
            plans = problem.solution(tableau) if status == SOLVED else problem.plans(tableau)
            behavior = RealizationPlan(plans).to_behavior(form)
        except (ProfileError, LinAlgError) as error:
            return Termination("failed", f"rounding has spoiled the tableau: {error}")
        if status == RUNNING:
            monitor.candidate(behavior, claim="iterate")
            return monitor.termination()
        regret = float(game.payoff_model().regrets(behavior).max())
        rounding = ROUNDING * game.tree.largest_payoff
        claimed = LARGEST_REGRET * game.tree.payoff_range + rounding
        found = DistinctEquilibria(game, monitor, claimed=claimed, offpath=self.offpath)
        if not found.add(behavior, regret):
            monitor.candidate(behavior, claim="iterate")
            return Termination(
                "failed", f"rounding led to what is not an equilibrium: max regret {regret:.3g}"
            )
        pivots = counted(monitor.work, "pivot")
        return Termination("converged", f"arrived at an equilibrium after {pivots}")
