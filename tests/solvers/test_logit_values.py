"""Conditional action values of the logit tracer, their derivatives, and branches."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.walks import TreeWalk

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.tree import GameTree

kernels = importlib.import_module("eqbench.solvers.logit.kernels")
branches = importlib.import_module("eqbench.solvers.logit.branch")

GAMES = ["kuhn2", "kuhn3_reduced", "skp", "jordan", "random(players=3,actions=4)", "grown 6"]


def prepared(name: str) -> tuple[GameTree, Any, Any]:
    """The tree, flat and not, and memory; of grown ones chance moves after players."""
    grown = name.startswith("grown")
    tree = random_tree(int(name.split()[1])) if grown else eqbench.load_game(name).tree
    flat = kernels.flat_tree(tree)
    return tree, flat, kernels.workspace(flat)


def against_first(flat: Any, values: np.ndarray) -> np.ndarray:
    """Differences from the first action of the same set, (F,), of values (K,)."""
    first = np.repeat(values[flat.start[:-1]], np.diff(flat.start))
    return np.delete(values - first, flat.start[:-1])


@pytest.mark.parametrize("name", [*GAMES, "grown 2", "grown 11"])
def test_values_are_those_of_a_walk_over_the_tree(name: str) -> None:
    tree, flat, work = prepared(name)
    behavior = random_profile(tree, np.random.default_rng(0))
    kernels.action_values(flat, against_first(flat, np.log(behavior[flat.action])), work)
    reach, walked = TreeWalk(tree, behavior).counterfactual()
    assert len(flat.owner) == sum(len(actions) > 1 for actions in tree.infoset_actions)
    for begin, end in zip(flat.start[:-1], flat.start[1:], strict=True):
        infoset = int(np.searchsorted(tree.action_start, flat.action[begin], "right")) - 1
        gains = np.zeros(end - begin)  # where chance never leads there
        if reach[infoset]:
            gains = [float((v - walked[infoset][0]) / reach[infoset]) for v in walked[infoset]]
        made = work.values[begin:end] - work.values[begin]
        np.testing.assert_allclose(made, gains, atol=1e-12)


def checked_residual(flat: Any, work: Any, point: np.ndarray) -> np.ndarray:
    """Residual (F,) at a point, where the matrix is its derivative."""

    def residual(at: np.ndarray) -> np.ndarray:
        kernels.newton_system(flat, work, at)
        return work.right[0, :-1] * work.scale[:-1]

    columns = [
        (residual(point + step) - residual(point - step)) / 2e-6
        for step in 1e-6 * np.eye(len(point))
    ]
    made = residual(point)
    expected = np.stack(columns, axis=1) / work.scale[:-1, None]
    largest = np.abs(expected).max()
    np.testing.assert_allclose(work.bordered[:-1], expected, atol=1e-7 * largest)
    return made


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("form", ["normal", "reduced"])
def test_matrix_in_normal_form_is_the_derivative_on_the_branch(name: str, form: str) -> None:
    """Elsewhere what costs make up for is missing."""
    tree, _, _ = prepared(name)
    branch = branches.LogitBranch(Game(name, tree), flat=kernels.flat_tree(tree, form))
    assert not branch.advance(np.array([1.7]), 100)
    work = kernels.workspace(branch.flat)
    kernels.softmax(branch.flat.start, branch.flat.prior, work.log_prior, work.p)
    work.scale[:] = np.random.default_rng(3).uniform(0.5, 2.0, len(work.scale))
    made = checked_residual(branch.flat, work, branch.points()[-1])
    np.testing.assert_allclose(made, 0, atol=1e-8)


@pytest.mark.parametrize("name", GAMES)
def test_matrix_is_the_derivative_of_the_residual(name: str) -> None:
    _, flat, work = prepared(name)
    rng, size = np.random.default_rng(3), len(flat.prior)
    flat = flat._replace(prior=rng.normal(size=size))
    point = np.append(2 * rng.normal(size=size), 1.7)
    scale, border = rng.uniform(0.5, 2.0, size + 1), rng.normal(size=size + 1)
    work.scale[:], work.border[:] = scale, border

    made = checked_residual(flat, work, point)
    np.testing.assert_array_equal(work.bordered[-1], border)
    np.testing.assert_array_equal(work.right[1], np.append(np.zeros(size), 1.0))
    assert work.right[0, -1] == 0
    kernels.action_values(flat, point[:-1], work)
    expected = point[:-1] - flat.prior - 1.7 * against_first(flat, work.values)
    np.testing.assert_allclose(made, expected, atol=1e-12)


def test_beliefs_survive_reaches_that_no_float_can_hold() -> None:
    """Moves of probability exp(-5000) and less still leave beliefs that sum to 1."""
    tree, flat, work = prepared("kuhn3")
    kernels.action_values(
        flat, 5000.0 * np.random.default_rng(0).normal(size=len(flat.prior)), work
    )
    total = np.add.reduceat(work.belief[flat.decision], flat.node_start[:-1])
    np.testing.assert_allclose(total, 1.0, atol=1e-12)
    assert np.abs(work.values).max() <= float(np.ptp(tree.payoffs.table))


@pytest.mark.parametrize(
    ("here", "there", "stop"),
    [(0.0, 10.0, 1.0), (1.0, 2.0, 2.0), (6.0, 0.5, 5.0), (5.0, 1.5, 2.0), (2.0, 4.0, np.nan)],
)
def test_stops_are_found_in_the_direction_of_travel(here: float, there: float, stop: float) -> None:
    found = branches.stop_between(np.array([1.0, 2.0, 5.0]), here, there)
    np.testing.assert_equal(found, stop)


@pytest.mark.parametrize(("size", "share"), [(1, 1.0), (30, 1.0), (60, 0.05), (150, 0.02)])
def test_elimination_solves_full_and_sparse_equations(size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    matrix = np.where(rng.random((size, size)) < share, rng.normal(size=(size, size)), 0.0)
    matrix[rng.permutation(size), np.arange(size)] += 1.0
    right, solution = rng.normal(size=(2, size)), np.empty((2, size))
    sign = branches.eliminate(matrix.copy(), right.copy(), solution)
    assert sign == np.linalg.slogdet(matrix).sign
    np.testing.assert_allclose(solution @ matrix.T, right, atol=1e-9)


@pytest.mark.parametrize(
    "matrix", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 1.0], [0.0, 2.0]], [[np.inf, 1.0], [1.0, 1.0]]]
)
def test_elimination_refuses_matrices_without_a_solution(matrix: list[list[float]]) -> None:
    assert branches.eliminate(np.array(matrix), np.ones((2, 2)), np.empty((2, 2))) == 0


def test_memory_is_that_of_the_matrices() -> None:
    tree, _, work = prepared("kuhn3")
    made = work.by_log.nbytes + work.bordered.nbytes
    assert kernels.bytes_needed(tree) == pytest.approx(made, rel=0.05)
