"""Our CFR and OpenSpiel's walk the same trajectories.

Only short runs are compared: later, rounding decides between actions that are equally good,
and trajectories part for good.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from eqbench.model.game import Game
from eqbench.solver import Budget, Monitor

pyspiel = pytest.importorskip("pyspiel")

cfr = importlib.import_module("eqbench.solvers.cfr")
LETTERS = {False: {"p": "K", "b": "B"}, True: {"p": "F", "b": "C"}}


@pytest.fixture(scope="module", params=[2, 3], ids=["kuhn2", "kuhn3"])
def game(request) -> Game:
    module = importlib.import_module("eqbench.games.kuhn")
    return Game(f"kuhn{request.param}", module.Kuhn(players=request.param).build())


def our_label(theirs: str) -> str:
    """Information set ``"2:KB"`` for OpenSpiel's ``"1pb"``: cards from 0, pass and bet."""
    history = ""
    for letter in theirs[1:]:
        history += LETTERS["B" in history][letter]
    return f"{int(theirs[0]) + 1}:{history}"


def their_frequencies(game: Game, policy: Any) -> np.ndarray:
    """Frequencies (A,) of one of OpenSpiel's policies, in our order; passing comes first."""
    tree = game.tree
    frequencies = np.full(tree.n_actions, np.nan)

    def visit(state: Any) -> None:
        if state.is_terminal():
            return
        if not state.is_chance_node():
            label = our_label(state.information_state_string())
            first = tree.action_start[tree.infoset_of(state.current_player(), label)]
            for action, frequency in policy.action_probabilities(state).items():
                frequencies[first + action] = frequency
        for action in state.legal_actions():
            visit(state.child(action))

    visit(pyspiel.load_game(f"kuhn_poker(players={tree.n_players})").new_initial_state())
    assert not np.isnan(frequencies).any()
    return frequencies


def our_frequencies(solver: Any, game: Game, iterations: int) -> list[np.ndarray]:
    """Average and last iterate."""
    reports: list[Any] = []
    monitor = Monitor(game, Budget(time_s=60, iterations=iterations), reports.append)
    solver.solve(game, monitor, np.random.default_rng(0))
    return [report.candidate.profile.probabilities for report in reports[-2:]]


@pytest.mark.parametrize("iterations", [1, 2, 5, 30])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (cfr.CFR(), "CFRSolver"),
        (cfr.CFR(regrets="clipped", averaging="linear"), "CFRPlusSolver"),
    ],
    ids=["cfr", "cfr_plus"],
)
def test_trajectories_of_the_cpp_solvers_agree(ours, theirs, iterations, game):
    solver = getattr(pyspiel, theirs)(
        pyspiel.load_game(f"kuhn_poker(players={game.tree.n_players})")
    )
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    average, last = our_frequencies(ours, game, iterations)
    np.testing.assert_allclose(
        average, their_frequencies(game, solver.average_policy()), atol=1e-10
    )
    np.testing.assert_allclose(last, their_frequencies(game, solver.current_policy()), atol=1e-10)


@pytest.mark.parametrize("iterations", [1, 2, 5, 30])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (cfr.CFR(regrets="discounted", averaging="quadratic"), "DCFRSolver"),
        (
            cfr.CFR(regrets="discounted", alpha=1.0, beta=1.0, averaging="linear"),
            "LCFRSolver",
        ),
    ],
    ids=["dcfr", "cfr_linear"],
)
def test_trajectories_of_the_discounted_solvers_agree(ours, theirs, iterations, game):
    discounted = pytest.importorskip("open_spiel.python.algorithms.discounted_cfr")
    solver = getattr(discounted, theirs)(
        pyspiel.load_game(f"kuhn_poker(players={game.tree.n_players})")
    )
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    average, last = our_frequencies(ours, game, iterations)
    np.testing.assert_allclose(
        average, their_frequencies(game, solver.average_policy()), atol=1e-10
    )
    np.testing.assert_allclose(last, their_frequencies(game, solver.current_policy()), atol=1e-10)
