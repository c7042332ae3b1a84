"""Semismooth Newton method on the complementarity system in sequence form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eqbench.errors import SpecError, counted
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Monitor, Termination

from .fischer_burmeister import Point, System, descend
from .handover import MOST_CANDIDATES, DistinctEquilibria, OffPath, warm_up
from .search import memory_refusal, without_choice

# So many exist at once: derivatives by weights, Newton's matrix, its square, factors, copies.
MATRICES = 6
# A step on dense matrices of this size takes about a minute.
MOST_BYTES = 4 * 2**30
# Regret, as a share of the payoff range, up to which a profile is claimed.
CLAIMED = 1e-10
# Plans that differ by less in every weight are the same ones.
SAME = 1e-6
# Newton steps after which the best point is shown; whether the monitor takes more than four
# snapshots depends on the clock.
SHOWN = (1, 8, 64, 512)


@dataclass(frozen=True)
class Semismooth:
    """Equilibria by a semismooth Newton method on the complementarity system in sequence form.

    A sequence is played with weight 0 or is as good as the best one, for any number of players
    (Ganzfried 2025). Fischer-Burmeister functions make equations of that, and regularized
    Newton steps with a line search solve them (De Luca, Facchinei and Kanzow 1996), from
    behavior at random until an equilibrium is found. Where a start ends without one it is
    abandoned. It does not tell whether there are more equilibria.

    Differences from De Luca et al.: the steps are those of Levenberg and Marquardt, since
    equilibria that form a continuum make Newton's matrix singular; the line search is
    nonmonotone; at a kink the derivative is one of the C-subdifferential.

    An iteration is a Newton step. Where steps end within rounding of a solution, it is claimed
    to be an equilibrium.

    Parameters
    ----------
    starts : most starts from behavior at random
    steps : most Newton steps from one start
    all : whether to make all starts and hand over all different equilibria
    offpath : whether to keep the play off the path of play, or to make it credible by logit
    """

    starts: int = 1000
    steps: int = 200
    all: bool = False
    offpath: OffPath = "logit"

    def __post_init__(self) -> None:
        for name, value in (("starts", self.starts), ("steps", self.steps)):
            if value < 1:
                raise SpecError(f"{name}={value}; choose a number >= 1")

    def supports(self, game: Game) -> bool | str:
        """True, or how large the matrices of the game are."""
        return _refusal(game, MOST_BYTES, "a smaller game, or a method without matrices") or True

    def prepare(self, game: Game) -> None:
        """Compile what `solve` runs; keeps nothing but the machine code."""
        system = System(game)
        point = system.start(BehaviorProfile.uniform(game.tree).probabilities)
        system.model.direct_derivatives(point.weights)
        game.payoff_model().regrets(system.behavior(point.weights))
        warm_up(self.offpath, game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over the first equilibrium that is found, or all of them."""
        refusal = _refusal(game, monitor.budget.memory_bytes, "the solver more memory")
        if refusal:
            return Termination("limit", refusal)
        return without_choice(game, monitor) or SemismoothSearch(self, game, monitor, rng).run()


def _refusal(game: Game, limit: int, remedy: str) -> str | None:
    """Why the matrices exceed a limit in bytes and what to do, None if they do not."""
    parts = f"the dense matrices of {game.tree.n_actions:,} actions"
    needed = 8 * MATRICES * (game.tree.n_actions + game.tree.n_players) ** 2
    return memory_refusal(parts, needed, limit, remedy)


class SemismoothSearch:
    """One run of the solver on one game."""

    def __init__(
        self, solver: Semismooth, game: Game, monitor: Monitor, rng: np.random.Generator
    ) -> None:
        self.solver, self.monitor, self.rng = solver, monitor, rng
        self.system, self.model = System(game), game.payoff_model()
        claimed = CLAIMED * (game.tree.payoff_range or 1.0)
        self.found = DistinctEquilibria(
            game,
            monitor,
            claimed=claimed,
            same=SAME,
            in_plans=True,
            shown=False,
            offpath=solver.offpath,
        )
        self.best: Point | None = None
        self.good_enough = False
        self.ending: Termination | None = None
        self.starts = self.converged = self.shown = 0

    def run(self) -> Termination:
        """Starts until an equilibrium is found, or all that the budget allows."""
        monitor, solver = self.monitor, self.solver
        wanted = MOST_CANDIDATES if solver.all else 1
        while not self.ending and self.starts < solver.starts and len(self.found) < wanted:
            self._start()
        monitor.record(
            starts=self.starts,
            converged_starts=self.converged,
            converged_share=self.converged / max(self.starts, 1),
            newton_steps=monitor.work,
            line_search_steps=self.system.halvings,
            found=len(self.found),
        )
        starts = counted(self.starts, "start")
        if len(self.found):
            found = counted(len(self.found), "equilibrium", "different equilibria")
            ended = ", then the budget ended" if self.ending else ""
            return Termination("converged", f"{found} from {starts}{ended}")
        if self.best is not None:
            monitor.candidate(self.system.behavior(self.best.weights), claim="iterate")
        return self.ending or Termination("not_found", f"{starts} led to no equilibrium")

    def _start(self) -> None:
        """Descend from a random behavior, and hand over an equilibrium."""
        begun, step_s, before = self.monitor.work, 0.0, self.monitor.elapsed_s
        start = self.system.start(self.system.random_behavior(self.rng))
        self.starts += 1
        point = smallest = start
        for point in descend(self.system, start):
            if point is not start:
                self.monitor.work += 1
                step_s = self.monitor.elapsed_s - before
            smallest = min(smallest, point, key=lambda p: p.merit)
            self._see(smallest)
            self.ending = self._ending(step_s)
            if self.ending or self.monitor.work - begun >= self.solver.steps:
                break
            before = self.monitor.elapsed_s
        # of the last points, which differ by rounding, the one with the smaller residual need
        # not be the one with the smaller regret
        last = min((smallest, point), key=self._regret)
        self.converged += self.found.add(self.system.behavior(last.weights), self._regret(last))

    def _ending(self, step_s: float) -> Termination | None:
        """How the search ends if another step, about as long as the last, is not to be made."""
        monitor, most = self.monitor, self.monitor.budget.iterations
        if self.good_enough:
            return Termination("converged", f"max regret reached {monitor.target:.3g}")
        all_done = most is not None and monitor.work >= most
        if monitor.remaining_s > step_s and not all_done:
            return None
        if all_done or monitor.remaining_s <= 0 or monitor.reached_target:
            return monitor.termination()
        limit_s = monitor.budget.timeout_s
        return Termination(
            "limit", f"another Newton step would take longer than {limit_s:g} s allow"
        )

    def _see(self, point: Point) -> None:
        """Keep the best point so far, show it if that is due, and hold it against the target."""
        monitor, before = self.monitor, self.best
        best = self.best = point if before is None or point.merit < before.merit else before
        if self.shown < len(SHOWN) and monitor.work >= SHOWN[self.shown]:
            self.shown += 1
            monitor.snapshot(lambda: self.system.behavior(best.weights))
        # a target below what is claimed would only cut off the last few steps
        if best is not before and monitor.target > self.found.claimed and not self.solver.all:
            self.good_enough = self._regret(best) <= monitor.target

    def _regret(self, point: Point) -> float:
        """Largest regret in payoff units, on the kernels."""
        return float(self.model.regrets(self.system.behavior(point.weights)).max())
