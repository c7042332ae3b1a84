"""OpenSpiel's own implementations as solvers (Lanctot et al. 2019, arXiv:1908.09453).

An iteration is one of OpenSpiel's. The clock covers the tables that its solvers set up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.solver import Availability

from .matching import match
from .policies import frequencies

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Monitor, Termination

# How to do one iteration, and the average policy after those that are done.
Steps = tuple[Callable[[], Any], Callable[[], Any]]


class Peer:
    """What the four have in common: everything but the method."""

    def availability(self) -> Availability:
        """Whether OpenSpiel is installed."""
        try:
            import pyspiel  # noqa: F401
        except ImportError as error:
            reason = f"OpenSpiel ({error}); install it by: pip install 'eqbench[peers]'"
            return Availability("missing", reason)
        return Availability()

    def supports(self, game: Game) -> bool | str:
        """True if OpenSpiel has the very game, otherwise how it differs."""
        try:
            match(game)
        except (UsageError, SolverUnavailableError) as error:
            return str(error)
        return True

    def prepare(self, game: Game) -> None:
        """Import OpenSpiel and find out which of its information states is which."""
        match(game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends; hands over the average profile."""
        found = match(game)
        step, average = self._begin(found.game, int(rng.integers(2**31)))
        for start, count, due in monitor.chunks():
            for _ in range(count):
                step()
            if due:
                monitor.snapshot(lambda: frequencies(found, average()), work=start + count)
        monitor.candidate(frequencies(found, average()), claim="average")
        return monitor.termination()

    def _begin(self, game: Any, seed: int) -> Steps:
        """Set up a solver of OpenSpiel, by default the one named like this class."""
        import pyspiel

        solver = getattr(pyspiel, f"{type(self).__name__}Solver")(game)
        return solver.evaluate_and_update_policy, solver.average_policy


@dataclass(frozen=True)
class CFR(Peer):
    """Counterfactual regret minimization in OpenSpiel's C++ code (`CFRSolver`)."""

    deterministic = True


@dataclass(frozen=True)
class CFRPlus(Peer):
    """CFR+ in OpenSpiel's C++ code (`CFRPlusSolver`)."""

    deterministic = True


@dataclass(frozen=True)
class ExternalSampling(Peer):
    """Monte Carlo CFR with external sampling in OpenSpiel's C++ code.

    Its class is `ExternalSamplingMCCFRSolver`; an iteration walks once for every player.

    Parameters
    ----------
    averaging : how OpenSpiel averages, in the walks of the next player or over the whole tree
    """

    averaging: Literal["simple", "full"] = "simple"

    def _begin(self, game: Any, seed: int) -> Steps:
        import pyspiel

        kinds = pyspiel.MCCFRAverageType
        kind = kinds.SIMPLE if self.averaging == "simple" else kinds.FULL
        solver = pyspiel.ExternalSamplingMCCFRSolver(game, seed, kind)
        return solver.run_iteration, solver.average_policy


@dataclass(frozen=True)
class XFP(Peer):
    """Fictitious play in behavior strategies (Heinrich et al. 2015), in OpenSpiel's Python code.

    Its class is `XFPSolver`. All players move together, beginning with uniform frequencies.
    """

    deterministic = True

    def prepare(self, game: Game) -> None:
        """As the others; its module is imported here too."""
        import open_spiel.python.algorithms.fictitious_play  # noqa: F401

        super().prepare(game)

    def _begin(self, game: Any, seed: int) -> Steps:
        from open_spiel.python.algorithms.fictitious_play import XFPSolver

        solver = XFPSolver(game)
        return solver.iteration, solver.average_policy
