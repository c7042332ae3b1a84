"""Paths in eps: from the center of all simplices to a small eps, around folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arclength_cases import EXACT, descend, game, log_normal, max_regret, module, system
from solver_cases import bimatrix

homotopy = module("arclength.continuation")
# Their weights, of logarithms with spread 2, make the path turn around before it ends.
FOLDED = (26, 53, 62)
PLAIN = (0, 1, 2)


@pytest.fixture(scope="module")
def kuhn() -> Any:
    return system("kuhn3")


def residual(made: Any, z: np.ndarray, epsilon: float) -> float:
    """The largest, in payoff units."""
    found, _ = made.evaluate(z, epsilon, made.parameter)
    return float(np.abs(found * made.free_scale).max())


@pytest.mark.parametrize("kind", ["log", "arctan", "rational"])
def test_path_ends_at_a_solution_for_the_given_eps(kind: str) -> None:
    made = system("skp(pot=107/33)", kind)
    for epsilon in (10.0, 0.3, 1e-3, 1e-6, 1e-9):
        z = homotopy.descend(made, made.parameter, epsilon)
        assert residual(made, z, epsilon) <= 1e-14 * max(1, epsilon)


def test_path_is_seen_from_strong_to_weak_barriers(kuhn: Any) -> None:
    seen: list[tuple[np.ndarray, float]] = []
    z = homotopy.descend(kuhn, 3.0, 1e-7, lambda z, eps: seen.append((z.copy(), eps)))
    strengths = [epsilon for _, epsilon in seen]
    assert strengths == sorted(strengths, reverse=True)
    assert strengths[0] == pytest.approx(kuhn.unit)
    assert strengths[-1] == pytest.approx(1e-7)
    assert np.array_equal(seen[-1][0], z)
    assert max(residual(kuhn, z, epsilon) for z, epsilon in seen) <= 1e-12


def test_without_payoffs_there_is_nothing_to_follow_but_the_center() -> None:
    made = system(bimatrix(np.zeros((2, 3), int), np.zeros((2, 3), int)))
    z = homotopy.descend(made, 0.0, 1e-8)
    frequencies = made.frequencies(z, 1e-8).behavior
    assert frequencies == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize("seed", FOLDED)
def test_fold_in_eps_is_followed_around(
    seed: int, kuhn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    weighted = log_normal(kuhn, seed, 2.0)
    z = homotopy.descend(weighted, 3.0, 1e-7)
    assert residual(weighted, z, 1e-7) <= 1e-12
    assert max_regret(game("kuhn3"), descend(weighted, 1e-7).behavior) <= EXACT
    monkeypatch.setattr(homotopy, "_past_fold", lambda *_: None)
    assert homotopy.descend(weighted, 3.0, 1e-7) is None


def test_the_way_around_a_fold_leads_through_larger_eps(
    kuhn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along the curve log eps falls, rises and falls again."""
    directions: list[float] = []
    walk = homotopy.follow

    def listen(*arguments: Any) -> Any:
        for point in walk(*arguments):
            directions.append(float(point.tangent[-1]))
            yield point

    monkeypatch.setattr(homotopy, "follow", listen)
    for seed in PLAIN:
        homotopy.descend(log_normal(kuhn, seed, 2.0), 3.0, 1e-7)
    assert not directions
    homotopy.descend(log_normal(kuhn, FOLDED[0], 2.0), 3.0, 1e-7)
    signs = np.sign(directions)
    turns = np.flatnonzero(np.diff(signs))
    assert signs[0] == signs[-1] == -1
    assert len(turns) >= 2
    assert len(turns) % 2 == 0


def test_way_that_is_too_long_is_given_up(kuhn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homotopy, "LONGEST_WAY", 1)
    assert homotopy.descend(log_normal(kuhn, FOLDED[0], 2.0), 3.0, 1e-7) is None


@pytest.mark.parametrize("parameter", [2.0, 3.0, 7.5])
def test_path_belongs_to_the_given_pot(parameter: float, kuhn: Any) -> None:
    z = homotopy.descend(kuhn, parameter, 1e-8)
    profile = kuhn.frequencies(z, 1e-8).behavior
    assert max_regret(game("kuhn3").at(pot=parameter), profile) <= 1e-6
    assert max_regret(game("kuhn3").at(pot=parameter + 1), profile) > 1e-6


def test_random_weights_lead_to_equilibria_of_kuhn_poker(kuhn: Any) -> None:
    """And to different ones: the equilibria form a family (Szafron et al. 2013)."""
    ends = []
    for seed in range(100):
        behavior = descend(log_normal(kuhn, seed), 1e-7).behavior
        if max_regret(game("kuhn3"), behavior) <= EXACT:
            ends.append(behavior)
    assert len(ends) >= 99
    assert len(np.unique(np.round(ends, 6), axis=0)) >= 90
