"""Free frequencies, and what both payoff models keep: the generic one and sums over ranks."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numba
import numpy as np
import pytest
from helpers.study_cases import REDUCED, game, ranks
from helpers.walks import KINDS, draw_behavior
from numpy.typing import NDArray

from eqbench.model import kernels, rank_sums
from eqbench.model.builder import TreeBuilder
from eqbench.model.choices import Choices
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


def generic(spec: str) -> SequenceFormModel:
    return SequenceFormModel(game(spec).sequence_form)


MODELS: dict[str, Callable[[str], Any]] = {
    "generic": generic,
    "ranks": lambda spec: ranks(game(spec).tree),
}
METHODS = (
    *("expected_payoffs", "counterfactual_values", "best_response_values", "regrets"),
    *("jacobian", "linearize"),
)
CASES = [*(("generic", spec) for spec in SPECS), *(("ranks", spec) for spec in REDUCED)]
# with three cards and these reductions the pot changes no regret
WITHOUT_POT = ("leduc", "jordan", "kuhn(players=3,cards=3,")
WITH_POT = [(kind, spec) for kind, spec in CASES if not spec.startswith(WITHOUT_POT)]


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", SPECS)
def test_free_frequencies_determine_the_profile(spec: str, kind: str) -> None:
    tree = game(spec).tree
    choices, behavior = Choices.of(tree), draw_behavior(tree, np.random.default_rng(50), kind)
    again = choices.behavior(behavior[choices.action])
    assert np.abs(again - behavior).max() <= 4e-16
    assert np.array_equal(again[choices.action], behavior[choices.action])


def test_gains_are_over_the_first_action() -> None:
    choices = Choices.of_blocks(np.array([0, 3, 4, 6]))
    assert choices.gains(np.array([1.0, 4, 9, 16, 25, 36])).tolist() == [3, 8, 11]


@pytest.mark.parametrize(("kind", "spec"), CASES)
def test_gains_change_as_linearized_when_a_free_frequency_does(kind: str, spec: str) -> None:
    """No path has two actions of one set, so gains are linear along each of these lines."""
    model, choices = MODELS[kind](spec), Choices.of(game(spec).tree)
    behavior = random_profile(game(spec).tree, np.random.default_rng(52))
    found = model.linearize(behavior)
    assert np.array_equal(found.gains, choices.gains(model.counterfactual_values(behavior)))
    rounding = 1e-15 * game(spec).tree.payoff_range
    for f in range(choices.size):
        ahead = model.counterfactual_values(behavior + step(choices, f))
        rise = choices.gains(ahead) - found.gains
        assert np.abs(found.jacobian[:, f] - rise).max() <= rounding


def test_game_without_parameter_has_no_slope_and_no_other_model() -> None:
    behavior = np.full(game("jordan").tree.n_actions, 0.5)
    assert generic("jordan").linearize(behavior).slope is None
    with pytest.raises(ValueError, match="parameter"):
        generic("jordan").at(2.0)


def test_game_without_any_choice_has_an_empty_linearization() -> None:
    builder = TreeBuilder(["P1", "P2"])
    only = builder.decision(None, 0, "", ["go"])
    builder.terminal((only, 0), [1, 0])
    tree = builder.tree()
    found = SequenceFormModel(compile_sequence_form(tree)).linearize(np.ones(1))
    assert (found.gains.shape, found.jacobian.shape) == ((0,), (0, 0))
    assert Choices.of(tree).behavior(found.gains).tolist() == [1.0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", MODELS)
def test_profiles_of_another_length_are_refused(kind: str, method: str) -> None:
    for behavior in (np.ones(95), np.ones(97), np.ones((2, 48)), 0.5):
        with pytest.raises(ValueError, match="frequencies"):
            getattr(MODELS[kind]("kuhn3"), method)(behavior)


@pytest.mark.parametrize("kind", MODELS)
def test_results_belong_to_the_caller_and_arguments_stay_as_they_are(kind: str) -> None:
    model, behavior = MODELS[kind]("kuhn3"), np.full(96, 0.5)
    behavior.setflags(write=False)

    def results() -> list[NDArray]:
        own = [getattr(model, method)(behavior) for method in METHODS[:-1]]
        return [*own, *(array for array in model.linearize(behavior) if array is not None)]

    before = [result.copy() for result in results()]
    for result in results():
        result[...] = np.nan
    assert all(np.array_equal(x, y) for x, y in zip(results(), before, strict=True))
    assert np.all(behavior == 0.5)


@pytest.mark.parametrize(("kind", "spec"), WITH_POT)
def test_model_at_another_pot_is_that_of_the_game_at_it(kind: str, spec: str) -> None:
    start, behavior = MODELS[kind](spec), random_profile(game(spec).tree, np.random.default_rng(54))
    before = start.regrets(behavior)
    other = start.at(2.5)
    there = SequenceFormModel(game(spec).at(pot=Fraction(5, 2)).sequence_form)
    assert np.abs(other.regrets(behavior) - there.regrets(behavior)).max() <= 1e-15
    assert np.abs(other.jacobian(behavior) - there.jacobian(behavior)).max() <= 1e-15
    assert np.array_equal(start.regrets(behavior), before)
    assert not np.allclose(other.regrets(behavior), before)
    slope, rise = start.linearize(behavior).slope, start.at(8).linearize(behavior).gains
    assert np.abs(slope - (rise - start.at(7).linearize(behavior).gains)).max() <= 1e-14
    assert np.abs(slope).max() > 0.01
    # chains of pots start from the game and not from the last pot
    assert np.array_equal(start.at(9.0).at(2.5).regrets(behavior), other.regrets(behavior))


@pytest.mark.parametrize(("kind", "module"), [("generic", kernels), ("ranks", rank_sums)])
def test_model_at_another_pot_runs_the_code_that_is_compiled_already(
    monkeypatch: pytest.MonkeyPatch, kind: str, module: Any
) -> None:
    """A writable array would be another type, for which Numba compiles everything again."""
    types = []

    def remember(*arguments: object) -> tuple[float, float]:
        types.append([numba.typeof(argument) for argument in arguments])
        return 0.0, 0.0

    monkeypatch.setattr(module, "best_responses", remember)
    start, behavior = MODELS[kind]("kuhn3"), np.full(96, 0.5)
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
