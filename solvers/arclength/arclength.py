"""The solver: homotopies in eps at the game's own parameters, and the branch around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eqbench.continuation import BranchPoint, ContinuationError
from eqbench.errors import SpecError, UsageError, counted
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.solver import Monitor, Termination

from ..handover import DistinctEquilibria, OffPath, warm_up
from ..search import BudgetSpentError, check_budget, memory_refusal, without_choice
from .continuation import SHARPEN, ArclengthContinuation, descend, polished_end
from .regularization import RegularizedGame

# Polishing fails where eps leaves open which actions are played; it is then lowered so often.
SHARPENINGS = 2
# Games whose derivatives take more are not evaluated before the clock runs.
TRIED_BYTES = 2**28


@dataclass(frozen=True)
class Arclength:
    """Equilibria by regularized arclength continuation (Billingham 2018).

    A barrier of strength epsilon turns the equilibrium conditions into smooth equations. Where
    it is strong they have one solution; it is followed while epsilon is lowered, then polished
    to an equilibrium on the actions that are left. That is repeated from random weights of the
    barrier. If payoffs have a parameter (the pot), the curve of regularized equilibria is also
    followed along it, and all points with the game's own value are polished: these are the
    equilibria on this branch, not all equilibria of the game.

    An iteration is an evaluation of the derivatives. Each polished point is claimed to be an
    equilibrium.

    Parameters
    ----------
    epsilon : strength of the barrier in payoff units, where the paths end
    regularization : log (any game), arctan or rational (two actions at each information set)
    derivative : counterfactual, or raw: times the own reach, which lets threats be incredible
    starts : number of random weights of information sets, besides uniform ones
    branch : whether to follow the branch along the payoff parameter
    window : how far, as a share of the parameter's value, the branch is followed to both sides
    offpath : whether to keep the play off the path of play, or to make it credible by logit
    """

    epsilon: float = 1e-7
    regularization: Literal["log", "arctan", "rational"] = "log"
    derivative: Literal["counterfactual", "raw"] = "counterfactual"
    starts: int = 10
    branch: bool = True
    window: float = 0.3
    offpath: OffPath = "logit"

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
        most = int(np.diff(game.tree.action_start).max(initial=0))
        if self.regularization == "log" or most <= 2:
            return True
        return (
            f"regularization={self.regularization} is defined for two actions; this game has "
            f"information sets with {most}; use regularization=log"
        )

    def prepare(self, game: Game) -> None:
        """Compile what `solve` runs, unless the game is too large to try; keeps machine code."""
        system = RegularizedGame(game, kind=self.regularization, derivative=self.derivative)
        if system.choices.size and bytes_needed(game) <= TRIED_BYTES:
            system.evaluate(np.zeros(system.choices.size), 1.0, system.parameter)
            system.measured(BehaviorProfile.uniform(game.tree).probabilities, system.parameter)
            warm_up(self.offpath, game)

    def continuation(self, game: Game) -> ArclengthContinuation:
        """Branches of a game along its payoff parameter; see `eqbench.continuation`.

        Raises UsageError if the game has no payoff parameter, or the regularization does not fit
        it.
        """
        fits = self.supports(game)
        if isinstance(fits, str):
            raise UsageError(fits)
        if game.tree.payoffs.parameter is None:
            raise UsageError(f"{game.spec} has no payoff parameter to continue in")
        system = RegularizedGame(game, kind=self.regularization, derivative=self.derivative)
        return ArclengthContinuation(system, self.epsilon)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over all equilibria found within the budget."""
        parts = f"the derivatives by {game.tree.n_actions:,} actions"
        refusal = memory_refusal(parts, bytes_needed(game), monitor.budget.memory_bytes)
        if refusal:
            return Termination("limit", refusal)
        return without_choice(game, monitor) or ArclengthSearch(self, game, monitor, rng).run()


class ArclengthSearch:
    """One run of the solver on one game."""

    def __init__(
        self, solver: Arclength, game: Game, monitor: Monitor, rng: np.random.Generator
    ) -> None:
        self.solver, self.game, self.monitor, self.rng = solver, game, monitor, rng
        self.system = RegularizedGame(
            game, before_work=self._count, kind=solver.regularization, derivative=solver.derivative
        )
        self.found = DistinctEquilibria(game, monitor, offpath=solver.offpath)
        self.failures = 0

    def run(self) -> Termination:
        """Everything that the options ask for, until the budget ends."""
        monitor, ended = self.monitor, ""
        try:
            self._homotopy(self.system)
            if self.solver.branch and self.game.tree.payoffs.parameter is not None:
                self._follow_branch()
            for _ in range(self.solver.starts):
                self._homotopy(self.system.randomly_weighted(self.rng))
        except BudgetSpentError:
            ended = " before the budget ended"
        monitor.record(**self.system.counts, found=len(self.found), failures=self.failures)
        if self.found:
            text = counted(len(self.found), "equilibrium", "different equilibria")
            return Termination("converged", text + ended)
        text = "no path ended at a profile that could be polished to an equilibrium"
        return monitor.termination() if ended else Termination("not_found", text)

    def _count(self) -> None:
        """Before each evaluation of the derivatives: is any budget left?"""
        check_budget(self.monitor)
        self.monitor.work += 1

    def _homotopy(self, system: RegularizedGame) -> None:
        """From the center down to eps, and to an equilibrium."""
        last = BehaviorProfile.uniform(self.game.tree).probabilities
        # Three snapshots and one of the first equilibrium: whether the monitor takes more than
        # four depends on the clock.
        epsilon = self.solver.epsilon
        due = [np.inf, np.sqrt(system.unit * epsilon), 2 * epsilon]

        def seen(z: FloatArray, strength: float) -> None:
            nonlocal last
            last = system.frequencies(z, strength).behavior
            if system is self.system and due and strength <= due[0]:
                self.monitor.snapshot(last)
                due.pop(0)

        try:
            for _ in range(1 + SHARPENINGS):
                z = descend(system, system.parameter, epsilon, seen)
                if z is None:
                    break
                end = polished_end(system, system.parameter, epsilon, z)
                if self.found.add(end.behavior, end.regret):
                    return
                epsilon *= SHARPEN
            self.failures += 1
        except BudgetSpentError:
            if not self.found:
                self.monitor.candidate(last, claim="iterate")
            raise

    def _follow_branch(self) -> None:
        """Both ways along the payoff parameter, and all points at the game's own value."""
        continuation = ArclengthContinuation(self.system, self.solver.epsilon)
        try:
            start = continuation.start(self.system.parameter)
        except ContinuationError:
            return
        for increasing in (True, False):
            try:
                self._one_way(continuation, start, increasing=increasing)
            except ContinuationError:
                self.failures += 1

    def _one_way(
        self, continuation: ArclengthContinuation, start: BranchPoint, *, increasing: bool
    ) -> None:
        value, before = self.system.parameter, start
        for after in continuation.follow(start, increasing=increasing):
            if before is not start:  # the start itself is known
                for point in continuation.crossings(before, after, value):
                    end = self.system.measured(*continuation.polish(point, value))
                    self.found.add(end.behavior, end.regret)
            if abs(after.value - value) > self.solver.window * max(abs(value), 1.0):
                return
            before = after


def bytes_needed(game: Game) -> int:
    """Memory of the derivatives by all actions, of those by the free ones, and of the factors."""
    tree = game.tree
    free = tree.n_actions - tree.n_infosets
    return 8 * ((tree.n_actions + tree.n_players) ** 2 + 4 * (free + 1) ** 2)
