"""Which equilibria of simplified three-player Kuhn poker are stable under the paper's flow.

Billingham 2017, "Full street simplified three player Kuhn poker" (arXiv:1707.01392), §4.1:
Solutions 2, 3, 6, 7 and 8 are unstable; 1, 4, 5, 9 and 10 have center manifolds whose oscillatory
part has two, four, four, six and six dimensions. This holds inside the range of each solution, at
every choice of what is free. `corrected_by`: at some ends of the ranges, where a solution meets
another or eigenvalues vanish, it does not; ``AT_ENDS`` says where and what holds instead.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from exact_polynomials import zeros_and_imaginary
from skp_solutions import Solution, load_solutions
from three_player_kuhn import SKP_VARIABLES, skp_profile

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_from_json
from eqbench.studies.flow.sets import verdicts
from eqbench.studies.flow.spectrum import UNSTABLE, Spectrum, center_manifold, spectrum
from eqbench.studies.flow.stability import rest_points
from eqbench.verification import verify_exactly

BY_NAME = {solution.name: solution for solution in load_solutions()}
PAPER = dict.fromkeys(("2", "3", "6", "7", "8"), UNSTABLE) | {
    name: center_manifold(dimension)
    for name, dimension in {"1": 2, "4": 4, "5": 4, "9": 6, "10": 6}.items()
}
# Ends of ranges, lower (0) or upper (1), with another verdict than inside.
AT_ENDS = {
    ("1", 0): center_manifold(0),  # d2 = 0, so the only pair that swings stands still
    ("2", 0): center_manifold(4),  # it is the last member of 2a
    ("3", 0): center_manifold(4),  # it meets 4
    ("6", 1): center_manifold(4),  # it meets 5
    ("8", 0): center_manifold(6),  # it meets 9
    ("9", 1): center_manifold(4),  # it meets 10a
    ("10", 0): center_manifold(4),  # it meets 10a
}
SHARES = (0.003, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.997)
FAR = 20.0
every_solution = pytest.mark.parametrize("name", PAPER)


@cache
def skp() -> Game:
    return eqbench.load_game("skp")


@cache
def flow(pot: float) -> Any:
    return eqbench.load_solver("replicator").flow(skp().at(pot=pot))


def spectrum_at(pot: float, values: dict[str, Any]) -> Spectrum:
    inside = {name: min(max(float(values[name]), 0.0), 1.0) for name in SKP_VARIABLES}
    profile = profile_from_json(skp().tree, skp_profile(inside))
    seen = spectrum(flow(pot), profile.probabilities)
    assert seen.is_rest_point, (pot, values, seen.speed)
    return seen


def spectra(solution: Solution, pot: float) -> list[Spectrum]:
    """At the corners and the middle of what is free."""
    choices = solution.choices(pot, exact=False)
    assert choices, f"no admissible frequencies at pot {pot}"
    return [spectrum_at(pot, values) for values in choices]


def inside(solution: Solution) -> list[float]:
    low, high = solution.end(0), min(solution.end(1), FAR)
    return [low + share * (high - low) for share in SHARES]


@every_solution
def test_verdict_is_the_published_one_inside_the_range(name: str) -> None:
    for pot in inside(BY_NAME[name]):
        for seen in spectra(BY_NAME[name], pot):
            assert seen.verdict == PAPER[name], (pot, seen.eigenvalues)


@every_solution
def test_verdict_is_the_published_one_close_to_the_ends(name: str) -> None:
    solution = BY_NAME[name]
    for which, sign in ((0, 1), (1, -1)):
        if math.isfinite(solution.end(which)):
            for seen in spectra(solution, solution.end(which) + sign * 1e-5):
                assert seen.verdict == PAPER[name], (which, seen.eigenvalues)


@every_solution
def test_verdict_at_the_ends_is_another_one_where_solutions_meet(name: str) -> None:
    solution = BY_NAME[name]
    for which in (0, 1):
        if math.isfinite(solution.end(which)):
            for seen in spectra(solution, solution.end(which)):
                assert seen.verdict == AT_ENDS.get((name, which), PAPER[name]), seen.eigenvalues


@pytest.mark.parametrize(
    ("name", "dimension", "exception"),
    [
        ("1a", 0, lambda values: None),
        ("2a", 4, lambda values: 2 if values["a2"] == 0 else None),
        ("5a", 4, lambda values: None),
        ("10a", 4, lambda values: None),
    ],
)
def test_solutions_at_one_pot_have_center_manifolds(
    name: str, dimension: int, exception: Any
) -> None:
    """The paper does not say; at a2 = 0, Solution 2a is a member of Solution 1."""
    (pot,) = {BY_NAME[name].end(0), BY_NAME[name].end(1)}
    found = set()
    for values in BY_NAME[name].choices(pot, exact=False):
        expected = exception(values)
        verdict = spectrum_at(pot, values).verdict
        assert verdict == center_manifold(dimension if expected is None else expected), values
        found.add(verdict)
    assert len(found) == (2 if name == "2a" else 1)


def test_center_manifold_of_solution_9_has_seven_dimensions() -> None:
    """§4.7: six purely imaginary eigenvalues and a zero, as c1 and d2 are not determined."""
    for pot in inside(BY_NAME["9"]):
        for seen in spectra(BY_NAME["9"], pot):
            assert seen.counts == {
                "unstable": 0,
                "centre_oscillatory": 6,
                "zero": 1,
                "stable": 4,
            }


def test_zeros_are_the_dimensions_of_what_is_free() -> None:
    """Inside a set with k free frequencies nothing moves in k directions."""
    for name in PAPER:
        solution = BY_NAME[name]
        for pot in inside(solution):
            assert spectra(solution, pot)[-1].counts["zero"] == len(solution.free), (name, pot)


def test_bluffs_and_calls_of_solution_1_swing_at_the_frequency_of_their_equations() -> None:
    """§4.2: equation (23) for b3 and d2 alone, linearized at Solution 1."""
    for pot in inside(BY_NAME["1"]):
        b3, d2 = 2 / (pot + 1), (2 * pot - 4) / (pot + 1)
        omega = (pot + 1) * math.sqrt(b3 * (1 - b3) * d2 * (1 - d2))
        for seen in spectra(BY_NAME["1"], pot):
            swinging = seen.eigenvalues[seen.eigenvalues.imag > 1e-6]
            assert np.abs(swinging - 1j * omega).max() <= 1e-12
            assert len(swinging) == 1


@pytest.mark.parametrize(
    ("name", "pot"),
    [("1", "5/2"), ("4", "10/3"), ("5", "15/4"), ("9", "14/3"), ("10", "6"), ("6", "79/20")],
)
def test_counts_are_those_of_exact_arithmetic(name: str, pot: str) -> None:
    """So real parts that are zero within rounding are zero; Solution 6 has none that are."""
    values = BY_NAME[name].choices(Fraction(pot))[-1]
    zeros, imaginary = zeros_and_imaginary(exact_jacobian(values))
    counts = spectrum_at(float(Fraction(pot)), values).counts
    assert (counts["zero"], counts["centre_oscillatory"]) == (zeros, imaginary)
    expected = PAPER[name]
    assert imaginary == (0 if expected == UNSTABLE else int(expected.split()[-1]))


def exact_jacobian(values: dict[str, Any]) -> list[list[Fraction]]:
    """Derivatives of equation (23) with all k = 1, from expected profits alone.

    Profits are linear in each frequency, so differences between 0 and 1 are derivatives.
    """
    tree = skp().at(pot=values["P"]).tree
    names = list(SKP_VARIABLES)
    players = [tree.players.index(SKP_VARIABLES[name][0]) for name in names]

    def profits(**pure: int) -> tuple[Any, ...]:
        profile = profile_from_json(tree, skp_profile(values | pure))
        return verify_exactly(tree, profile).payoffs

    slopes = []
    for name, player in zip(names, players, strict=True):
        slopes.append(profits(**{name: 1})[player] - profits(**{name: 0})[player])
    bend = [[Fraction(0)] * len(names) for _ in names]
    for i, j in combinations(range(len(names)), 2):
        a, b = names[i], names[j]
        corners = [profits(**{a: x, b: y}) for x, y in ((1, 1), (1, 0), (0, 1), (0, 0))]
        for own, other in ((i, j), (j, i)):
            p = players[own]
            bend[own][other] = corners[0][p] - corners[1][p] - corners[2][p] + corners[3][p]
    return [
        [
            24
            * (
                values[f] * (1 - values[f]) * bend[i][j]
                + (i == j) * (1 - 2 * values[f]) * slopes[i]
            )
            for j in range(len(names))
        ]
        for i, f in enumerate(names)
    ]


@pytest.mark.parametrize("pot", [3.001, 3.1, 3.2, 4.001, 4.15, 4.3])
def test_all_equilibria_are_unstable_between_three_and_p3_and_between_four_and_p8(
    pot: float,
) -> None:
    """§4.1: there the paper observes long chaotic transients."""
    found = verdicts(skp().at(pot=pot), flow(pot))
    assert found
    assert {each.spectrum.verdict for verdict in found for each in verdict.looked} == {UNSTABLE}


@pytest.mark.parametrize("pot", [2.5, 3.25, 3.75, 3.98, 4.35, 4.65, 5.5])
def test_some_equilibrium_has_no_unstable_eigenvalue_elsewhere(pot: float) -> None:
    """§4.1 and Figure 7."""
    found = verdicts(skp().at(pot=pot), flow(pot))
    assert sum(each.representative.spectrum.verdict != UNSTABLE for each in found) == 1


@pytest.mark.parametrize("pot", [3.1, 4.65])
def test_rest_points_that_are_no_equilibria_are_unstable(pot: float) -> None:
    """§4.1: because they violate a condition on the sign of a derivative."""
    found, figures = rest_points(skp().at(pot=pot), flow(pot), 200, 0)
    assert figures["distinct"] >= 10
    assert all(each.spectrum.across > 0 for each in found)
    assert all(each.spectrum.verdict == UNSTABLE for each in found)
