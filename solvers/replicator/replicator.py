"""The solver: its options, and the flow of a game for studies."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from eqbench.dynamics import HandByHand
from eqbench.errors import SolverUnavailableError, SpecError, UsageError, known_labels
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.solver import Availability, Candidate, Monitor, Termination
from eqbench.spec import parse_number

from ..search import first_profile, importable, without_choice

if TYPE_CHECKING:
    from .flow import ReplicatorFlow

SKP, SKP_RATE = "skp", 24.0
# Below the first, rounding alone exceeds the tolerance; above the second, steps mean nothing.
SMALLEST_TOLERANCE, LARGEST_TOLERANCE = 1e-15, 1e-2
# A place and its speed: a number as specs have them, but for the sign.
PART = re.compile(r"(\S.*?)\s*=\s*(\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)", re.ASCII)


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
    attracts (Hofbauer and Sigmund 1998). With two players and constant sum, log-odds are
    exponential weights in continuous time, so averages of realization plans over time t have a
    regret of order 1 / t. In all other cases nothing is promised. What is handed over are
    averages, over the window and over all time, and the last state, without a claim.

    An iteration is a unit of time. A trajectory ends where log-odds exceed 1e12, since their
    changes are lost in rounding further on.

    Parameters
    ----------
    rate : speed of all changes; none means 24 for skp, whose 24 deals are equally likely, else 1
    k : factors of players or information sets, such as 'P1=2; P3|2:KK=1/2'; 1 where none is given
        Numbers are exact: integers, decimals or p/q. That of an information set overrides that of
        its player. An information set whose label has a `;` cannot be named.
    start : uniform, or random: drawn from all distributions at each information set
    integrator : auto is heyoka where it is installed and fast for the game, otherwise dop853
        `heyoka` takes games with two actions at most at every information set and up to 2,000
        products of payoffs and reaches, of which `auto` gives it those up to 500.
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
    integrator: Literal["auto", "heyoka", "dop853"] = "auto"
    tolerance: float = 1e-10
    window: float = 0.5
    hand_time: float | None = None

    by_products: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, value in (("rate", self.rate), ("hand_time", self.hand_time)):
            if value is not None and not 0 < value < math.inf:
                raise SpecError(f"{name}={value}; choose a positive, finite number, or none")
        if not SMALLEST_TOLERANCE <= self.tolerance <= LARGEST_TOLERANCE:
            raise SpecError(
                f"tolerance={self.tolerance}; choose one from {SMALLEST_TOLERANCE:g}, below which "
                f"rounding is larger, to {LARGEST_TOLERANCE:g}"
            )
        if not 0 < self.window <= 1:
            raise SpecError(f"window={self.window}; choose a share > 0, at most 1")
        parse_speeds(self.k)

    @property
    def deterministic(self) -> bool:
        """True if all seeds give the same result."""
        return self.start == "uniform"

    def availability(self) -> Availability:
        """Available, unless heyoka is wanted by name and cannot be imported."""
        is_wanted = self.integrator == "heyoka"
        return importable("heyoka", "integrator=auto") if is_wanted else Availability()

    def supports(self, game: Game) -> bool | str:
        """True, or what is wrong with `k`, or why heyoka does not take the game."""
        from .integrators import refusal

        try:
            self._speeds(game)
        except UsageError as error:
            return str(error)
        return (refusal(game) if self.integrator == "heyoka" else None) or True

    def prepare(self, game: Game) -> None:
        """Compile what `solve` runs; keeps nothing but the machine code, as heyoka does its own."""
        from .flow import Averages

        flow = self.flow(game)
        if flow.choices.size:
            state = np.zeros(flow.choices.size)
            # which may be very many steps
            flow.start(state, 0.0).sample(np.array([1e-9]), lambda: True)
            Averages(game.plan_form, flow.field, state, points=1).latest(1.0)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Follow a trajectory until the budget ends; `rng` only draws random starts."""
        from .flow import MOST_POINTS, Averages, points_per_unit

        if end := without_choice(game, monitor):
            return end
        flow = self.flow(game)
        size, state = flow.choices.size, flow.state_of(first_profile(game.tree, self.start, rng))
        points = points_per_unit(game.tree, flow.choices, flow.speed)
        going = flow.start(state, 0.0)
        averages = Averages(game.plan_form, flow.field, state, points=points)

        def windowed() -> Candidate:
            return Candidate(BehaviorProfile.of(game.tree, averages.latest(self.window)), "average")

        ending = ""
        for start, count, due in monitor.chunks():
            times = start + np.arange(1, count * points + 1) / points
            rows, _, ending = going.sample(times, lambda: monitor.remaining_s <= 0)
            if whole := len(rows) // points * points:
                states = np.ascontiguousarray(rows[:whole, :size])
                averages.add(states)
                state = states[-1]
            if ending:
                monitor.work = averages.units
                break
            if due:
                monitor.snapshot(windowed, work=start + count)
        monitor.candidate(windowed())
        if self.window < 1:
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

    def flow(self, game: Game) -> ReplicatorFlow:
        """The flow of a game; see :class:`eqbench.dynamics.Dynamics`."""
        from .flow import ReplicatorFlow

        available, fits = self.availability(), self.supports(game)
        if available.state != "available":
            raise SolverUnavailableError(available.reason)
        if isinstance(fits, str):
            raise UsageError(fits)
        return ReplicatorFlow(game, *self._speeds(game), self.integrator, self.tolerance)

    def hand_by_hand(self, game: Game, memory: int) -> HandByHand:
        """Repeated play at the speeds of the flow; see :class:`eqbench.dynamics.Dynamics`."""
        from .flow import field_of
        from .hands import HandByHandPlay

        field = field_of(game.sequence_form, self.flow(game).speed)
        return HandByHandPlay(game, field, memory, self.hand_time)

    def _speeds(self, game: Game) -> tuple[float, FloatArray]:
        """Factor of all velocities, and those of each information set, float64 (I,)."""
        tree, factors = game.tree, parse_speeds(self.k)
        usual = SKP_RATE if game.spec.partition("(")[0] == SKP else 1.0
        rate = usual if self.rate is None else self.rate
        if not math.isfinite(rate * max(factors.values(), default=1.0)):
            raise UsageError(f"rate={rate:g} times k overflows; lower one of them")
        labels = zip(
            (tree.players[p] for p in tree.infoset_player), tree.infoset_labels, strict=True
        )
        places = [(player, f"{player}|{label}") for player, label in labels]
        known = [*tree.players, *(own for _, own in places)]
        for place in factors:
            if place not in known:
                raise UsageError(
                    f"k names {place!r}, which is no player and no information set of the game; "
                    f"{known_labels(place, known)}"
                )
        speeds = [factors.get(own, factors.get(player, 1.0)) for player, own in places]
        return rate, np.array(speeds)


def parse_speeds(text: str) -> dict[str, float]:
    """Speed of each place, named once, in a text such as ``P1=2; P3|2:KK=1/2``."""
    factors: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        match = PART.fullmatch(part)
        try:
            speed = float(parse_number(match[2])) if match else math.nan
        except (SpecError, OverflowError):  # p/0, or beyond the largest float
            speed = math.nan
        if not (match and 0 < speed < math.inf):
            raise SpecError(
                f"k has the part {part!r}; write PLAYER=SPEED or PLAYER|INFORMATION SET=SPEED with "
                "a speed > 0 such as 2, 0.5 or 1/2, and ; between parts, for example "
                "k='P1=2; P3|2:KK=1/2'"
            )
        if match[1] in factors:
            raise SpecError(f"k names {match[1]!r} twice; say once how fast it is")
        factors[match[1]] = speed
    return factors
