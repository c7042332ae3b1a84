"""The flow of one game; see :class:`eqbench.dynamics.Flow`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, cached_property, partial

import numpy as np

from eqbench.dynamics import Trajectory
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.dealt_form import UnbuiltTree
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, action_labels
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceStructure
from eqbench.model.tree import FloatArray, GameTree

from ..ncp.presolve import CompactGame, RemainingPlay
from ..search import importable
from . import integrators, kernels
from .integrators import LARGEST, Dop853, Integration, Taylor, refusal, stepper

# A trajectory that is requested as a whole ends after so many evaluations or steps: a quarter of
# an hour in small games.
CEILING = 100_000_000


class ReplicatorFlow:
    """Replicator dynamics of one game, in log-odds; its methods are those of the contract.

    Only Jacobians need the tree of a large dealt game: GameTooLargeError where it may not be built.
    """

    def __init__(
        self, game: Game, rate: float, factors: FloatArray, integrator: str, tolerance: float
    ) -> None:
        self._game, self._tolerance = game, tolerance
        if integrator == "auto":
            slow = refusal(game, integrators.WORTHWHILE_PRODUCTS)
            integrator = "dop853" if slow or importable("heyoka").reason else "heyoka"
        self.rate, self.integrator = rate, integrator
        self.choices = choices = Choices.of(game.tree)
        sizes = np.diff(choices.start)
        self.speed = np.repeat(rate * factors[choices.infoset], sizes)
        # of each log-odds, those of the same information set
        self._row = np.repeat(np.arange(len(sizes)), sizes)
        self.statistics: dict[str, float] = {}
        self.now = 0.0
        self.field = field_of(game.plan_form, self.speed)

    def state_of(self, behavior: FloatArray) -> FloatArray:
        """The state (F,) of a profile (A,)."""
        values, choices = self._profile(behavior), self.choices
        for action in np.concatenate((choices.first, choices.action)).tolist():
            if not 0 < values[action] < 1:
                raise UsageError(
                    f"the frequency of {action_labels(self._game.tree)[action]} is "
                    f"{values[action]:g}, whose log-odds are infinite; frequencies of a state lie "
                    "between 0 and 1, so move it inside, for example by 1e-6"
                )
        return np.log(values[choices.action]) - np.log(values[choices.first])

    def behavior(self, states: FloatArray) -> FloatArray:
        """Frequencies float64 (..., A) of states (..., F), without overflow however large."""
        flat, shape = self._flat(states)
        n = self._game.tree.n_players
        extended = np.ones((len(flat), n + self.choices.n_actions))
        kernels.all_frequencies(self.field, flat, extended)
        return extended[:, n:].reshape(*shape, -1)

    def payoffs(self, states: FloatArray) -> FloatArray:
        """Expected payoffs float64 (..., N) at states (..., F)."""
        flat, shape = self._flat(states)
        payoffs = np.empty((len(flat), self._game.tree.n_players))
        field = self._moving
        kernels.suited(kernels.all_payoffs, field)(field, kernels.room(field), flat, payoffs)
        return payoffs.reshape(*shape, -1)

    def velocity(self, state: FloatArray) -> FloatArray:
        """Derivative of a state by time, float64 (F,)."""
        return self.speed * self._gains(self.behavior(state))

    def state_jacobian(self, state: FloatArray) -> FloatArray:
        """Derivatives of the velocity (rows) by the state, float64 (F, F)."""
        behavior = self.behavior(state)
        free = behavior[self.choices.action]
        # of frequencies (rows) by log-odds
        softmax = np.diag(free) - self._same_set * np.outer(free, free)
        return self.speed[:, None] * (
            self._game.payoff_model().linearize(behavior).jacobian @ softmax
        )

    def frequency_velocity(self, behavior: FloatArray) -> FloatArray:
        """Derivative of the free frequencies by time, float64 (F,); also on the boundary."""
        behavior = self._profile(behavior)
        free = behavior[self.choices.action]
        return self.speed * free * self._advantage(self._gains(behavior), free)

    def frequency_jacobian(self, behavior: FloatArray) -> FloatArray:
        """Its derivatives (rows) by the free frequencies, float64 (F, F); also on the boundary."""
        behavior = self._profile(behavior)
        free, at = behavior[self.choices.action], self._game.payoff_model().linearize(behavior)
        mean = self._same_set * free  # of any quantity over each information set
        change = at.jacobian - mean @ at.jacobian - self._same_set * at.gains
        own = np.diag(self._advantage(at.gains, free))
        return self.speed[:, None] * (own + free[:, None] * change)

    def integrate(
        self,
        state: FloatArray,
        times: FloatArray,
        *,
        tangent: FloatArray | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Trajectory:
        """Follow the trajectory from `state` at ``times[0]`` through ascending times."""
        state, times = log_odds(state, self.choices.size), ascending(times)
        size, players = self.choices.size, self._game.tree.n_players
        going = self.start(state, float(times[0]), tangent=tangent)
        # what is too large at the start goes nowhere
        wanted = times[:1] if np.abs(state).max(initial=0.0) > LARGEST else times

        def enough() -> bool:
            self.now = going.now
            return interrupted() or going.work >= CEILING

        rows, logs, ending = going.sample(wanted, enough, least=1)
        self.statistics[going.unit] = self.statistics.get(going.unit, 0) + going.work
        reached = len(rows)
        if ending == "interrupted" and going.work >= CEILING:
            ending = (
                f"after {going.work:,} {going.unit} time {times[reached]:.6g} was still ahead; "
                "lower the rate or k, raise the tolerance, or ask for earlier times"
            )
        growth, direction = None, None
        if tangent is not None:
            moved = rows[:, size + players :]
            lengths = np.linalg.norm(moved, axis=1)
            growth = np.log(lengths) + logs
            growth -= growth[0]  # the rounding of a tangent of length 1
            direction = moved[-1] / lengths[-1]
        states, profits = rows[:, :size].copy(), rows[:, size : size + players].copy()
        return Trajectory(times[:reached].copy(), states, profits, growth, direction, ending)

    def start(
        self, state: FloatArray, time: float, *, tangent: FloatArray | None = None
    ) -> Integration:
        """An integration that stands at `state` at a time."""
        parts = [log_odds(state, self.choices.size), np.zeros(self._game.tree.n_players)]
        if tangent is not None:
            tangent = log_odds(tangent, self.choices.size, "the tangent")
            length = np.linalg.norm(tangent)
            if not 0 < length < np.inf:
                raise UsageError("the tangent has no length, so it has no direction to follow")
            parts.append(tangent / length)
        return self._begin(np.concatenate(parts), time)

    @cached_property
    def _begin(self) -> Callable[[FloatArray, float], Integration]:
        """Begin an integration from a vector (M,) and a time."""
        game = (self._moving, self._tolerance)
        if self.integrator == "heyoka":  # trajectories share what is compiled
            return partial(Taylor, cache(partial(stepper, *game)), *game)
        return partial(Dop853, *game)

    @cached_property
    def _moving(self) -> kernels.VectorField:
        """The game as it is integrated: nothing in it but choices.

        In simplified three-player Kuhn poker 25 of 62 sequences are left. Games whose tree is not
        built keep all of theirs.
        """
        if self._game.product is not None:
            return self.field
        return field_of(CompactGame.of(self._game.sequence_form), self.speed)

    @cached_property
    def _same_set(self) -> FloatArray:
        """1 where two free frequencies belong to the same information set, float64 (F, F)."""
        return (self._row[:, None] == self._row).astype(np.float64)

    def _gains(self, behavior: FloatArray) -> FloatArray:
        model = self._game.payoff_model()
        return self.choices.gains(model.counterfactual_values(behavior))

    def _advantage(self, gains: FloatArray, free: FloatArray) -> FloatArray:
        """Value of each free action above the mean over its information set, (F,)."""
        mean = np.bincount(self._row, free * gains, len(self.choices.infoset))
        return gains - mean[self._row]

    def _profile(self, behavior: FloatArray) -> FloatArray:
        return BehaviorProfile.of(self._game.tree, behavior).probabilities

    def _flat(self, states: FloatArray) -> tuple[FloatArray, tuple[int, ...]]:
        """States as a matrix (K, F), since kernels check no bounds, and the shape before F."""
        states = np.ascontiguousarray(states, dtype=np.float64)
        if states.ndim == 0 or states.shape[-1] != self.choices.size or np.isnan(states).any():
            raise UsageError(f"states end in {self.choices.size} log-odds each; got {states}")
        return states.reshape(-1, self.choices.size), states.shape[:-1]


def log_odds(state: FloatArray, size: int, what: str = "the state") -> FloatArray:
    """The state as finite float64 (F,), contiguous, since kernels check no bounds."""
    state = np.ascontiguousarray(state, dtype=np.float64)
    if state.shape != (size,) or not np.isfinite(state).all():
        raise UsageError(f"{what} must be {size} finite log-odds; got {state}")
    return state


def ascending(times: FloatArray) -> FloatArray:
    """The times as finite, ascending float64 (K,), contiguous."""
    times = np.ascontiguousarray(times, dtype=np.float64)
    finite = times.ndim == 1 and len(times) > 0 and np.isfinite(times).all()
    if not finite or np.any(np.diff(times) <= 0):
        raise UsageError(f"times must be finite and ascending, at least one of them; got {times}")
    return times


def field_of(form: SequenceStructure, speed: FloatArray) -> kernels.VectorField:
    """The right side of the flow on a sequence form; `speed` is float64 (F,)."""
    n = form.n_players
    choices = Choices.of_blocks(form.block_start - n)
    return kernels.VectorField(
        form=form.arrays,
        start=choices.start.astype(np.uint32),
        action=(choices.action + n).astype(np.uint32),
        first=(choices.first + n).astype(np.uint32),
        speed=speed,
    )


# -- averages of play over time --------------------------------------------------------------------

# Between two states that an average takes, no log-odds move by more than the first; the second
# bounds how many it takes of a unit of time.
MOVE, MOST_POINTS = 2.0, 2**14
# How far apart the times are, as a ratio, at which an average may begin.
SPACING = 1.05


class Averages:
    """Integrals of the realization plans by the trapezoidal rule, from a state (F,) at time 0 on.

    It takes `points` states of a unit of time.
    """

    def __init__(
        self, form: SequenceStructure, field: kernels.VectorField, state: FloatArray, *, points: int
    ) -> None:
        self._form, self._field, self._points = form, field, points
        self._room = kernels.room(field)
        self._total = np.zeros(form.n_sequences)
        self.units = 0
        kernels.add_plans(field, self._room, state[None, :], self._total)
        self._marks = [(0, self._integral())]

    def add(self, states: FloatArray) -> None:
        """Go on by whole units of time; states are (K, F) with K a multiple of the points."""
        while len(states):
            mark = max(self.units + 1, math.ceil(SPACING * self._marks[-1][0]))
            units = min(mark - self.units, len(states) // self._points)
            kernels.add_plans(self._field, self._room, states[: units * self._points], self._total)
            self.units += units
            states = states[units * self._points :]
            if self.units == mark:
                self._marks.append((mark, self._integral()))

    def latest(self, share: float) -> FloatArray:
        """Frequencies (A,) that play like the average over at least the latest `share`."""
        end = self._integral()
        if self.units == 0:
            plan = self._room.reach
        else:
            since = (1.0 - share) * self.units
            units, begin = max((m for m in self._marks if m[0] <= since), key=lambda m: m[0])
            plan = (end - begin) / (self._points * (self.units - units))
        # of what is hardly ever reached, the difference is rounding and may be negative
        return RealizationPlan(np.maximum(plan, 0.0)).to_behavior(self._form)

    def _integral(self) -> FloatArray:
        """Integral of the plans from the first time to now, less half of the first, (S,)."""
        return self._total - 0.5 * self._room.reach


def points_per_unit(tree: GameTree, choices: Choices, speed: FloatArray) -> int:
    """Number of states that an average takes of a unit of time; log-odds (F,) have these speeds.

    A power of two, so that times are exact, and at most `MOST_POINTS`. With fewer than that no
    log-odds move by more than `MOVE` from one state to the next. Where a frequency goes from 0 to 1
    so fast, the trapezoidal rule is off by less than 1e-4 of the distance of two states, since its
    error at a logistic curve falls like exp(-2 pi**2 / MOVE) (Trefethen and Weideman 2014).
    """
    bounds = np.repeat(gain_bounds(tree)[choices.infoset], np.diff(choices.start))
    with np.errstate(over="ignore"):
        fastest = float((speed * bounds).max(initial=0.0))
    return 2 ** math.ceil(math.log2(min(max(fastest / MOVE, 1.0), MOST_POINTS)))


def gain_bounds(tree: GameTree) -> FloatArray:
    """Bounds of differences of counterfactual values at each information set, float64 (I,).

    At a node, payoffs differ by at most what all players together can make of it. A sum over
    the nodes of a set counts them with the reach of chance, and that of all players is 1 at most.
    Where there are no nodes, any two payoffs may be those.
    """
    if isinstance(tree, UnbuiltTree):
        return tree.payoff_range * np.minimum(infoset_reach(tree, np.ones(tree.n_actions)), 1.0)
    nodes, n = np.flatnonzero(tree.infoset >= 0), tree.n_players
    own, sets = tree.player[nodes], tree.infoset[nodes]
    chance_reach = tree.along_paths(tree.chance_probability)
    extremes = RemainingPlay(tree, exact=False).extremes(np.zeros(tree.n_nodes, dtype=bool))
    with np.errstate(over="ignore"):  # infinite is a bound too
        spread = -extremes[nodes, n + own] - extremes[nodes, own]
        summed = np.bincount(sets, chance_reach[nodes] * spread, tree.n_infosets)
    largest = np.zeros(tree.n_infosets)
    np.maximum.at(largest, sets, spread)
    return np.minimum(summed, largest)
