"""Methods on the strategic form: minimization, subdivision, and paths of mixed strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from eqbench.errors import SpecError

from .logit import check_positive
from .run import GambitMethod, Run, solve_with
from .sizes import strategic_refusal

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Monitor, Termination


class StrategicMethod(GambitMethod):
    """A method that needs the strategic form."""

    def supports(self, game: Game) -> bool | str:
        """True, or how large the strategic form is."""
        return strategic_refusal(game) or True


@dataclass(frozen=True)
class Liap(StrategicMethod):
    """Gambit's minimization of a Lyapunov function (McKelvey 1991).

    `pygambit.nash.liap_solve` from the strategies at equal weights. It may end in a local
    minimum that is no equilibrium, and it can be stopped only by killing it.

    Parameters
    ----------
    maxregret : regret up to which a point is accepted, as a share of the range of payoffs
    maxiter : most iterations of the minimization
    """

    maxregret: float = 1e-4
    maxiter: int = 1000

    def __post_init__(self) -> None:
        check_positive(maxregret=self.maxregret, maxiter=self.maxiter)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over the minimum if Gambit accepts it, else as an iterate; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import liap_solve

            ends: list[Any] = []
            result = liap_solve(
                run.gambit.game.mixed_strategy_profile(),
                maxregret=self.maxregret,
                maxiter=self.maxiter,
                nash_callback=run.guarded(partial(run.take, more=False)),
                event_callback=ends.append,
            )
            if not run.found:
                run.leave(ends[-1].profile)
            return result

        return solve_with(game, monitor, method, promised=self.maxregret, without="not_found")


@dataclass(frozen=True)
class Simpdiv(StrategicMethod):
    """Gambit's simplicial subdivision (van der Laan, Talman and van der Heyden 1987).

    `pygambit.nash.simpdiv_solve` from the strategies at equal weights, in rationals.
    An iteration is a refinement of the grid.

    Parameters
    ----------
    maxregret : regret up to which a point is accepted, as a share of the range of payoffs
    refine : factor by which the grid becomes finer, at least 2
    leash : most steps on one grid, 0 for no limit
    """

    maxregret: float = 1e-7
    refine: int = 2
    leash: int = 0

    def __post_init__(self) -> None:
        check_positive(maxregret=self.maxregret)
        if self.refine < 2 or self.leash < 0:
            raise SpecError(
                f"refine={self.refine}, leash={self.leash}; choose refine >= 2 and leash >= 0"
            )

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Refine the grid until Gambit accepts a point; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit import Rational
            from pygambit.nash import simpdiv_solve

            return simpdiv_solve(
                run.gambit.game.mixed_strategy_profile(rational=True),
                maxregret=Rational(repr(self.maxregret)),
                refine=self.refine,
                leash=self.leash or None,
                nash_callback=run.guarded(partial(run.take, more=False)),
                event_callback=run.guarded(lambda event: step(run, event)),
            )

        return solve_with(game, monitor, method, promised=self.maxregret, without="limit")


@dataclass(frozen=True)
class GNM(StrategicMethod):
    """Gambit's global Newton method (Govindan and Wilson 2003).

    `pygambit.nash.gnm_solve`, from a bonus on the first strategy of every player: the
    equilibria that its path comes through, often several and sometimes none.
    An iteration is a step along the path.

    Parameters
    ----------
    end_lambda : size of the bonus, below 0, at which the path is left
    steps : steps within a support; more are safer and slower
    """

    end_lambda: float = -10.0
    steps: int = 100

    def __post_init__(self) -> None:
        check_positive(steps=self.steps)
        if not self.end_lambda < 0:
            raise SpecError(f"end_lambda={self.end_lambda}; choose a negative number")

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Follow the path and hand over equilibria as it meets them; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import gnm_solve

            return gnm_solve(
                run.gambit.game,
                end_lambda=self.end_lambda,
                steps=self.steps,
                nash_callback=run.guarded(run.take),
                # a snapshot at the target would end the path before its other equilibria
                event_callback=run.guarded(lambda event: step(run, event, shown=False)),
            )

        return solve_with(game, monitor, method)


@dataclass(frozen=True)
class IPA(StrategicMethod):
    """Gambit's iterated polymatrix approximation (Govindan and Wilson 2004).

    `pygambit.nash.ipa_solve`, from a bonus on the first strategy of every player. It need not
    converge. An iteration is one of the method.
    """

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until Gambit calls it converged; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import ipa_solve

            return ipa_solve(
                run.gambit.game,
                nash_callback=run.guarded(partial(run.take, more=False)),
                event_callback=run.guarded(lambda event: step(run, event)),
            )

        return solve_with(game, monitor, method)


@dataclass(frozen=True)
class HP(StrategicMethod):
    """Gambit's homotopy from best replies to a prior (Herings and Peeters 2001).

    `pygambit.nash.hp_solve`, from the prior that gives all strategies equal weights.
    An iteration is a point on the path.

    Parameters
    ----------
    maxregret : regret up to which a point is accepted, as a share of the range of payoffs
    """

    maxregret: float = 1e-8

    def __post_init__(self) -> None:
        check_positive(maxregret=self.maxregret)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Follow the path to its end; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import hp_solve

            result = hp_solve(
                run.gambit.game.mixed_strategy_profile(),
                maxregret=self.maxregret,
                event_callback=run.guarded(lambda event: step(run, event)),
            )
            if result.equilibrium is not None:
                run.take(result.equilibrium, more=False)
            return result

        return solve_with(game, monitor, method, promised=self.maxregret)


def step(run: Run, event: Any, *, shown: bool = True) -> None:
    """Count an event that comes with where the method stands; others are passed over."""
    from pygambit import gambit

    steps = (
        gambit.SimpdivRefinementEvent,
        gambit.GNMStepEvent,
        gambit.IPAStepEvent,
        gambit.HPStepEvent,
    )
    if isinstance(event, steps):
        run.step(lambda: run.gambit.behavior(event.profile).probabilities, shown=shown)
