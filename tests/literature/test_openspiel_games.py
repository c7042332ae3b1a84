"""Games and profiles are OpenSpiel's (Lanctot et al. 2019, arXiv:1908.09453)."""

from __future__ import annotations

import importlib
import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.walks import KINDS, draw_behavior, matched_moves

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import TERMINAL, GameTree
from eqbench.verification import verify

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
peers = importlib.import_module("eqbench.solvers.openspiel")

GOOFSPIEL = "goofspiel(imp_info=True,points_order=descending,returns_type=win_loss"
# Our own games, and what they are there; simultaneous moves are made in turn.
OURS = {
    **{f"kuhn{players}": f"kuhn_poker(players={players})" for players in (2, 3, 4)},
    "leduc": "leduc_poker",
    "goofspiel": f"{GOOFSPIEL},num_cards=4)",
    "goofspiel(cards=5)": f"{GOOFSPIEL},num_cards=5)",
    "goofspiel(players=3)": f"{GOOFSPIEL},num_cards=4,players=3)",
    "liars_dice(sides=3)": "liars_dice(dice_sides=3)",
    "liars_dice(sides=4)": "liars_dice(dice_sides=4)",
    "liars_dice(dice=2, sides=2)": "liars_dice(numdice=2,dice_sides=2)",
    "jordan": "matching_pennies_3p",
}
# With simultaneous moves and without, with chance and without, two to four players.
THEIRS = (
    *("kuhn_poker", "kuhn_poker(players=3)", "kuhn_poker(players=4)", "leduc_poker"),
    *("liars_dice(dice_sides=3)", "goofspiel(num_cards=3)", "tiny_hanabi", "lewis_signaling"),
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    *("matrix_cd", "matrix_mp", "matrix_rpsw", "matching_pennies_3p", "coordinated_mp"),
    *("blotto(coins=4,fields=2)", "blotto(coins=3,fields=2,players=3)"),
    *("first_sealed_auction(max_value=4)", "trade_comm(num_items=2)"),
    *("dark_hex(num_cols=2,num_rows=2)", "sheriff(max_bribe=1,max_items=1,num_rounds=2)"),
    "oshi_zumo(coins=3,horizon=4,size=1)",
    "battleship(board_height=1,board_width=2,num_shots=2,ship_sizes=[1],ship_values=[1])",
    *("misere(game=kuhn_poker(players=3))", "python_kuhn_poker"),
)
GAMES = OURS | {f"openspiel:{name}": name for name in THEIRS}


@cache
def loaded(spec: str) -> Game:
    return eqbench.load_game(spec)


@cache
def theirs(name: str) -> Any:
    if name.startswith("python_"):
        importlib.import_module("open_spiel.python.games")
    return pyspiel.load_game_as_turn_based(name)


def drawn(game: Game, kind: str = "random", seed: int = 7) -> BehaviorProfile:
    rng = np.random.default_rng(seed)
    return BehaviorProfile.of(game.tree, draw_behavior(game.tree, rng, kind))


def policy_by_labels(tree: GameTree, profile: BehaviorProfile) -> Any:
    """Tabular policy of liar's dice, whose dice roll one after another there.

    Label ``"1,2:1x3,2x2"`` is OpenSpiel's ``"12 1-3 2-2"``.
    """
    number = {claim: k for k, claim in enumerate((*tree.infoset_actions[0], "liar"))}
    rows = iter(profile.probabilities.tolist())
    table = {}
    for label, actions in zip(tree.infoset_labels, tree.infoset_actions, strict=True):
        roll, claims = label.split(":")
        text = f"{roll.replace(',', '')} {claims.replace(',', ' ').replace('x', '-')}".strip()
        table[text] = [(number[action], next(rows)) for action in actions]
    return pyspiel.TabularPolicy(table)


@pytest.mark.parametrize(("spec", "kind"), list(itertools.product(GAMES, KINDS)))
def test_payoffs_and_nash_conv_agree(spec: str, kind: str) -> None:
    """Lanctot et al. 2019, §3.2: NashConv is the sum of all best-response gains."""
    game, openspiel = loaded(spec), theirs(GAMES.get(spec, spec))
    profile = drawn(game, kind)
    own_way = policy_by_labels(game.tree, profile) if "dice=2" in spec else None
    policy = own_way or peers.tabular_policy(game, profile)
    assert policy.size() == game.tree.n_infosets
    assert game.tree.exact, "fractions are recognized"
    measured = verify(game.tree, profile)
    returns = pyspiel.expected_returns(openspiel.new_initial_state(), policy, -1, True)
    nash_conv = pyspiel.nash_conv(openspiel, policy)
    assert measured.payoffs == pytest.approx(returns, abs=1e-12)
    assert measured.nash_conv == pytest.approx(nash_conv, abs=1e-12)
    regrets = game.payoff_model().regrets(profile.probabilities)
    assert regrets.sum() == pytest.approx(nash_conv, abs=1e-12)


def test_three_player_leduc_is_openspiels_wherever_it_is_played() -> None:
    """A thousand random hands; OpenSpiel needs half a minute to measure one profile."""
    tree, game = eqbench.load_game("leduc3").tree, pyspiel.load_game("leduc_poker(players=3)")
    rng = np.random.default_rng(3)
    known: dict[int, str] = {}
    for _ in range(1000):
        node, state = 0, game.new_initial_state()
        while tree.player[node] != TERMINAL:
            infoset = int(tree.infoset[node])
            if infoset >= 0:
                text = state.information_state_string()
                assert known.setdefault(infoset, text) == text
            moves = list(matched_moves(tree, node, state))
            node, state = moves[rng.integers(len(moves))]
        assert not list(matched_moves(tree, node, state)), "both end here and pay the same"
    assert len(set(known.values())) == len(known) > 1000


@pytest.mark.parametrize(
    "spec", ["kuhn4", "leduc", "liars_dice(sides=3)", "openspiel:goofspiel(num_cards=3)"]
)
def test_profile_comes_back_from_a_policy_and_means_the_same_in_openspiels_game(spec: str) -> None:
    game = loaded(spec)
    taken = loaded(f"openspiel:{GAMES[spec]}")
    profile = drawn(game)
    policy = peers.tabular_policy(game, profile)
    back = peers.profile_of_policy(game, policy)
    assert np.array_equal(back.probabilities, profile.probabilities)
    before = verify(game.tree, profile)
    after = verify(taken.tree, peers.profile_of_policy(taken, policy))
    assert after.payoffs == pytest.approx(before.payoffs, abs=1e-13)
    assert after.regrets == pytest.approx(before.regrets, abs=1e-13)
