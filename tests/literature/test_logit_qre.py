"""Logit quantal response equilibria: closed forms, and Gambit's tracer.

McKelvey and Palfrey 1998, Experimental Economics 1 (agent form); Turocy 2005, Games and
Economic Behavior 51 and Turocy 2010, Economic Theory 42 (tracing branches; Gambit's method).
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from solver_cases import bimatrix, run

import eqbench
from eqbench.continuation import ResponsePath
from eqbench.model.profile import BehaviorProfile
from eqbench.verification import verify

LAMBDAS = (1.0, 10.0, 100.0, 1000.0)
# Gambit's tracer ends on kuhn3 where reaches underflow, at 1.1e4.
NEAR_ITS_END = 1e4


def branch(game: Any, at: tuple[float, ...]) -> ResponsePath:
    game = eqbench.load_game(game) if isinstance(game, str) else game
    return eqbench.load_solver(f"logit(stop_lambda={at[-1]})").branch(game, at=at)


def row(path: ResponsePath, value: float) -> np.ndarray:
    """Frequencies (A,) at the only point with exactly this lambda."""
    (point,) = np.flatnonzero(path.lambdas == value)
    return path.behavior[point]


@pytest.mark.parametrize(
    ("name", "lambdas"), [("kuhn2", LAMBDAS), ("kuhn3", (*LAMBDAS, NEAR_ITS_END))]
)
def test_profiles_are_those_of_gambit(name: str, lambdas: tuple[float, ...]) -> None:
    pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")
    theirs = importlib.import_module("eqbench.solvers.gambit").to_gambit(eqbench.load_game(name))
    solved = pygambit.qre.logit_solve_lambda(theirs.game, list(lambdas))
    path = branch(name, lambdas)
    for value, found in zip(lambdas, solved, strict=True):
        expected = theirs.behavior(found.profile).probabilities
        np.testing.assert_allclose(row(path, value), expected, rtol=0, atol=1e-9)


def test_symmetric_game_solves_its_one_equation() -> None:
    """In the game of chicken symmetric QRE satisfy z = lambda times the gain of daring at p(z)."""
    rows = np.array([[0, 7], [2, 6]])
    path = branch(bimatrix(rows, rows.T), (0.5, 3.0, 40.0))
    for value in (0.5, 3.0, 40.0):
        p = row(path, value)
        np.testing.assert_allclose(p[:2], p[2:], atol=1e-13)
        gain = p[0] * (rows[0, 0] - rows[1, 0]) + p[1] * (rows[0, 1] - rows[1, 1])
        np.testing.assert_allclose(np.log(p[0] / p[1]), value * gain, atol=1e-11)


def test_constant_gain_gives_logit_choice() -> None:
    """With a dominant action by 1 in each state the log-odds are lambda itself."""
    game = bimatrix([[4, 1], [3, 0]], [[4, 3], [1, 0]])
    path = branch(game, (0.25, 2.0, 500.0))
    logs = path.log_probabilities
    np.testing.assert_allclose(logs[:, 0] - logs[:, 1], path.lambdas, rtol=1e-12)


def test_branch_of_kuhn3_goes_on_where_reaches_underflow() -> None:
    """Regret falls like 0.215 / lambda as far as lambda = 1e7, though bets are exp(-6e5)."""
    path = branch("kuhn3", (1e4, 1e5, 1e6, 1e7))
    ends = path.landings
    np.testing.assert_array_equal(path.lambdas[ends], [1e4, 1e5, 1e6, 1e7])
    tree = eqbench.load_game("kuhn3").tree
    regrets = [verify(tree, BehaviorProfile.of(tree, path.behavior[k])).max_regret for k in ends]
    np.testing.assert_allclose(regrets, 0.2147 / path.lambdas[ends], rtol=5e-4)
    assert path.log_probabilities[-1].min() < -1e5
    assert len(path.turns) == 0


def test_principal_branch_of_leduc_is_followed_where_tangents_are_lost_in_rounding() -> None:
    """Hands that differ by a suit may mix in any shares in the limit: a continuum."""
    result = run("logit", "leduc(raises=1)")
    assert result.monitor.statistics["lambda_reached"] == 1e6
    assert result.monitor.statistics["path_regret"] <= 5e-7
    _, equilibrium = result.candidates
    assert eqbench.verify(result.game, equilibrium.profile).max_regret <= 1e-12
