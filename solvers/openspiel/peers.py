"""OpenSpiel's own implementations as solvers (Lanctot et al. 2019, arXiv:1908.09453).

An iteration is one of OpenSpiel's. The clock covers the tables that its solvers set up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import numpy as np

from eqbench.errors import SolverUnavailableError, SpecError, UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.solver import Availability, Claim, Monitor, Termination

from ..search import bounded, importable, repeat
from .matching import match


class Peer:
    """What they have in common: everything but the method."""

    deterministic: ClassVar[bool] = True
    # where OpenSpiel has its solver, which is named like the class
    module: ClassVar[str] = "pyspiel"
    # names of the methods of that solver which do an iteration and give a policy
    step: ClassVar[str] = "evaluate_and_update_policy"
    result: ClassVar[str] = "average_policy"
    claim: ClassVar[Claim] = "average"  # what that policy is
    zero_sum: ClassVar[bool] = False  # whether the method is for two players with zero sum only
    remedy: ClassVar[str] = ""  # what installs the module, unless its extra does

    def availability(self) -> Availability:
        """Whether OpenSpiel is installed, and what its method needs."""
        return importable(self.module, remedy=self.remedy)

    def supports(self, game: Game) -> bool | str:
        """True if OpenSpiel has the very game, otherwise how it differs."""
        try:
            theirs = match(game).theirs
        except (UsageError, SolverUnavailableError) as error:
            return str(error)
        kind = theirs.get_type().utility
        if self.zero_sum and (theirs.num_players() > 2 or kind != type(kind).ZERO_SUM):
            return "it takes two players and zero sum only; use openspiel_cfr or openspiel_efr"
        return True

    def prepare(self, game: Game) -> None:
        """Import OpenSpiel and find out which of its information states is which."""
        import_module(self.module)
        match(game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends."""
        found = match(game)
        solver = self._solver(found.theirs, int(rng.integers(2**31)))
        step = getattr(solver, self.step)

        def reached() -> FloatArray:
            return found.frequencies(getattr(solver, self.result)())

        def steps(_: int, count: int) -> None:
            for _ in range(count):
                step()

        repeat(monitor, steps, reached)
        monitor.candidate(reached(), claim=self.claim)
        return monitor.termination()

    def _solver(self, game: Any, seed: int) -> Any:
        return getattr(
            import_module(self.module), f"{type(self).__name__.removeprefix('OpenSpiel')}Solver"
        )(game)


@dataclass(frozen=True)
class OpenSpielCFR(Peer):
    """Counterfactual regret minimization in OpenSpiel's C++ code (`CFRSolver`).

    An iteration updates every player once. The average profile is handed over, without a claim.
    """


@dataclass(frozen=True)
class CFRPlus(Peer):
    """CFR+ in OpenSpiel's C++ code (`CFRPlusSolver`).

    An iteration updates every player once. The average profile is handed over, without a claim.
    """


@dataclass(frozen=True)
class OpenSpielSampling(Peer):
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


@dataclass(frozen=True)
class DCFR(Peer):
    """Discounted CFR (Brown and Sandholm 2019) in OpenSpiel's Python code (`DCFRSolver`).

    An iteration updates every player once. The average profile is handed over, without a claim.
    """

    module = "open_spiel.python.algorithms.discounted_cfr"


@dataclass(frozen=True)
class EFR(Peer):
    """Extensive-form regret minimization (Morrill et al. 2021) in OpenSpiel's Python code.

    Its class is `EFRSolver`. All players move together. The average profile is handed over, without
    a claim; with more than two players only the joint play is known to converge.

    Parameters
    ----------
    deviations : which are regretted: blind counterfactual ones (CFR); blind, counterfactual, causal
        or twice informed partial sequences; or all behavioral ones
    """

    deviations: Literal["blind_cf", "bps", "cfps", "csps", "tips", "bhv"] = "tips"

    module = "open_spiel.python.algorithms.efr"

    def _solver(self, game: Any, seed: int) -> Any:
        return import_module(self.module).EFRSolver(game, self.deviations.replace("_", " "))


