"""Payoffs and NashConv agree with OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453).

OpenSpiel's `kuhn_poker` deals cards 0..k to k players who ante 1; action 0 passes (check or
fold) and action 1 bets or calls one chip; returns are net chips. That is our game with the
pot equal to the number of players. A card c there is c + 1 here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from agreement import KINDS, draw_behavior
from numpy.typing import NDArray

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verification import verify

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")


@cache
def ours(players: int) -> Game:
    return eqbench.load_game(f"kuhn(players={players})")


@cache
def theirs(players: int) -> Any:
    return pyspiel.load_game("kuhn_poker", {"players": players})


def openspiel_key(label: str) -> str:
    """OpenSpiel's information state string of ``"<card>:<history>"``."""
    card, history = label.split(":")
    return f"{int(card) - 1}{history.translate(str.maketrans('KFBC', 'ppbb'))}"


def openspiel_policy(tree: GameTree, behavior: NDArray[np.float64]) -> Any:
    table = {}
    for i, label in enumerate(tree.infoset_labels):
        pass_, bet = behavior[tree.action_start[i] : tree.action_start[i + 1]].tolist()
        table[openspiel_key(label)] = [(0, pass_), (1, bet)]
    return pyspiel.TabularPolicy(table)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_both_games_have_the_same_information_states(players: int) -> None:
    states = information_states(players)
    assert {openspiel_key(label) for label in ours(players).tree.infoset_labels} == states


def information_states(players: int) -> set[str]:
    found, stack = set(), [theirs(players).new_initial_state()]
    while stack:
        state = stack.pop()
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            found.add(state.information_state_string())
        stack += [state.child(action) for action in state.legal_actions()]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_payoffs_and_nash_conv_agree(players: int, kind: str) -> None:
    """Lanctot et al. 2019, §3.2: NashConv is the sum of all best-response gains."""
    tree, game = ours(players).tree, theirs(players)
    rng = np.random.default_rng(players)
    for _ in range(1 if players == 4 else 5):
        behavior = draw_behavior(tree, rng, kind)
        policy = openspiel_policy(tree, behavior)
        measured = verify(tree, BehaviorProfile.of(tree, behavior))
        state = game.new_initial_state()
        returns = pyspiel.expected_returns(state, policy, -1, True)
        assert measured.payoffs == pytest.approx(returns, abs=1e-12)
        assert measured.nash_conv == pytest.approx(pyspiel.nash_conv(game, policy), abs=1e-12)
        kernels = ours(players).payoff_model().regrets(behavior).sum()
        assert kernels == pytest.approx(pyspiel.nash_conv(game, policy), abs=1e-12)
