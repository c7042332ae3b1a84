"""Kuhn and Leduc poker, Goofspiel and liar's dice are OpenSpiel's.

Lanctot et al. 2019, arXiv:1908.09453.

OpenSpiel's Goofspiel is taken with hidden bids, prizes in descending order and its turn-based
form. Liar's dice rolls one die after another there, and Kuhn poker deals one card after another,
hence their information sets are matched by label and not move by move.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from agreement import KINDS, draw_behavior, matched_moves, openspiel_decisions
from numpy.typing import NDArray

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import TERMINAL, GameTree
from eqbench.verification import verify

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

GOOFSPIEL = "goofspiel(imp_info=True,points_order=descending,returns_type=win_loss"
PLAYED_THROUGH = {
    "leduc": "leduc_poker",
    "goofspiel": f"{GOOFSPIEL},num_cards=4)",
    "goofspiel(cards=5)": f"{GOOFSPIEL},num_cards=5)",
    "goofspiel(players=3)": f"{GOOFSPIEL},num_cards=4,players=3)",
}
DICE = {
    "liars_dice(sides=3)": "liars_dice(dice_sides=3)",
    "liars_dice(sides=4)": "liars_dice(dice_sides=4)",
    "liars_dice(dice=2, sides=2)": "liars_dice(numdice=2,dice_sides=2)",
}
KUHN = {f"kuhn{players}": f"kuhn_poker(players={players})" for players in (2, 3, 4)}
BY_LABEL = KUHN | DICE
FULL_DICE = {"liars_dice": "liars_dice"}
THEIRS = PLAYED_THROUGH | BY_LABEL | FULL_DICE


@cache
def ours(spec: str) -> Game:
    return eqbench.load_game(spec)


@cache
def theirs(spec: str) -> Any:
    """OpenSpiel's game; one with simultaneous moves in its turn-based form."""
    return pyspiel.load_game_as_turn_based(THEIRS[spec])


@cache
def decisions(spec: str) -> list[tuple[str, list[int]]]:
    """OpenSpiel's text and actions for each information set."""
    tree = ours(spec).tree
    if spec in PLAYED_THROUGH:
        return openspiel_decisions(tree, theirs(spec).new_initial_state())
    return kuhn_decisions(tree) if spec in KUHN else dice_decisions(tree)


def kuhn_decisions(tree: GameTree) -> list[tuple[str, list[int]]]:
    """As :func:`decisions`, by labels: ``"2:KB"`` is OpenSpiel's ``"1pb"``; 0 passes, 1 bets."""
    labels = [label.split(":") for label in tree.infoset_labels]
    told = str.maketrans("KFBC", "ppbb")
    return [(f"{int(card) - 1}{history.translate(told)}", [0, 1]) for card, history in labels]


def dice_decisions(tree: GameTree) -> list[tuple[str, list[int]]]:
    """As :func:`decisions`, by labels: ``"1,2:1x3,2x2"`` is OpenSpiel's ``"12 1-3 2-2"``."""
    number = {claim: k for k, claim in enumerate((*tree.infoset_actions[0], "liar"))}
    found = []
    for label, actions in zip(tree.infoset_labels, tree.infoset_actions, strict=True):
        roll, claims = label.split(":")
        text = f"{roll.replace(',', '')} {claims.replace(',', ' ').replace('x', '-')}".strip()
        found.append((text, [number[action] for action in actions]))
    return found


def assert_agreement(spec: str, behavior: NDArray[np.float64]) -> None:
    """Compare payoffs and NashConv of one profile: verifier, kernels and OpenSpiel."""
    tree, game = ours(spec).tree, theirs(spec)
    rows = np.split(behavior, tree.action_start[1:-1])
    policy = pyspiel.TabularPolicy(
        {
            text: list(zip(actions, row.tolist(), strict=True))
            for (text, actions), row in zip(decisions(spec), rows, strict=True)
        }
    )
    measured = verify(tree, BehaviorProfile.of(tree, behavior))
    returns = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)
    nash_conv = pyspiel.nash_conv(game, policy)
    assert measured.payoffs == pytest.approx(returns, abs=1e-12)
    assert measured.nash_conv == pytest.approx(nash_conv, abs=1e-12)
    assert ours(spec).payoff_model().regrets(behavior).sum() == pytest.approx(nash_conv, abs=1e-12)


@pytest.mark.parametrize("spec", PLAYED_THROUGH)
def test_game_is_openspiels_node_by_node(spec: str) -> None:
    assert len(decisions(spec)) == ours(spec).tree.n_infosets


@pytest.mark.parametrize("spec", BY_LABEL)
def test_both_have_the_same_decisions(spec: str) -> None:
    found, stack = set(), [theirs(spec).new_initial_state()]
    while stack:
        state = stack.pop()
        if not (state.is_chance_node() or state.is_terminal()):
            found.add((state.information_state_string(), tuple(state.legal_actions())))
        stack += [state.child(action) for action in state.legal_actions()]
    assert {(text, tuple(actions)) for text, actions in decisions(spec)} == found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", [*PLAYED_THROUGH, *BY_LABEL])
def test_payoffs_and_nash_conv_agree(spec: str, kind: str) -> None:
    """Lanctot et al. 2019, §3.2: NashConv is the sum of all best-response gains."""
    rng = np.random.default_rng(len(spec))
    for _ in range(3 if ours(spec).tree.n_nodes < 20_000 else 1):
        assert_agreement(spec, draw_behavior(ours(spec).tree, rng, kind))


def test_payoffs_and_nash_conv_agree_in_full_size_liars_dice() -> None:
    tree = ours("liars_dice").tree
    assert_agreement("liars_dice", draw_behavior(tree, np.random.default_rng(0), "near-pure"))


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
