"""All published solutions of simplified three-player Kuhn poker are equilibria, and only those.

Billingham 2017, "Full street simplified three player Kuhn poker" (arXiv:1707.01392), §3,
Solutions 1 to 10, said to be all. `corrected_by`: the table in tests/data/skp.json, which mends
misprints of Solutions 1, 2, 8, 9 and 10a. Case enumeration finds them and nothing else.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.kuhn_and_skp import SKP_VARIABLES, Solution, load_solutions, skp_profile
from helpers.solver_cases import Result, run
from scipy.optimize import nnls

import eqbench
from eqbench.equilibria import Completeness
from eqbench.equilibria.expressions import IrrationalError
from eqbench.equilibria.regularity import index_of
from eqbench.model.game import Game
from eqbench.model.play import Play
from eqbench.model.profile_json import profile_from_json
from eqbench.verification import Verification, verify, verify_exactly

SOLUTIONS = load_solutions()
TOLERANCE = 1e-12
JUST_OUTSIDE = Fraction(1, 1000)


@cache
def skp() -> Game:
    return eqbench.load_game("skp")


def measured(values: dict[str, Any]) -> Verification:
    """Measure a choice; rounding may carry a frequency of floats out of [0, 1] by a little."""
    tree = skp().at(pot=values["P"]).tree
    if all(isinstance(values[name], int | Fraction) for name in SKP_VARIABLES):
        return verify_exactly(tree, profile_from_json(tree, skp_profile(values)))
    inside = {name: min(max(values[name], 0.0), 1.0) for name in SKP_VARIABLES}
    assert all(abs(inside[name] - values[name]) <= 1e-12 for name in inside)
    return verify(tree, profile_from_json(tree, skp_profile(inside)))


def choices_at(solution: Solution, pot: Fraction | float) -> list[dict[str, Any]]:
    """Frequencies at the corners and in the middle of a solution, exact where they are rational."""
    try:
        return solution.choices(pot, exact=isinstance(pot, Fraction))
    except IrrationalError:
        return solution.choices(float(pot), exact=False)


def pots(solution: Solution) -> list[Fraction | float]:
    """Both ends, and pots between them; Fractions where all frequencies are rational."""
    if solution.name == "3":  # whose radical is rational at no other denominator below 3000
        return [Fraction(107, 33), 3.25, 3.3, 3.4]
    found = [
        solution.end(k) if "sqrt" in text else Fraction(text)
        for k, text in enumerate(solution.ends)
        if text != "oo"
    ]
    low, high = solution.end(0), min(solution.end(1), solution.end(0) + 20)
    if low < high:
        shares = (1 / 13, 2 / 5, 9 / 10)
        found += [Fraction(low + s * (high - low)).limit_denominator(40) for s in shares]
    assert all(low <= pot <= high for pot in found)
    return found


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda s: s.name)
def test_regrets_vanish_in_the_range_and_not_just_outside(solution: Solution) -> None:
    """Billingham 2017, §3, Solutions 1-10: conditions of Table 1 hold at every free choice.

    Figure 2: the ranges are closed, also at P3, P4, P6, P8 and P9, which are irrational.
    """
    for pot in pots(solution):
        exact = isinstance(pot, Fraction)
        choices = solution.choices(pot, exact=exact)
        assert choices, f"no admissible frequencies at pot {pot}"
        for values in choices:
            found, payoffs = measured(values), solution.payoffs(values, exact=exact)
            errors = [a - b for a, b in zip(found.payoffs, payoffs, strict=True)]
            worst = max(map(abs, (*found.regrets, *errors)))
            assert worst <= (0 if exact else 1e-12), (pot, values)
    for which, sign in ((0, -1), (1, 1)):
        if solution.ends[which] == "oo" or (sign < 0 and solution.end(which) == 2):
            continue  # SKP itself begins at pot 2
        pot = Fraction(solution.end(which)).limit_denominator(10**6) + sign * JUST_OUTSIDE
        regrets = [measured(values).max_regret for values in choices_at(solution, pot)]
        assert all(regret > 1e-9 for regret in regrets), (pot, regrets)


# With the continua 1a, 2a, 5a and 10a at 2, 3, 7/2 and 5, a few of each range, and both sides
# of its ends; at 107/33 all of Solution 3 is rational.
POTS = (
    *("2", "9/4", "2.9", "3", "3.1", "3.2", "13/4", "107/33", "3.35", "3.43", "3.45", "7/2"),
    *("3.7", "3.95", "4", "4.2", "4.36", "4.4", "4.7", "5", "6", "25"),
)


@cache
def enumerate_cases(pot: str) -> Result:
    pytest.importorskip("flint", reason="python-flint is not installed")
    return run("case_enumeration", skp().at(pot=Fraction(pot)))


def belongs(names: dict[str, float], payoffs: Any, solution: Solution, pot: float) -> bool:
    """Whether frequencies satisfy a published solution, and their payoffs too."""
    free = [names[name] for name in solution.free]
    values = solution.values(pot, free, exact=False)
    gaps = [abs(values[name] - names[name]) for name in SKP_VARIABLES]
    known = solution.payoffs(values, exact=False)
    gaps += [abs(a - b) for a, b in zip(known, payoffs, strict=True)]
    return max(gaps) <= TOLERANCE and solution.admits(pot, free)


@pytest.mark.parametrize("pot", POTS)
def test_what_is_found_is_published_and_what_is_published_is_found(pot: str) -> None:
    """All cases are closed, and regrets vanish exactly or to rounding.

    The corners of each solution, and a point in its middle, are mixtures of points found.
    """
    result, value = enumerate_cases(pot), float(Fraction(pot))
    tree, profiles = result.game.tree, [candidate.profile for candidate in result.candidates]
    assert {candidate.claim for candidate in result.candidates} == {"complete list"}
    assert result.monitor.statistics["cases"] == 3**11
    assert result.monitor.statistics["unresolved"] == 0
    for profile in profiles:
        if profile.exact is None:
            assert verify(tree, profile).max_regret <= 1e-13
        else:
            assert verify_exactly(tree, profile).regrets == (0, 0, 0)
    places = [(tree.players.index(player), label) for player, label in SKP_VARIABLES.values()]
    bets = [tree.action_start[tree.infoset_of(*place)] + 1 for place in places]
    points = [profile.probabilities[bets].tolist() for profile in profiles]
    solutions = [s for s in SOLUTIONS if s.end(0) - 1e-12 <= value <= s.end(1) + 1e-12]
    corners: dict[str, list[list[float]]] = {solution.name: [] for solution in solutions}
    for point, profile in zip(points, profiles, strict=True):
        names = dict(zip(SKP_VARIABLES, point, strict=True))
        payoffs = verify(tree, profile).payoffs
        known = [s.name for s in solutions if belongs(names, payoffs, s, value)]
        assert known, names
        for name in known:
            corners[name].append(point)
    for solution in solutions:
        assert corners[solution.name], solution.name
        columns = np.vstack(
            [np.transpose(corners[solution.name]), np.ones(len(corners[solution.name]))]
        )
        choices = choices_at(solution, Fraction(pot))
        assert choices, solution.name
        for values in choices:  # convex combinations of what was found
            point = [float(values[name]) for name in SKP_VARIABLES]
            assert nnls(columns, np.array([*point, 1.0]))[1] <= 1e-11, solution.name


def test_lists_without_a_regular_equilibrium_are_proved_incomplete_but_for_continua() -> None:
    """At 3.95 a continuum lies between two folds where regular equilibria come and go in pairs."""
    for pot in ("4.05", "4.2", "5.2", "6", "25", "3.95"):
        result = enumerate_cases(pot)
        plays = [Play.exactly(result.game.tree, each.profile) for each in result.candidates]
        indices = [index_of(play) for play in plays]
        whole, less, other = (
            Completeness(tuple(own), exact=True).verdict == "proved incomplete"
            for own in (indices, indices[1:], indices[:-1])
        )
        if pot == "3.95":
            assert sorted(filter(None, indices)) == [-1, 1]
            assert None in indices
            assert not other
        else:
            assert (whole, less) == (False, True), pot
