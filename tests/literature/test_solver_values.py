"""What is published about games and methods, found again by the solvers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from helpers.solver_cases import bimatrix, run

from eqbench.verification import certify

# -- values of games ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "solver",
    [
        *("sequence_lp", "lcp", "arclength(starts=0,branch=false)"),
        *("gambit_lp", "gambit_lcp", "gambit_lp(use_strategic=true)"),
    ],
)
def test_value_of_two_player_kuhn_poker_is_minus_one_eighteenth(solver: str) -> None:
    """Kuhn 1950; in all equilibria P1 bets the lowest card a third as often as the highest."""
    if solver.startswith("gambit_"):
        pytest.importorskip("pygambit")
    result = run(solver, "kuhn2")
    assert result.max_regret <= 1e-12
    if solver.startswith("gambit_"):
        exact = certify(result.game.tree, result.candidates[0].profile)
        assert exact is not None
        assert exact.payoffs == (Fraction(-1, 18), Fraction(1, 18))
        assert exact.max_regret == 0
    payoffs = result.game.payoff_model().expected_payoffs(result.behavior)
    np.testing.assert_allclose(payoffs, [-1 / 18, 1 / 18], atol=1e-14)
    tree = result.game.tree
    lowest, highest = (
        result.behavior[tree.action_start[tree.infoset_of(0, f"{card}:")] + 1] for card in (1, 3)
    )
    assert lowest == pytest.approx(highest / 3, abs=1e-12)


@pytest.mark.parametrize(
    ("game", "value"),
    [
        # the test suite of OpenSpiel (Lanctot et al. 2019) has it to twelve digits
        ("leduc", -0.085606424078),
        # symmetric, so the value is 0
        ("goofspiel", 0),
    ],
)
def test_linear_program_finds_the_value_of_larger_games(game: str, value: float) -> None:
    result = run("sequence_lp", game)
    assert result.max_regret <= 1e-9
    assert result.monitor.statistics["value"] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("game", "value"),
    [
        # either player is sure of 2/3 by the other's favorite in two thirds of the cases
        ("battle_of_sexes", 2 / 3),
        ("matching_pennies", 0),
        ("rock_paper_scissors", 0),
        ("prisoners_dilemma", 1),
        ("shapley", 1 / 3),
        # each player wants to match or to miss one other, who need only randomize
        ("jordan", 0),
    ],
)
def test_maximin_values_of_classics(game: str, value: float) -> None:
    """By hand; Ganzfried 2022 starts fictitious play from such plans."""
    result = run("fictitious_play(start=maximin)", game, iterations=0)
    values = result.monitor.statistics["maximin_values"]
    assert values == pytest.approx([value] * result.game.tree.n_players, abs=1e-12)


# -- methods ------------------------------------------------------------------------------


def test_fictitious_play_cycles_in_the_game_of_shapley() -> None:
    """Shapley 1964: pairs of actions are played ever longer, and the averages never settle.

    They stay away from the only equilibrium, and while time grows by a factor of four some
    frequency changes by more than a tenth.
    """
    times = 1000 * 4 ** np.arange(5)
    for spec, seed in (("fictitious_play", 0), ("fictitious_play(start=random)", 1)):
        path = [run(spec, "shapley", seed, iterations=int(time)) for time in times]
        assert min(result.max_regret for result in path) > 0.1
        for before, after in itertools.pairwise(path):
            assert np.abs(after.behavior - before.behavior).max() > 0.1


@pytest.mark.parametrize("seed", range(10))
def test_path_from_a_completely_mixed_prior_ends_in_a_perfect_equilibrium(seed: int) -> None:
    """von Stengel, van den Elzen and Talman 2002: never in the dominated second actions.

    Both second actions are an equilibrium too, but one that no small mistake survives.
    """
    game = bimatrix([[1, 0], [0, 0]], [[1, 0], [0, 0]])
    assert game.payoff_model().regrets(np.array([0.0, 1, 0, 1])).max() == 0
    result = run("lcp(start=random)", game, seed)
    np.testing.assert_array_equal(result.behavior, [1, 0, 1, 0])
