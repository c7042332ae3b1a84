"""Fictitious play in realization plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.model.sequence_form import SequenceForm
    from eqbench.model.tree import FloatArray
    from eqbench.solver import Monitor, Termination

    from .kernels import State

# Share of the payoff range up to which actions count as equally good.
NEGLIGIBLE = 1e-12


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
    converge to equilibria (Robinson 1951); in general they need not (Shapley 1964).

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

    def prepare(self, game: Game) -> None:
        """Compile everything that `solve` runs; keeps nothing but the machine code."""
        import numpy as np

        from .kernels import Rule, advance

        if self.start == "maximin":
            from .. import maximin  # noqa: F401
        form = game.sequence_form
        state = _begin(form, np.ones(form.n_sequences))
        advance(form.arrays, Rule(0.0, self.alternating), 0, state)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends; `rng` only draws random starts."""
        from eqbench.model.profile import BehaviorProfile
        from eqbench.solver import Candidate, Termination

        from .kernels import Rule, advance

        form = game.sequence_form
        rule = Rule(NEGLIGIBLE * game.tree.payoff_range, self.alternating)
        first = self._first_plans(game, monitor, rng)
        if isinstance(first, Termination):
            return first
        state = _begin(form, first)

        def average() -> Candidate:
            profile = BehaviorProfile.of(game.tree, _average(form, state))
            return Candidate(profile, claim="average")

        monitor.snapshot(average, work=0)
        if monitor.reached_target:
            monitor.candidate(average())
            return monitor.termination()
        for start, count, due in monitor.chunks():
            advance(form.arrays, rule, count, state)
            if due:
                monitor.snapshot(average, work=start + count)
        monitor.candidate(average())
        return monitor.termination()

    def _first_plans(
        self, game: Game, monitor: Monitor, rng: np.random.Generator
    ) -> FloatArray | Termination:
        """Realization plans of the start, float64 (S,), or how their computation failed."""
        from eqbench.model.profile import BehaviorProfile, random_profile
        from eqbench.model.realization import RealizationPlan

        if self.start == "maximin":
            from ..maximin import maximin_plans

            return maximin_plans(game, monitor)
        if self.start == "random":
            behavior = random_profile(game.tree, rng)
        else:
            behavior = BehaviorProfile.uniform(game.tree).probabilities
        return RealizationPlan.of(game.sequence_form, behavior).weights


def _begin(form: SequenceForm, plans: FloatArray) -> State:
    """State after the first plans, before the first best responses."""
    import numpy as np

    from .kernels import State

    size = form.n_sequences
    choice = np.zeros(form.n_infosets, dtype=np.uint32)
    return State(plans.copy(), np.zeros(size), choice, np.zeros(size))


def _average(form: SequenceForm, state: State) -> FloatArray:
    """Frequencies of the average realization plans, float64 (A,)."""
    from eqbench.model.realization import RealizationPlan

    count = state.plans[0]
    return RealizationPlan(state.plans / count).to_behavior(form)
