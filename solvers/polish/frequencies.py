"""From a profile near an equilibrium to an exact one, by Newton's method in its frequencies.

Symbols: A actions, F free frequencies (`Choices`), K unknowns. The support says which actions
are played at all. At a set with several of them all must be equally good, which gives one
equation for each but the most frequent one, the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.payoff_model import Linearization, PayoffModel
from eqbench.model.tree import FloatArray

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
    """Gains of a game's free actions over the first ones, at any value of its parameter.

    Parameters
    ----------
    game : Game
    before_work : called before each evaluation of derivatives; may raise to end the work
    """

    game: Game
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
        """How much of chance leads to each information set with a choice, float64 (C,).

        Its probability where, as in poker, public moves are known to all.
        """
        tree = self.game.tree
        reach = tree.chance_probability.copy()
        for level in tree.levels[1:]:
            reach[level] *= reach[tree.parent[level]]
        inside = np.flatnonzero(tree.infoset >= 0)
        total = np.bincount(tree.infoset[inside], reach[inside], tree.n_infosets)
        # nodes that only other players' actions tell apart were counted several times
        chance = np.minimum(total[self.choices.infoset], 1.0)
        return np.where(chance > 0, chance, 1.0)

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


@dataclass(frozen=True, eq=False)
class Polished:
    """A profile (A,), its value of the parameter and its largest regret in payoff units."""

    behavior: FloatArray
    parameter: float
    regret: float


def polish(
    system: GainSystem,
    start: Polished,
    support: NDArray[np.bool_],
    *,
    free_parameter: bool = False,
) -> Polished:
    """The equilibrium on a support or one near it, with the smallest regret on the way.

    Minimum-norm Newton steps make the actions of the support, bool (A,), equally good. Then
    actions that came out negative leave the support, and those that gain enter it. With
    `free_parameter` the payoff parameter is one more unknown.
    """
    best = start
    seen: set[bytes] = set()
    for _ in range(ROUNDS):
        if support.tobytes() in seen:
            break
        seen.add(support.tobytes())
        begin = restrict(system.choices, start.behavior, support)
        made, parameter = solve_on(
            system, begin, support, start.parameter, free_parameter=free_parameter
        )
        inside = np.clip(made, 0.0, 1.0)
        if np.abs(inside - made).max() <= SLACK:
            made = exact_rows(system.choices, inside)
            regret = float(system.model_at(parameter).regrets(made).max())
            if regret < best.regret:
                best = Polished(made, parameter, regret)
        entering = gaining(system, made, support, parameter)
        leaving = support & (made < -SLACK)
        if not entering.any() and not leaving.any():
            break
        support = (support & ~leaving) | entering
    return best


def solve_on(
    system: GainSystem,
    behavior: FloatArray,
    support: NDArray[np.bool_],
    parameter: float,
    *,
    free_parameter: bool = False,
) -> tuple[FloatArray, float]:
    """Frequencies (A,) that make all actions of the support equally good; may leave [0, 1]."""
    active = ActiveSet.of(system.choices, behavior, support)
    for _ in range(ITERATIONS):
        gains, matrix, slope = active.equations(system.linearize(behavior, parameter))
        if free_parameter and slope is not None:
            matrix = np.column_stack((matrix, slope))
        step = least_squares(matrix, -gains)
        if not (np.isfinite(step).all() and np.abs(step).max(initial=0.0) <= LARGEST_STEP):
            break
        if free_parameter:
            parameter += float(step[-1])
            step = step[:-1]
        behavior = active.moved(behavior, step)
        if np.abs(step).max(initial=0.0) <= ROUNDING:
            break
    return behavior, parameter


def gaining(
    system: GainSystem, behavior: FloatArray, support: NDArray, parameter: float
) -> NDArray[np.bool_]:
    """Actions outside the support that are better than those in it, bool (A,)."""
    choices = system.choices
    gains = np.zeros(choices.n_actions)
    gains[choices.action] = system.linearize(behavior, parameter).gains / system.free_scale
    result = np.zeros(choices.n_actions, dtype=bool)
    for c in range(len(choices.infoset)):
        low, high = choices.start[c], choices.start[c + 1]
        block = np.append(choices.first[low], choices.action[low:high])
        played = block[support[block]]
        result[block] = ~support[block] & (gains[block] > gains[played].max() + SLACK)
    return result


def exact_rows(choices: Choices, behavior: FloatArray) -> FloatArray:
    """Frequencies (A,) whose rows sum to 1 to the last digit that floats have."""
    result = behavior.copy()
    for c in range(len(choices.infoset)):
        low, high = choices.start[c], choices.start[c + 1]
        block = np.append(choices.first[low], choices.action[low:high])
        result[block] /= result[block].sum()
    return result


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The equations of a support.

    Attributes
    ----------
    choices : Choices
    moving, reference : int64 (K,)
        Actions with an unknown frequency, and the one of the same set that gives way.
    tied : int64 (T,)
        Actions that must be as good as the reference of their set.
    tied_reference : int64 (T,)
    """

    choices: Choices
    moving: NDArray[np.int64]
    reference: NDArray[np.int64]
    tied: NDArray[np.int64]
    tied_reference: NDArray[np.int64]

    @classmethod
    def of(
        cls, choices: Choices, behavior: FloatArray, support: NDArray, tied: NDArray | None = None
    ) -> ActiveSet:
        """The equations of a support, bool (A,).

        Parameters
        ----------
        behavior : float64 (A,)
            The most frequent action of each set is its reference; it is always in the support.
        tied : bool (A,) or None
            Actions that must be equally good; those of the support unless given.
        """
        best = most_frequent(choices, behavior)
        tied = support if tied is None else tied
        moving = np.flatnonzero(support & (best >= 0) & (best != np.arange(len(best))))
        equal = np.flatnonzero(tied & (best >= 0) & (best != np.arange(len(best))))
        return cls(choices, moving, best[moving], equal, best[equal])

    def equations(self, linear: Linearization) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Gains that must vanish (T,), derivatives (T, K), derivatives by the parameter (T,)."""
        size = self.choices.size
        place = np.full(self.choices.n_actions, size)
        place[self.choices.action] = np.arange(size)
        padded = np.zeros((size + 1, size + 1))
        padded[:-1, :-1] = linear.jacobian
        gains = np.append(linear.gains, 0.0)
        row, base = place[self.tied], place[self.tied_reference]
        column, way = place[self.moving], place[self.reference]
        differences = padded[row] - padded[base]
        slope = None
        if linear.slope is not None:
            slopes = np.append(linear.slope, 0.0)
            slope = slopes[row] - slopes[base]
        return gains[row] - gains[base], differences[:, column] - differences[:, way], slope

    def moved(self, behavior: FloatArray, step: FloatArray) -> FloatArray:
        """Frequencies (A,) after a step (K,) of the moving actions."""
        result = behavior.copy()
        result[self.moving] += step
        np.subtract.at(result, self.reference, step)
        return result


def most_frequent(choices: Choices, behavior: FloatArray) -> NDArray[np.int64]:
    """For each action the most frequent one of its set, int64 (A,); -1 where there is no choice."""
    best = np.full(choices.n_actions, -1)
    for c in range(len(choices.infoset)):
        low, high = choices.start[c], choices.start[c + 1]
        first = choices.first[low]
        block = np.append(first, choices.action[low:high])
        best[block] = block[np.argmax(behavior[block])]
    return best


def least_squares(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The shortest of the vectors that come closest to solving a system."""
    if matrix.size == 0:
        return np.zeros(matrix.shape[1])
    # rows of information sets that nobody reaches may be zero; QR is several times faster
    # than singular values and as good where the rank is clear
    return np.asarray(lstsq(matrix, right, cond=RANK_TOLERANCE, lapack_driver="gelsy")[0])


def restrict(choices: Choices, behavior: FloatArray, support: NDArray) -> FloatArray:
    """Frequencies with 0 outside the support, the rest given to the most frequent action."""
    result = np.where(support, behavior, 0.0)
    best = most_frequent(choices, np.where(support, behavior, -1.0))
    missing = behavior - result
    inside = best >= 0
    np.add.at(result, best[inside], missing[inside])
    result[~inside] = 1.0
    return result
