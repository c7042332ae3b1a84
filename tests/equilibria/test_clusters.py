"""Clusters: unknown equilibria are numbered, compared with their best member, and not too many."""

from __future__ import annotations

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import cluster_identities, clusters
from eqbench.equilibria.clusters import outcome_distribution
from eqbench.equilibria.identity import in_component
from eqbench.model.profile import BehaviorProfile

GAME = eqbench.load_game("battle_of_sexes")
FIRST, SECOND = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])


def near(profile: np.ndarray, step: float) -> np.ndarray:
    """A profile that deviates so little that its outcomes count as the same."""
    return np.abs(profile - [step, step, 0, 0])


def names(profiles: list[np.ndarray], regrets: list[float]) -> list[str | None]:
    found = cluster_identities(GAME, [*map(BehaviorProfile, profiles)], regrets)
    return [None if identity is None else identity.name for identity in found]


def test_clusters_are_numbered_from_1_as_they_first_occur() -> None:
    assert names([SECOND, FIRST, SECOND], [0.0, 0.0, 0.0]) == [
        "cluster:1",
        "cluster:2",
        "cluster:1",
    ]
    assert names([], []) == []


def test_distance_is_the_largest_difference_of_an_outcome_to_the_best_member() -> None:
    off = 4e-7
    profiles, regrets = [near(FIRST, off), FIRST, near(FIRST, 3e-7)], [3e-7, 0.0, 2e-7]
    found = cluster_identities(GAME, [*map(BehaviorProfile, profiles)], regrets)
    best = outcome_distribution(GAME, FIRST)
    for identity, profile in zip(found, profiles, strict=True):
        expected = np.abs(outcome_distribution(GAME, profile) - best).max()
        assert identity.distance == pytest.approx(expected, abs=1e-18)
    assert [identity.distance > 0 for identity in found] == [True, False, True]
    assert {identity.dimension for identity in found} == {0}


def test_dimension_is_left_out_where_no_member_is_exact_enough() -> None:
    (identity,) = cluster_identities(GAME, [BehaviorProfile(near(FIRST, 1e-7))], [1e-7])
    assert (identity.name, identity.dimension) == ("cluster:1", None)


@pytest.mark.parametrize(("room", "kept"), [(0, 1), (1, 1), (2, 2), (3, 3)])
def test_only_the_best_get_names_where_memory_ends(
    room: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least one does, and what is dropped is what has the largest regret."""
    outcomes = len(GAME.sequence_form.columns)
    monkeypatch.setattr(clusters, "_MOST_NUMBERS", room * outcomes)
    found = names([SECOND, FIRST, SECOND], [3e-9, 1e-9, 2e-9])
    expected = {
        1: [None, "cluster:1", None],
        2: [None, "cluster:1", "cluster:2"],
        3: ["cluster:1", "cluster:2", "cluster:1"],
    }
    assert found == expected[kept]


def test_of_equal_regrets_the_earlier_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = len(GAME.sequence_form.columns)
    monkeypatch.setattr(clusters, "_MOST_NUMBERS", 3 * outcomes - 1)
    assert names([FIRST, SECOND, FIRST], [0.0, 0.0, 0.0]) == ["cluster:1", "cluster:2", None]


@pytest.mark.parametrize(
    ("profile", "contains", "distance"),
    [(FIRST, True, 0), (SECOND, False, 1), (np.full(4, 0.5), False, 3 / 4)],
)
def test_component_contains_what_is_connected_with_it_alone(
    profile: np.ndarray, contains: bool, distance: float
) -> None:
    profiles = [*map(BehaviorProfile, [profile, FIRST, near(FIRST, 1e-9)])]
    found = in_component(GAME, "cluster:1", profiles)
    assert (found.name, bool(found), found.dimension) == ("cluster:1", contains, 0)
    assert found.distance == pytest.approx(distance)
    assert bool(found.differences) == (not contains)
