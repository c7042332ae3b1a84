"""Repeated play with a limited memory: what is remembered, how behavior moves, what it imitates."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import eqbench
from eqbench.errors import SpecError, UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import random_profile


def play(game, state, times, *, memory=1, hand_time=0.01, rate=1.0, seed=0, **options):
    """A trajectory of repeated play."""
    kind = type(eqbench.load_solver("replicator"))
    table = kind(rate=rate, hand_time=hand_time).hand_by_hand(game, memory)
    rng = np.random.default_rng(seed)
    return table.play(np.array(state, dtype=float), np.array(times, dtype=float), rng, **options)


@pytest.fixture
def two_steps():
    """One player: stop for 0, or go on to 1 or 3."""
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["stop", "go"])
    builder.terminal((root, 0), [0])
    later = builder.decision((root, 1), 0, "second", ["left", "right"])
    for move, payoff in enumerate((1, 3)):
        builder.terminal((later, move), [payoff])
    return Game("two_steps", builder.tree())


@pytest.mark.parametrize("rate", [1.0, 24.0])
def test_without_opponents_play_is_eulers_method(two_steps, rate):
    """Own behavior is known, so nothing is estimated; the first gain follows the second choice."""
    times = np.arange(41) * 0.25
    found = play(two_steps, [-1.0, 0.5], times, hand_time=0.25, memory=3, rate=rate)
    expected = np.empty((41, 2))
    expected[0] = -1.0, 0.5
    for k in range(40):
        right = 1 / (1 + np.exp(-expected[k, 1]))
        expected[k + 1] = expected[k] + 0.25 * rate * np.array([1 + 2 * right, 2.0])
    np.testing.assert_allclose(found.states, expected, rtol=1e-13)
    # by default a hundredth of a unit of time is remembered, so one hand of 50 takes 0.0002
    found = play(two_steps, [0.0, 0.0], [0, 0.0002], memory=50, hand_time=None, rate=rate)
    np.testing.assert_allclose(found.states[1], [0.0004 * rate, 0.0004 * rate], rtol=1e-12)


@pytest.mark.parametrize("memory", [1, 4, 7])
def test_estimates_are_shares_of_the_remembered_hands(memory):
    """In matching pennies the gain is 2 (1 - 2 q), and a share q is a multiple of 1 / memory."""
    game = eqbench.load_game("matching_pennies")
    found = play(game, [0.2, -0.3], np.arange(400) * 0.01, memory=memory)
    gains = np.abs(np.diff(found.states, axis=0)) / 0.01
    counted = memory * (1 - gains / 2) / 2
    np.testing.assert_allclose(counted, np.rint(counted), atol=1e-9)
    assert len(np.unique(np.rint(counted))) == memory // 2 + 1


def test_where_nothing_is_seen_the_start_is_believed():
    """P2 plays large with 3/4 but is never asked, so P1 goes on expecting 7/4."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "first", ["out", "in"])
    builder.terminal((root, 0), [0, 0])
    answer = builder.decision((root, 1), 1, "answer", ["small", "large"])
    for move, payoffs in enumerate(([1, 1], [2, 0])):
        builder.terminal((answer, move), payoffs)
    game = Game("rare_opponent", builder.tree())
    found = play(game, [-60.0, np.log(3)], [0, 1.0, 2.0], memory=5)
    np.testing.assert_allclose(found.states[:, 0], [-60, -58.25, -56.5], rtol=1e-13)
    np.testing.assert_array_equal(found.states[:, 1], np.log(3))


@pytest.mark.parametrize("spec", ["skp(pot=3.1)", "shapley", "leduc"])
def test_hands_are_drawn_from_chance_and_behavior(spec):
    """With behavior at rest, winnings are within five standard errors of expected payoffs."""
    game = eqbench.load_game(spec)
    choices = Choices.of(game.tree)
    behavior = random_profile(game.tree, np.random.default_rng(3))
    state = np.log(behavior[choices.action] / behavior[choices.first])
    number = 8_000
    found = play(game, state, np.arange(number + 1.0), rate=1e-300, hand_time=1.0)
    won = np.diff(found.profits, axis=0)
    error = won.std(axis=0) / np.sqrt(number)
    expected = game.payoff_model().expected_payoffs(behavior)
    assert np.all(np.abs(won.mean(axis=0) - expected) <= 5 * error)
    assert np.all(error > 0)