@dataclass(frozen=True)
class MMD(Peer):
    """Magnetic mirror descent (Sokota et al. 2023) in OpenSpiel's Python code (`MMDDilatedEnt`).

    The last iterate, handed over without a claim, tends to a quantal response equilibrium.

    Parameters
    ----------
    temperature : weight of the dilated entropy, in payoff units
    """

    temperature: float = 0.05

    module = "open_spiel.python.algorithms.mmd_dilated"
    step, result, claim, zero_sum = "update_sequences", "get_policies", "iterate", True

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise SpecError(f"temperature={self.temperature}; choose a positive number, as 0.05")

    def _solver(self, game: Any, seed: int) -> Any:
        return import_module(self.module).MMDDilatedEnt(game, self.temperature)


@dataclass(frozen=True)
class SequentialLP(Peer):
    """Linear programs with trembles (Miltersen and Sørensen 2010) in OpenSpiel's Python code.

    They approximate a sequential equilibrium (`solve_perturbed_zero_sum_game`, with ECOS), which is
    claimed to be an equilibrium up to epsilon times the payoff range for each action.

    Parameters
    ----------
    epsilon : least frequency of an action; what is far below 1e-8 is lost in ECOS's tolerance
    """

    epsilon: float = 1e-8

    module = "open_spiel.python.algorithms.sequence_form_lp"
    remedy = "pip install 'eqbench[peers]' cvxpy ecos"
    zero_sum = True

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= 0.1:
            raise SpecError(f"epsilon={self.epsilon}; choose a number above 0, up to 0.1")

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Solve both players' programs; looks at no clock."""
        from open_spiel.python.policy import merge_tabular_policies

        found, tree = match(game), game.tree
        program = import_module(self.module).solve_perturbed_zero_sum_game
        *_, first, second = program(found.theirs, eps=self.epsilon)
        policy = merge_tabular_policies([first, second], found.theirs)
        profile = BehaviorProfile.of(tree, found.frequencies(policy))
        bound = self.epsilon * tree.n_actions * tree.payoff_range
        monitor.candidate(bounded(game, profile, bound))
        return Termination("converged", "both programs are solved")


@dataclass(frozen=True)
class ADIDAS(Peer):
    """Average deviation incentive descent (Gemp et al. 2022) in OpenSpiel's Python code.

    Its `qre_anneal.Solver` descends on what players gain by deviating, smoothed by an entropy that
    is halved whenever this is less than a hundredth of the payoff range. Gradients are exact, not
    sampled. The last iterate is handed over, without a claim.
    """

    module = "open_spiel.python.algorithms.adidas_utils.solvers.nonsymmetric.qre_anneal"

    def supports(self, game: Game) -> bool | str:
        """True for any game in strategic form, whether OpenSpiel has it or not."""
        form, counts = game.sequence_form, map(len, game.tree.infoset_actions)
        return (form.n_infosets == form.n_players and len(form.columns) == math.prod(counts)) or (
            "ADIDAS solves games in strategic form, where every player moves once without knowing "
            f"anything; this game has {form.n_infosets:,} information sets (use openspiel_efr)"
        )

    def prepare(self, game: Game) -> None:
        """Import OpenSpiel's code."""
        import_module(self.module)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends."""
        from open_spiel.python.algorithms import adidas

        form, counts = game.sequence_form, [len(each) for each in game.tree.infoset_actions]
        payoffs = np.moveaxis(form.payoffs.reshape(*counts, -1), -1, 0)
        shares = (payoffs - payoffs.min()) / (game.tree.payoff_range or 1.0)
        tensor = SimpleNamespace(payoff_tensor=lambda: shares)
        matrices = adidas.ADIDAS().construct_payoff_matrices_exactly_nonsym
        solver = import_module(self.module).Solver(exp_thresh=0.01)
        place = solver.init_vars(counts, form.n_players)

        def steps(start: int, count: int) -> None:
            nonlocal place
            for time in range(start, start + count):
                reduced = matrices(tensor, place[0], form.n_players)
                place = solver.update(place, solver.compute_gradients(place, reduced)[0], time)

        repeat(monitor, steps, lambda: np.concatenate(place[0]))
        monitor.candidate(np.concatenate(place[0]), claim="iterate")
        return monitor.termination()
