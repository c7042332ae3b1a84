"""Conditional action values of the logit tracer and their derivatives."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from random_trees import random_tree
from tree_walk import TreeWalk

import eqbench
from eqbench.model.choices import Choices
from eqbench.model.profile import random_profile
from eqbench.model.tree import GameTree

flat_trees = importlib.import_module("eqbench.solvers.logit.flat_tree")
kernels = importlib.import_module("eqbench.solvers.logit.kernels")
elimination = importlib.import_module("eqbench.solvers.logit.elimination")
steps = importlib.import_module("eqbench.solvers.logit.steps")

GAMES = ["kuhn2", "kuhn3_reduced", "skp", "jordan", "random(players=3,actions=4)", "grown 6"]


def tree_of(name: str) -> GameTree:
    if name.startswith("grown"):  # chance moves after players, sets with one action
        return random_tree(int(name.split()[1]))
    return eqbench.load_game(name).tree


def log_odds(tree: GameTree, behavior: np.ndarray) -> np.ndarray:
    choices = Choices.of(tree)
    return np.log(behavior[choices.action] / behavior[choices.first])


def prepared(tree: GameTree) -> tuple[Any, Any]:
    flat = flat_trees.flat_tree(tree, Choices.of(tree))
    return flat, flat_trees.workspace(flat)


def gains(flat: Any, work: Any) -> np.ndarray:
    """Values less those of the first action of the same set, (F,)."""
    sizes = np.diff(flat.start)
    differences = work.values - np.repeat(work.values[flat.start[:-1]], sizes)
    return np.delete(differences, flat.start[:-1])


@pytest.mark.parametrize("name", [*GAMES, "grown 2", "grown 11"])
def test_values_are_those_of_a_walk_over_the_tree(name: str) -> None:
    tree = tree_of(name)
    behavior = random_profile(tree, np.random.default_rng(0))
    flat, work = prepared(tree)
    kernels.action_values(flat, log_odds(tree, behavior), work)
    reach, expected = TreeWalk(tree, behavior).counterfactual()
    infosets, made = Choices.of(tree).infoset, gains(flat, work)
    f = 0
    for infoset in infosets.tolist():
        for move in range(1, len(tree.infoset_actions[infoset])):
            if reach[infoset]:
                gain = (expected[infoset][move] - expected[infoset][0]) / reach[infoset]
                assert made[f] == pytest.approx(float(gain), abs=1e-12)
            else:  # chance never leads there
                assert made[f] == 0
            f += 1
    assert f == len(made) > 0


@pytest.mark.parametrize("name", GAMES)
def test_matrix_is_the_derivative_of_the_residual(name: str) -> None:
    tree = tree_of(name)
    flat, work = prepared(tree)
    rng = np.random.default_rng(3)
    size = Choices.of(tree).size
    prior, point = rng.normal(size=size), np.append(2 * rng.normal(size=size), 1.7)
    scale, border = rng.uniform(0.5, 2.0, size + 1), rng.normal(size=size + 1)

    def residual(at: np.ndarray) -> np.ndarray:
        kernels.newton_system(flat, prior, at, np.ones(size + 1), border, work)
        return work.right[:-1].copy()

    columns = []
    for step in 1e-6 * np.eye(size + 1):
        columns.append((residual(point + step) - residual(point - step)) / 2e-6)
    expected = np.stack(columns, axis=1) * scale / scale[:-1, None]
    kernels.newton_system(flat, prior, point, scale, border, work)
    largest = np.abs(expected).max()
    matrix = work.bordered[:, np.append(flat.column, size)]
    np.testing.assert_allclose(matrix[:-1], expected, atol=1e-7 * largest)
    np.testing.assert_array_equal(matrix[-1], border)
    assert work.right[-1] == 0
    kernels.action_values(flat, point[:-1], work)
    expected_residual = point[:-1] - prior - 1.7 * gains(flat, work)
    kernels.newton_system(flat, prior, point, scale, border, work)
    np.testing.assert_allclose(work.right[:-1] * scale[:-1], expected_residual, atol=1e-12)


def test_beliefs_survive_reaches_that_no_float_can_hold() -> None:
    """Moves of probability exp(-5000) and less still leave beliefs that sum to 1."""
    tree = eqbench.load_game("kuhn3").tree
    flat, work = prepared(tree)
    z = 5000.0 * np.random.default_rng(0).normal(size=Choices.of(tree).size)
    kernels.action_values(flat, z, work)
    total = np.add.reduceat(work.belief[flat.decision], flat.node_start[:-1])
    np.testing.assert_allclose(total, 1.0, atol=1e-12)
    assert np.isfinite(work.values).all()
    span = float(np.ptp(tree.payoffs.table))
    assert np.abs(work.values).max() <= span


def test_stops_are_found_in_the_direction_of_travel() -> None:
    stops = np.array([1.0, 2.0, 5.0])
    assert steps.stop_between(stops, 0.0, 10.0) == 1.0
    assert steps.stop_between(stops, 1.0, 2.0) == 2.0
    assert steps.stop_between(stops, 6.0, 0.5) == 5.0
    assert steps.stop_between(stops, 5.0, 1.5) == 2.0
    assert np.isnan(steps.stop_between(stops, 2.0, 4.0))


@pytest.mark.parametrize(("size", "share"), [(1, 1.0), (30, 1.0), (60, 0.05), (150, 0.02)])
def test_elimination_solves_full_and_sparse_equations(size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    matrix = np.where(rng.random((size, size)) < share, rng.normal(size=(size, size)), 0.0)
    matrix[rng.permutation(size), np.arange(size)] += 1.0
    right, solution = rng.normal(size=size), np.empty(size)
    sign = elimination.eliminate(matrix.copy(), right.copy(), solution)
    assert sign == np.linalg.slogdet(matrix).sign
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-9)


@pytest.mark.parametrize(
    "matrix", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 1.0], [0.0, 2.0]], [[np.inf, 1.0], [1.0, 1.0]]]
)
def test_elimination_refuses_matrices_without_a_solution(matrix: list[list[float]]) -> None:
    assert elimination.eliminate(np.array(matrix), np.ones(2), np.empty(2)) == 0


def test_what_is_latest_is_eliminated_first() -> None:
    """In this order the factors of poker matrices remain sparse."""
    tree = eqbench.load_game("kuhn3").tree
    flat, _ = prepared(tree)
    earliest = np.repeat(flat.decision[flat.node_start[:-1]], np.diff(flat.start) - 1)
    order = np.argsort(flat.column)
    assert (np.diff(earliest[order].astype(int)) <= 0).all()
    assert sorted(flat.column) == list(range(Choices.of(tree).size))


def test_memory_is_that_of_the_matrices() -> None:
    game = eqbench.load_game("kuhn3")
    _, work = prepared(game.tree)
    made = work.by_log.nbytes + work.bordered.nbytes
    assert flat_trees.bytes_needed(game.tree) == pytest.approx(made, rel=0.05)
