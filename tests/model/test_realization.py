"""Realization plans: there, back, and the rule where the own reach is zero."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.walks import KINDS, draw_behavior

import eqbench
from eqbench.errors import ProfileError
from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan


@pytest.fixture(scope="module")
def kuhn2() -> Game:
    return eqbench.load_game("kuhn2")


def sequence(game: Game, player: int, infoset: str, action: str) -> int:
    tree = game.tree
    i = tree.infoset_of(player, infoset)
    first = int(game.sequence_form.block_start[i])
    return first + tree.infoset_actions[i].index(action)


def test_weights_are_products_of_own_frequencies(kuhn2: Game) -> None:
    """Von Stengel 1996, §3: the weight of a sequence is the product of its own moves."""
    behavior = np.full(kuhn2.tree.n_actions, 0.5)
    check, call = sequence(kuhn2, 0, "2:", "check"), sequence(kuhn2, 0, "2:KB", "call")
    bet = sequence(kuhn2, 0, "2:", "bet")
    n = kuhn2.sequence_form.n_players
    behavior[[check - n, bet - n]] = 0.75, 0.25
    weights = RealizationPlan.of(kuhn2.sequence_form, behavior).weights
    assert weights[:n].tolist() == [1.0, 1.0]
    assert weights[check] == 0.75
    assert weights[call] == 0.375, "the opponent's bet and the deal do not count"


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", "skp", "jordan"])
@pytest.mark.parametrize("kind", KINDS)
def test_behavior_comes_back_where_the_player_gets(spec: str, kind: str) -> None:
    game = eqbench.load_game(spec)
    form = game.sequence_form
    behavior = draw_behavior(game.tree, np.random.default_rng(5), kind)
    plan = RealizationPlan.of(form, behavior)
    back = plan.to_behavior(form)
    row = np.repeat(np.arange(form.n_infosets), np.diff(form.block_start))
    reached = plan.weights[form.parent][row] > 0
    assert back[reached] == pytest.approx(behavior[reached], rel=1e-12, abs=1e-15)
    assert np.add.reduceat(back, form.block_start[:-1] - form.n_players) == pytest.approx(1)


def test_behavior_is_uniform_where_the_own_reach_is_zero(kuhn2: Game) -> None:
    form = kuhn2.sequence_form
    behavior = np.full(kuhn2.tree.n_actions, 0.5)
    for action, frequency in (("check", 0.0), ("bet", 1.0)):
        behavior[sequence(kuhn2, 0, "3:", action) - form.n_players] = frequency
    for action, frequency in (("fold", 0.0), ("call", 1.0)):
        behavior[sequence(kuhn2, 0, "3:KB", action) - form.n_players] = frequency
    back = RealizationPlan.of(form, behavior).to_behavior(form)
    lost = [sequence(kuhn2, 0, "3:KB", action) - form.n_players for action in ("fold", "call")]
    assert back[lost].tolist() == [0.5, 0.5]
    kept = np.delete(np.arange(len(behavior)), lost)
    assert back[kept].tolist() == behavior[kept].tolist()


def test_weights_that_underflow_still_give_distributions(kuhn2: Game) -> None:
    form = kuhn2.sequence_form
    behavior = np.full(kuhn2.tree.n_actions, 0.5)
    opening = [sequence(kuhn2, 0, "1:", action) - form.n_players for action in ("check", "bet")]
    for tiny in (5e-324, 1e-310, 3e-323):
        behavior[opening] = tiny, 1.0
        back = RealizationPlan.of(form, behavior).to_behavior(form)
        assert np.add.reduceat(back, form.block_start[:-1] - form.n_players).tolist() == [1.0] * 12


@pytest.mark.parametrize("size", [0, 24, 27])
def test_plans_of_another_game_are_refused(kuhn2: Game, size: int) -> None:
    with pytest.raises(ProfileError, match="weights"):
        RealizationPlan(np.ones(size)).to_behavior(kuhn2.sequence_form)
    with pytest.raises(ProfileError, match="frequencies"):
        RealizationPlan.of(kuhn2.sequence_form, np.ones(size + 1))


@pytest.mark.parametrize(
    ("place", "weight", "message"),
    [
        (0, 0.5, "weighs 1 at the empty sequences"),
        (5, 0.9, "sum to that of the sequence leading there"),
        (5, -0.5, "one is outside"),
        (5, math.nan, "one is outside"),
    ],
)
def test_what_is_no_plan_is_refused(kuhn2: Game, place: int, weight: float, message: str) -> None:
    form = kuhn2.sequence_form
    weights = RealizationPlan.of(form, np.full(24, 0.5)).weights.copy()
    weights[place] = weight
    with pytest.raises(ProfileError, match=message):
        RealizationPlan(weights).to_behavior(form)
