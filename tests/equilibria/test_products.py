"""Equilibria of games whose trees are not built are named as on their trees."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import (
    Identifier,
    cluster_identities,
    clusters,
    completeness,
    descriptions,
    known_sets,
)
from eqbench.equilibria.clusters import most_compared, outcome_distribution
from eqbench.equilibria.dimension import local_dimension
from eqbench.equilibria.identity import Identity, in_component
from eqbench.errors import GameTooLargeError
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.verification import Verifier

RIVER = 'river(board="2c3d7h9sKc",ranges="KsKh,6h5d|AsAd,QsQd")'
SPECS = [
    *("kuhn2", "kuhn(players=2,cards=5)", "kuhn3", "kuhn(players=3,cards=4,pot=16/5)"),
    *("leduc(players=2,ranks=2,raises=1)", "leduc(players=3,ranks=2,raises=1)", RIVER),
]


def both(spec: str) -> tuple[Game, Game]:
    """A game with its tree, and the same where reading a node raises GameTooLargeError."""
    game, product = eqbench.load_game(spec), eqbench.load_game(spec, max_nodes=20)
    assert (game.product is None, product.product is None) == (True, False)
    with pytest.raises(GameTooLargeError):
        _ = product.tree.parent
    return game, product


def profiles(game: Game) -> list[BehaviorProfile]:
    """Iterates, random play, what is near to an iterate, and what differs off the path alone."""
    rng, tree = np.random.default_rng(0), game.tree
    found = []
    for k in (20, 200):
        found += [e.profile for e in eqbench.solve(game, "cfr_plus", iterations=k).equilibria]
    drawn = [random_profile(tree, rng) for _ in range(4)]
    near = [found[-1].probabilities * (1 - e) + e * drawn[0] for e in (1e-8, 1e-4)]
    first = drawn[1].copy()
    at = slice(*tree.action_start[:2])
    first[at] = np.eye(at.stop)[0]
    reached = infoset_reach(tree, first)[tree.action_infoset] > 0
    near += [first, np.where(reached, first, drawn[2])]
    return found + [BehaviorProfile.of(tree, each) for each in drawn + near]


def same(one: Identity | None, other: Identity | None) -> bool:
    if one is None or other is None:
        return one is other
    is_near = one.distance == pytest.approx(other.distance, abs=1e-12)
    return is_near and replace(one, distance=0.0) == replace(other, distance=0.0)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("measured", [True, False])
def test_clusters_are_those_of_the_tree(spec: str, measured: bool) -> None:
    """Taken as exact, what is no equilibrium is joined with nothing: there are many clusters."""
    game, product = both(spec)
    given, verifier = profiles(game), Verifier(game.tree)
    regrets = [float(verifier.verify(each).max_regret) * measured for each in given]
    by_tree = cluster_identities(game, given, regrets)
    by_product = cluster_identities(product, given, regrets)
    assert measured or len({each.name for each in by_tree if each}) > 3
    assert all(map(same, by_tree, by_product))


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", "kuhn(players=3,cards=4,pot=16/5)"])
def test_members_of_published_sets_are_recognized(spec: str) -> None:
    game, product = both(spec)
    sets = known_sets(game)
    assert [known.name for known in known_sets(product)] == [known.name for known in sets]
    by_tree, by_product = Identifier(game), Identifier(product)
    rng = np.random.default_rng(0)
    for known in sets:
        member = known.member([Fraction(0)] * len(known.parameters))
        drawn = random_profile(game.tree, rng)
        moved = [(1 - e) * member.probabilities + e * drawn for e in (0, 1e-9, 1e-4, 0.5)]
        for values, regret in zip(moved, (0.0, 1e-12, 1e-4, None), strict=True):
            profile = BehaviorProfile.of(game.tree, values)
            expected = by_tree.identify(profile, regret)
            assert same(expected, by_product.identify(profile, regret))
    assert not sets or by_product.identify(member, 0.0) is not None


@pytest.mark.parametrize("spec", SPECS)
def test_outcomes_are_those_of_the_sequence_form(spec: str) -> None:
    game, product = both(spec)
    columns, chance = product.plan_form.outcomes
    np.testing.assert_array_equal(columns, game.sequence_form.columns)
    np.testing.assert_allclose(chance, game.sequence_form.chance, rtol=1e-13)
    played = random_profile(game.tree, np.random.default_rng(1))
    found, expected = (outcome_distribution(each, played) for each in (product, game))
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert most_compared(product) == most_compared(game)


@pytest.mark.parametrize("spec", SPECS)
def test_actions_are_played_as_often_as_their_sets_are_reached(spec: str) -> None:
    game, product = both(spec)
    played = random_profile(game.tree, np.random.default_rng(1))
    played[: int(game.tree.action_start[1])] = np.eye(int(game.tree.action_start[1]))[0]
    reach = infoset_reach(game.tree, played)[game.tree.action_infoset]
    assert product.product_form is not None
    np.testing.assert_allclose(product.product_form.played(played), reach * played, atol=1e-15)


def test_dimension_needs_no_tree() -> None:
    game, product = both("kuhn3")
    for known in known_sets(game):
        member = known.member([Fraction(0)] * len(known.parameters)).probabilities
        assert local_dimension(product, member) == local_dimension(game, member) is not None


def test_play_with_one_of_very_many_hands_tells_equilibria_apart() -> None:
    """Each outcome has a probability of about 1e-6, which would count as none."""
    game = eqbench.load_game("kuhn(players=3,cards=100)")
    assert game.product is not None
    uniform = BehaviorProfile.uniform(game.tree)
    other, copy = uniform.probabilities.copy(), uniform.probabilities.copy()
    other[[100, 101]] = 0.6, 0.4
    never = copy.copy()
    own = game.tree.infoset_of(0, "51:")
    never[slice(*game.tree.action_start[own : own + 2])] = 1.0, 0.0
    assert game.tree.action_start[own] == 100
    named = [BehaviorProfile(each) for each in (copy, other, copy + 0.0, never)]
    found = cluster_identities(game, named, [0.0] * 4)
    names = [each.name for each in found if each is not None]
    assert names == ["cluster:1", "cluster:2", "cluster:1", "cluster:3"]


def test_large_products_compare_what_the_players_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Off the path nothing is compared, and only as many as fit into memory."""
    game, product = both("kuhn3")
    monkeypatch.setattr(clusters, "PRODUCTS_FROM", 100)
    given = profiles(game)
    regrets = [0.0] * len(given)
    by_tree, found = (cluster_identities(each, given, regrets) for each in (game, product))
    assert [each and each.name for each in found] == [each and each.name for each in by_tree]
    monkeypatch.setattr(clusters, "_MOST_NUMBERS", 4 * product.plan_form.n_sequences)
    few = cluster_identities(product, given, [*regrets[2:], 1.0, 0.0])
    assert [k for k, each in enumerate(few) if each] == [0, 1]


