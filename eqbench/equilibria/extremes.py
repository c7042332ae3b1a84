"""Smallest and largest value of a figure over a published set of equilibria.

Symbols in shapes: K parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from eqbench.equilibria.formulas import TOLERANCE
from eqbench.equilibria.known import some_member
from eqbench.equilibria.nearest import linearized
from eqbench.equilibria.reference import KnownSet
from eqbench.model.tree import FloatArray

_ROUNDS = 10
_SETTLED = 1e-11  # of a step of the parameters
_ASIDE = 0.25  # of the way from a member to other parameters
_SAME = 1e-9  # of payoffs
_GOLDEN = (5**0.5 - 1) / 2  # its multiples without their integer part are all different


def extremes(known: KnownSet, figure: Callable[[FloatArray], float]) -> tuple[float, float]:
    """Smallest and largest value that a figure has over the members of a set.

    Exact to rounding where figure and constraints are linear in the parameters, which takes one
    linear program each. Otherwise (see :func:`is_linear`) it is a sequence of them from one
    member, of which the best counts, so that the range may be too small but never too large. An
    open end belongs to the range.

    Parameters
    ----------
    figure : function of parameters (K,)
    """
    return _extreme(known, figure, sign=-1), _extreme(known, figure, sign=1)


def extremes_by_name(
    sets: tuple[KnownSet, ...], figure: Callable[[KnownSet, FloatArray], float]
) -> dict[str, tuple[float, float]]:
    """Smallest and largest value of a figure by name of the set, whose pieces share its name.

    Parameters
    ----------
    figure : function of a piece and its parameters (K,)
    """
    found: dict[str, tuple[float, float]] = {}
    for piece in sets:
        ends = (*extremes(piece, partial(figure, piece)), *found.get(piece.name, ()))
        found[piece.name] = (min(ends), max(ends))
    return found


def is_linear(known: KnownSet, figure: Callable[[FloatArray], float]) -> bool:
    """Whether a figure and the constraints of a set are linear in the parameters.

    They are compared with their linearization at one member, at parameters of no special kind.

    Parameters
    ----------
    figure : function of parameters (K,)
    """

    def values(parameters: FloatArray) -> FloatArray:
        return np.append(known.violations(parameters), figure(parameters))

    start = some_member(known)
    if not len(start):
        return True
    step = _ASIDE * (_GOLDEN * np.arange(1, len(start) + 1) % 1.0 - start)
    base, slopes = linearized(values, start)
    return bool(np.abs(values(start + step) - base - slopes @ step).max() <= TOLERANCE)


def payoff_ends(known: KnownSet) -> tuple[tuple[float, ...], ...] | None:
    """Payoffs of all players at the two ends of a set, or at its only point.

    None if they neither are a point nor pass between two players.
    """
    first = [float(payoff) for payoff in known.payoffs_near(some_member(known))]
    low, high = list(first), list(first)
    for p in range(len(first)):
        low[p], high[p] = extremes(known, partial(_payoff, known, p))
    moving = [p for p in range(len(first)) if high[p] - low[p] > _SAME]
    if not moving:
        return (tuple(first),)
    if len(moving) != 2:
        return None
    gains, loses = moving
    ends = ({gains: low[gains], loses: high[loses]}, {gains: high[gains], loses: low[loses]})
    if abs(sum(ends[0].values()) - sum(ends[1].values())) > _SAME:
        return None
    return tuple(tuple(end.get(p, first[p]) for p in range(len(first))) for end in ends)


def _payoff(known: KnownSet, player: int, parameters: FloatArray) -> float:
    return float(known.payoffs_near(parameters)[player])


def _extreme(known: KnownSet, figure: Callable[[FloatArray], float], *, sign: int) -> float:
    from scipy.optimize import linprog  # takes long to load

    parameters = some_member(known)
    best = figure(parameters)
    for _ in range(_ROUNDS if len(parameters) else 0):
        _, slope = linearized(lambda point: np.array([figure(point)]), parameters)
        excess, slopes = linearized(known.violations, parameters)
        program = linprog(
            c=-sign * slope[0],
            A_ub=slopes,
            b_ub=slopes @ parameters - excess,
            bounds=(0.0, 1.0),
            method="highs",
        )
        if program.x is None:
            break
        step, parameters = np.abs(program.x - parameters).max(), program.x
        if known.violations(parameters).max(initial=0.0) <= TOLERANCE:
            best = sign * max(sign * best, sign * figure(parameters))
        if step <= _SETTLED:
            break
    return float(best)
