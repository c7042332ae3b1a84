"""Sums over ranks give what the generic kernels, all deals played out and the verifier give."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from agreement import KINDS, draw_behavior
from numpy.typing import NDArray
from rank_cases import SPECS, distance, game, ranks, verified_regrets

import eqbench
from eqbench.model.payoff_model import PayoffModel, SequenceFormModel
from eqbench.model.tree import GameTree

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


# -- against all deals, played out ----------------------------------------------------------


def played_out(tree: GameTree, n: int, pot: float, behavior: NDArray) -> tuple[NDArray, NDArray]:
    """Expected payoffs (3,) and counterfactual values (A,), deal by deal from the rules."""
    payoffs, values = np.zeros(3), np.zeros(tree.n_actions)
    deals = list(itertools.permutations(range(1, n + 1), 3))

    def settle(history: str, cards: tuple[int, ...]) -> NDArray:
        bettor = history.find("B")
        stakes = np.zeros(3) if bettor < 0 else np.array([float(p == bettor % 3) for p in range(3)])
        contending = {0, 1, 2} if bettor < 0 else {bettor % 3}
        for answer, letter in enumerate(history[bettor + 1 :] if bettor >= 0 else "", start=1):
            if letter == "C":
                stakes[(bettor + answer) % 3] = 1
                contending.add((bettor + answer) % 3)
        result = -stakes - pot / 3
        result[max(contending, key=lambda p: cards[p])] += pot + stakes.sum()
        return result

    def play(history: str, cards: tuple[int, ...], reach: NDArray) -> NDArray:
        if history == "KKK" or ("B" in history and len(history) == history.index("B") + 3):
            return settle(history, cards)
        player = len(history) % 3
        infoset = tree.infoset_of(player, f"{cards[player]}:{history}")
        total = np.zeros(3)
        for a, name in enumerate(tree.infoset_actions[infoset], tree.action_start[infoset]):
            letter = {"check": "K", "bet": "B", "fold": "F", "call": "C"}[name]
            further = reach.copy()
            further[player] *= behavior[a]
            below = play(history + letter, cards, further)
            values[a] += np.delete(reach, player).prod() * below[player] / len(deals)
            total += behavior[a] * below
        return total

    for cards in deals:
        payoffs += play("", cards, np.ones(3)) / len(deals)
    return payoffs, values


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("spec", "n", "pot"),
    [
        ("kuhn(players=3,cards=4,pot=3)", 4, 3.0),
        ("kuhn(players=3,cards=5,pot=16/5,reduce=billingham)", 5, 3.2),
        ("kuhn(players=3,cards=7,pot=9/2)", 7, 4.5),
        ("skp(pot=5)", 4, 5.0),
    ],
)
def test_values_are_those_of_all_deals_played_out(spec: str, n: int, pot: float, kind: str) -> None:
    tree = game(spec).tree
    behavior = draw_behavior(tree, np.random.default_rng(41), kind)
    payoffs, values = played_out(tree, n, pot, behavior)
    assert distance(ranks(tree).expected_payoffs(behavior), payoffs) <= 1e-14
    assert distance(ranks(tree).counterfactual_values(behavior), values) <= 1e-15


# -- one model, several pots ----------------------------------------------------------------


def test_model_at_another_pot_is_that_of_the_game_at_it() -> None:
    spec, behavior = SPECS[1], np.full(game(SPECS[1]).tree.n_actions, 0.5)
    model = ranks(game(spec).tree)
    before = model.regrets(behavior)
    there = game(spec).at(pot=Fraction(16, 5))
    for other in (model.at(3.2), ranks(there.tree), there.payoff_model()):
        assert distance(other.regrets(behavior), verified_regrets(there.tree, behavior)) <= 1e-15
    assert np.array_equal(model.regrets(behavior), before)
    assert not np.allclose(model.at(3.2).regrets(behavior), before)


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


@pytest.mark.parametrize("method", [*METHODS, "linearize"])
def test_profiles_of_another_length_are_refused(method: str) -> None:
    model: PayoffModel = ranks(game("kuhn3").tree)
    for behavior in (np.ones(95), np.ones(97), np.ones((2, 48)), 0.5):
        with pytest.raises(ValueError, match="this game has 96 frequencies"):
            getattr(model, method)(behavior)


def test_results_belong_to_the_caller_and_arguments_stay_as_they_are() -> None:
    model, behavior = ranks(game("kuhn3").tree), np.full(96, 0.5)
    behavior.setflags(write=False)

    def results() -> list[NDArray]:
        return [
            *(getattr(model, method)(behavior) for method in METHODS),
            *(array for array in model.linearize(behavior) if array is not None),
        ]

    before = [result.copy() for result in results()]
    for result in results():
        result[...] = np.nan
    assert all(np.array_equal(x, y) for x, y in zip(results(), before, strict=True))
    assert np.all(behavior == 0.5)
