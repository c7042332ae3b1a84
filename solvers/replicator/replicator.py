"""The solver: its options, what it does within its budget, and the flow of a game for studies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from eqbench.errors import SolverUnavailableError, SpecError, UsageError
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.solver import Candidate, Monitor, Termination

from .averages import MOST_POINTS, Averages, points_per_unit
from .integrators import as_far_as_resolved

if TYPE_CHECKING:
    from eqbench.dynamics import HandByHand
    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray
    from eqbench.solver import Availability, Monitor, Termination

    from .flow import ReplicatorFlow


SKP, SKP_RATE = "skp", 24.0
# Below the first, rounding alone exceeds the tolerance; above the second, steps mean nothing.
SMALLEST_TOLERANCE, LARGEST_TOLERANCE = 1e-15, 1e-2


@dataclass(frozen=True)
class Replicator:
    """Replicator dynamics (Taylor and Jonker 1978) in behavior frequencies, in continuous time.

    At each information set I with counterfactual values v of its actions, the log-odds of an
    action a against the first one move by ``z' = rate k (v_a - v_first)``. In frequencies this is
    ``x_a' = rate k x_a (v_a - sum_b x_b v_b)``. For simplified three-player Kuhn poker it is the
    model of repeated play of Billingham (2017, equations 22 to 24). With several actions all of
    an information set share one k: otherwise frequencies would cease to sum to 1, or what is
    added to all payoffs would matter.

    It need not converge. The flow preserves volumes in log-odds, so no interior equilibrium
    attracts (Hofbauer and Sigmund 1998), and orbits may be periodic, quasi-periodic or chaotic, or
    go round near the boundary ever more slowly. With two players and constant sum, log-odds are
    exponential weights in continuous time, whose regret is bounded at every information set; so
    averages of realization plans over time t have a regret of order 1 / t. In all other cases
    nothing is promised. What is handed over are averages, over the window and over all time, and
    the last state.

    An iteration is a unit of time. Averages take so many states of it that no log-odds can move by
    more than 2 from one to the next, but 16,384 at most. A trajectory ends where log-odds exceed
    1e12, since their changes are lost in rounding further on.

    Parameters
    ----------
    rate : speed of all changes; none means 24 for skp, whose 24 deals are equally likely, else 1
    k : factors of players or information sets, such as 'P1=2; P3|2:KK=1/2'; 1 where none is given
        Numbers are exact: integers, decimals or p/q. That of an information set overrides that of
        its player. An information set whose label has a `;` cannot be named.
    start : uniform, or random: drawn from all distributions at each information set
    integrator : auto is heyoka where it is installed and fast for the game, otherwise dop853
        `heyoka` takes games with two actions at most at every information set and up to 2,000
        products of payoffs and reaches; from about 500 on `auto` takes `dop853`, which is compiled
        with the right side. `lsoda` is that of SciPy, for comparison.
    tolerance : error that one step may make, relative to 1 plus the size of a log-odds
    window : share of the time so far, up to now, over which snapshots average
        By default the later half: it forgets the start, and in constant sum its bound on the
        regret is no more than about twice that of the whole average. Where play goes round near the
        boundary ever more slowly, no window makes averages converge.
    hand_time : time that a hand of repeated play takes; none means 0.01 over the memory
    """

    rate: float | None = None
    k: str = ""
    start: Literal["uniform", "random"] = "uniform"
    integrator: Literal["auto", "heyoka", "dop853", "lsoda"] = "auto"
    tolerance: float = 1e-10
    window: float = 0.5
    hand_time: float | None = None

    def __post_init__(self) -> None:
        from .speeds import parse_speeds

        if self.rate is not None and not 0 < self.rate < math.inf:
            raise SpecError(f"rate={self.rate}; choose a number > 0, or none")
        if not SMALLEST_TOLERANCE <= self.tolerance <= LARGEST_TOLERANCE:
            raise SpecError(
                f"tolerance={self.tolerance}; choose one from {SMALLEST_TOLERANCE:g}, below which "
                f"rounding is larger, to {LARGEST_TOLERANCE:g}"
            )
        if not 0 < self.window <= 1:
            raise SpecError(f"window={self.window}; choose a share > 0, at most 1")
        if self.hand_time is not None and not 0 < self.hand_time < math.inf:
            raise SpecError(
                f"hand_time={self.hand_time}; choose a positive, finite time, or none for "
                "0.01 / memory"
            )
        parse_speeds(self.k)

    @property
    def deterministic(self) -> bool:
        """Whether all seeds give the same result."""
        return self.start == "uniform"

    def availability(self) -> Availability:
        """Available, unless heyoka is wanted by name and cannot be imported."""
        from eqbench.solver import Availability

        from .taylor import obstacle

        reason = obstacle() if self.integrator == "heyoka" else None
        if reason is None:
            return Availability()
        return Availability(
            "missing",
            f"{reason}; install it with: pip install 'eqbench[ode]', or leave integrator=auto",
        )

    def supports(self, game: Game) -> bool | str:
        """True, or what is wrong with `k`, or why heyoka does not take the game."""
        from .taylor import refusal

        try:
            self._factors(game)
        except UsageError as error:
            return str(error)
        reason = refusal(game) if self.integrator == "heyoka" else None
        return True if reason is None else f"{reason}; leave integrator=auto"

    def prepare(self, game: Game) -> None:
        """Compile what `solve` runs; keeps nothing but the machine code.

        heyoka keeps its own, so that `solve` finds it compiled.
        """
        warm_up(self.flow(game), game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Follow a trajectory until the budget ends; `rng` only draws random starts."""
        return follow(self, game, monitor, rng)

    def flow(self, game: Game) -> ReplicatorFlow:
        """The flow of a game; see :class:`eqbench.dynamics.Dynamics`.

        Raises
        ------
        UsageError
            If `k` names what the game lacks, or heyoka is wanted and does not take the game.
        SolverUnavailableError
            If heyoka is wanted and cannot be imported.
        """
        from .flow import ReplicatorFlow
        from .selection import integrator_for

        available, fits = self.availability(), self.supports(game)
        if available.state != "available":
            raise SolverUnavailableError(available.reason)
        if isinstance(fits, str):
            raise UsageError(fits)
        return ReplicatorFlow(
            *(game, self._rate(game), self._factors(game)),
            integrator=integrator_for(game, self.integrator),
            tolerance=self.tolerance,
        )

    def hand_by_hand(self, game: Game, memory: int) -> HandByHand:
        """Repeated play at the speeds of the flow; see :class:`eqbench.dynamics.Dynamics`."""
        from .hands import HandByHand as Hands

        return Hands(game.tree, self.flow(game).field, memory, self.hand_time)

    def _rate(self, game: Game) -> float:
        """Factor of all velocities, before `k`."""
        if self.rate is not None:
            return self.rate
        # games that are made by hand may have any name
        return SKP_RATE if game.spec.partition("(")[0] == SKP else 1.0

    def _factors(self, game: Game) -> FloatArray:
        """Factor of each information set, float64 (I,)."""
        from .speeds import parse_speeds, speeds

        rate, factors = self._rate(game), parse_speeds(self.k)
        if not math.isfinite(rate * max((factor for _, factor in factors), default=1.0)):
            raise UsageError(f"rate={rate:g} times k overflows; lower one of them")
        return speeds(game.tree, factors)


