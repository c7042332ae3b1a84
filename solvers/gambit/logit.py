"""The principal branch of logit quantal response equilibria."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from eqbench.errors import SpecError
from eqbench.solver import Termination

from .run import GambitMethod, Run, solve_with
from .sizes import decisions_in_turn, strategic_refusal

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray
    from eqbench.solver import Monitor

# Relative distance from the last lambda asked for within which the path has come there.
ARRIVED = 1e-6


@dataclass(frozen=True)
class LogitPath(GambitMethod):
    """Gambit's logit path, followed up to a given lambda (Turocy 2005, 2010).

    `pygambit.qre.logit_solve_lambda`: quantal response equilibria on the principal branch, from
    uniform play at lambda = 0. On trees these are of agents, whose action values are
    conditional on their information set. A point on the path is an approximation and is handed
    over as an iterate. The path is left before `end` where a snapshot has the target's regret.
    Where rounding ends it early, Gambit returns the last point without a word; here that is
    `failed`.

    An iteration is a point on the path.

    Parameters
    ----------
    end : lambda at which to stop, in units of one over payoff
    first_step : length of the first step along the path
    max_accel : factor by which a step may be longer than the one before, at least 1
    use_strategic : whether to follow the path of the strategic form instead
    """

    end: float = 1e6
    first_step: float = 0.03
    max_accel: float = 1.1
    use_strategic: bool = False

    def __post_init__(self) -> None:
        check_positive(end=self.end, first_step=self.first_step)
        check_acceleration(self.max_accel)

    def supports(self, game: Game) -> bool | str:
        """True, or how large the strategic form is if that is to be used."""
        return (self.use_strategic and strategic_refusal(game)) or True

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Follow the path within the budget; `rng` is not used."""
        return solve_with(game, monitor, self._follow)

    def _follow(self, run: Run) -> Termination:
        from pygambit.qre import logit_solve_lambda

        path = logit_solve_lambda(
            run.gambit.game,
            [self.end],
            use_strategic=self.use_strategic,
            first_step=self.first_step,
            max_accel=self.max_accel,
            event_callback=run.guarded(partial(follow, run, use_strategic=self.use_strategic)),
        )
        last = path[-1]
        regret = run.leave(last.profile)
        reached = f"lambda = {last.lam:.6g}, max regret {regret:.3g}"
        if regret <= run.monitor.target:
            return Termination("converged", f"followed the path to {reached}")
        if last.lam < self.end * (1 - ARRIVED):
            return Termination("failed", f"Gambit's path ends at {reached}, before {self.end:g}")
        return Termination("limit", f"followed the path to {reached}")


@dataclass(frozen=True)
class Logit(GambitMethod):
    """Gambit's equilibrium at the end of the logit path, as it stands (Turocy 2005, 2010).

    `pygambit.nash.logit_solve`: the path of `gambit_logit_path` until the regret is small. It
    first looks for the range of all expected payoffs, over which nobody can stop it and which
    takes longer than minutes on three-player Kuhn poker.

    An iteration is a point on the path.

    Parameters
    ----------
    maxregret : regret at which to stop, as a share of the range of payoffs
    first_step : length of the first step along the path
    max_accel : factor by which a step may be longer than the one before, at least 1
    use_strategic : whether to follow the path of the strategic form instead
    """

    maxregret: float = 1e-8
    first_step: float = 0.03
    max_accel: float = 1.1
    use_strategic: bool = False

    def __post_init__(self) -> None:
        check_positive(maxregret=self.maxregret, first_step=self.first_step)
        check_acceleration(self.max_accel)

    def supports(self, game: Game) -> bool | str:
        """True, or how large the strategic form is if that is to be used."""
        return (self.use_strategic and strategic_refusal(game)) or True

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Follow the path until Gambit accepts a point; `rng` is not used."""
        agents = 1 if self.use_strategic else decisions_in_turn(game.sequence_form)
        return solve_with(game, monitor, self._follow, promised=self.maxregret * agents)

    def _follow(self, run: Run) -> Any:
        from pygambit.nash import logit_solve

        result = logit_solve(
            run.gambit.game,
            use_strategic=self.use_strategic,
            maxregret=self.maxregret,
            first_step=self.first_step,
            max_accel=self.max_accel,
            event_callback=run.guarded(partial(follow, run, use_strategic=self.use_strategic)),
        )
        if result.equilibrium is not None:
            run.take(result.equilibrium, more=False)
        elif run.latest is not None:
            run.monitor.candidate(run.latest(), "iterate")
        return result


def follow(run: Run, event: Any, *, use_strategic: bool) -> None:
    """Count a point on the path and note its lambda; other events are passed over."""
    from pygambit.gambit import LogitPathEvent

    if not isinstance(event, LogitPathEvent):
        return
    point = event.qre
    run.monitor.record(**{"lambda": point.lam})

    def frequencies() -> FloatArray:
        if use_strategic:
            return run.gambit.behavior(point.profile).probabilities
        return run.gambit.frequencies(point)

    run.step(frequencies)


def check_positive(**options: float) -> None:
    """Raise SpecError unless all options are positive."""
    for name, value in options.items():
        if not value > 0:
            raise SpecError(f"{name}={value}; choose a positive number")


def check_acceleration(max_accel: float) -> None:
    """Raise SpecError unless Gambit takes this factor."""
    if not max_accel >= 1:
        raise SpecError(f"max_accel={max_accel}; choose a number >= 1, for example 1.1")
