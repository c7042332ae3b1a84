"""The solver: its options, and the flow of a game for studies."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from eqbench.errors import SolverUnavailableError, SpecError, UsageError, known_labels
from eqbench.solver import Availability
from eqbench.spec import parse_number

if TYPE_CHECKING:
    from eqbench.dynamics import HandByHand
    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray, GameTree
    from eqbench.solver import Monitor, Termination

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
        with the right side.
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

    def __post_init__(self) -> None:
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
        """True if all seeds give the same result."""
        return self.start == "uniform"

    def availability(self) -> Availability:
        """Available, unless heyoka is wanted by name and cannot be imported."""
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
        """Compile what `solve` runs; keeps nothing but the machine code, as heyoka does its own."""
        from .averages import warm_up

        warm_up(self.flow(game), game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Follow a trajectory until the budget ends; `rng` only draws random starts."""
        from .averages import follow

        start = rng if self.start == "random" else None
        return follow(self.flow(game), game, monitor, window=self.window, rng=start)

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

        available, fits = self.availability(), self.supports(game)
        if available.state != "available":
            raise SolverUnavailableError(available.reason)
        if isinstance(fits, str):
            raise UsageError(fits)
        return ReplicatorFlow(
            *(game, self._rate(game), self._factors(game)),
            integrator=self.integrator,
            tolerance=self.tolerance,
        )

    def hand_by_hand(self, game: Game, memory: int) -> HandByHand:
        """Repeated play at the speeds of the flow; see :class:`eqbench.dynamics.Dynamics`."""
        from .hands import HandByHand as Hands

        return Hands(game, self.flow(game).field, memory, self.hand_time)

    def _rate(self, game: Game) -> float:
        """Factor of all velocities, before `k`."""
        usual = SKP_RATE if game.spec.partition("(")[0] == SKP else 1.0
        return usual if self.rate is None else self.rate

    def _factors(self, game: Game) -> FloatArray:
        """Factor of each information set, float64 (I,)."""
        rate, factors = self._rate(game), parse_speeds(self.k)
        if not math.isfinite(rate * max((factor for _, factor in factors), default=1.0)):
            raise UsageError(f"rate={rate:g} times k overflows; lower one of them")
        return speeds(game.tree, factors)


def parse_speeds(text: str) -> list[tuple[str, float]]:
    """Places and their speeds, in the order of the text, such as ``P1=2; P3|2:KK=1/2``.

    Raises
    ------
    SpecError
        If a part is no ``place=number``, the number is not positive and finite, or a place is
        named twice.
    """
    pairs: dict[str, float] = {}
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
        if match[1] in pairs:
            raise SpecError(f"k names {match[1]!r} twice; say once how fast it is")
        pairs[match[1]] = speed
    return list(pairs.items())


def speeds(tree: GameTree, pairs: Sequence[tuple[str, float]]) -> FloatArray:
    """Speed of each information set, float64 (I,); 1 where nothing is said.

    What is said of an information set holds whatever is said of its player.

    Raises
    ------
    UsageError
        If a place is neither a player nor an information set of the game.
    """
    owners = [tree.players[player] for player in tree.infoset_player]
    names = [f"{owner}|{label}" for owner, label in zip(owners, tree.infoset_labels, strict=True)]
    result = np.ones(tree.n_infosets)
    # players first, so that information sets override them
    for place, speed in sorted(pairs, key=lambda pair: pair[0] not in tree.players):
        known = owners if place in tree.players else names
        if place not in tree.players and place not in names:
            raise UsageError(
                f"k names {place!r}, which is no player and no information set of the game; "
                f"{known_labels(place, [*tree.players, *names])}"
            )
        result[[name == place for name in known]] = speed
    return result
