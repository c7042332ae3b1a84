"""Sums over ranks give what the generic kernels and the verifier give."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.study_cases import REDUCED, SPECS, distance, game, ranks, verified_regrets
from helpers.walks import KINDS, draw_behavior

import eqbench
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.verification import verify

METHODS = (
    "expected_payoffs",
    "counterfactual_values",
    "best_response_values",
    "regrets",
    "jacobian",
)


# -- against the generic kernels ------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "independent"])
@pytest.mark.parametrize("spec", SPECS)
def test_all_methods_agree_with_the_generic_kernels(spec: str, kind: str) -> None:
    tree, rng = game(spec).tree, np.random.default_rng(40)
    mine, generic = ranks(tree), SequenceFormModel(game(spec).sequence_form)
    rounding = 4e-16 * tree.payoff_range
    for _ in range(4):
        if kind == "independent":  # values are defined for all frequencies, summing to 1 or not
            behavior = rng.random(tree.n_actions)
        else:
            behavior = draw_behavior(tree, rng, kind)
        for method in METHODS:
            values = getattr(mine, method)(behavior)
            assert distance(values, getattr(generic, method)(behavior)) <= rounding, method
        for ours, theirs in zip(mine.linearize(behavior), generic.linearize(behavior), strict=True):
            assert ours is not None
            assert theirs is not None
            assert distance(ours, theirs) <= rounding


def test_small_values_keep_their_digits() -> None:
    """Two players cannot both hold the one card that is ever played; what is left is tiny."""
    spec = "kuhn(players=3,cards=5,pot=3)"
    tree = game(spec).tree
    by_infoset = [1.0 if label.startswith("2:") else 1e-20 for label in tree.infoset_labels]
    behavior = np.repeat(by_infoset, np.diff(tree.action_start))
    ours = ranks(tree).counterfactual_values(behavior)
    theirs = SequenceFormModel(game(spec).sequence_form).counterfactual_values(behavior)
    fold = np.array([name == "fold" for actions in tree.infoset_actions for name in actions])
    assert np.all(theirs[fold] < 0)
    assert theirs[fold].max() > -1e-19
    assert np.abs(ours[fold] / theirs[fold] - 1).max() <= 1e-14


# -- against the verifier --------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "spec",
    [
        *("kuhn(players=3,cards=4,pot=3)", "kuhn(players=3,cards=5,pot=16/5,reduce=billingham)"),
        *("kuhn(players=3,cards=7,pot=9/2)", "skp(pot=5)", "kuhn(players=3,cards=10)"),
    ],
)
def test_verifier_measures_the_same_payoffs_and_regrets(spec: str, kind: str) -> None:
    tree = game(spec).tree
    behavior = draw_behavior(tree, np.random.default_rng(42), kind)
    measured = verify(tree, BehaviorProfile.of(tree, behavior))
    assert distance(ranks(tree).expected_payoffs(behavior), np.array(measured.payoffs)) <= 1e-14
    assert distance(ranks(tree).regrets(behavior), np.array(measured.regrets)) <= 1e-14


# -- derivatives ----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [SPECS[1], *REDUCED[2:6]])
def test_jacobian_is_the_difference_of_values_over_a_unit_step(spec: str) -> None:
    """Values are linear in every single frequency, so differences are exact."""
    tree = game(spec).tree
    model = ranks(tree)
    behavior = random_profile(tree, np.random.default_rng(43))
    jacobian = model.jacobian(behavior)
    for a, unit in enumerate(np.eye(tree.n_actions)):
        rise = model.counterfactual_values(behavior + unit) - model.counterfactual_values(behavior)
        assert distance(jacobian[:, a], rise) <= 2e-15


# -- one model, several pots ----------------------------------------------------------------


def test_games_share_the_model_over_pots_and_compile_no_sequence_form() -> None:
    start = eqbench.load_game("kuhn(players=3,cards=5)")
    behavior = np.full(start.tree.n_actions, 0.5)
    start.payoff_model().linearize(behavior)
    there = start.at(pot=4)
    assert (
        distance(there.payoff_model().regrets(behavior), verified_regrets(there.tree, behavior))
        <= 1e-15
    )
    assert "sequence_form" not in start.__dict__
    assert "sequence_form" not in there.__dict__


# -- arguments and results --------------------------------------------------------------------


def test_lists_and_integers_are_frequencies_too() -> None:
    model = ranks(game("kuhn3").tree)
    pure = [1, 0] * 48
    assert np.array_equal(model.regrets(pure), model.regrets(np.array(pure, dtype=np.float64)))
