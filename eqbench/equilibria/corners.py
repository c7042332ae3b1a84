"""Members at the corners of published sets, in exact arithmetic.

Payoffs are linear in each player's realization plan, so what holds at the corners of a set of
plans, such as a lower bound of a payoff, holds for all of it.

Symbols in shapes: K parameters, C constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from eqbench.equilibria.expressions import IrrationalError
from eqbench.equilibria.known import known_sets
from eqbench.equilibria.reference import KnownSet
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile

_FEASIBLE = 1e-9


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
    for chosen in combinations(range(len(rows)), count):
        active = list(chosen)
        if abs(np.linalg.det(matrix[active])) < _FEASIBLE:
            continue
        point = np.linalg.solve(matrix[active], limit[active])
        key = tuple(np.round(point, 9))
        if np.all(matrix @ point <= limit + _FEASIBLE) and key not in corners:
            corners[key] = _solve([rows[i] for i in active], [right[i] for i in active])
    return sorted(corners.values())


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