def warm_up(flow: ReplicatorFlow, game: Game) -> None:
    """Compile what `follow` runs."""
    if flow.choices.size:
        state = np.zeros(flow.choices.size)
        going = flow.start(state, 0.0)
        going.sample(np.array([1e-9]), lambda: True)  # which may be very many steps
        Averages(game.sequence_form, flow.field, state, points=1).latest(1.0)


def follow(
    solver: Replicator, game: Game, monitor: Monitor, rng: np.random.Generator
) -> Termination:
    """Follow one trajectory until the budget or the target ends, and hand over its averages."""
    flow = solver.flow(game)
    if not flow.choices.size:
        monitor.candidate(BehaviorProfile.uniform(game.tree), claim="equilibrium")
        return Termination("converged", "no information set has a choice")
    state = np.zeros(flow.choices.size)
    if solver.start == "random":
        state = flow.state_of(random_profile(game.tree, rng))
    points = points_per_unit(game.tree, flow.choices, flow.speed)
    going = flow.start(state, 0.0)
    averages = Averages(game.sequence_form, flow.field, state, points=points)

    def windowed() -> Candidate:
        return Candidate(BehaviorProfile.of(game.tree, averages.latest(solver.window)), "average")

    ending = ""
    for start, count, due in monitor.chunks():
        times = start + np.arange(1, count * points + 1) / points
        found = going.sample(times, lambda: monitor.remaining_s <= 0)
        found = as_far_as_resolved(found, times, flow.choices.size)
        whole = len(found.rows) // points * points
        if whole:
            states = np.ascontiguousarray(found.rows[:whole, : flow.choices.size])
            averages.add(states)
            state = states[-1]
        if found.ending:
            ending, monitor.work = found.ending, averages.units
            break
        if due:
            monitor.snapshot(windowed, work=start + count)
    monitor.candidate(windowed())
    if solver.window < 1:
        monitor.candidate(averages.latest(1.0), claim="average")
    monitor.candidate(flow.behavior(state), claim="iterate")
    monitor.record(integrator=flow.integrator, time=averages.units, **{going.unit: going.work})
    if ending and monitor.remaining_s > 0:
        return Termination("failed", ending)
    bound = monitor.termination()
    if bound.reason == "converged":
        return bound
    caveat = "only averages of two players with constant sum are sure to converge"
    if points == MOST_POINTS:
        caveat += (
            f", and not at this speed: they take {points:,} states of a unit of time at most; "
            "lower the rate or k"
        )
    return Termination(bound.reason, f"{bound.detail}; {caveat}")
