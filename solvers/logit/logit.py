"""The solver: options, which games are too large for it, and branches for studies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eqbench.errors import SpecError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from eqbench.continuation import ResponsePath
    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray
    from eqbench.solver import Monitor, Termination

MEBIBYTE = 2**20
# One factorization of a matrix of this size takes about ten seconds.
MOST_UNKNOWNS = 5000


@dataclass(frozen=True)
class Logit:
    """Agent logit quantal response equilibria (McKelvey and Palfrey 1998), and where they lead.

    At every information set ``log(p_a / p_b) = log(w_a / w_b) + lambda (v_a - v_b)``, where v is
    the value of an action conditional on reaching the set, in payoff units, and w a prior. The
    branch that starts at the prior where lambda is 0 is followed by pseudo-arclength steps in
    log-odds (Turocy 2005, 2010), also where lambda turns around. Its end is polished to an
    equilibrium. With the uniform prior it is the principal branch, which Gambit traces too.

    Difference from Turocy: beliefs are made from logarithms of reaches, so that lambda is not
    bounded by the smallest float.

    An iteration is a step along the branch.

    Parameters
    ----------
    prior : uniform, or random: drawn from all distributions at each information set
    stop_lambda : where the branch ends, in 1 / payoff
    regret : max regret in payoff units at which the branch ends earlier, or none
    polish : whether to hand over an equilibrium besides the end of the branch
    """

    prior: Literal["uniform", "random"] = "uniform"
    stop_lambda: float = 1e6
    regret: float | None = None
    polish: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.stop_lambda < float("inf"):
            raise SpecError(f"stop_lambda={self.stop_lambda}; choose a number > 0, for example 1e6")
        if self.regret is not None and not 0 < self.regret < float("inf"):
            raise SpecError(f"regret={self.regret}; choose a number > 0, or none")

    @property
    def deterministic(self) -> bool:
        """Whether all seeds give the same result."""
        return self.prior == "uniform"

    def supports(self, game: Game) -> bool | str:
        """True, or how many unknowns are too many."""
        unknowns = sum(len(actions) - 1 for actions in game.tree.infoset_actions)
        if unknowns <= MOST_UNKNOWNS:
            return True
        return (
            f"the game has {unknowns:,} log-odds, and dense matrices are made of them; at most "
            f"{MOST_UNKNOWNS:,} are supported; give a smaller game, or a method without matrices"
        )

    def prepare(self, game: Game) -> None:
        """Compile what `solve` runs; keeps nothing but the machine code."""
        from .run import warm_up

        warm_up(self, game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over the end of the branch and the equilibrium near it."""
        from eqbench.solver import Termination

        from .flat_tree import bytes_needed
        from .run import Run

        needed, limit = bytes_needed(game.tree), monitor.budget.memory_bytes
        if needed > limit:
            return Termination(
                "failed",
                f"the dense matrices of {game.tree.n_actions:,} actions need "
                f"{needed / MEBIBYTE:,.0f} MiB, more than {limit / MEBIBYTE:,.0f} MiB; give the "
                "solver more memory",
            )
        return Run(self, game, monitor, rng).run()

    def branch(
        self,
        game: Game,
        *,
        at: Iterable[float] = (),
        rng: np.random.Generator | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> ResponsePath:
        """The branch to the last lambda; see `eqbench.continuation.QuantalResponses`.

        Raises
        ------
        UsageError
            If the game is not supported or has no choice, a value is not between 0 and
            `stop_lambda`, or a random prior has no generator.
        """
        from .branch import Branch
        from .run import prior_of, whole_branch

        fits = self.supports(game)
        if isinstance(fits, str):
            raise UsageError(fits)
        if all(len(actions) <= 1 for actions in game.tree.infoset_actions):
            raise UsageError(f"{game.spec} has no information set with a choice, so no branch")
        stops = sorted(at)
        for stop in stops:
            if not 0 < stop <= self.stop_lambda:
                raise UsageError(
                    f"at={stop}; choose values > 0 up to stop_lambda={self.stop_lambda:g}"
                )
        if self.prior == "random" and rng is None:
            raise UsageError("prior=random is drawn at random; give a generator as rng")
        return whole_branch(self, Branch(game, prior_of(self, rng)), stops, interrupted)

    def equilibrium(self, game: Game, path: ResponsePath) -> FloatArray:
        """An equilibrium close to the end of a path, float64 (A,).

        It is the best profile that was found, that of the last point if there is none better
        or `polish` is false; how good it is the verifier says.
        """
        from .polish import polished

        if not self.polish:
            return path.behavior[-1]
        return polished(game, path.log_probabilities[-1]).behavior
