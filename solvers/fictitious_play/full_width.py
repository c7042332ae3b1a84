"""Fictitious play in realization plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.solver import Candidate, Monitor, Termination

from ..search import first_profile, repeat


@dataclass(frozen=True)
class FictitiousPlay:
    """Fictitious play (Brown 1951) in extensive form (Heinrich, Lanctot and Silver 2015).

    In iteration t every player takes a pure best response to the average realization plans of
    the others, and it enters the own average with weight 1 / (t + 1): the plans played so far,
    among them that of the start, all weigh the same. This is XFP, the full-width method of
    Heinrich et al. with their step sizes 1 / t; their Theorem 7 is the same average, written
    for frequencies. At information sets that no own plan has reached, frequencies are uniform.

    Between actions whose values differ by at most 1e-12 times the payoff range the first is
    taken, because otherwise rounding decides. With two players and constant sum the averages
    converge to equilibria (Robinson 1951); in general they need not (Shapley 1964). They are
    handed over, and nothing is claimed about their regret.

    Parameters
    ----------
    start : first profile, uniform or drawn from all simplices or maximin plans
        With `maximin` every player starts with a plan that makes sure of the most against
        all others acting as one (Ganzfried 2022), see `MaximinProgram` for what these know.
    alternating : whether players move in turn, each facing the others' newest averages
        So Brown described it (Berger 2007); the default lets all respond at once, like XFP.
    """

    start: Literal["uniform", "random", "maximin"] = "uniform"
    alternating: bool = False

    @property
    def deterministic(self) -> bool:
        """Whether all seeds give the same result."""
        return self.start != "random"

    @property
    def by_products(self) -> bool:
        """Whether large dealt games are solved without their trees."""
        return self.start != "maximin"

    def prepare(self, game: Game) -> None:
        """Compile everything that `solve` runs; keeps nothing but the machine code."""
        from ..cfr.iteration import CFRRule
        from .kernels import PlaySums, advance_of

        if self.start == "maximin":
            from .. import maximin  # noqa: F401
        form, advance = game.plan_form, advance_of(game)
        state = PlaySums(*np.ones((3, form.n_sequences)))
        advance(form.arrays, CFRRule(0, 0.0, alternating=self.alternating), 0, state)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends; `rng` only draws random starts."""
        from ..cfr.iteration import NEGLIGIBLE, CFRRule
        from .kernels import PlaySums, advance_of

        form, advance = game.plan_form, advance_of(game)
        negligible = NEGLIGIBLE * game.tree.payoff_range
        rule = CFRRule(averaging=0, negligible=negligible, alternating=self.alternating)
        if self.start == "maximin":
            from ..maximin import maximin_plans

            first = maximin_plans(game, monitor)
            if isinstance(first, Termination):
                return first
        else:
            profile = first_profile(game.tree, self.start, rng)
            first = RealizationPlan.of(form, profile).weights
        state = PlaySums(first.copy(), *np.zeros((2, len(first))))

        def average() -> Candidate:
            plans = RealizationPlan(state.plans / state.plans[0])
            return Candidate(BehaviorProfile.of(game.tree, plans.to_behavior(form)), "average")

        monitor.snapshot(average, work=0)
        if not monitor.reached_target:
            repeat(monitor, lambda _, count: advance(form.arrays, rule, count, state), average)
        monitor.candidate(average())
        return monitor.termination()
