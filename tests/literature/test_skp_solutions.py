"""All published solutions of simplified three-player Kuhn poker are equilibria, and only those.

Billingham 2017, "Full street simplified three player Kuhn poker" (arXiv:1707.01392), §3,
Solutions 1 to 10. `corrected_by`: the table in tests/data/skp.json, which mends misprints of
Solutions 1, 2, 8, 9 and 10a.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from skp_solutions import Solution, load_solutions
from three_player_kuhn import SKP_VARIABLES, skp_profile

import eqbench
from eqbench.equilibria.expressions import IrrationalError
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_from_json
from eqbench.verification import Verification, verify, verify_exactly

SOLUTIONS = load_solutions()
JUST_OUTSIDE = Fraction(1, 1000)
every_solution = pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda s: s.name)


@cache
def skp() -> Game:
    return eqbench.load_game("skp")


def measure_exactly(values: dict[str, Any]) -> Verification:
    tree = skp().at(pot=values["P"]).tree
    return verify_exactly(tree, profile_from_json(tree, skp_profile(values)))


def measure(values: dict[str, Any]) -> Verification:
    """Floating-point measure; rounding may carry a frequency out of [0, 1] by a little."""
    inside = {name: min(max(values[name], 0.0), 1.0) for name in SKP_VARIABLES}
    assert all(abs(inside[name] - values[name]) <= 1e-12 for name in inside)
    tree = skp().at(pot=values["P"]).tree
    return verify(tree, profile_from_json(tree, skp_profile(inside)))


def rational_pots(solution: Solution) -> list[Fraction]:
    """Rational ends, and pots between the ends at which all frequencies are rational."""
    if solution.name == "3":
        return [Fraction(107, 33)]  # the only one with a denominator below 3000
    low, high = solution.end(0), min(solution.end(1), solution.end(0) + 20)
    pots = [Fraction(solution.ends[i]) for i in (0, 1) if solution.is_rational(i)]
    if low < high:
        shares = (1 / 13, 2 / 5, 9 / 10)
        pots += [Fraction(low + s * (high - low)).limit_denominator(40) for s in shares]
    assert all(low <= pot <= high for pot in pots)
    return sorted(set(pots))


@every_solution
def test_regrets_vanish_exactly_at_rational_pots(solution: Solution) -> None:
    """Billingham 2017, §3, Solutions 1-10: conditions of Table 1 hold at every free choice."""
    for pot in rational_pots(solution):
        choices = solution.choices(pot)
        assert choices, f"no admissible frequencies at pot {pot}"
        for values in choices:
            measured = measure_exactly(values)
            assert measured.regrets == (0, 0, 0), (pot, values)
            assert list(measured.payoffs) == solution.payoffs(values), (pot, values)


@every_solution
def test_regrets_vanish_at_irrational_ends(solution: Solution) -> None:
    """Billingham 2017, §3, Figure 2: the ranges P3, P4, P6, P8 and P9 are closed."""
    ends = [solution.end(i) for i in (0, 1) if "sqrt" in solution.ends[i]]
    if solution.name == "3":
        ends += [3.25, 3.3, 3.4]  # the radical of Solution 3 is irrational at these pots
    for pot in ends:
        choices = solution.choices(pot, exact=False)
        assert choices, f"no admissible frequencies at pot {pot}"
        for values in choices:
            measured = measure(values)
            assert max(map(abs, measured.regrets)) <= 1e-12, (pot, values)
            published = solution.payoffs(values, exact=False)
            assert measured.payoffs == pytest.approx(published, abs=1e-12)


@every_solution
def test_no_equilibrium_just_outside_the_range(solution: Solution) -> None:
    """Billingham 2017, §3, Figure 2: beyond its range a solution is none any more."""
    for which, sign in ((0, -1), (1, 1)):
        if solution.ends[which] == "oo" or (sign < 0 and solution.end(which) == 2):
            continue  # SKP itself begins at pot 2
        end = solution.end(which)
        pot = Fraction(end).limit_denominator(10**6) + sign * JUST_OUTSIDE
        try:
            regrets = [measure_exactly(values).max_regret for values in solution.choices(pot)]
        except IrrationalError:
            floats = solution.choices(float(pot), exact=False)
            regrets = [measure(values).max_regret for values in floats]
        assert all(regret > 1e-9 for regret in regrets), (pot, regrets)


def test_every_kind_of_choice_is_measured() -> None:
    """Guards the tests above: free frequencies have corners and a middle, others one point."""
    by_name = {solution.name: solution for solution in SOLUTIONS}
    assert list(by_name) == ["1a", "1", "2a", "2", "3", "4", "5a", "5", *"6789", "10a", "10"]
    assert len(by_name["1"].choices(Fraction(5, 2))) > 10
    assert len(by_name["1a"].choices(Fraction(2))) > 10
    assert len(by_name["9"].choices(Fraction(9, 2))) == 3
    assert len(by_name["10a"].choices(Fraction(5))) == 6
    assert len(by_name["10"].choices(Fraction(6))) == 1
    assert len(by_name["3"].choices(Fraction(107, 33))) > 3
