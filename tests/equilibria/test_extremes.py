"""Members that stand for a published set, and smallest and largest values over it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.known import corner_parameters, extremes, payoff_ends
from eqbench.equilibria.members import corners, members
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
            assert corners == [], "its constraints are not linear"
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


@pytest.mark.parametrize(
    ("payoffs", "ends"),
    [
        (lambda a: [a, 1, -a], ((0, 1, 0), (1 / 3, 1, -1 / 3))),
        (lambda a: [1 + 0 * a, -1], ((1, -1),)),
        (lambda a: [a, -2 * a], None),
        (lambda a: [a, a, -2 * a], None),
    ],
)
def test_payoffs_have_two_ends_where_what_one_player_gains_another_loses(
    payoffs: Callable[[float], list[float]], ends: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = sets("kuhn2")["kuhn2"]  # its parameter is between 0 and 1/3
    monkeypatch.setattr(KnownSet, "payoffs_near", lambda _, at: np.array(payoffs(at[0])))
    found = payoff_ends(known)
    assert found == (ends if ends is None else pytest.approx(np.array(ends), abs=1e-9))


def sets(spec: str, **at: Fraction) -> dict[str, KnownSet]:
    game = eqbench.load_game(spec)
    return {known.name: known for known in known_sets(game.at(**at) if at else game)}


@pytest.mark.parametrize(
    ("pot", "name"),
    [("2", "skp:1a"), ("5/2", "skp:1"), ("3", "skp:2a"), ("7/2", "skp:5a"), ("9/2", "skp:9")],
)
def test_corners_are_the_exact_ones(pot: str, name: str) -> None:
    known = sets("skp", pot=Fraction(pot))[name]
    exact = np.array(corner_parameters(known), dtype=float)
    found = corners(known)
    assert found is not None
    assert found.shape == exact.shape
    assert np.abs(np.sort(found, axis=0) - np.sort(exact, axis=0)).max() <= 1e-14


def test_irrational_sets_have_corners_too() -> None:
    """Billingham 2017, Solution 3, whose radical is irrational at this pot."""
    known = sets("skp", pot=Fraction("3.3"))["skp:3"]
    found = corners(known)
    assert found is not None
    assert len(found) == 4
    slack = np.array([-known.violations(point) for point in found])
    assert np.all(np.sort(np.abs(slack), axis=1)[:, :2] <= 1e-14)  # as many as parameters
    assert slack.min() >= -1e-14


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("skp(pot=5/2)", "skp:1"),
        ("kuhn2", "kuhn2"),
        ("kuhn3", "szafron:c11=0"),
        ("kuhn3", "szafron:0<c11<1/2"),
    ],
)
def test_members_are_members_and_the_first_lies_inside(spec: str, name: str) -> None:
    known = sets(spec)[name]
    found = members(known, 8, np.random.default_rng(1))
    places = [each.place for each in found]
    assert places[0] == "inside"
    assert places.count("inside") == 1
    assert places.count("corner") >= 2
    assert places.count("sample") == 8
    assert max(known.violations(each.parameters).max() for each in found) <= 1e-9
    assert known.violations(found[0].parameters).max() < -1e-3
    distinct = np.unique([np.round(each.parameters, 9) for each in found], axis=0)
    assert len(distinct) == len(found)


def test_constraints_that_are_no_planes_have_no_corners() -> None:
    assert corners(sets("kuhn3")["szafron:0<c11<1/2"]) is None


def test_one_equilibrium_is_its_own_set() -> None:
    known = sets("rock_paper_scissors")["matrix:rock_paper_scissors"]
    (only,) = members(known, 8, np.random.default_rng(1))
    assert (only.place, len(only.parameters)) == ("inside", 0)


def test_the_same_seed_draws_the_same_members() -> None:
    known = sets("kuhn3")["szafron:c11=0"]
    first, again, other = (members(known, 4, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all(
        np.array_equal(a.parameters, b.parameters) for a, b in zip(first, again, strict=True)
    )
    assert not np.array_equal(first[-1].parameters, other[-1].parameters)