def test_a_hand_of_no_time_gives_the_flow():
    """Noise is of the order of the root of the time of a hand, at any fixed memory."""
    game = eqbench.load_game("skp(pot=3.1)")
    flow = eqbench.load_solver("replicator(integrator=dop853)").flow(game)
    start, times = np.random.default_rng(0).normal(size=11), np.linspace(0, 5, 21)
    expected, distances = flow.behavior(flow.integrate(start, times).states), []
    for hand_time in (1e-2, 1e-3, 1e-4):
        found = play(game, start, times, memory=20, hand_time=hand_time, rate=24.0)
        played = flow.behavior(found.states)
        distances.append(np.sqrt(np.mean((played - expected) ** 2)))
    assert distances[0] > 0.03
    assert all(later < 0.75 * earlier for earlier, later in pairwise(distances))
    assert distances[-1] < 0.05


def test_same_seed_gives_the_same_play_wherever_it_is_looked_at():
    game = eqbench.load_game("kuhn3")
    start = np.zeros(Choices.of(game.tree).size)
    fine = play(game, start, np.linspace(0, 50, 51), memory=10)
    coarse = play(game, start, [0, 50.0], memory=10)
    other = play(game, start, [0, 50.0], memory=10, seed=1)
    np.testing.assert_array_equal(fine.states[-1], coarse.states[-1])
    np.testing.assert_array_equal(fine.profits[-1], coarse.profits[-1])
    assert not np.array_equal(other.states[-1], coarse.states[-1])


def test_interrupted_play_keeps_what_it_reached(two_steps):
    game = eqbench.load_game("matching_pennies")
    asked = iter([False] * 4)  # once while the memory is filled
    found = play(game, [0.1, 0.1], np.arange(10.0), interrupted=lambda: next(asked, True))
    np.testing.assert_array_equal(found.times, [0, 1, 2, 3])
    assert found.states.shape == found.profits.shape == (4, 2)
    assert found.ending == "interrupted (after time 3 of 9)"
    # not even the memory need be filled
    asked = iter([False] * 2)
    stopped = {"memory": 100_000, "interrupted": lambda: next(asked, True)}
    found = play(two_steps, [0.0, 0.0], [0, 1.0], **stopped)
    assert (found.times.tolist(), "interrupted" in found.ending) == ([0], True)


@pytest.mark.parametrize(("rate", "start"), [(1e15, 0.0), (1e308, 0.0), (1.0, 2e12)])
def test_play_beyond_what_floats_resolve_ends_with_a_reason(two_steps, rate, start):
    found = play(two_steps, [0.0, start], np.arange(5.0), rate=rate, hand_time=1.0)
    assert "log-odds are beyond 1e+12" in found.ending
    assert found.states.tolist() == [[0.0, start]]


@pytest.mark.parametrize(
    ("name", "values", "kind", "words"),
    [
        ("state", [[0.0], [0.0] * 3, [[0.0, 0.0]], [0.0, np.nan]], UsageError, "2 finite log-odds"),
        ("times", [[], [0, 1, 0.5], [0, np.nan], [0, np.inf], [[0.0]]], UsageError, "ascending"),
        ("memory", [0, -3, 2.5, np.inf, np.nan], UsageError, "memory=.* at least 1"),
        ("hand_time", [0.0, -1.0, np.inf, np.nan], SpecError, "positive, finite"),
        ("hand_time", [1e-20], UsageError, r"1e\+20 hands .* longer hand_time"),
    ],
)
def test_what_cannot_be_played_is_refused(two_steps, name, values, kind, words):
    for value in values:
        with pytest.raises(kind, match=words):
            play(two_steps, **({"state": [0.0, 0.0], "times": [0, 1.0]} | {name: value}))
