"""The solver contract: what a solver gets, what it hands over, and how it ends.

A solver is a frozen dataclass whose fields are its options. It sees a compiled game, a
:class:`Monitor` and a random generator, nothing else::

    @dataclass(frozen=True)
    class MySolver:
        step: float = 0.1

        def solve(self, game, monitor, rng):
            state = begin(game.sequence_form)
            for start, count, due in monitor.chunks():
                state = advance(state, count)
                if due:
                    monitor.snapshot(lambda: average(state), work=start + count)
            monitor.candidate(average(state), claim="average")
            return monitor.termination()

`availability()`, `supports(game)`, `availability_for(game)` and `prepare(game)` are optional, and
so are the attributes `deterministic` and `by_products`; :func:`availability_of` and its siblings
give the defaults. Large dealt games go by products (`eqbench.model.products`): a solver that
reads only `game.plan_form`, `game.payoff_model()` and labels says so by `by_products = True`.
They are called in this order, and what refuses is not called further.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np

from eqbench.errors import counted, warn_former
from eqbench.model.compiled import method_cpu_s, method_s
from eqbench.model.dealt_form import UnbuiltTree
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.model.trembles import Trembles
from eqbench.requests import Limits as Limits  # noqa: PLC0414 (part of the contract)

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.payoff_model import PayoffModel

Claim = Literal["iterate", "average", "equilibrium", "complete list"]
CLAIMS: tuple[Claim, ...] = ("iterate", "average", "equilibrium", "complete list")
Ending = Literal["converged", "limit", "stopped", "not_found", "failed"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)
CHUNK_S = 0.05
SCHEDULED_DOUBLINGS = 60
OVERHEAD_SHARE = 0.1


def Budget(  # noqa: N802 (reads as the class that it was)
    time_s: float = Limits.timeout_s, iterations: int | None = None, **limits: Any
) -> Limits:
    """Former name of `Limits`, with `time_s` for `timeout_s`."""
    warn_former("Budget(time_s=...)", "Limits(timeout_s=...)")
    return Limits(**{"timeout_s": time_s, "iterations": iterations} | limits)


def usable_cores() -> int:
    """Cores that this process may use; more threads than these only wait for each other."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Candidate:
    """A profile that a solver hands over, with what it claims about it.

    Attributes
    ----------
    profile : BehaviorProfile
    claim : `iterate`, `average`, `equilibrium` or `complete list`
    claimed_regret : the solver's own bound on the max regret in payoff units, if it has one
    trembles : what proves a sequential equilibrium, if the solver knows it; the verifier checks it
        All A entries must be whole orders from 1 on and positive weights, where an action is
        played 1 and 1.0 will do.
    """

    profile: BehaviorProfile
    claim: Claim
    claimed_regret: float | None = None
    trembles: Trembles | None = None

    def __post_init__(self) -> None:
        if self.claim not in CLAIMS:
            raise ValueError(f"claim {self.claim!r} is unknown; use one of {', '.join(CLAIMS)}")
        if self.claimed_regret is not None and not 0 <= self.claimed_regret < math.inf:
            raise ValueError(
                f"claimed_regret is {self.claimed_regret}; give a finite number >= 0, or None"
            )
        if self.trembles is not None:
            misfit = self.trembles.misfit(len(self.profile.probabilities))
            if misfit:
                raise ValueError(misfit)


@dataclass(frozen=True)
class Termination:
    """How a solver ended.

    Attributes
    ----------
    reason : `converged`; `limit` if a bound of the budget ended it; `stopped` if its own rule did,
        or if it got stuck; `not_found` if it has looked everywhere; `failed` if numbers failed it
        The status of a result also depends on what is measured: whatever meets the target is `ok`.
    detail : human-readable reason
    """

    reason: Ending
    detail: str = ""

    def __post_init__(self) -> None:
        if self.reason not in ENDINGS or not isinstance(self.detail, str):
            raise ValueError(
                f"Termination({self.reason!r}, {self.detail!r}): the reason is one of "
                f"{', '.join(ENDINGS)}, the detail is text"
            )


@dataclass(frozen=True)
class Availability:
    """Whether a solver can run here: `available`, `missing`, `licence` or `licence_size`.

    The last is for a licence that admits small models only: whether it does may depend on the
    game, which `availability_for(game)` sees.
    """

    state: Literal["available", "missing", "licence", "licence_size"] = "available"
    reason: str = ""


class Solver(Protocol):
    """The one method that every solver has."""

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Solve `game`, reporting through `monitor`; must end soon after the budget does."""


def availability_of(solver: Any) -> Availability:
    """The solver's own answer, or available."""
    ask = getattr(solver, "availability", None)
    return ask() if ask else Availability()


