"""Realization plans, free frequencies, and the linearization of the generic payoff model."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numba
import numpy as np
import pytest
from agreement import KINDS, draw_behavior

import eqbench
from eqbench.errors import ProfileError
from eqbench.model import kernels
from eqbench.model.builder import TreeBuilder
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.profile import random_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import compile_sequence_form

SPECS = (
    "kuhn2",
    "skp(pot=107/33)",
    "kuhn3_reduced",
    "kuhn(players=3,cards=4,raises=1)",
    "leduc(ranks=2)",
    "jordan",
)


@cache
def game(spec: str) -> Game:
    return eqbench.load_game(spec)


def generic(spec: str) -> SequenceFormModel:
    return SequenceFormModel(game(spec).sequence_form)


@pytest.mark.parametrize("spec", SPECS)
def test_all_but_the_first_action_of_every_set_are_free(spec: str) -> None:
    tree = game(spec).tree
    choices = Choices.of(tree)
    expected = []
    for infoset in range(tree.n_infosets):
        first, stop = tree.action_start[infoset : infoset + 2].tolist()
        expected += [(action, first, infoset) for action in range(first + 1, stop)]
    sizes = np.diff(choices.start)
    found = zip(choices.action, choices.first, np.repeat(choices.infoset, sizes), strict=True)
    assert [tuple(map(int, row)) for row in found] == expected
    assert (choices.size, choices.n_actions) == (len(expected), tree.n_actions)
    arrays = (choices.action, choices.first, choices.start, choices.infoset)
    assert not any(array.flags.writeable for array in arrays)


def test_gains_are_over_the_first_action() -> None:
    choices = Choices.of_blocks(np.array([0, 3, 4, 6]))
    assert choices.gains(np.array([1.0, 4, 9, 16, 25, 36])).tolist() == [3, 8, 11]


def test_game_without_parameter_has_no_slope_and_no_other_model() -> None:
    behavior = np.full(game("jordan").tree.n_actions, 0.5)
    assert generic("jordan").linearize(behavior).slope is None
    with pytest.raises(ValueError, match="no payoff parameter"):
        generic("jordan").at(2.0)
    with pytest.raises(ValueError, match="this game has 24 frequencies"):
        generic("kuhn2").linearize(np.full(23, 0.5))


def test_game_without_any_choice_has_an_empty_linearization() -> None:
    builder = TreeBuilder(["P1", "P2"])
    only = builder.decision(None, 0, "", ["go"])
    builder.terminal((only, 0), [1, 0])
    tree = builder.tree()
    found = SequenceFormModel(compile_sequence_form(tree)).linearize(np.ones(1))
    assert (found.gains.shape, found.jacobian.shape) == ((0,), (0, 0))
    assert Choices.of(tree).behavior(found.gains).tolist() == [1.0]


@pytest.mark.parametrize("spec", ["kuhn2", "skp(pot=107/33)", "kuhn(players=3,cards=4,raises=1)"])
def test_model_at_another_pot_is_that_of_the_game_at_it(spec: str) -> None:
    start, behavior = generic(spec), random_profile(game(spec).tree, np.random.default_rng(54))
    before = start.regrets(behavior)
    other = start.at(3.2)
    there = SequenceFormModel(game(spec).at(pot=Fraction(16, 5)).sequence_form)
    assert np.abs(other.regrets(behavior) - there.regrets(behavior)).max() <= 1e-15
    assert np.abs(other.jacobian(behavior) - there.jacobian(behavior)).max() <= 1e-15
    assert np.array_equal(start.regrets(behavior), before)
    assert not np.allclose(other.regrets(behavior), before)
    slope, rise = start.linearize(behavior).slope, start.at(8).linearize(behavior).gains
    assert np.abs(slope - (rise - start.at(7).linearize(behavior).gains)).max() <= 1e-14
    assert np.abs(slope).max() > 0.01
    # chains of pots start from the game and not from the last pot
    assert np.array_equal(start.at(9.0).at(3.2).regrets(behavior), other.regrets(behavior))


def test_model_at_another_pot_runs_the_code_that_is_compiled_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A writable array would be another type, for which Numba compiles everything anew."""
    types = []

    def remember(arrays: object, *_: object) -> None:
        types.append(numba.typeof(arrays))

    monkeypatch.setattr(kernels, "best_responses", remember)
    start, behavior = generic("kuhn2"), np.full(24, 0.5)
    for model in (start, start.at(3.2), start.at(3.2).at(7.0)):
        model.regrets(behavior)
    assert types == types[:1] * 3


@pytest.mark.parametrize("spec", SPECS)
def test_direct_values_are_multilinear_and_their_derivatives_fit(spec: str) -> None:
    model, form = generic(spec), game(spec).sequence_form
    rng = np.random.default_rng(3)
    weights, direction = rng.random((2, form.n_sequences))
    # every value is a product of at most N - 1 <= 2 weights, so central differences are exact
    step = 0.5
    difference = model.direct_values(weights + step * direction) - model.direct_values(
        weights - step * direction
    )
    assert np.allclose(model.direct_derivatives(weights) @ direction, difference, atol=1e-13)
    with pytest.raises(ValueError, match="sequences"):
        model.direct_values(weights[:-1])


@pytest.fixture(scope="module")
def kuhn2() -> Game:
    return eqbench.load_game("kuhn2")


def sequence(game: Game, player: int, infoset: str, action: str) -> int:
    tree = game.tree
    i = tree.infoset_of(player, infoset)
    first = int(game.sequence_form.block_start[i])
    return first + tree.infoset_actions[i].index(action)


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
    with pytest.raises(ProfileError, match="has 26 weights"):
        RealizationPlan(np.ones(size)).to_behavior(kuhn2.sequence_form)
    with pytest.raises(ProfileError, match="has 24 frequencies"):
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