def test_pairs_that_are_looked_at_are_fewer_in_large_products(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, product = both("kuhn2")
    sums = []
    model = product.payoff_model()
    monkeypatch.setattr(Game, "payoff_model", lambda self: model)
    monkeypatch.setattr(model, "regrets", lambda each: sums.append(each) or np.ones(2))
    monkeypatch.setattr(clusters, "_MOST_CHECKED", 0)
    monkeypatch.setattr(descriptions, "_MOST_NUMBERS", 0)
    rng = np.random.default_rng(0)
    given = [BehaviorProfile.of(product.tree, random_profile(product.tree, rng)) for _ in "12345"]
    cluster_identities(product, given, [0.0] * 5)
    assert len(sums) == 5  # one for each of as many pairs as profiles, of ten


def test_play_is_described_up_to_a_number_of_information_sets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game, product = both("kuhn3")
    given = profiles(game)
    monkeypatch.setattr(descriptions, "_MOST_NUMBERS", game.tree.n_actions)
    assert not any(descriptions.describe(game, [given]))
    assert all(descriptions.describe(product, [given]))
    monkeypatch.setattr(descriptions, "MOST_DESCRIBED", game.tree.n_infosets - 1)
    assert not any(descriptions.describe(product, [given]))


def test_membership_in_a_component_is_that_of_the_tree() -> None:
    game, product = both("kuhn2")
    member = known_sets(game)[0].member([Fraction(1, 5)])
    others = [known_sets(game)[0].member([Fraction(1, 10)]), BehaviorProfile.uniform(game.tree)]
    for first in (member, others[1]):
        found = [in_component(each, "it", [first, others[0]]) for each in (game, product)]
        assert found[0].contains == found[1].contains == (first is member)


def test_lists_are_not_judged_without_a_tree() -> None:
    game, product = both("kuhn2")
    member = known_sets(game)[0].member([Fraction(0)])
    assert completeness(game, [member]) is not None
    assert completeness(product, [member]) is None
