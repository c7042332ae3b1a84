"""What belongs together: points that play alike, continua, and their dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.kuhn_and_skp import SUB_FAMILIES, member, random_member, szafron_profile

import eqbench
from eqbench.equilibria import (
    Component,
    Dimension,
    Identifier,
    cluster_identities,
    connected_components,
    known_corners,
    local_dimension,
)
from eqbench.equilibria import (
    clusters as components,
)
from eqbench.equilibria.dimension import is_exact_enough
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.verification import Verifier

# As Szafron et al. 2013, §5 count: parameters that matter, two of which are off the path.
DIMENSIONS = {"c11=0": (4, 2), "0<c11<1/2": (4, 2), "c11=1/2": (5, 3)}


@cache
def game(spec: str) -> Game:
    return eqbench.load_game(spec)


def szafron(values: dict[str, Any]) -> BehaviorProfile:
    return profile_from_json(game("kuhn3").tree, szafron_profile(values))


def grouped(spec: str, profiles: Sequence[BehaviorProfile]) -> list[Component]:
    verifier = Verifier(game(spec).tree)
    regrets = [float(verifier.verify(profile).max_regret) for profile in profiles]
    return connected_components(game(spec), profiles, regrets)


@pytest.mark.parametrize("sub_family", SUB_FAMILIES)
def test_two_hundred_members_are_one_component_of_the_published_dimension(
    sub_family: str,
) -> None:
    """Szafron et al. 2013, §5: four, four and five independent parameters."""
    rng = np.random.default_rng(5)
    profiles = [szafron(random_member(sub_family, rng)) for _ in range(200)]
    identifier = Identifier(game("kuhn3"))
    for profile in profiles[:20]:
        found = identifier.identify(profile)
        assert found is not None
        assert (found.name, found.strict) == (f"szafron:{sub_family}", True)
    assert grouped("kuhn3", profiles) == [
        Component(tuple(range(200)), Dimension(*DIMENSIONS[sub_family]))
    ]


@pytest.mark.parametrize("sub_family", SUB_FAMILIES)
def test_inexact_members_stay_one_component(sub_family: str) -> None:
    rng = np.random.default_rng(6)
    tree = game("kuhn3").tree
    exact = [szafron(random_member(sub_family, rng)).probabilities for _ in range(60)]
    profiles = [BehaviorProfile.of(tree, inexact(profile, rng)) for profile in exact]
    regrets = [float(Verifier(tree).verify(profile).max_regret) for profile in profiles]
    assert max(regrets) > 1e-10
    assert len({is_exact_enough(game("kuhn3"), regret) for regret in regrets}) == 2
    found = grouped("kuhn3", profiles)
    assert [len(component.members) for component in found] == [60]
    assert found[0].dimension == Dimension(*DIMENSIONS[sub_family])


def inexact(profile: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Frequencies that are off by up to 1e-8; every row of this game has two."""
    rows = profile.reshape(-1, 2)
    first = np.clip(rows[:, 0] + rng.uniform(-1e-8, 1e-8, len(rows)), 0, 1)
    return np.stack([first, 1 - first], axis=1).ravel()


def test_points_that_differ_only_off_the_path_are_one() -> None:
    """With beta = 0 player 2 never bets; a33 = 1/2 and a33 = c32 = 1/4 answer what never comes."""
    values = member(b11=0, b21=0, b32=Fraction(1, 4), c11=Fraction(1, 4), c33=Fraction(1, 4))
    quarter = Fraction(1, 4)
    (found,) = grouped(
        "kuhn3", [szafron(values), szafron(values | {"a33": quarter, "c32": quarter})]
    )
    assert found.members == (0, 1)


def test_isolated_equilibria_are_kept_apart() -> None:
    profiles = [profile for _, profile in known_corners(game("battle_of_sexes"))]
    found = grouped("battle_of_sexes", [*profiles, *profiles])
    assert [component.members for component in found] == [(0, 3), (1, 4), (2, 5)]
    assert all(component.dimension == Dimension(0, 0) for component in found)


def test_coexisting_solutions_are_kept_apart_and_continua_together() -> None:
    """Billingham 2017, §3: at pot 3 Solution 2a joins 1 and 2; at 3.35 there are 2, 3 and 4."""
    apart = [profile for _, profile in known_corners(game("skp(pot=3.35)"))]
    assert [len(c.members) for c in grouped("skp(pot=3.35)", apart)] == [4, 4]
    joined = [profile for _, profile in known_corners(game("skp(pot=3)"))]
    assert len(grouped("skp(pot=3)", joined)) == 1


def test_many_repetitions_do_not_hide_what_is_connected() -> None:
    rng = np.random.default_rng(10)
    members = [szafron(random_member("c11=0", rng)) for _ in range(6)]
    found = grouped("kuhn3", [*[members[0]] * 210, *members[1:]])
    assert [len(component.members) for component in found] == [215]
    corners = [profile for _, profile in known_corners(game("battle_of_sexes"))]
    found = grouped("battle_of_sexes", [corners[0], *[corners[2]] * 250, *[corners[0]] * 100])
    assert [component.members[0] for component in found] == [0, 1]


