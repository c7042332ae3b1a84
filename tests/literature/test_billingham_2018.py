"""How many equilibria of Kuhn poker with N cards coexist in Billingham 2018, section 5."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from arclength_cases import EXACT, reduced_kuhn, trace

from eqbench.model.profile import BehaviorProfile
from eqbench.verification import Verifier


@pytest.mark.parametrize(
    ("cards", "pot", "count", "window"),
    [
        (4, "419/100", 3, (2, 16)),  # section 5.1, "close to" a pot that the text has lost
        (5, "5202/1000", 5, (4, 16)),  # section 5.2: "multiplicity of up to five"
        (10, "7/2", 15, (2, 3.9)),  # section 5: "up to fifteen"
    ],
)
def test_as_many_solutions_coexist_as_published(
    cards: int, pot: str, count: int, window: tuple[float, float]
) -> None:
    """Crossings of one pot at eps = 1e-7 with the log barrier, polished and verified."""
    branch = trace(reduced_kuhn(cards), *window, 1e-7)
    at = branch.continuation.game_at(float(Fraction(pot)))
    verifier, payoffs = Verifier(at.tree), []
    for behavior in branch.polished_at(pot):
        measured = verifier.verify(BehaviorProfile.of(at.tree, behavior))
        assert float(measured.max_regret) <= EXACT
        payoffs.append([float(payoff) for payoff in measured.payoffs])
    assert len(np.unique(np.round(payoffs, 8), axis=0)) >= count
