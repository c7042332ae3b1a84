"""Members that stand for a whole published set."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.known import corner_parameters
from eqbench.studies.flow.members import corners, members


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
