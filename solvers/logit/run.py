"""What the solver does within its budget, and whole branches for studies."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from eqbench.model.profile import BehaviorProfile
from eqbench.solver import CHUNK_S, Monitor, Termination

from ..ncp.polish.polish import warm_up_polish
from .branch import BLOCK, Branch, turns
from .polish import polished

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eqbench.continuation import ResponsePath
    from eqbench.model.game import Game

    from .logit import Logit

# Regret, as a share of the payoff range, up to which a polished profile is claimed.
CLAIMED = 1e-9
# Steps of a path for a study between two questions whether to go on, at first.
FEW = 4
# A path for a study is cut there.
MOST_STEPS = 100_000


class OutOfBudgetError(Exception):
    """The budget has ended."""


class Run:
    """One run of the solver on one game."""

    def __init__(
        self, solver: Logit, game: Game, monitor: Monitor, rng: np.random.Generator
    ) -> None:
        self.solver, self.game, self.monitor, self.rng = solver, game, monitor, rng
        self.claimed = CLAIMED * (game.tree.payoff_range or 1.0)

    def run(self) -> Termination:
        """The branch, its end, and the equilibrium near it."""
        monitor = self.monitor
        if all(len(actions) <= 1 for actions in self.game.tree.infoset_actions):
            monitor.candidate(BehaviorProfile.uniform(self.game.tree), claim="equilibrium")
            return Termination("converged", "no information set has a choice")
        branch = Branch(self.game, prior_of(self.solver, self.rng))
        ended = self._follow(branch)
        lambdas, behavior = branch.lambdas, branch.behavior()
        regret = branch.regret(behavior)
        monitor.candidate(behavior, claim="iterate")
        found = self.solver.polish and self._polish(branch)
        monitor.record(
            lambda_reached=branch.last,
            steps=branch.steps,
            turning_points=len(turns(lambdas)),
            path_regret=regret,
            newton_iterations=branch.newton_iterations,
            refused_steps=branch.refused_steps,
        )
        return self._termination(branch, regret, ended=ended, found=found)

    def _termination(
        self, branch: Branch, regret: float, *, ended: bool, found: bool
    ) -> Termination:
        where = f"the branch was followed to lambda = {branch.last:.6g}, max regret {regret:.3g}"
        if branch.stalled:
            where += ", where no step, however short, was acceptable"
        if found:
            return Termination("converged", f"{where}; an equilibrium was found near its end")
        if self.monitor.reached_target or (ended and not self.solver.polish):
            return Termination("converged", where)
        if branch.stalled:
            return Termination("failed", where)
        if ended:
            return Termination(
                "not_found",
                f"{where}; no equilibrium was found near its end, for which a larger stop_lambda "
                "may help",
            )
        bound = self.monitor.termination()
        return Termination(bound.reason, f"{bound.detail}; {where}")

    def _follow(self, branch: Branch) -> bool:
        """Follow the branch within the budget; whether it came to its end or to the regret."""
        monitor, stops = self.monitor, np.array([self.solver.stop_lambda])
        goes_on = True
        for _, count, due in monitor.chunks():
            goes_on = branch.advance_to_regret(stops, count, self.solver.regret)
            monitor.work = branch.steps
            if due:
                monitor.snapshot(branch.behavior, work=branch.steps)
            if not goes_on or monitor.reached_target:
                break
        monitor.work = branch.steps
        return not (goes_on or branch.stalled)

    def _polish(self, branch: Branch) -> bool:
        """Hand over the equilibrium near the end; whether there is one."""
        try:
            made = polished(self.game, branch.last_log_probabilities(), self._check_time)
        except OutOfBudgetError:
            return False
        if made.regret > max(self.claimed, self.monitor.target):
            return False
        self.monitor.candidate(made.behavior, claim="equilibrium")
        return True

    def _check_time(self) -> None:
        if self.monitor.remaining_s <= 0:
            raise OutOfBudgetError


def prior_of(solver: Logit, rng: np.random.Generator | None) -> np.random.Generator | None:
    """The generator of the prior, None where it is uniform."""
    return rng if solver.prior == "random" else None


def whole_branch(
    solver: Logit,
    branch: Branch,
    stops: Sequence[float],
    interrupted: Callable[[], bool],
) -> ResponsePath:
    """The branch with exact points at the stops, in ascending order, and at its end."""
    all_stops = np.array([*stops, solver.stop_lambda])
    goes_on, count = True, FEW
    while goes_on and branch.steps < MOST_STEPS and not interrupted():
        before = time.perf_counter()
        goes_on = branch.advance_to_regret(all_stops, count, solver.regret)
        if time.perf_counter() - before < CHUNK_S:
            count = min(2 * count, BLOCK)
    if branch.stalled:
        ending = "no step, however short, was acceptable"
    elif goes_on:
        ending = "interrupted" if branch.steps < MOST_STEPS else f"{branch.steps:,} steps were made"
    elif branch.last == solver.stop_lambda:
        ending = f"lambda reached {branch.last:g}"
    else:
        ending = f"max regret reached {solver.regret:g}"
    return branch.path(all_stops, ending)


def warm_up(solver: Logit, game: Game) -> None:
    """Compile the kernels with the types of this game."""
    if any(len(actions) > 1 for actions in game.tree.infoset_actions):
        branch = Branch(game)
        branch.advance(np.array([solver.stop_lambda]), 1)
        branch.regret(branch.behavior())
        if solver.polish:
            branch.model.linearize(branch.behavior())
            warm_up_polish(game)
