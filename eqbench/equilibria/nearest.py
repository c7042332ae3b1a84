"""The member of a known set that plays most like a given profile.

Symbols in shapes: V named frequencies, K parameters, C constraints.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.reference import KnownSet
from eqbench.model.tree import FloatArray

_INSIDE = 0.99  # upper bound where the search starts; formulas may have poles at 1
_ROUNDS = 6
_SETTLED = 1e-11  # of a step of the parameters
_STEP = 1e-5  # of difference quotients; the formulas are of low degree
_FEASIBLE = 1e-10  # as exactly as HiGHS can hold constraints


def nearest_member(known: KnownSet, frequencies: FloatArray, reach: FloatArray) -> FloatArray:
    """Parameters (K,) of a nearest member, owned by the caller.

    First it minimizes the sum of the differences of frequencies, weighted with the reach of
    their information sets; then, among such members, the sum of the differences where that
    reach is 0. So it agrees on the path of play as well as it can, and elsewhere after that.

    The formulas are linear in the parameters but for a few products: it is a sequence of linear
    programs, usually of one or two.

    Parameters
    ----------
    frequencies, reach : float64 (V,)
    """
    parameters = np.nan_to_num(np.clip(known.read(frequencies), 0.0, _INSIDE))
    if not len(parameters):
        return parameters
    reached = reach > 0
    free = np.ones(len(reach), dtype=bool)
    parameters = _fit(known, frequencies, parameters, reach, ~free)
    if not reached.all():
        parameters = _fit(known, frequencies, parameters, (~reached).astype(float), reached)
    return parameters


def _fit(
    known: KnownSet,
    frequencies: FloatArray,
    parameters: FloatArray,
    weights: FloatArray,
    held: NDArray[np.bool_],
) -> FloatArray:
    """Parameters that minimize the weighted sum of differences; those `held` do not grow."""
    allowed = np.abs(known.frequencies(parameters) - frequencies)
    for _ in range(_ROUNDS):
        values, slopes = linearized(known.frequencies, parameters)
        excess, excess_slopes = linearized(known.violations, parameters)
        moving = (np.abs(slopes).max(axis=1) > 0) & (held | (weights > 0))
        gap = (values - slopes @ parameters - frequencies)[moving]
        moved = _solve(
            slopes[moving],
            gap,
            weights[moving],
            np.where(held[moving], allowed[moving] + _FEASIBLE, np.inf),
            (excess_slopes, excess_slopes @ parameters - excess),
        )
        if moved is None:
            break
        step = np.abs(moved - parameters).max()
        parameters = moved
        if step <= _SETTLED:
            break
    return parameters


def _solve(
    slopes: FloatArray,
    gap: FloatArray,
    weights: FloatArray,
    largest: FloatArray,
    constraints: tuple[FloatArray, FloatArray],
) -> FloatArray | None:
    """Minimizer of sum w |gap + slopes x| with |gap + slopes x| <= largest and G x <= h."""
    from scipy.optimize import linprog  # takes longer to load than most profiles to recognize

    n, k = slopes.shape
    matrix, right = constraints
    identity = np.eye(n)
    program = linprog(
        c=np.concatenate((np.zeros(k), weights / max(weights.max(initial=0.0), 1e-300))),
        A_ub=np.block(
            [[slopes, -identity], [-slopes, -identity], [matrix, np.zeros((len(matrix), n))]]
        ),
        b_ub=np.concatenate((-gap, gap, right)),
        bounds=[(0.0, 1.0)] * k + [(0.0, bound) for bound in largest],
        method="highs",
        options={
            "primal_feasibility_tolerance": _FEASIBLE,
            "dual_feasibility_tolerance": _FEASIBLE,
        },
    )
    return None if program.x is None else program.x[:k]


def linearized(
    function: Callable[[FloatArray], FloatArray], parameters: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Values (·,) of a function and their derivatives (·, K) by the parameters."""
    steps = _STEP * np.eye(len(parameters))
    slopes = [
        (function(parameters + step) - function(parameters - step)) / (2 * _STEP) for step in steps
    ]
    return function(parameters), np.stack(slopes, axis=1)
