"""From a profile near an equilibrium to an exact one, by Newton's method in its frequencies.

Symbols: A actions, F free frequencies (`Choices`), K unknowns. The support says which actions
are played at all. At a set with several of them all must be equally good, which gives one
equation for each but the most frequent one, the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.payoff_model import Linearization, PayoffModel
from eqbench.model.tree import FloatArray

from ..search import chance_reach

# Found by trial: in these units homotopies and branches take few steps.
UNIT = 0.1
# Singular values below this share of the largest belong to frequencies that may vary freely.
RANK_TOLERANCE = 1e-9
ITERATIONS, ROUNDS = 25, 12
# A change of frequencies by less is rounding; so is a frequency or a gain of that size.
ROUNDING = 1e-15
SLACK = 1e-12
LARGEST_STEP = 10.0


@dataclass(frozen=True, eq=False)
class GainSystem:
    """Gains of a game's free actions over the first ones, at any value of its parameter."""

    game: Game
    # called before each evaluation of derivatives; may raise to end the work
    before_work: Callable[[], None] = field(default=lambda: None, kw_only=True)

    @cached_property
    def choices(self) -> Choices:
        """The free frequencies."""
        return Choices.of(self.game.tree)

    @cached_property
    def model(self) -> PayoffModel:
        """The payoff model at the game's own parameter."""
        return self.game.payoff_model()

    @cached_property
    def parameter(self) -> float:
        """The game's own value of its payoff parameter, 0 without one."""
        return float(self.game.tree.payoffs.value or 0)

    @cached_property
    def chance(self) -> FloatArray:
        """How much of chance leads to each information set with a choice, float64 (C,)."""
        return chance_reach(self.game.tree)[self.choices.infoset]

    @cached_property
    def unit(self) -> float:
        """Payoff that counts as 1 in the coordinates; solutions do not depend on it."""
        tree = self.game.tree
        return UNIT * (tree.payoff_range or 1.0) / tree.n_players

    @cached_property
    def free_scale(self) -> FloatArray:
        """Gain that counts as 1 in the coordinates, for each free action, float64 (F,)."""
        return np.repeat(self.chance * self.unit, np.diff(self.choices.start))

    def model_at(self, parameter: float) -> PayoffModel:
        """The payoff model at a value of the parameter; the game's own if it has none."""
        return self.model if self.game.tree.payoffs.slope is None else self.model.at(parameter)

    def linearize(self, behavior: FloatArray, parameter: float) -> Linearization:
        """Gains and their derivatives."""
        self.before_work()
        return self.model_at(parameter).linearize(behavior)

    def measured(self, behavior: FloatArray, parameter: float) -> Polished:
        """Frequencies (A,) at a value of the parameter, with their regret."""
        regret = float(self.model_at(parameter).regrets(behavior).max())
        return Polished(behavior, parameter, regret)

    def within_bounds(self, behavior: FloatArray, parameter: float) -> Polished | None:
        """The profile of computed frequencies (A,), None if some have left the bounds."""
        inside = np.clip(behavior, 0.0, 1.0)
        if not np.abs(inside - behavior).max() <= SLACK:
            return None
        for block in self.choices.blocks():  # rows sum to 1 to the last digit that floats have
            inside[block] /= inside[block].sum()
        return self.measured(inside, parameter)


@dataclass(frozen=True, eq=False)
class Polished:
    """A profile (A,), its value of the parameter and its largest regret in payoff units."""

    behavior: FloatArray
    parameter: float
    regret: float


def polish(
    system: GainSystem, start: Polished, support: NDArray[np.bool_], *, free_parameter: bool = False
) -> Polished:
    """The equilibrium on a support or one near it, with the smallest regret on the way.

    Newton's method makes the actions of the support, bool (A,), equally good. Then actions that
    came out negative leave the support, and those that gain enter it. With `free_parameter` the
    payoff parameter is one more unknown.
    """
    best = start
    seen: set[bytes] = set()
    for _ in range(ROUNDS):
        if support.tobytes() in seen:
            break
        seen.add(support.tobytes())
        active = ActiveSet.of(system.choices, start.behavior, support)
        made, parameter, _ = newton(system, active, start.parameter, free_parameter=free_parameter)
        profile = system.within_bounds(made, parameter)
        if profile is not None:
            made, best = profile.behavior, min(best, profile, key=lambda each: each.regret)
        entering = gaining(system, made, support, parameter)
        leaving = support & (made < -SLACK)
        if not entering.any() and not leaving.any():
            break
        support = (support & ~leaving) | entering
    return best


