"""From a regularized equilibrium to an exact one, on the active set that it shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.model.choices import Choices
from eqbench.model.tree import FloatArray

from .exact_set import ITERATIONS, ActiveSet, least_squares, restrict
from .regularization import Frequencies, RegularizedGame

ROUNDS = 12
# A change of frequencies by less is rounding; so is a frequency or a gain of that size.
ROUNDING = 1e-15
SLACK = 1e-12
LARGEST_STEP = 10.0


def support_of(system: RegularizedGame, made: Frequencies) -> NDArray[np.bool_]:
    """Actions that are inside their bounds rather than held up by the barrier, bool (A,).

    An action that is played with p stands at least as far from its bound as the barrier
    pushes it, in units of gains: for the log barrier p >= mu / scale, mu = eps / p.
    """
    choices = system.choices
    support = np.ones(choices.n_actions, dtype=bool)
    firsts = choices.first[choices.start[:-1]]
    support[choices.action] = (made.weight >= 0.5) | (made.free >= 0.5)
    support[firsts] = (made.first_weight >= 0.5) | (made.first >= 0.5)
    return support


@dataclass(frozen=True, eq=False)
class Polished:
    """A profile (A,), its value of the parameter and its largest regret in payoff units."""

    behavior: FloatArray
    parameter: float
    regret: float


def polish(
    system: RegularizedGame,
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
    system: RegularizedGame,
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
    system: RegularizedGame, behavior: FloatArray, support: NDArray, parameter: float
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
