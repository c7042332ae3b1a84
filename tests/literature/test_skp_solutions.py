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


def measured(values: dict[str, Any], *, exact: bool = True) -> Verification:
    """Measure a choice; rounding may carry a frequency of floats out of [0, 1] by a little."""
    tree = skp().at(pot=values["P"]).tree
    if exact:
        return verify_exactly(tree, profile_from_json(tree, skp_profile(values)))
    inside = {name: min(max(values[name], 0.0), 1.0) for name in SKP_VARIABLES}
    assert all(abs(inside[name] - values[name]) <= 1e-12 for name in inside)
    return verify(tree, profile_from_json(tree, skp_profile(inside)))


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
        try:
            regrets = [measured(values).max_regret for values in solution.choices(pot)]
        except IrrationalError:
            choices = solution.choices(float(pot), exact=False)
            regrets = [measured(values, exact=False).max_regret for values in choices]
        assert all(regret > 1e-9 for regret in regrets), (pot, regrets)


def test_every_kind_of_choice_is_measured() -> None:
    """Guards the tests above: free frequencies have corners and a middle, others one point."""
    by_name = {solution.name: solution for solution in SOLUTIONS}
    assert list(by_name) == ["1a", "1", "2a", "2", "3", "4", "5a", "5", *"6789", "10a", "10"]
    pots = {"1": "5/2", "1a": "2", "9": "9/2", "10a": "5", "10": "6", "3": "107/33"}
    counts = {name: len(by_name[name].choices(Fraction(pot))) for name, pot in pots.items()}
    assert counts == {"1": 17, "1a": 11, "9": 3, "10a": 6, "10": 1, "3": 5}
