"""CFR over the whole game in every iteration; its variants differ only in options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eqbench.errors import SpecError

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Monitor, Termination

    from .kernels import Rule

DISCOUNT_EXPONENTS = (1.5, 0.0)
AVERAGING_EXPONENT = {"uniform": 0, "linear": 1, "quadratic": 2}


@dataclass(frozen=True)
class CFR:
    """Counterfactual regret minimization (Zinkevich et al. 2007) and its full-width variants.

    At each information set, regrets of the actions add up over the iterations, and the next
    frequencies are proportional to the positive ones. The defaults are the original method
    with alternating updates.

    - CFR+ (Tammelin 2014): clipped regrets, linear averaging.
    - DCFR (Brown and Sandholm 2019): discounted regrets with exponents alpha and beta; their
      gamma is 0 with uniform, 1 with linear and 2 with quadratic averaging. Linear CFR is
      DCFR with alpha = beta = gamma = 1.
    - Predictive CFR+ (Farina, Kroer and Sandholm 2021): clipped regrets, prediction,
      quadratic averaging. The prediction is the last counterfactual regret of the
      information set itself.

    Positive regrets up to 1e-12 times the payoff range count as zero, because otherwise
    rounding decides between actions that are equally good.

    Parameters
    ----------
    regrets : what happens to accumulated regrets
        `plain` keeps them, `clipped` sets negative ones to zero, `discounted` multiplies
        positive ones by t^alpha / (t^alpha + 1) and negative ones by t^beta / (t^beta + 1)
        after iteration t.
    alpha : exponent of positive regrets where regrets=discounted, 1.5 unless given
    beta : exponent of negative regrets where regrets=discounted, 0 unless given
    predictive : whether the last regret counts once more for the next frequencies
    averaging : weight of iteration t in the average profile, constant or t or t squared
    alternating : whether players move in turn, each facing the others' newest frequencies
    start : frequencies of the first iteration, uniform or drawn from all simplices
    """

    regrets: Literal["plain", "clipped", "discounted"] = "plain"
    alpha: float | None = None
    beta: float | None = None
    predictive: bool = False
    averaging: Literal["uniform", "linear", "quadratic"] = "uniform"
    alternating: bool = True
    start: Literal["uniform", "random"] = "uniform"

    def __post_init__(self) -> None:
        for name, usual in zip(("alpha", "beta"), DISCOUNT_EXPONENTS, strict=True):
            value = getattr(self, name)
            if self.regrets != "discounted":
                if value is not None:
                    raise SpecError(
                        f"{name}={value:g} has no meaning with regrets={self.regrets}; "
                        f"leave it out (or {name}=none), or use regrets=discounted"
                    )
            elif value is None:
                object.__setattr__(self, name, usual)
            elif math.isnan(value):
                raise SpecError(f"{name} is not a number; the usual choice is {name}={usual:g}")

    @property
    def deterministic(self) -> bool:
        """Whether all seeds give the same result."""
        return self.start == "uniform"

    def prepare(self, game: Game) -> None:
        """Compile everything that `solve` runs; keeps nothing but the machine code."""
        from . import iteration, kernels

        state = iteration.begin(game.sequence_form)
        kernels.advance(game.sequence_form.arrays, self._rule(game), 0, 0, state)
        iteration.better_candidate(game.payoff_model(), game, state)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends; `rng` only draws random starts."""
        from eqbench.model.profile import random_profile

        from . import iteration, kernels

        form, rule = game.sequence_form, self._rule(game)
        first = random_profile(game.tree, rng) if self.start == "random" else None
        state = iteration.begin(form, first)

        def advance(start: int, count: int) -> None:
            kernels.advance(form.arrays, rule, start, count, state)

        return iteration.iterate(game, monitor, state, advance)

    def _rule(self, game: Game) -> Rule:
        from .kernels import NEGLIGIBLE, Rule

        exponents = {"plain": (math.inf, math.inf), "clipped": (math.inf, -math.inf)}
        alpha, beta = exponents.get(self.regrets, (self.alpha, self.beta))
        assert alpha is not None
        assert beta is not None
        return Rule(
            averaging=AVERAGING_EXPONENT[self.averaging],
            negligible=NEGLIGIBLE * game.tree.payoff_range,
            alpha=float(alpha),
            beta=float(beta),
            predictive=self.predictive,
            alternating=self.alternating,
        )
