"""Mirror descent: where it rests at a fixed temperature, and that its last iterate converges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from solver_cases import numerical_jacobian, run

import eqbench
from eqbench.model import reference
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach, inspect_profile
from eqbench.verification import verify

TEMPERATURE = 0.2


def rested(values: str, game: Game, **options: object) -> np.ndarray:
    """Last iterate (A,) at a fixed temperature, from a random start."""
    fixed = {"values": values, "step": 2, "slowing": 0, "cooling": 0, "start": "random"} | options
    words = ",".join(f"{name}={value}".lower() for name, value in fixed.items())
    return run(f"mmd({words},temperature={TEMPERATURE})", game, iterations=20_000).last


def by_softmax(game: Game, utilities: np.ndarray) -> np.ndarray:
    """Logit responses (A,) to utilities (A,) at each information set."""
    response = np.exp(utilities / (TEMPERATURE * game.tree.payoff_range))
    starts = game.tree.action_start
    return response / np.repeat(np.add.reduceat(response, starts[:-1]), np.diff(starts))


@pytest.mark.parametrize("predictive", [False, True])
@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3"])
def test_mmd_rests_at_the_agent_logit_equilibrium(spec, alternating, predictive):
    """Damped logit responses to payoffs given that an information set is reached lead there."""
    game = eqbench.load_game(spec)
    behavior = by_softmax(game, np.zeros(game.tree.n_actions))
    for _ in range(800):
        response = by_softmax(game, -inspect_profile(game, behavior).gaps)
        behavior = 0.95 * behavior + 0.05 * response
    np.testing.assert_allclose(behavior, response, atol=1e-12)
    found = rested("behavioral", game, alternating=alternating, predictive=predictive)
    np.testing.assert_allclose(found, behavior, atol=1e-10)


def test_reg_cfr_rests_at_the_logit_equilibrium_of_the_reduced_strategic_form():
    game = eqbench.load_game("kuhn2")
    form, sizes = game.sequence_form, [len(each) for each in game.tree.infoset_actions]
    pure = itertools.product(*(np.eye(size) for size in sizes))
    plans = np.array([reference.realization(form, np.concatenate(each)) for each in pure])
    own = [np.unique(plans * (form.sequence_player == p), axis=0) for p in range(form.n_players)]
    mixed = sum(each.mean(axis=0) for each in own)
    for _ in range(800):
        values = reference._direct_values(form, mixed)
        logits = [each @ values / (TEMPERATURE * game.tree.payoff_range) for each in own]
        responses = [np.exp(each - each.max()) for each in logits]
        response = sum(w @ each / w.sum() for w, each in zip(responses, own, strict=True))
        mixed = 0.95 * mixed + 0.05 * response
    np.testing.assert_allclose(mixed, response, atol=1e-12)
    found = reference.realization(form, rested("dilated", game, predictive=True))
    np.testing.assert_allclose(found, mixed, atol=1e-10)


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3"])
def test_qfr_rests_where_no_player_gains_with_entropy_paid_by_all(spec):
    """Every action of an information set changes the payoff with entropy by the same rate."""
    game = eqbench.load_game(spec)
    tree, starts = game.tree, game.tree.action_start
    sign = np.where(tree.infoset_player[:, None] == np.arange(tree.n_players), 1, -1)

    def payoffs(behavior: np.ndarray) -> np.ndarray:
        entropy = np.add.reduceat(-behavior * np.log(behavior), starts[:-1])
        paid = (infoset_reach(tree, behavior) * entropy) @ sign
        payoffs = reference.expected_payoffs(game.sequence_form, behavior)
        return payoffs + TEMPERATURE * tree.payoff_range * paid

    found = rested("bidilated", game, predictive=True)
    rates = numerical_jacobian(payoffs, found, 1e-4)
    for first, last, player in zip(starts, starts[1:], tree.infoset_player, strict=False):
        np.testing.assert_allclose(np.ptp(rates[player, first:last]), 0, atol=1e-7)


@pytest.mark.parametrize("solver", ["mmd", "reg_cfr", "qfr"])
def test_last_iterate_converges(solver):
    bounds = {
        ("kuhn2", 5_000): 5e-4,
        ("kuhn3", 5_000): 1e-3,
        ("leduc", 500): 1,
        ("leduc", 5_000): 0.1,
    }
    for (game, iterations), bound in bounds.items():
        last = run(solver, game, iterations=iterations).candidates[1]
        assert last.claim == "iterate"
        assert verify(eqbench.load_game(game).tree, last.profile).nash_conv < bound


def test_frequencies_stay_finite_where_the_others_hardly_go():
    """Where they go with 1e-310, the inverse of that is infinite."""
    last = run("mmd(step=2,slowing=0,temperature=2,cooling=1)", "leduc", iterations=10_000).last
    assert np.isfinite(last).all()
