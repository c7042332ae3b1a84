"""Which equilibria of simplified three-player Kuhn poker are stable under the paper's flow.

Billingham 2017, "Full street simplified three player Kuhn poker" (arXiv:1707.01392), §4.1:
Solutions 2, 3, 6, 7 and 8 are unstable; 1, 4, 5, 9 and 10 have center manifolds whose oscillatory
part has two, four, four, six and six dimensions. That this holds inside the range of each solution
is a claim of ``eqbench reproduce billingham_2017``; here is what tells that the counts are right.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from skp_solutions import Solution, load_solutions
from three_player_kuhn import SKP_VARIABLES, skp_profile

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_from_json
from eqbench.studies.flow.rest_points import (
    UNSTABLE,
    Spectrum,
    center_manifold,
    spectrum,
)
from eqbench.verification import verify_exactly

BY_NAME = {solution.name: solution for solution in load_solutions()}
PAPER = dict.fromkeys(("2", "3", "6", "7", "8"), UNSTABLE) | {
    name: center_manifold(dimension)
    for name, dimension in {"1": 2, "4": 4, "5": 4, "9": 6, "10": 6}.items()
}
SHARES = (0.003, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.997)
FAR = 20.0


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


def test_bluffs_and_calls_of_solution_1_swing_at_the_frequency_of_their_equations() -> None:
    """§4.2: equation (23) for b3 and d2 alone, linearized at Solution 1."""
    for pot in inside(BY_NAME["1"]):
        b3, d2 = 2 / (pot + 1), (2 * pot - 4) / (pot + 1)
        omega = (pot + 1) * math.sqrt(b3 * (1 - b3) * d2 * (1 - d2))
        for seen in spectra(BY_NAME["1"], pot):
            swinging = seen.eigenvalues[seen.eigenvalues.imag > 1e-6]
            assert np.abs(swinging - 1j * omega).max() <= 1e-12
            assert len(swinging) == 1


def zeros_and_imaginary(matrix: list[list[Fraction]]) -> tuple[int, int]:
    """How many eigenvalues are zero, and how many are imaginary and simple, both exactly."""
    flint = pytest.importorskip("flint", reason="python-flint is not installed")
    rows = [[flint.fmpq(x.numerator, x.denominator) for x in row] for row in matrix]
    whole = flint.fmpq_mat(rows).charpoly().coeffs()
    zeros = next(k for k, coefficient in enumerate(whole) if coefficient != 0)
    rest = whole[zeros:]
    # at i w, with x = w^2, the even and the odd part vanish together
    even = flint.fmpq_poly([c * (-1) ** k for k, c in enumerate(rest[0::2])])
    odd = flint.fmpq_poly([c * (-1) ** k for k, c in enumerate(rest[1::2])])
    roots = [root for root, _ in even.gcd(odd).numer().complex_roots()]
    return zeros, 2 * sum(bool(root.imag.is_zero() and root.real > 0) for root in roots)


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
