"""OpenSpiel's own implementations as solvers (Lanctot et al. 2019, arXiv:1908.09453).

An iteration is one of OpenSpiel's. The clock covers the tables that its solvers set up.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.solver import Availability

from ..search import importable, repeat
from .matching import REMEDY, match

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray
    from eqbench.solver import Monitor, Termination


class Peer:
    """What the four have in common: everything but the method.

    Attributes
    ----------
    module : where OpenSpiel has its solver, which is named like the class
    step : name of the method of that solver which does an iteration
    """

    deterministic: ClassVar[bool] = True
    module: ClassVar[str] = "pyspiel"
    step: ClassVar[str] = "evaluate_and_update_policy"

    def availability(self) -> Availability:
        """Whether OpenSpiel is installed."""
        return importable("pyspiel", REMEDY)

    def supports(self, game: Game) -> bool | str:
        """True if OpenSpiel has the very game, otherwise how it differs."""
        try:
            match(game)
        except (UsageError, SolverUnavailableError) as error:
            return str(error)
        return True

    def prepare(self, game: Game) -> None:
        """Import OpenSpiel and find out which of its information states is which."""
        import_module(self.module)
        match(game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends; hands over the average profile."""
        found = match(game)
        solver = self._solver(found.theirs, int(rng.integers(2**31)))
        step = getattr(solver, self.step)

        def average() -> FloatArray:
            return found.frequencies(solver.average_policy())

        def steps(_: int, count: int) -> None:
            for _ in range(count):
                step()

        repeat(monitor, steps, average)
        monitor.candidate(average(), claim="average")
        return monitor.termination()

    def _solver(self, game: Any, seed: int) -> Any:
        return getattr(import_module(self.module), f"{type(self).__name__}Solver")(game)


@dataclass(frozen=True)
class CFR(Peer):
    """Counterfactual regret minimization in OpenSpiel's C++ code (`CFRSolver`).

    An iteration updates every player once. The average profile is handed over, without a claim.
    """


@dataclass(frozen=True)
class CFRPlus(Peer):
    """CFR+ in OpenSpiel's C++ code (`CFRPlusSolver`).

    An iteration updates every player once. The average profile is handed over, without a claim.
    """


@dataclass(frozen=True)
class ExternalSampling(Peer):
    """Monte Carlo CFR with external sampling in OpenSpiel's C++ code.

    Its class is `ExternalSamplingMCCFRSolver`; an iteration walks once for every player.
    The average profile is handed over, without a claim.

    Parameters
    ----------
    averaging : how OpenSpiel averages, in the walks of the next player or over the whole tree
    """

    averaging: Literal["simple", "full"] = "simple"

    deterministic = False
    step = "run_iteration"

    def _solver(self, game: Any, seed: int) -> Any:
        import pyspiel

        kind = getattr(pyspiel.MCCFRAverageType, self.averaging.upper())
        return pyspiel.ExternalSamplingMCCFRSolver(game, seed, kind)


@dataclass(frozen=True)
class XFP(Peer):
    """Fictitious play in behavior strategies (Heinrich et al. 2015), in OpenSpiel's Python code.

    Its class is `XFPSolver`. All players move together, beginning with uniform frequencies.
    An iteration is a step of all. The average profile is handed over, without a claim.
    """

    module = "open_spiel.python.algorithms.fictitious_play"
    step = "iteration"
