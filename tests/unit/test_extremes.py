"""Smallest and largest values over published sets."""

from __future__ import annotations

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import known_sets
from eqbench.equilibria.known import corner_parameters, extremes
from eqbench.studies.extremes import is_linear


def test_extremes_of_the_published_three_player_family() -> None:
    # Szafron, Gibson and Sturtevant 2013, Tables 2 and 3 with Section 4: beta is at most 1/4, so
    # that player 1 gets -(1/2 + beta)/24
    game = eqbench.load_game("kuhn3")
    for known in known_sets(game):
        low, high = extremes(known, lambda at, of=known: float(of.payoffs_near(at)[0]))
        assert (low, high) == pytest.approx((-1 / 32, -1 / 48), abs=1e-9)
    bluff = {
        known.name: extremes(known, lambda at, of=known: of.shown(at)["c11"])
        for known in known_sets(game)
    }
    assert bluff["szafron:c11=0"] == (0, 0)
    assert bluff["szafron:c11=1/2"] == (0.5, 0.5)
    assert bluff["szafron:0<c11<1/2"] == pytest.approx((0, 0.5), abs=1e-6)


def test_extremes_of_linear_sets_are_at_their_corners() -> None:
    for known in known_sets(eqbench.load_game("kuhn3")):
        corners = corner_parameters(known)
        if known.name == "szafron:0<c11<1/2":
            assert not corners, "its constraints are not linear"
            continue
        for name in ("b11", "b32", "b33", "c33"):
            at = known.layout.variables.index(name)
            values = [known.frequencies(np.array(point, dtype=float))[at] for point in corners]
            found = extremes(known, lambda point, of=known, v=at: float(of.frequencies(point)[v]))
            assert found == pytest.approx((min(values), max(values)), abs=1e-9)


def test_sets_with_curved_constraints_and_curved_figures_are_told_from_linear_ones() -> None:
    curved = {
        known.name
        for known in known_sets(eqbench.load_game("kuhn3"))
        if not is_linear(known, lambda at, of=known: float(of.payoffs_near(at)[0]))
    }
    assert curved == {"szafron:0<c11<1/2"}
    (line,) = known_sets(eqbench.load_game("kuhn2"))
    assert is_linear(line, lambda at: 2 * float(at[0]) - 1)
    assert not is_linear(line, lambda at: float(at[0] ** 2))