def test_where_there_are_too_many_to_compare_the_nearest_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(11)
    members = [szafron(random_member("c11=0", rng)) for _ in range(30)]
    monkeypatch.setattr(components, "_MOST_CHECKS", 20)
    found = grouped("kuhn3", members)
    assert 1 < len(found) <= 15
    assert sorted(i for component in found for i in component.members) == list(range(30))


def test_a_check_between_two_equilibria_that_sees_nothing_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of what is isolated there is a proof; continua are told apart by that check alone."""
    rng = np.random.default_rng(12)
    profiles = [szafron(random_member(name, rng)) for name in ("c11=0", "c11=1/2")]
    assert len(grouped("kuhn3", profiles)) == 2
    monkeypatch.setattr(components, "_BETWEEN", ())
    assert len(grouped("kuhn3", profiles)) == 1


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(3, 10)])
def test_the_line_of_two_player_kuhn_has_one_dimension(alpha: Fraction) -> None:
    (known,) = Identifier(game("kuhn2")).known
    found = local_dimension(game("kuhn2"), known.member([alpha]).probabilities)
    assert found == Dimension(1, 1)


def test_dimension_counts_what_others_notice_only() -> None:
    """c34 answers a bet and a call with card 3: it changes nobody else's value of anything."""
    rng = np.random.default_rng(9)
    values = random_member("c11=0", rng)
    for c34 in (Fraction(0), Fraction(1, 2), Fraction(1)):
        profile = szafron(values | {"c34": c34})
        assert local_dimension(game("kuhn3"), profile.probabilities) == Dimension(4, 2)
    assert 0 < values["b32"] < 1
    on_border = local_dimension(game("kuhn3"), szafron(values | {"b32": 0}).probabilities)
    assert on_border == Dimension(3, 2)


def test_traces_of_actions_do_not_count() -> None:
    """What an iterate still plays a millionth of the time leads nowhere."""
    rng = np.random.default_rng(12)
    for sub_family in SUB_FAMILIES:
        exact = szafron(random_member(sub_family, rng)).probabilities
        traces = 0.9e-6 * (exact.reshape(-1, 2) == 0)
        noisy = (exact.reshape(-1, 2) * (1 - traces[:, ::-1]) + traces).ravel()
        assert local_dimension(game("kuhn3"), noisy) == Dimension(*DIMENSIONS[sub_family])


def test_dimension_does_not_depend_on_the_unit_of_payoffs() -> None:
    values = random_member("c11=1/2", np.random.default_rng(13))
    behavior = szafron(values).probabilities
    tree = game("kuhn3").tree
    for factor in (10**6, 1):
        payoffs = replace(tree.payoffs, denominator=tree.payoffs.denominator * factor)
        small = Game("small stakes", replace(tree, payoffs=payoffs))
        assert local_dimension(small, behavior) == Dimension(5, 3)


def test_dimension_is_given_only_where_the_equilibrium_is_exact_enough() -> None:
    """Of an iterate with more regret the ranks are noise."""
    identifier = Identifier(game("kuhn3"))
    profile = szafron(random_member("c11=0", np.random.default_rng(14)))
    exact, rough = (identifier.identify(profile, regret) for regret in (1e-10, 1e-7))
    assert exact is not None
    assert rough is not None
    assert (exact.dimension, rough.dimension) == (4, None)


def test_very_large_games_have_no_dimension() -> None:
    large = game("goofspiel(cards=5)")
    uniform = BehaviorProfile.uniform(large.tree).probabilities
    assert large.tree.n_actions > 1_000
    assert local_dimension(large, uniform) is None


def test_clusters_are_numbered_as_they_first_occur() -> None:
    profiles = [profile for _, profile in known_corners(game("battle_of_sexes"))]
    order = [2, 0, 2, 1]
    found = cluster_identities(game("battle_of_sexes"), [profiles[i] for i in order], [0.0] * 4)
    assert [identity and identity.name for identity in found] == [
        *("cluster:1", "cluster:2", "cluster:1", "cluster:3")
    ]
    assert all(identity and identity.on_path and not identity.strict for identity in found)
    assert cluster_identities(game("battle_of_sexes"), [], []) == []


def test_grouping_leaves_it_to_the_verifier_to_judge_rows() -> None:
    """A profile that is checked elsewhere must not end the run in which it gets its name."""
    profiles = [szafron(random_member("c11=0", np.random.default_rng(k))) for k in range(2)]
    loose = [BehaviorProfile(each.probabilities * (1 - 1e-6)) for each in profiles]
    (found,) = connected_components(game("kuhn3"), loose, [1e-5] * 2)
    assert found.members == (0, 1)
