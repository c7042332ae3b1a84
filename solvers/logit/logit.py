"""The solver: its options, what it does within its budget, and branches for studies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eqbench.continuation import ResponsePath
from eqbench.errors import SpecError, UsageError
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray
from eqbench.solver import CHUNK_S, Monitor, Termination

from ..polish.frequencies import GainSystem, Polished, polish
from ..polish.plans import polish as polish_plans
from ..polish.plans import warm_up_polish
from ..search import (
    CLAIMED,
    BudgetSpentError,
    check_time,
    has_choice,
    memory_refusal,
    without_choice,
)
from .branch import BLOCK, LogitBranch, turns
from .kernels import Form, bytes_needed, flat_tree
from .offpath import OFF_PATH, VANISHING, made_credible, refined
from .trembles import trembles_of

# One factorization of a matrix of this size takes about ten seconds.
MOST_UNKNOWNS = 5000
# Steps of a path for a study between two questions whether to go on, at first.
FEW = 4
# A path for a study is cut there.
MOST_STEPS = 100_000
STALLED_AT = "no step, however short, was acceptable"
# Actions of smaller log frequency are taken to be unplayed in the limit.
UNPLAYED = -30.0
# Regrets, as shares of the payoff range: nothing is left to do, and the equilibrium is near. The
# polish in plans goes to some equilibrium from anywhere, so it is used near one only.
EXACT, NEAR = 1e-13, 1e-6
# In normal form regrets are those of whole strategies at the same lambda, and larger.
NEAR_IN_NORMAL_FORM = 1e-4


@dataclass(frozen=True)
class Logit:
    """Logit quantal response equilibria (McKelvey and Palfrey 1995, 1998), and where they lead.

    In agent form ``log(p_a / p_b) = log(w_a / w_b) + lambda (v_a - v_b)`` at every information
    set, where v is the value of an action conditional on reaching the set, in payoff units, and w
    a prior. The branch that starts at the prior where lambda is 0 is followed by pseudo-arclength
    steps in log-odds (Turocy 2005, 2010), also where lambda turns around. Its end is polished to
    an equilibrium. With the uniform prior it is meant to be the principal branch, which Gambit
    traces too. Steps are tested for jumps to other branches, which is no proof: `principal_branch`
    (with other priors `branch`) is `checked` if all passed, up to `lambda_reached`; else `left at
    lambda = ...`, where one did not, however short; or `bifurcation at lambda = ...`, where another
    branch meets this one, which is followed straight on, or comes as close.

    Difference from Turocy: beliefs are made from logarithms of reaches, so that lambda is not
    bounded by the smallest float.

    In normal form players choose strategies for the whole game (McKelvey and Palfrey 1995),
    with probabilities proportional to ``w exp(lambda payoff)``, where w(strategy) is the product
    of a prior over its actions. These factor over sequences, so that no strategy need be listed
    (after Hou 2026, arXiv 2604.16944, whose equations were not at hand; see `kernels`). Values
    are then not conditional on reaching a set, and where others never lead choices stay near the
    prior: limits are Nash equilibria, not always sequential ones. In strategic forms, where
    no player moves twice, all forms agree.

    An iteration is a step along the branch. Its end is handed over without a claim, the polished
    one is claimed to be an equilibrium, in agent form with trembles, read off the branch, that
    may prove it sequential.

    Parameters
    ----------
    form : whether agents at information sets respond, or whole strategies: normal or reduced
        Reduced strategies make no choices that own earlier ones exclude, as Gambit's; the uniform
        prior differs, random ones do not.
    prior : uniform, or random: drawn from all distributions at each information set
    stop_lambda : where the branch ends, in 1 / payoff
    regret : max regret in payoff units at which the branch ends earlier, or none
    polish : whether to hand over an equilibrium besides the end of the branch
    """

    form: Form = "agent"
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
        unknowns = game.tree.n_actions - game.tree.n_infosets
        if unknowns <= MOST_UNKNOWNS:
            return True
        return (
            f"the game has {unknowns:,} log-odds, and dense matrices are made of them; at most "
            f"{MOST_UNKNOWNS:,} are supported; give a smaller game, or a method without matrices"
        )

    def prepare(self, game: Game) -> None:
        """Compile what `solve` runs; keeps nothing but the machine code."""
        if has_choice(game):
            branch = self._start(game, None)
            branch.advance(np.array([self.stop_lambda]), 1)
            branch.regret(branch.behavior())
            if self.polish:
                game.payoff_model().linearize(branch.behavior())
                warm_up_polish(game)
                logs = branch.log_probabilities(branch.points()[-1:])[0]
                trembles_of(branch.flat, logs, branch.behavior())

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over the end of the branch and the equilibrium near it."""
        refusal = memory_refusal(
            f"the dense matrices of {game.tree.n_actions:,} actions",
            bytes_needed(game.tree),
            monitor.budget.memory_bytes,
        )
        if refusal:
            return Termination("limit", refusal)
        if solved := without_choice(game, monitor):
            return solved
        branch = self._start(game, rng)
        ended = self._follow(branch, monitor)
        behavior = branch.behavior()
        regret = branch.regret(behavior)
        monitor.candidate(behavior, claim="iterate")
        found = self.polish and self._hand_over_equilibrium(branch, monitor)
        monitor.record(
            lambda_reached=branch.last,
            steps=branch.steps,
            turning_points=len(turns(branch.points()[:, -1])),
            path_regret=regret,
            newton_iterations=int(branch.counts[0]),
            refused_steps=int(branch.counts[1]),
        )
        check, named = branch.check(), "branch" if self.prior == "random" else "principal_branch"
        monitor.record(**{named: check})
        where = f"the branch was followed to lambda = {branch.last:.6g}, max regret {regret:.3g}"
        where += f" ({named.replace('_', ' ')}: {check})"
        if branch.stalled:
            where += f", where {STALLED_AT}"
        if found:
            return Termination("converged", f"{where}; an equilibrium was found near its end")
        if monitor.reached_target or (ended and not self.polish):
            return Termination("converged", where)
        if branch.stalled:
            return Termination("stopped", where)
        if ended:
            nothing = (
                "no equilibrium was found near its end, for which a larger stop_lambda may help"
            )
            return Termination("not_found", f"{where}; {nothing}")
        bound = monitor.termination()
        return Termination(bound.reason, f"{bound.detail}; {where}")

    @property
    def _near(self) -> float:
        """Regret, as a share of the payoff range, from which on an equilibrium is near."""
        return NEAR if self.form == "agent" else NEAR_IN_NORMAL_FORM

    def _start(self, game: Game, rng: np.random.Generator | None) -> LogitBranch:
        """The branch at its prior."""
        flat = flat_tree(game.tree, self.form)
        return LogitBranch(game, rng if self.prior == "random" else None, flat)

    def _follow(self, branch: LogitBranch, monitor: Monitor) -> bool:
        """Follow the branch within the budget; whether it came to its end or to the regret."""
        stops, goes_on = np.array([self.stop_lambda]), True
        for _, count, due in monitor.chunks():
            goes_on = branch.advance(stops, count, self.regret)
            monitor.work = branch.steps
            if due:
                monitor.snapshot(branch.behavior, work=branch.steps)
            if not goes_on or monitor.reached_target:
                break
        monitor.work = branch.steps
        return not (goes_on or branch.stalled)

    def _hand_over_equilibrium(self, branch: LogitBranch, monitor: Monitor) -> bool:
        """Hand over the equilibrium near the end; whether there is one."""
        logs = branch.log_probabilities(branch.points()[-1:])[0]
        try:
            made = polished(branch.game, logs, lambda: check_time(monitor), self._near)
        except BudgetSpentError:
            return False
        claimed = CLAIMED * (branch.game.tree.payoff_range or 1.0)
        if made.regret > max(claimed, monitor.target):
            return False
        trembles = None
        agent = self.form == "agent"
        if monitor.remaining_s > 0:
            made = as_on_branch(branch.game, made, np.exp(logs), monitor, again=agent)
        if agent and monitor.remaining_s > 0:
            trembles = trembles_of(branch.flat, logs, made.behavior)
        monitor.candidate(made.behavior, claim="equilibrium", trembles=trembles)
        return True

    def branch(
        self,
        game: Game,
        *,
        at: Iterable[float] = (),
        rng: np.random.Generator | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> ResponsePath:
        """The branch to the last lambda; see `eqbench.continuation.QuantalResponses`.

        Raises UsageError if the game is not supported or has no choice, a value is not between 0
        and `stop_lambda`, or a random prior has no generator.
        """
        fits = self.supports(game)
        if isinstance(fits, str):
            raise UsageError(fits)
        if not has_choice(game):
            raise UsageError(f"{game.spec} has no information set with a choice, so no branch")
        stops = sorted(at)
        for stop in stops:
            if not 0 < stop <= self.stop_lambda:
                raise UsageError(
                    f"at={stop}; choose values > 0 up to stop_lambda={self.stop_lambda:g}"
                )
        if self.prior == "random" and rng is None:
            raise UsageError("prior=random is drawn at random; give a generator as rng")
        followed = self._start(game, rng)
        all_stops, goes_on, count = np.array([*stops, self.stop_lambda]), True, FEW
        while goes_on and followed.steps < MOST_STEPS and not interrupted():
            before = time.perf_counter()
            goes_on = followed.advance(all_stops, count, self.regret)
            if time.perf_counter() - before < CHUNK_S:
                count = min(2 * count, BLOCK)
        if followed.stalled:
            ending = STALLED_AT
        elif goes_on and followed.steps < MOST_STEPS:
            ending = "interrupted"
        elif goes_on:
            ending = f"{followed.steps:,} steps were made"
        elif followed.last == self.stop_lambda:
            ending = f"lambda reached {followed.last:g}"
        else:
            ending = f"max regret reached {self.regret:g}"
        return followed.path(all_stops, ending)

    def equilibrium(self, game: Game, path: ResponsePath) -> FloatArray:
        """An equilibrium close to the end of a path, float64 (A,).

        It is the best profile that was found, that of the last point if there is none better
        or `polish` is false; how good it is the verifier says.
        """
        if not self.polish:
            return path.behavior[-1]
        return polished(game, path.log_probabilities[-1], near=self._near).behavior

    def credible(self, game: Game, profile: BehaviorProfile) -> tuple[BehaviorProfile, str]:
        """The same path of play with what lies off it solved again by a branch in agent form.

        See `eqbench.continuation.OffPath`.
        """
        return made_credible(game, profile)


def polished(
    game: Game,
    log_probabilities: FloatArray,
    before_work: Callable[[], None] = lambda: None,
    near: float = NEAR,
) -> Polished:
    """The equilibrium on the support of a point of a branch or one near it.

    Where the regret cannot be lowered it is that point.

    Parameters
    ----------
    log_probabilities : float64 (A,)
    before_work : called before each evaluation of derivatives; may raise to end the work
    near : regret, as a share of the payoff range, from which on the polish in plans is used
    """
    behavior = np.exp(log_probabilities)
    system = GainSystem(game, before_work=before_work)
    start = Polished(behavior, system.parameter, float(system.model.regrets(behavior).max()))
    span = game.tree.payoff_range or 1.0
    best = start
    if start.regret <= near * span:
        before_work()
        best = in_plans(game, start)
    if best.regret <= EXACT * span:
        return best
    made = polish(system, start, log_probabilities > UNPLAYED)
    if made.regret < best.regret and EXACT * span < made.regret <= near * span:
        before_work()
        made = in_plans(game, made)
    return min(best, made, key=lambda found: found.regret)


def as_on_branch(
    game: Game, made: Polished, behavior: FloatArray, monitor: Monitor, *, again: bool = True
) -> Polished:
    """A polished equilibrium that plays off its path as the branch does; itself if that pays.

    Plans forget what their owner does after deviations, and say nothing of what does not count.

    Parameters
    ----------
    behavior : float64 (A,), at the end of the branch
    again : whether the play off the path may be solved again, in agent form
    """
    starts, sizes = game.tree.action_start[:-1], np.diff(game.tree.action_start)
    played = np.where(made.behavior > OFF_PATH, made.behavior, 0.0)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    on_path = (infoset_reach(game.tree, played) > 0.0)[owner]
    limit = np.where(behavior > VANISHING, behavior, 0.0)
    limit /= np.add.reduceat(limit, starts)[owner]
    found = np.where(on_path, made.behavior, limit)
    regret = float(game.payoff_model().regrets(found).max())
    most = max(made.regret, EXACT * (game.tree.payoff_range or 1.0))
    if regret <= most:
        return Polished(found, made.parameter, regret)
    if not again:
        return made
    # mixtures off the path are off by the reciprocal of lambda, on which ties may depend
    solved = refined(game, made.behavior, monitor)
    if solved.reason or solved.regret > most:
        return made
    return Polished(solved.behavior, made.parameter, solved.regret)


def in_plans(game: Game, start: Polished) -> Polished:
    """The equilibrium near a profile, polished in plans; the profile if that is better.

    In frequencies small reach makes the equations singular, in realization plans it does not.
    """
    plans = RealizationPlan.of(game.sequence_form, start.behavior).weights
    made = polish_plans(game, plans)
    if made.regret >= start.regret:
        return start
    return Polished(made.behavior, start.parameter, made.regret)
