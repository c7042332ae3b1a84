"""The solver: homotopies in eps at the game's own parameters, and the branch around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eqbench.errors import SpecError

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Monitor, Termination

    from .continuation import ArclengthContinuation

MEBIBYTE = 2**20


@dataclass(frozen=True)
class Arclength:
    """Equilibria by regularized arclength continuation (Billingham 2018).

    A barrier of strength epsilon turns the equilibrium conditions into smooth equations. Where
    it is strong they have one solution; it is followed while epsilon is lowered, then polished
    to an equilibrium on the actions that are left. That is repeated from random weights of the
    barrier. If payoffs have a parameter (the pot), the curve of regularized equilibria is also
    followed along it, and all points with the game's own value are polished: these are the
    equilibria on this branch, not all equilibria of the game.

    An iteration is an evaluation of the derivatives.

    Parameters
    ----------
    epsilon : strength of the barrier in payoff units, where the paths end
    regularization : log (any game), arctan or rational (two actions at each information set)
    derivative : counterfactual, or raw: times the own reach, which lets threats be incredible
    starts : number of random weights of information sets, besides uniform ones
    branch : whether to follow the branch along the payoff parameter
    window : how far, as a share of the parameter's value, the branch is followed to both sides
    """

    epsilon: float = 1e-7
    regularization: Literal["log", "arctan", "rational"] = "log"
    derivative: Literal["counterfactual", "raw"] = "counterfactual"
    starts: int = 10
    branch: bool = True
    window: float = 0.3

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < float("inf"):
            raise SpecError(f"epsilon={self.epsilon}; choose a number > 0, for example 1e-7")
        if self.starts < 0:
            raise SpecError(f"starts={self.starts}; choose a number >= 0")
        if not 0 < self.window < float("inf"):
            raise SpecError(f"window={self.window}; choose a number > 0, for example 0.3")

    @property
    def deterministic(self) -> bool:
        """Whether all seeds give the same result."""
        return self.starts == 0

    def supports(self, game: Game) -> bool | str:
        """True, or the reason why the regularization does not fit the game."""
        most = max((len(actions) for actions in game.tree.infoset_actions), default=0)
        if self.regularization == "log" or most <= 2:
            return True
        return (
            f"regularization={self.regularization} is defined for two actions; this game has "
            f"information sets with {most}; use regularization=log"
        )

    def prepare(self, game: Game) -> None:
        """Compile what `solve` runs; keeps nothing but the machine code."""
        from .runs import warm_up

        warm_up(self, game)

    def continuation(self, game: Game) -> ArclengthContinuation:
        """Branches of a game along its payoff parameter; see `eqbench.continuation`.

        Raises
        ------
        UsageError
            If the game has no payoff parameter, or the regularization does not fit it.
        """
        from eqbench.errors import UsageError

        from .continuation import ArclengthContinuation
        from .regularization import RegularizedGame

        fits = self.supports(game)
        if isinstance(fits, str):
            raise UsageError(fits)
        if game.tree.payoffs.parameter is None:
            raise UsageError(f"{game.spec} has no payoff parameter to continue in")
        system = RegularizedGame(game, self.regularization, self.derivative)
        return ArclengthContinuation(system, self.epsilon)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over all equilibria found within the budget."""
        from eqbench.solver import Termination

        from .runs import Search, bytes_needed

        needed, limit = bytes_needed(game), monitor.budget.memory_bytes
        if needed > limit:
            return Termination(
                "failed",
                f"the derivatives by {game.tree.n_actions:,} actions need {needed / MEBIBYTE:,.0f} "
                f"MiB, more than the memory limit of {limit / MEBIBYTE:,.0f} MiB; give the "
                "solver more memory or a smaller game",
            )
        return Search(self, game, monitor, rng).run()
