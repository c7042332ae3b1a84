"""One run: solve the program, polish its point, hand over what was found."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.solver import Candidate, Monitor, Termination

from .backends.backend import Answer, Limits
from .backends.choice import backends
from .polish.point import PlanGame
from .polish.polish import Polished, measured, polish, warm_up_polish
from .programs.formulations import Target
from .rational.rational import EQUILIBRIUM, REASON, exact_equilibrium
from .setup import SetUp

# Share of the payoff range up to which a result counts as an equilibrium to be polished;
# beyond, Newton's method would be another solver and the backend's mistake would be hidden.
POLISHABLE = 1e-3
# Time kept back for what comes after the backend: share of what is left, and seconds.
RESERVE_SHARE, LARGEST_RESERVE_S = 0.1, 2.0


class Options(Protocol):
    """What both solvers let their user choose about a run."""

    @property
    def backend(self) -> str: ...
    @property
    def polish(self) -> bool: ...
    @property
    def exact(self) -> bool: ...
    @property
    def feasibility(self) -> float: ...


def warm_up(options: Options, game: Game) -> None:
    """Import the backends that may be used and compile what polishing runs."""
    for backend in backends(options.backend):
        backend.availability()
    if options.polish or options.exact:
        warm_up_polish(game)


class Search:
    """The run of one solver on one game."""

    def __init__(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> None:
        self._game, self._monitor, self._rng = game, monitor, rng
        self._plans = PlanGame(game)

    def run(self, made: SetUp, options: Options) -> Termination:
        """Solve, hand over and say how it ended."""
        monitor, program = self._monitor, made.formulated.program
        monitor.record(**made.figures)
        if made.available.state != "available":
            return Termination("failed", made.available.reason)
        left = monitor.remaining_s
        limits = Limits(
            time_s=left - min(RESERVE_SHARE * left, LARGEST_RESERVE_S),
            nodes=monitor.budget.iterations,
            threads=monitor.budget.threads,
            seed=int(self._rng.integers(2**31)),
            feasibility=options.feasibility,
            gap=getattr(options, "gap", 0.0),
            # Gurobi: on 100 seeds of kuhn3 and kuhn3_reduced each, 0.35 s at most instead of 5
            presolve=made.figures["formulation"] != "constant_sum",
        )
        answer = made.backend.solve(
            program, limits, lambda values: self._snapshot(made.formulated.weights(values))
        )
        if made.target is not None and made.target.sequence is None:
            answer = answer.times(made.unit)
        self._record(answer, made.target)
        if answer.values is None:
            return self._ending(answer, made)
        self._hand_over(
            made.formulated.weights(answer.values), options, self._allowed(made, options)
        )
        return self._ending(answer, made)

    def _allowed(self, made: SetUp, options: Options) -> float:
        """The regret that the tolerance of constraints explains, in payoff units.

        A player's gain is the sum of x_s r_s, to which each constraint adds its error, times
        weights (1 at most) or values (about the payoff range at most). Of many constraints few
        are off by that much at a time, so no more than 100 tolerances are excused.
        """
        size, scale = made.formulated.program.size, self._plans.scale
        errors = min(size.rows + size.quadratic_constraints, 100)
        return errors * options.feasibility * max(made.unit, scale)

    def _snapshot(self, weights: FloatArray) -> None:
        """Show a point that the backend has found, in case that it is killed later."""
        self._monitor.snapshot(lambda: self._profile(weights))

    def _profile(self, weights: FloatArray) -> FloatArray:
        return self._plans.behavior(self._plans.feasible(weights))

    def _record(self, answer: Answer, target: Target | None) -> None:
        monitor = self._monitor
        monitor.work = answer.figures.get("nodes", 0)
        monitor.record(backend_status=answer.detail, **answer.figures)
        if target is not None:
            monitor.record(
                sense="max" if target.maximize else "min",
                objective=answer.objective,
                bound=answer.bound,
                gap=_gap(answer),
            )

    def _hand_over(self, weights: FloatArray, options: Options, allowed: float) -> None:
        """The backend's own point, and what polishing made of it if that is better.

        Parameters
        ----------
        allowed : the regret up to which the backend's own point is what it says, in payoff units
        """
        monitor, game = self._monitor, self._game
        raw = measured(self._plans, self._plans.feasible(weights))
        monitor.record(raw_max_regret=raw.regret)
        best = raw
        if options.polish and raw.regret <= POLISHABLE * self._plans.scale:
            best = polish(game, weights)
        if best.regret < raw.regret:
            monitor.candidate(raw.behavior, "iterate")
            monitor.candidate(best.behavior, "equilibrium")
        else:
            monitor.candidate(raw.behavior, "equilibrium", claimed_regret=allowed)
        if options.exact:
            self._hand_over_exact(best)

    def _hand_over_exact(self, near: Polished) -> None:
        monitor, tree = self._monitor, self._game.tree
        if near.regret > EQUILIBRIUM * self._plans.scale:
            monitor.record(exact=f"not tried, since the max regret here is {near.regret:.2g}")
            return
        frequencies = exact_equilibrium(
            self._game, near.weights, stop=lambda: monitor.remaining_s <= 0, rng=self._rng
        )
        if frequencies is None:
            late = monitor.remaining_s <= 0
            monitor.record(exact="not found within the time limit" if late else REASON)
            return
        monitor.record(exact="found")
        profile = BehaviorProfile.of_exact(tree, frequencies)
        monitor.candidate(Candidate(profile, "equilibrium", claimed_regret=0.0))

    def _spent(self, answer: Answer) -> str:
        """The bound that was hit: nodes if there are as many, otherwise time."""
        budget, nodes = self._monitor.budget, answer.figures.get("nodes", 0)
        if budget.iterations is not None and nodes >= budget.iterations:
            return f"{nodes:,} nodes"
        return f"{budget.time_s:g} s"

    def _ending(self, answer: Answer, made: SetUp) -> Termination:
        found = "" if answer.values is None else "; the best point so far is handed over"
        if answer.ending == "limit":
            limit = f"stopped after {self._spent(answer)} ({answer.detail}){found}"
            return Termination("limit", limit + _bound_text(answer, made))
        if answer.ending == "infeasible":
            return Termination(
                "failed",
                "the backend calls the program infeasible, but every finite game has an "
                f"equilibrium ({answer.detail}); try another seed, feasibility or formulation",
            )
        if answer.ending == "failed" or answer.values is None:
            return Termination("failed", f"the backend ended with: {answer.detail}{found}")
        return Termination("converged", answer.detail + _bound_text(answer, made))


def _gap(answer: Answer) -> float | None:
    """Distance between bound and best point, as a share of the latter; None where that is 0."""
    if not answer.objective or answer.bound is None:
        return None
    return abs(answer.bound - answer.objective) / abs(answer.objective)


def _bound_text(answer: Answer, made: SetUp) -> str:
    if made.target is None:
        return ""
    if answer.bound is None:
        return "; no bound was proved"
    sign = "<=" if made.formulated.program.maximize else ">="
    best = "none" if answer.objective is None else f"{answer.objective:.9g}"
    return f"; best {best}, proved to solver tolerance: all are {sign} {answer.bound:.9g}"
