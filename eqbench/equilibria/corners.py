"""Members at the corners of published sets, in exact arithmetic.

Payoffs are linear in each player's realization plan, so what holds at the corners of a set of
plans, such as a lower bound of a payoff, holds for all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

from eqbench.equilibria.expressions import IrrationalError
from eqbench.equilibria.formulas import Formulas
from eqbench.equilibria.known import known_sets
from eqbench.equilibria.reference import KnownSet
from eqbench.model.game import Game
from eqbench.model.polytope import Affine, Number, value_at, vertices
from eqbench.model.profile import BehaviorProfile


def known_corners(game: Game) -> list[tuple[str, BehaviorProfile]]:
    """Name and exact profile of the corner members of all published sets of a game.

    At a corner as many independent constraints just hold as there are parameters; parameters
    that change nobody's payoff stay 0. Left out are sets whose constraints are not linear in the
    parameters, and members that are not rational.
    """
    members: dict[str, list[BehaviorProfile]] = {}
    for known in known_sets(game):  # the pieces of one set share its name
        with suppress(IrrationalError):
            profiles = [known.member(parameters) for parameters in corner_parameters(known)]
            members.setdefault(known.name, []).extend(profiles)
    return [
        (f"{name} corner {number}" if len(profiles) > 1 else name, profile)
        for name, profiles in members.items()
        for number, profile in enumerate(profiles, start=1)
    ]


def corner_parameters(known: KnownSet) -> list[list[Fraction]]:
    """Parameters of the corners of a set in lexicographic order, exactly.

    Empty if the constraints are not linear.

    Raises
    ------
    IrrationalError
        If a constraint is not rational.
    """
    count = len(known.parameters)

    constraints = linear_constraints(known, known.exact, Fraction(1, 4))
    if constraints is None:
        return []
    zeros = [[Fraction(-(i == position)) for i in range(count + 1)] for position in known.idle]
    return sorted(map(list, vertices([*constraints, *zeros], count, Fraction(1))))


def linear_constraints(
    known: KnownSet, formulas: Formulas, base: Number, tolerance: float = 0
) -> list[Affine] | None:
    """Functions of the parameters that are >= 0 in a set; None if they are not affine.

    Parameters
    ----------
    formulas : of the set, in the arithmetic in which the functions are to be
    base : value of all parameters where slopes are measured, by steps as long
    tolerance : how far rounding may lead astray
    """

    def violations(point: Sequence[Number]) -> list[Number]:
        names = formulas.names(dict(zip(known.parameters, point, strict=True)))
        return [violation(names) for violation in formulas.violations]

    count = len(known.parameters)
    start = violations([base] * count)
    steps = [violations([base + base * (i == j) for j in range(count)]) for i in range(count)]
    functions: list[Affine] = []
    for at_base, *ahead in zip(start, *steps, strict=True):
        slopes = [(at_base - each) / base for each in ahead]
        functions.append((*slopes, -at_base - base * sum(slopes)))
    other = [base * (i + 2) / (2 * i + 5) for i in range(count)]  # no entry is that of the base
    pairs = zip(functions, violations(other), strict=True)
    gaps = [value_at(function, other) + violation for function, violation in pairs]
    return functions if max(map(abs, gaps), default=0) <= tolerance else None