def availability_for(solver: Any, game: Game) -> Availability:
    """The solver's own answer for a game that it supports, or available.

    For what depends on the size of the game, such as a licence. It is called before anything is
    prepared, so it should count and not build.
    """
    ask = getattr(solver, "availability_for", None)
    return ask(game) if ask else Availability()


def refusal_of(solver: Any, game: Game) -> str | None:
    """Reason why the solver does not support the game, or None if it does.

    A solver's `supports(game)` returns True or the reason. Where the tree of a game may not be
    built, only those with a true attribute `by_products` are queried.
    """
    tree = game.tree
    by_products = getattr(solver, "by_products", False)
    if isinstance(tree, UnbuiltTree) and tree.n_nodes > tree.most and not by_products:
        return (
            f"the solver reads the tree, whose {tree.n_nodes:,} nodes are more than the "
            f"{tree.most:,} allowed; choose one that does without (cfr, cfr_plus, mmd, "
            "fictitious_play), or allow more with --max-nodes"
        )
    ask = getattr(solver, "supports", None)
    answer = ask(game) if ask else True
    if isinstance(answer, str):
        return answer or "the solver does not support this game"
    return None if answer else "the solver does not support this game"


def obstacle_of(
    solver: Any, game: Game
) -> tuple[Literal["unavailable", "unsupported"], str] | None:
    """Status and reason of a cell that cannot be run, or None if it can.

    The solver is queried whether it is available, whether it supports the game, and whether it
    is available for the game.
    """
    available = availability_of(solver)
    if available.state == "available":
        refusal = refusal_of(solver, game)
        if refusal is not None:
            return "unsupported", refusal
        available = availability_for(solver, game)
    if available.state != "available":
        return "unavailable", f"{available.state}: {available.reason}"
    return None


def check_termination(answer: Any) -> Termination:
    """What `solve` returned; TypeError with advice if it is no Termination."""
    if not isinstance(answer, Termination):
        raise TypeError(
            f"solve() returned {type(answer).__name__}; it must return a Termination, for "
            "example monitor.termination()"
        )
    return answer


def is_deterministic(solver: Any) -> bool:
    """Whether all seeds give the same result; False unless the solver says so."""
    answer = getattr(solver, "deterministic", False)
    return bool(answer() if callable(answer) else answer)


def warm_up(game: Game) -> None:
    """Measure a profile, so that machine code of the monitor is read before a clock runs."""
    game.payoff_model().regrets(BehaviorProfile.uniform(game.tree).probabilities)


@dataclass(frozen=True)
class JointPlay:
    """A mixture of profiles, one of which all players play together.

    Attributes
    ----------
    profiles : float64 (K, A), frequencies
    weights : float64 (K,), probabilities that sum to 1
    iterations : number of iterates whose mean payoffs and values it has
    """

    profiles: FloatArray
    weights: FloatArray
    iterations: int


@dataclass(frozen=True)
class MonitorReport:
    """One message of a monitor: a snapshot or a candidate, with the clocks at that moment."""

    kind: Literal["snapshot", "candidate"]
    candidate: Candidate
    work: int
    elapsed_s: float
    cpu_s: float
    overhead_s: float


def snapshot_points() -> Iterator[int]:
    """The fixed schedule of iterations 1, 2, 3, 4, 6, 8, 12, …: about two per doubling."""
    last = 0
    for k in range(2 * SCHEDULED_DOUBLINGS):
        point = math.ceil(2 ** (k / 2))
        if point > last:
            yield point
            last = point


