"""Eigenvalues at rest points: zeros, faces, counts and verdicts."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import eqbench
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.studies.flow.rest_points import TOLERANCE, Spectrum, eigenvalues, on_face, spectrum


@cache
def flow(spec: str) -> Any:
    return eqbench.load_solver("replicator").flow(eqbench.load_game(spec))


def behavior(spec: str, **frequencies: float) -> np.ndarray:
    """A profile of a matrix game by the names of its actions, P1_rock for example."""
    tree = eqbench.load_game(spec).tree
    names = [
        f"{tree.players[player]}_{action}"
        for player, actions in zip(tree.infoset_player, tree.infoset_actions, strict=True)
        for action in actions
    ]
    return np.array([frequencies.get(name, 0.0) for name in names])


def largest_gap(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest distance of paired eigenvalues, where pairs are as near as can be."""
    gaps = np.abs(found[:, None] - expected)
    return float(gaps[linear_sum_assignment(gaps)].max())


def similar(matrix: np.ndarray, seed: int) -> np.ndarray:
    """A matrix with the same eigenvalues, by a rotation at random."""
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=matrix.shape))[0]
    return rotation @ matrix @ rotation.T


def with_chain() -> np.ndarray:
    """Eigenvalues i, -i and -1, and a chain of three zeros, which rounding tears apart."""
    matrix = np.zeros((6, 6))
    matrix[0, 1], matrix[1, 0], matrix[2, 2] = 1, -1, -1
    matrix[3, 4] = matrix[4, 5] = matrix[0, 3] = 1
    return matrix


@pytest.mark.parametrize("seed", range(5))
def test_zeros_of_a_chain_are_zeros_although_their_computed_values_are_not(seed: int) -> None:
    matrix = similar(with_chain(), seed)
    torn = np.sort(np.abs(np.linalg.eigvals(matrix)))[:3]
    assert torn.max() > 100 * TOLERANCE  # what would have been taken for motion
    found = eigenvalues(matrix, TOLERANCE * np.linalg.norm(matrix, 2))
    assert (found == 0).sum() == 3
    assert largest_gap(found, np.array([1j, -1j, -1, 0, 0, 0])) <= 1e-12


def test_small_eigenvalues_are_no_zeros() -> None:
    matrix = similar(np.diag([1.0, -0.5, 1e-6, -1e-7]), 3)
    found = eigenvalues(matrix, TOLERANCE)
    assert largest_gap(found, np.array([1.0, -0.5, 1e-6, -1e-7])) <= 1e-14


@pytest.mark.parametrize("size", [0, 1, 4])
def test_a_matrix_of_zeros_has_no_other_eigenvalues(size: int) -> None:
    assert eigenvalues(np.zeros((size, size)), 0.0).tolist() == [0] * size


def test_eigenvalues_are_counted_and_not_pairs() -> None:
    limit = TOLERANCE * 2.0
    values = [3, 1.01 * limit + 1j, 1.01 * limit - 1j, 1j, -1j, 0.99 * limit, 0.99j * limit]
    values += [-0.99 * limit, -1.01 * limit, -1 + 1j, -1 - 1j]
    seen = Spectrum(np.array(values), 0.0, 2.0, 0.0)
    assert seen.counts == {"unstable": 3, "centre_oscillatory": 2, "zero": 3, "stable": 3}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1e-3, 1j, -1j], "unstable"),
        ([-1, 1j, -1j, 0], "centre manifold of oscillatory dimension 2"),
        ([-1, 0], "centre manifold of oscillatory dimension 0"),
        ([-1, -2 + 1j, -2 - 1j], "asymptotically stable"),
    ],
)
def test_verdict_names_the_worst_part(values: list[complex], verdict: str) -> None:
    assert Spectrum(np.array(values), 0.0, 2.0, 0.0).verdict == verdict


def test_matching_pennies_turns_about_its_equilibrium() -> None:
    """Hofbauer and Sigmund 1998, section 10.3: a center; the turn takes 2 pi / omega."""
    half = behavior("matching_pennies", P1_heads=0.5, P1_tails=0.5, P2_heads=0.5, P2_tails=0.5)
    seen = spectrum(flow("matching_pennies"), half)
    # x' = x (1 - x) (4 y - 2) and y' = y (1 - y) (2 - 4 x)
    assert largest_gap(seen.eigenvalues, np.array([1j, -1j])) <= 1e-15
    assert seen.verdict == "centre manifold of oscillatory dimension 2"


def test_strict_equilibrium_attracts() -> None:
    tree = eqbench.load_game("prisoners_dilemma").tree
    last = np.zeros(tree.n_actions)
    last[tree.action_start[1:] - 1] = 1.0
    first = np.zeros(tree.n_actions)
    first[tree.action_start[:-1]] = 1.0
    verdicts = {spectrum(flow("prisoners_dilemma"), x).verdict for x in (first, last)}
    assert verdicts == {"asymptotically stable", "unstable"}


def test_gain_of_an_action_that_is_not_played_is_an_eigenvalue() -> None:
    point = behavior("rock_paper_scissors", P1_rock=1, P2_rock=1)
    seen = spectrum(flow("rock_paper_scissors"), point)
    assert sorted(seen.eigenvalues.real.tolist()) == [-1, -1, 1, 1]  # scissors lose, paper wins
    assert (seen.across, seen.verdict, seen.speed) == (1, "unstable", 0)


def test_tiny_frequencies_count_as_not_played() -> None:
    choices = Choices.of(eqbench.load_game("rock_paper_scissors").tree)
    point = behavior("rock_paper_scissors", P1_rock=1 - 3e-10, P1_paper=3e-10, P2_rock=1)
    assert on_face(choices, point).tolist() == [1, 0, 0, 1, 0, 0]
    apart = behavior("rock_paper_scissors", P1_rock=1 - 3e-9, P1_paper=3e-9, P2_rock=1)
    assert on_face(choices, apart)[1] == 3e-9
    assert on_face(choices, apart).reshape(2, 3).sum(axis=1).tolist() == [1, 1]


def test_jacobian_that_is_not_finite_is_refused() -> None:
    choices = Choices.of(eqbench.load_game("matching_pennies").tree)
    broken = SimpleNamespace(
        choices=choices,
        frequency_velocity=lambda x: np.zeros(2),
        frequency_jacobian=lambda x: np.full((2, 2), np.nan),
    )
    with pytest.raises(UsageError, match="no finite Jacobian"):
        spectrum(broken, np.full(4, 0.5))  # type: ignore[arg-type]
