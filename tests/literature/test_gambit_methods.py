"""What is known of Gambit's methods on poker games, found again through the solvers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from solver_cases import run

from eqbench.verification import certify, verify

pytest.importorskip("pygambit")


@pytest.mark.parametrize("solver", ["gambit_lp", "gambit_lcp", "gambit_lp(use_strategic=true)"])
def test_value_of_two_player_kuhn_poker_is_exactly_minus_one_eighteenth(solver: str) -> None:
    """Kuhn 1950."""
    result = run(solver, "kuhn2")
    exact = certify(result.game.tree, result.candidates[0].profile)
    assert exact is not None
    assert exact.payoffs == (Fraction(-1, 18), Fraction(1, 18))
    assert exact.max_regret == 0


@pytest.mark.parametrize("game", ["kuhn3_reduced", "kuhn3"])
def test_logit_path_ends_early_on_three_player_kuhn_poker(game: str) -> None:
    """Ganzfried 2025, section 4: on the reduced game, Gambit 16.4 ended at these payoffs.

    He measured a max regret of 1.667e-5 after the profile was rounded to four digits.
    """
    result = run("gambit_logit_path", game)
    assert result.termination.reason == "failed"
    assert "before 1e+06" in result.termination.detail
    (candidate,) = result.candidates
    assert candidate.claim == "iterate"
    assert 5e3 < result.monitor.statistics["lambda"] < 5e4
    assert 5e-6 < result.max_regret < 5e-5
    assert candidate.claimed_regret == pytest.approx(result.max_regret, abs=1e-12)
    payoffs = verify(result.game.tree, candidate.profile).payoffs
    np.testing.assert_allclose(payoffs, [-0.0276, -0.0208, 0.0484], atol=1e-4)
