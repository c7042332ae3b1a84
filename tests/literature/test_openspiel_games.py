"""Games taken over from OpenSpiel are OpenSpiel's (Lanctot et al. 2019, arXiv:1908.09453)."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np
import pytest
from agreement import KINDS, draw_behavior

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.verification import verify

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
peers = importlib.import_module("eqbench.solvers.openspiel")

# With simultaneous moves and without, with chance and without, two to four players.
NAMES = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "kuhn_poker(players=4)",
    "leduc_poker",
    "liars_dice(dice_sides=3)",
    "goofspiel(num_cards=3)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "matrix_cd",
    "matrix_mp",
    "matrix_rpsw",
    "matching_pennies_3p",
    "blotto(coins=4,fields=2)",
    "blotto(coins=3,fields=2,players=3)",
    "coordinated_mp",
    "tiny_hanabi",
    "first_sealed_auction(max_value=4)",
    "lewis_signaling",
    "trade_comm(num_items=2)",
    "dark_hex(num_cols=2,num_rows=2)",
    "sheriff(max_bribe=1,max_items=1,num_rounds=2)",
    "oshi_zumo(coins=3,horizon=4,size=1)",
    "battleship(board_height=1,board_width=2,num_shots=2,ship_sizes=[1],ship_values=[1])",
    "misere(game=kuhn_poker(players=3))",
    "python_kuhn_poker",
]
BUILT_IN = ["kuhn2", "kuhn3", "leduc", "goofspiel", "liars_dice(sides=3)", "jordan"]


@cache
def loaded(spec: str) -> Game:
    return eqbench.load_game(spec)


def theirs(name: str) -> Any:
    if name.startswith("python_"):
        importlib.import_module("open_spiel.python.games")
    return pyspiel.load_game_as_turn_based(name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_payoffs_and_nash_conv_agree(name: str, kind: str) -> None:
    """Lanctot et al. 2019, §3.2: NashConv is the sum of all best-response gains."""
    game = loaded(f"openspiel:{name}")
    profile = BehaviorProfile.of(
        game.tree, draw_behavior(game.tree, np.random.default_rng(7), kind)
    )
    policy = peers.tabular_policy(game, profile)
    measured = verify(game.tree, profile)
    root = theirs(name).new_initial_state()
    returns = pyspiel.expected_returns(root, policy, -1, True)
    assert measured.payoffs == pytest.approx(returns, abs=1e-12)
    assert measured.nash_conv == pytest.approx(pyspiel.nash_conv(theirs(name), policy), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_fractions_are_recognized(name: str) -> None:
    assert loaded(f"openspiel:{name}").tree.exact


def test_value_of_kuhn_poker_is_exactly_minus_one_eighteenth() -> None:
    """Kuhn 1950: the first player loses 1/18 a hand, here to an equilibrium with alpha = 0."""
    game = loaded("openspiel:kuhn_poker")
    thirds = {"0": 0, "1": 0, "2": 0, "0pb": 0, "1pb": 1 / 3, "2pb": 1, "0p": 1 / 3, "1p": 0}
    bets = thirds | {"2p": 1, "0b": 0, "1b": 1 / 3, "2b": 1}
    frequencies = [p for label in game.tree.infoset_labels for p in (1 - bets[label], bets[label])]
    found = verify(game.tree, BehaviorProfile.of(game.tree, frequencies))
    assert found.payoffs == pytest.approx([-1 / 18, 1 / 18], abs=1e-15)
    assert found.max_regret == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("spec", [*BUILT_IN, "openspiel:leduc_poker", "openspiel:tiny_hanabi"])
def test_profile_comes_back_from_a_tabular_policy(spec: str) -> None:
    game = loaded(spec)
    profile = BehaviorProfile.of(
        game.tree, draw_behavior(game.tree, np.random.default_rng(1), "random")
    )
    policy = peers.tabular_policy(game, profile)
    assert policy.size() == game.tree.n_infosets
    back = peers.profile_of_policy(game, policy)
    assert np.array_equal(back.probabilities, profile.probabilities)


def test_policies_of_python_classes_become_profiles() -> None:
    module = importlib.import_module("open_spiel.python.policy")
    game = loaded("leduc")
    policy = module.TabularPolicy(pyspiel.load_game("leduc_poker"))
    back = peers.profile_of_policy(game, policy)
    assert np.array_equal(back.probabilities, BehaviorProfile.uniform(game.tree).probabilities)


@pytest.mark.parametrize(
    ("ours", "name"),
    [
        ("kuhn4", "kuhn_poker(players=4)"),
        ("leduc", "leduc_poker"),
        ("liars_dice(sides=3)", "liars_dice(dice_sides=3)"),
    ],
)
def test_profile_carried_over_has_the_same_regrets(ours: str, name: str) -> None:
    game, taken = loaded(ours), loaded(f"openspiel:{name}")
    behavior = draw_behavior(game.tree, np.random.default_rng(5), "random")
    profile = BehaviorProfile.of(game.tree, behavior)
    carried = peers.profile_of_policy(taken, peers.tabular_policy(game, profile))
    before, after = verify(game.tree, profile), verify(taken.tree, carried)
    assert after.payoffs == pytest.approx(before.payoffs, abs=1e-13)
    assert after.regrets == pytest.approx(before.regrets, abs=1e-13)
