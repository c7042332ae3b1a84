"""Monte Carlo CFR with external sampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from .full_width import AVERAGING_EXPONENT

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Monitor, Termination

    from .kernels import State


@dataclass(frozen=True)
class ExternalSampling:
    """Monte Carlo CFR with external sampling (Lanctot, Waugh, Zinkevich and Bowling 2009).

    An iteration is one walk through the tree per player. A walk tries all actions of its
    player and draws one at chance nodes and at nodes of the others, so that the regrets seen
    on it are unbiased estimates of the counterfactual regrets. They add up as in plain CFR.

    Differs from the paper in the average profile: this adds the whole realization plans of
    all players, which costs time linear in the number of sequences. The usual updates at
    visited nodes of other players are biased with more than two players, since a visit then
    also depends on the frequencies of third players.

    Parameters
    ----------
    averaging : weight of iteration t in the average profile, constant or t or t squared
    start : frequencies of the first iteration, uniform or drawn from all simplices
    """

    averaging: Literal["uniform", "linear", "quadratic"] = "uniform"
    start: Literal["uniform", "random"] = "uniform"

    deterministic: ClassVar[bool] = False

    def prepare(self, game: Game) -> None:
        """Compile everything that `solve` runs; keeps nothing but the machine code."""
        import numpy as np

        from . import iteration

        state = iteration.begin(game.sequence_form)
        self._walker(game, state, np.random.default_rng(0))(0, 0)
        iteration.better_candidate(game.payoff_model(), game, state)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends; all draws come from `rng`."""
        from eqbench.model.profile import random_profile

        from . import iteration

        first = random_profile(game.tree, rng) if self.start == "random" else None
        state = iteration.begin(game.sequence_form, first)
        return iteration.iterate(game, monitor, state, self._walker(game, state, rng))

    def _walker(
        self, game: Game, state: State, rng: np.random.Generator
    ) -> Callable[[int, int], None]:
        """Function ``(start, count)`` that does these iterations on `state`."""
        from . import sampling
        from .kernels import NEGLIGIBLE, Rule

        form, walk = game.sequence_form, sampling.walk_arrays(game.tree)
        queue = sampling.empty_queue(game.tree)
        rule = Rule(
            averaging=AVERAGING_EXPONENT[self.averaging],
            negligible=NEGLIGIBLE * game.tree.payoff_range,
        )

        def advance(start: int, count: int) -> None:
            sampling.advance(form.arrays, walk, rule, start, count, rng, queue, state)

        return advance
