"""Fictitious play: its definition, its starts, and how ties are broken."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.solver_cases import bimatrix, run, tie

import eqbench
from eqbench.model import realization as reference
from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan


def by_definition(game: Game, iterations: int, *, alternating: bool) -> np.ndarray:
    """Average after some iterations from the uniform start, in the plainest way.

    The best response is found by trying the pure choices of an information set one by one, the
    latest sets first, and averages are running means of realization plans.
    """
    form = game.sequence_form
    n, owner = form.n_players, form.infoset_player[form.sequence_infoset[form.n_players :]]
    uniform = 1.0 / np.diff(form.block_start)[form.sequence_infoset[n:]]
    average = RealizationPlan.of(form, uniform).weights.copy()
    player_of = np.concatenate((np.arange(n), owner))
    for t in range(1, iterations + 1):
        behavior = RealizationPlan(average).to_behavior(form)
        for player in range(n):
            if alternating:
                behavior = RealizationPlan(average).to_behavior(form)
            response = behavior.copy()
            for i in reversed(np.flatnonzero(form.infoset_player == player)):
                block = slice(form.block_start[i] - n, form.block_start[i + 1] - n)
                values = reference.counterfactual_values(form, response)[block]
                best = int(np.argmax(values >= values.max() - 1e-12 * game.tree.payoff_range))
                response[block] = np.arange(len(values)) == best
            own = player_of == player
            played = RealizationPlan.of(form, response).weights
            average[own] += (played[own] - average[own]) / (t + 1)
    return RealizationPlan(average).to_behavior(form)


@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("name", ["kuhn2", "kuhn3", "jordan", "random 1", "random 2", "random 3"])
def test_averages_follow_the_definition(name: str, alternating: bool) -> None:
    if name.startswith("random"):
        game = Game(name, random_tree(int(name.split()[1]), depth=6))
    else:
        game = eqbench.load_game(name)
    spec = f"fictitious_play(alternating={str(alternating).lower()})"
    for iterations in (1, 2, 15):
        expected = by_definition(game, iterations, alternating=alternating)
        result = run(spec, game, iterations=iterations)
        np.testing.assert_allclose(result.behavior, expected, atol=1e-12)


@pytest.mark.parametrize("alternating", ["false", "true"])
@pytest.mark.parametrize("start", ["uniform", "random", "maximin"])
def test_averages_approach_the_value_of_two_player_kuhn(start: str, alternating: str) -> None:
    spec = f"fictitious_play(start={start},alternating={alternating})"
    early, late = (run(spec, "kuhn2", iterations=n) for n in (100, 100_000))
    assert late.max_regret < 2e-3 < early.max_regret
    payoffs = late.game.payoff_model().expected_payoffs(late.behavior)
    assert payoffs[0] == pytest.approx(-1 / 18, abs=2e-3)


# -- ties ---------------------------------------------------------------------------------


def test_first_of_equally_good_actions_is_taken() -> None:
    result = run(
        "fictitious_play", bimatrix(np.zeros((3, 3), int), np.eye(3, dtype=int)), iterations=2
    )
    np.testing.assert_allclose(result.behavior, [7 / 9, 1 / 9, 1 / 9] * 2)


def test_rounding_does_not_break_ties() -> None:
    assert run("fictitious_play", tie(), iterations=99).behavior[0] == pytest.approx(0.995)


# -- starts -------------------------------------------------------------------------------


def test_sums_of_plans_stay_exact_over_many_iterations() -> None:
    """Only whole numbers are added to the start, so no digit of a sum is lost."""
    result = run("fictitious_play(start=maximin)", "jordan", iterations=200_000)
    counts = result.behavior * 200_001 - 0.5
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