class Root(NamedTuple):
    """Where Newton's method ended: frequencies (A,), which may leave [0, 1], and parameter."""

    behavior: FloatArray
    parameter: float
    diverged: bool


def newton(
    system: GainSystem,
    active: ActiveSet,
    parameter: float,
    *,
    free_parameter: bool = False,
    plane: tuple[FloatArray, float] | None = None,
    tolerances: tuple[float, float] = (ROUNDING, np.inf),
) -> Root:
    """Make all tied actions of an active set equally good, by minimum-norm steps.

    Parameters
    ----------
    free_parameter : whether the payoff parameter is one more unknown
    plane : direction (K+1,) and how far along it the solution is to be from the beginning
    tolerances : of the last step, in frequencies and in the parameter
    """
    behavior, moved = active.begin, np.zeros(len(active.moving) + free_parameter)
    for _ in range(ITERATIONS):
        linear = system.linearize(behavior, parameter)
        gains, matrix = active.equations(linear, free_parameter=free_parameter)
        if plane is not None:
            direction, length = plane
            matrix = np.vstack((matrix, direction))
            gains = np.append(gains, direction @ moved - length)
        # rows of information sets that no player reaches may be zero; QR is several times faster
        # than singular values and as good where the rank is clear
        step = lstsq(matrix, -gains, cond=RANK_TOLERANCE, lapack_driver="gelsy")[0]
        if not np.abs(step).max(initial=0.0) <= LARGEST_STEP:  # nan too
            return Root(behavior, parameter, diverged=True)
        moved += step
        step, rise = step[: len(active.moving)], float(step[-1]) if free_parameter else 0.0
        behavior, parameter = behavior.copy(), parameter + rise
        behavior[active.moving] += step
        np.subtract.at(behavior, active.reference[active.moving], step)
        if np.abs(step).max(initial=0.0) <= tolerances[0] and abs(rise) <= tolerances[1]:
            break
    return Root(behavior, parameter, diverged=False)


def gaining(
    system: GainSystem, behavior: FloatArray, support: NDArray, parameter: float
) -> NDArray[np.bool_]:
    """Actions outside the support that are better than those in it, bool (A,)."""
    choices = system.choices
    gains = np.zeros(choices.n_actions)
    gains[choices.action] = system.linearize(behavior, parameter).gains / system.free_scale
    result = np.zeros(choices.n_actions, dtype=bool)
    for block in choices.blocks():
        played = block[support[block]]
        result[block] = ~support[block] & (gains[block] > gains[played].max() + SLACK)
    return result


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The equations of a support."""

    choices: Choices
    begin: FloatArray  # (A,), a profile on the support
    reference: NDArray[np.int64]  # (A,), the most frequent action of the set; -1 without a choice
    moving: NDArray[np.int64]  # (K,), actions with an unknown frequency; the reference gives way
    tied: NDArray[np.int64]  # (T,), actions that must be as good as their reference

    @classmethod
    def of(
        cls, choices: Choices, near: FloatArray, support: NDArray, tied: NDArray | None = None
    ) -> ActiveSet:
        """The equations of a support, bool (A,).

        Parameters
        ----------
        near : float64 (A,)
            What it plays outside the support goes to the most frequent action inside.
        tied : bool (A,) or None
            Actions that must be equally good; those of the support unless given.
        """
        begin, reference = np.where(support, near, 0.0), np.full(choices.n_actions, -1)
        for block in choices.blocks():
            reference[block] = block[np.argmax(np.where(support, near, -1.0)[block])]
        chosen = reference >= 0
        np.add.at(begin, reference[chosen], (near - begin)[chosen])
        begin[~chosen] = 1.0
        free = chosen & (reference != np.arange(len(reference)))
        moving = np.flatnonzero(support & free)
        equal = moving if tied is None else np.flatnonzero(tied & free)
        return cls(choices, begin, reference, moving, equal)

    def equations(
        self, linear: Linearization, *, free_parameter: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Gains that must vanish (T,), and their derivatives (T, K).

        With `free_parameter` those by the payoff parameter are in one more column.
        """
        count, actions = self.choices.n_actions, self.choices.action
        gains, slopes, jacobian = np.zeros(count), np.zeros(count), np.zeros((count, count))
        gains[actions], jacobian[np.ix_(actions, actions)] = linear.gains, linear.jacobian
        tied, base = self.tied, self.reference[self.tied]
        differences = jacobian[tied] - jacobian[base]
        matrix = differences[:, self.moving] - differences[:, self.reference[self.moving]]
        if free_parameter:
            slopes[actions] = linear.slope
            matrix = np.column_stack((matrix, slopes[tied] - slopes[base]))
        return gains[tied] - gains[base], matrix