class Monitor:
    """A solver's only window to the outside: budget, snapshots, candidates, figures.

    Time spent in here is taken off the solver's clock and kept as `overhead_s`; the clock stands
    still while kernels are compiled.
    """

    def __init__(
        self, game: Game, budget: Limits, sink: Callable[[MonitorReport | JointPlay], None]
    ) -> None:
        self.budget = budget
        self.target = budget.target_for(game.tree)
        self.statistics: dict[str, Any] = {}
        self.work = 0
        self.overhead_s = 0.0
        self.reached_target = False
        self._game, self._sink = game, sink
        self._model: PayoffModel | None = None
        self._overhead_cpu_s = 0.0
        self._calls, self._due, self._chunked = 0, False, False
        self._scheduled = set(snapshot_points())
        self._start, self._cpu_start = method_s(), method_cpu_s()

    @property
    def elapsed_s(self) -> float:
        """Seconds since `solve` began, less the time spent in the monitor."""
        return method_s() - self._start - self.overhead_s

    @property
    def cpu_s(self) -> float:
        """CPU seconds of this process since `solve` began, less those of the monitor."""
        return method_cpu_s() - self._cpu_start - self._overhead_cpu_s

    @property
    def remaining_s(self) -> float:
        """Seconds of solving that are left."""
        return self.budget.timeout_s - self.elapsed_s

    def chunks(self) -> Iterator[tuple[int, int, bool]]:
        """Pieces ``(start, count, due)`` of compiled work until the budget or the target ends.

        A snapshot is expected where `due` is true. These points follow a fixed schedule of
        iterations; only how the stretches between them are cut follows the clock, so cutting
        does not change a result.
        """
        size, last, self._chunked = 1, self.budget.iterations, True
        for point in snapshot_points():
            point = point if last is None else min(point, last)
            while self.work < point:
                if self.remaining_s <= 0:
                    return
                start, count = self.work, min(size, point - self.work)
                self._due = start + count == point
                before = method_s()
                yield start, count, self._due
                spent = max(method_s() - before, 1e-7)
                self._due = False
                self.work = start + count
                size = max(1, min(8 * count, int(count * CHUNK_S / spent)))
                if self.reached_target:
                    return
            if point == last:
                return

    def snapshot(
        self, profile: FloatArray | Candidate | Callable[[], Any], *, work: int | None = None
    ) -> None:
        """Report where the method stands: frequencies (A,), a Candidate, or a maker of one.

        A maker is only called if the snapshot is taken. All are taken at the scheduled
        points; those beyond are dropped while monitoring costs more than a tenth of solving.
        Dropping never changes the result: the target is tested at scheduled points only.
        """
        self._calls += 1
        self.work = self.work if work is None else int(work)
        # cuts between due points follow the clock, so counting calls would follow it too
        scheduled = self._due if self._chunked else self._calls in self._scheduled
        if not scheduled and self.overhead_s > OVERHEAD_SHARE * self.elapsed_s:
            return
        with self._off_the_clock() as (elapsed, cpu):
            made = profile() if callable(profile) else profile
            candidate = made if isinstance(made, Candidate) else self._candidate(made, "iterate")
            self._report("snapshot", candidate, elapsed, cpu)
            if scheduled and self.target > 0:
                self.reached_target = float(self._regrets(candidate).max()) <= self.target

    def candidate(
        self,
        profile: FloatArray | BehaviorProfile | Candidate,
        claim: Claim = "equilibrium",
        claimed_regret: float | None = None,
        trembles: Trembles | None = None,
    ) -> None:
        """Hand over a profile; the verifier will hold it against the claim."""
        with self._off_the_clock() as (elapsed, cpu):
            if not isinstance(profile, Candidate):
                profile = self._candidate(profile, claim, claimed_regret, trembles)
            self._report("candidate", profile, elapsed, cpu)

    def joint_play(self, profiles: FloatArray, weights: FloatArray, *, iterations: int) -> None:
        """Hand over joint play: profiles (K, A) with weights (K,), for so many iterates."""
        with self._off_the_clock():
            self._sink(JointPlay(profiles, weights, iterations))

    def record(self, **figures: Any) -> None:
        """Keep figures of the method (nodes, branch points, …) for the result."""
        self.statistics.update(figures)

    def termination(self) -> Termination:
        """`converged` if the target was reached, otherwise the bound that was hit if one was."""
        if self.reached_target:
            return Termination("converged", f"max regret reached {self.target:.3g}")
        if self.budget.iterations is not None and self.work >= self.budget.iterations:
            return Termination(
                "limit", f"stopped after {counted(self.budget.iterations, 'iteration')}"
            )
        if self.remaining_s <= 0:
            return Termination("limit", f"stopped after {self.budget.timeout_s:g} s")
        return Termination("stopped", "stopped before its budget was used up")

    def _candidate(
        self,
        profile: Any,
        claim: Claim,
        claimed_regret: float | None = None,
        trembles: Trembles | None = None,
    ) -> Candidate:
        if not isinstance(profile, BehaviorProfile):
            profile = BehaviorProfile.of(self._game.tree, profile)
        return Candidate(profile, claim, claimed_regret, trembles)

    def _regrets(self, candidate: Candidate) -> FloatArray:
        if self._model is None:
            self._model = self._game.payoff_model()
        return self._model.regrets(candidate.profile.probabilities)

    @contextmanager
    def _off_the_clock(self) -> Iterator[tuple[float, float]]:
        """Take the time inside a ``with`` off the solver's clock; give the clocks at entry."""
        wall, cpu = method_s(), method_cpu_s()
        try:
            yield self.elapsed_s, self.cpu_s
        finally:
            self.overhead_s += method_s() - wall
            self._overhead_cpu_s += method_cpu_s() - cpu

    def _report(self, kind: Any, candidate: Candidate, elapsed: float, cpu: float) -> None:
        self._sink(MonitorReport(kind, candidate, self.work, elapsed, cpu, self.overhead_s))
