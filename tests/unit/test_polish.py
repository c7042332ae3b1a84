"""Polishing: from a regularized equilibrium to an exact one, with or without the parameter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from arclength_cases import (
    EXACT,
    descend,
    game,
    max_regret,
    module,
    reduced_kuhn,
    system,
    trace,
)
from solver_cases import bimatrix

from eqbench.model.profile import random_profile

polish = module("polish.frequencies")
SPECS = (
    "skp(pot=107/33)",
    "kuhn3",
    "kuhn(players=2,cards=4,raises=1)",
    "rock_paper_scissors",
    "random(players=3,actions=4)",
)


def started(made: Any, behavior: np.ndarray) -> Any:
    """A profile as polishing takes it."""
    return made.measured(behavior, made.parameter)


@pytest.mark.parametrize("spec", SPECS)
def test_polished_profile_is_an_equilibrium_whatever_eps_it_comes_from(spec: str) -> None:
    made = system(spec)
    for epsilon in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
        end = descend(made, epsilon)
        assert max_regret(made.game, end.behavior) <= EXACT
        assert end.polished.regret == pytest.approx(max_regret(made.game, end.behavior), abs=1e-14)
        assert np.abs(end.behavior - end.regularized).max() <= 10 * np.sqrt(epsilon)


@pytest.mark.parametrize("kind", ["log", "arctan", "rational"])
def test_every_regularization_shows_its_active_set(kind: str) -> None:
    made = system("kuhn3", kind)
    for epsilon in (1e-5, 1e-9):
        assert max_regret(made.game, descend(made, epsilon).behavior) <= EXACT


def test_polished_frequencies_stand_on_their_bounds_and_sum_to_one() -> None:
    end = descend(system("kuhn3"), 1e-6)
    assert ((end.regularized > 0) & (end.regularized < 1)).all()
    assert ((end.behavior >= 0) & (end.behavior <= 1)).all()
    assert np.count_nonzero(end.behavior == 0) >= 24
    first = game("kuhn3").tree.action_start[:-1]
    assert np.abs(np.add.reduceat(end.behavior, first) - 1).max() <= 2e-16


@pytest.mark.parametrize("seed", range(20))
def test_polishing_never_worsens(seed: int) -> None:
    """From any profile and with any support."""
    made, rng = system("kuhn3"), np.random.default_rng(seed)
    start = started(made, random_profile(made.game.tree, rng))
    support = rng.uniform(size=made.choices.n_actions) < 0.6
    support[made.choices.first] |= ~support[made.choices.action]
    found = polish.polish(made, start, support)
    assert found.regret <= start.regret
    assert max_regret(made.game, found.behavior) == pytest.approx(found.regret, abs=1e-14)


def test_exact_equilibrium_is_left_alone() -> None:
    made = system("rock_paper_scissors")
    start = polish.Polished(np.full(6, 1 / 3), 0.0, 0.0)
    assert polish.polish(made, start, np.ones(6, dtype=bool)) is start


@pytest.mark.parametrize("missing", [1, 2, 4, 5])
def test_action_that_gains_enters_the_support(
    missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only equilibrium of this game mixes all actions."""
    rows = np.array([[4, -1, 0], [-1, 2, -2], [0, -1, 3]])
    made = system(bimatrix(rows, -rows))
    end = descend(made, 1e-3)
    assert end.behavior.min() > 0.1
    start, support = started(made, end.regularized), np.arange(6) != missing
    assert polish.polish(made, start, support).behavior == pytest.approx(end.behavior, abs=1e-14)
    monkeypatch.setattr(polish, "gaining", lambda *_: np.zeros(6, dtype=bool))
    assert polish.polish(made, start, support).regret > 1e-4


def test_free_parameter_moves_onto_the_pot_of_a_vertical_piece() -> None:
    """At a pot of 3 equilibria form a family; beside it they do not (Billingham 2018, 5.1)."""
    made = trace(reduced_kuhn(4), 2.05, 16, 1e-9)
    beside = [p for p in made.points if 1e-9 < abs(p.value - 3) < 1e-5]
    assert len(beside) >= 5
    for point in beside:
        behavior, value = made.continuation.polish(point)
        assert value == pytest.approx(3, abs=1e-12)
        assert max_regret(made.continuation.game_at(3), behavior) <= EXACT
        assert np.abs(behavior - point.behavior).max() <= 1e-2


@pytest.mark.parametrize("pot", ["5/2", "31/10", "419/100", "6", "12"])
def test_given_parameter_stays_where_it_is(pot: str) -> None:
    made = trace(reduced_kuhn(4), 2.05, 16, 1e-9)
    value = float(Fraction(pot))
    crossings = made.at(value)
    assert crossings
    for point in crossings:
        behavior, found = made.continuation.polish(point, value)
        assert found == value
        assert max_regret(made.continuation.game_at(value), behavior) <= EXACT
