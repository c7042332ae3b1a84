"""All published solutions of simplified three-player Kuhn poker are equilibria, and only those.

Billingham 2017, "Full street simplified three player Kuhn poker" (arXiv:1707.01392), §3,
Solutions 1 to 10, said to be all. `corrected_by`: the table in tests/data/skp.json, which mends
misprints of Solutions 1, 2, 8, 9 and 10a. Case enumeration finds them and nothing else.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

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
every_solution = pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda s: s.name)


def verdict(indices: list[int | None]) -> str:
    return Completeness(tuple(indices), exact=True).verdict


@cache
def skp() -> Game:
    return eqbench.load_game("skp")


def measured(values: dict[str, Any], *, exact: bool = True) -> Verification:
    """Measure a choice; rounding may carry a frequency of floats out of [0, 1] by a little."""
    tree = skp().at(pot=values["P"]).tree
    if exact:
        return verify_exactly(tree, profile_from_json(tree, skp_profile(values)))
    inside = {name: min(max(values[name], 0.0), 1.0) for name in SKP_VARIABLES}
    assert all(abs(inside[name] - values[name]) <= 1e-12 for name in inside)
    return verify(tree, profile_from_json(tree, skp_profile(inside)))


def choices_at(solution: Solution, pot: Fraction) -> tuple[list[dict[str, Any]], bool]:
    """Frequencies at the corners and in the middle of a solution, and whether they are exact."""
    try:
        return solution.choices(pot), True
    except IrrationalError:
        return solution.choices(float(pot), exact=False), False


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


@every_solution
def test_regrets_vanish_exactly_or_to_rounding(solution: Solution) -> None:
    """Billingham 2017, §3, Solutions 1-10: conditions of Table 1 hold at every free choice.

    Figure 2: the ranges are closed, also at P3, P4, P6, P8 and P9, which are irrational.
    """
    for pot in pots(solution):
        exact = isinstance(pot, Fraction)
        choices = solution.choices(pot, exact=exact)
        assert choices, f"no admissible frequencies at pot {pot}"
        for values in choices:
            found, payoffs = measured(values, exact=exact), solution.payoffs(values, exact=exact)
            errors = [a - b for a, b in zip(found.payoffs, payoffs, strict=True)]
            worst = max(map(abs, (*found.regrets, *errors)))
            assert worst <= (0 if exact else 1e-12), (pot, values)


@every_solution
def test_no_equilibrium_just_outside_the_range(solution: Solution) -> None:
    """Billingham 2017, §3, Figure 2: beyond its range a solution is none any more."""
    for which, sign in ((0, -1), (1, 1)):
        if solution.ends[which] == "oo" or (sign < 0 and solution.end(which) == 2):
            continue  # SKP itself begins at pot 2
        pot = Fraction(solution.end(which)).limit_denominator(10**6) + sign * JUST_OUTSIDE
        choices, exact = choices_at(solution, pot)
        regrets = [measured(values, exact=exact).max_regret for values in choices]
        assert all(regret > 1e-9 for regret in regrets), (pot, regrets)


# -- found by case enumeration, at rational pots -------------------------------------------------

# With the continua 1a, 2a, 5a and 10a at 2, 3, 7/2 and 5, a few of each range, and both sides
# of its ends; at 107/33 all of Solution 3 is rational.
POTS = (
    *("2", "9/4", "2.9", "3", "3.1", "3.2", "13/4", "107/33", "3.35", "3.43", "3.45", "7/2"),
    *("3.7", "3.95", "4", "4.2", "4.36", "4.4", "4.7", "5", "6", "25"),
)


class Point(NamedTuple):
    """A profile that was handed over: frequencies (11,) in the order of `SKP_VARIABLES`."""

    frequencies: np.ndarray
    payoffs: tuple[float, ...]


@cache
def enumerate_cases(pot: str) -> Result:
    pytest.importorskip("flint", reason="python-flint is not installed")
    return run("case_enumeration", skp().at(pot=Fraction(pot)))


@cache
def found_points(pot: str) -> list[Point]:
    result = enumerate_cases(pot)
    tree = result.game.tree
    places = [(int(player[1]) - 1, label) for player, label in SKP_VARIABLES.values()]
    bets = [tree.action_start[tree.infoset_of(*place)] + 1 for place in places]
    profiles = [candidate.profile for candidate in result.candidates]
    return [
        Point(profile.probabilities[bets], verify(tree, profile).payoffs) for profile in profiles
    ]


def published(pot: str) -> list[Solution]:
    """Solutions in whose closed range the pot lies."""
    value = float(Fraction(pot))
    return [s for s in SOLUTIONS if s.end(0) - TOLERANCE <= value <= s.end(1) + TOLERANCE]


def belongs(point: Point, solution: Solution, pot: str) -> bool:
    """Whether a point satisfies a published solution, its payoffs included."""
    own = dict(zip(SKP_VARIABLES, point.frequencies.tolist(), strict=True))
    free = [own[name] for name in solution.free]
    values = solution.values(float(Fraction(pot)), free, exact=False)
    gaps = [abs(values[name] - own[name]) for name in SKP_VARIABLES]
    payoffs = solution.payoffs(values, exact=False)
    gaps += [abs(a - b) for a, b in zip(payoffs, point.payoffs, strict=True)]
    return max(gaps) <= TOLERANCE and solution.admits(float(Fraction(pot)), free)


def is_in_hull(point: list[float], corners: list[np.ndarray]) -> bool:
    """Whether a point is a convex combination of others."""
    columns = np.vstack([np.transpose(corners), np.ones(len(corners))])
    return bool(nnls(columns, np.array([*point, 1.0]))[1] <= 1e-11)


@pytest.mark.parametrize("pot", POTS)
def test_what_is_found_is_published_and_what_is_published_is_found(pot: str) -> None:
    """All cases are closed, and regrets vanish exactly or to rounding.

    The corners of each solution, and a point in its middle, are mixtures of points found.
    """
    result = enumerate_cases(pot)
    assert {candidate.claim for candidate in result.candidates} == {"complete list"}
    assert result.monitor.statistics["cases"] == 3**11
    assert result.monitor.statistics["unresolved"] == 0
    for candidate in result.candidates:
        if candidate.profile.exact is None:
            assert verify(result.game.tree, candidate.profile).max_regret <= 1e-13
        else:
            assert verify_exactly(result.game.tree, candidate.profile).regrets == (0, 0, 0)
    points = found_points(pot)
    for point in points:
        assert any(belongs(point, solution, pot) for solution in published(pot)), point
    for solution in published(pot):
        corners = [point.frequencies for point in points if belongs(point, solution, pot)]
        wanted = [
            [float(values[name]) for name in SKP_VARIABLES]
            for values in choices_at(solution, Fraction(pot))[0]
        ]
        assert corners, solution.name
        assert wanted, solution.name
        assert all(is_in_hull(point, corners) for point in wanted), solution.name


@pytest.mark.parametrize("pot", ["4.05", "4.2", "5.2", "6", "25"])
def test_a_list_without_its_regular_equilibrium_is_proved_incomplete(pot: str) -> None:
    result = enumerate_cases(pot)
    tree = result.game.tree
    indices = [index_of(Play.exactly(tree, each.profile)) for each in result.candidates]
    assert verdict(indices) != "proved incomplete"
    assert verdict(indices[1:]) == "proved incomplete"


def test_a_continuum_leaves_open_whether_a_list_is_complete() -> None:
    """Between two folds at which regular equilibria come and go in pairs."""
    result = enumerate_cases("3.95")
    tree = result.game.tree
    indices = [index_of(Play.exactly(tree, each.profile)) for each in result.candidates]
    assert sorted(filter(None, indices)) == [-1, 1]
    assert None in indices
    assert verdict(indices[:-1]) != "proved incomplete"
