"""Members at the corners of published sets, in exact arithmetic.

Payoffs are linear in each player's realization plan, so what holds at the corners of a set of
plans, such as a lower bound of a payoff, holds for all of it.

Symbols in shapes: K parameters, C constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.expressions import IrrationalError
from eqbench.equilibria.known import known_sets
from eqbench.equilibria.reference import KnownSet
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray

_FEASIBLE = _REGULAR = 1e-9
_AT_ONCE = 4096


def known_corners(game: Game) -> list[tuple[str, BehaviorProfile]]:
    """Name and exact profile of the corner members of all published sets of a game.

    At a corner as many independent constraints just hold as there are parameters; parameters
    that change nobody's payoff stay 0. Left out are sets whose constraints are not linear in the
    parameters, and members that are not rational.
    """
    members: dict[str, list[BehaviorProfile]] = {}
    for known in known_sets(game):  # the pieces of one set share its name
        try:
            profiles = [known.member(parameters) for parameters in corner_parameters(known)]
        except IrrationalError:
            continue
        members.setdefault(known.name, []).extend(profiles)
    return [
        (f"{name} corner {number}" if len(profiles) > 1 else name, profile)
        for name, profiles in members.items()
        for number, profile in enumerate(profiles, start=1)
    ]


def corner_parameters(known: KnownSet) -> list[list[Fraction]]:
    """Parameters (K,) of the corners of a set in lexicographic order, exactly.

    Empty if the constraints are not linear.

    Raises
    ------
    IrrationalError
        If a constraint is not rational.
    """
    count = len(known.parameters)
    if not count:
        return [[]]
    constraints = _linear_constraints(known)
    if constraints is None:
        return []
    rows, right = constraints
    for position in known.idle:
        rows.append([Fraction(int(i == position)) for i in range(count)])
        right.append(Fraction(0))
    matrix, limit = np.array(rows, dtype=float), np.array(right, dtype=float)
    corners = {}
    for active, point in vertices(matrix, limit, _FEASIBLE):
        key = tuple(np.round(point, 9))
        if key not in corners:
            corners[key] = _solve([rows[i] for i in active], [right[i] for i in active])
    return sorted(corners.values())


def vertices(
    rows: FloatArray, limit: FloatArray, feasible: float
) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
    """Yield K independent constraints (K,) out of ``rows x <= limit`` and where they meet (K,).

    Only points that violate no other constraint by more than `feasible`; several sets of
    constraints may meet in one point.

    Parameters
    ----------
    rows, limit : float64 (C, K) and (C,)
    """
    choices = combinations(range(len(rows)), rows.shape[1])
    while batch := list(islice(choices, _AT_ONCE)):
        active = np.array(batch)
        active = active[np.abs(np.linalg.det(rows[active])) > _REGULAR]
        points = np.linalg.solve(rows[active], limit[active][..., None])[..., 0]
        inside = (points @ rows.T - limit).max(axis=1, initial=-np.inf) <= feasible
        yield from zip(active[inside], points[inside], strict=True)


def _linear_constraints(
    known: KnownSet,
) -> tuple[list[list[Fraction]], list[Fraction]] | None:
    """Constraints ``G x <= h`` of a set as lists G (C, K) and h (C,); None if they are none."""
    count = len(known.parameters)
    base = [Fraction(1, 8)] * count

    def violations(point: Sequence[Fraction]) -> list[Fraction]:
        names = known.exact.names(dict(zip(known.parameters, point, strict=True)))
        return [violation(names) for violation in known.exact.violations]

    start = violations(base)
    slopes = []
    for i in range(count):
        moved = violations([x + Fraction(i == j, 8) for j, x in enumerate(base)])
        slopes.append([8 * (new - old) for new, old in zip(moved, start, strict=True)])
    rows = [list(row) for row in zip(*slopes, strict=True)]
    right = [
        sum((a * x for a, x in zip(row, base, strict=True)), -value)
        for row, value in zip(rows, start, strict=True)
    ]
    other = [Fraction(j + 1, 7 * (j + 2)) for j in range(count)]
    expected = [
        sum((a * x for a, x in zip(row, other, strict=True)), -h)
        for row, h in zip(rows, right, strict=True)
    ]
    return (rows, right) if violations(other) == expected else None


def _solve(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Exact solution of a regular system of linear equations, by Gauss and Jordan."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for column in range(len(table)):
        pivot = next(i for i in range(column, len(table)) if table[i][column])
        table[column], table[pivot] = table[pivot], table[column]
        table[column] = [value / table[column][column] for value in table[column]]
        for i, row in enumerate(table):
            if i != column and row[column]:
                pairs = zip(row, table[column], strict=True)
                table[i] = [a - row[column] * b for a, b in pairs]
    return [row[-1] for row in table]
