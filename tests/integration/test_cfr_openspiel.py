"""Our CFR and OpenSpiel's walk the same trajectories.

Only short runs are compared: later, rounding decides between actions that are equally good,
and trajectories part for good.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from solver_cases import run

import eqbench
from eqbench.model.game import Game

pyspiel = pytest.importorskip("pyspiel")

LETTERS = {False: {"p": "K", "b": "B"}, True: {"p": "F", "b": "C"}}


@pytest.fixture(scope="module", params=[2, 3], ids=["kuhn2", "kuhn3"])
def game(request) -> Game:
    return eqbench.load_game(f"kuhn(players={request.param})")


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


@pytest.mark.parametrize("iterations", [1, 2, 5, 30])
@pytest.mark.parametrize(
    ("ours", "module", "theirs"),
    [
        ("cfr", "pyspiel", "CFRSolver"),
        ("cfr_plus", "pyspiel", "CFRPlusSolver"),
        ("dcfr", "open_spiel.python.algorithms.discounted_cfr", "DCFRSolver"),
        ("cfr_linear", "open_spiel.python.algorithms.discounted_cfr", "LCFRSolver"),
    ],
)
def test_trajectories_agree(ours, module, theirs, iterations, game):
    """Average and last iterate agree after equally many iterations."""
    solver = getattr(pytest.importorskip(module), theirs)(
        pyspiel.load_game(f"kuhn_poker(players={game.tree.n_players})")
    )
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    result = run(ours, game, iterations=iterations)
    average = their_frequencies(game, solver.average_policy())
    np.testing.assert_allclose(result.average, average, atol=1e-10)
    last = their_frequencies(game, solver.current_policy())
    np.testing.assert_allclose(result.last, last, atol=1e-10)
