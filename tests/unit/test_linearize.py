"""Free frequencies, and the linearization of the generic payoff model in them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import eqbench
from eqbench.model import kernels
from eqbench.model.builder import TreeBuilder
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.profile import random_profile
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


def step(choices: Choices, f: int) -> NDArray[np.float64]:
    """Direction in which a free frequency grows and the first action gives way."""
    direction = np.zeros(choices.n_actions)
    direction[choices.action[f]], direction[choices.first[f]] = 1, -1
    return direction


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
