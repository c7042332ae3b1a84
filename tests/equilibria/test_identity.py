"""What is recognized, what is only near, and what never."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.kuhn_and_skp import member, random_member, szafron_profile

import eqbench
from eqbench.equilibria import Identifier, identity, known_sets
from eqbench.equilibria import reference as reference_module
from eqbench.equilibria.identity import SAME_PLAY, Identity
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.profile_json import profile_from_json
from eqbench.requests import DEFAULT_TARGET
from eqbench.verification import verify

RANDOM = 60


@cache
def game(spec: str) -> Game:
    return eqbench.load_game(spec)


def szafron(values: dict[str, Any], spec: str = "kuhn3") -> BehaviorProfile:
    tree, data = game(spec).tree, szafron_profile(values)
    for player, label in infosets(tree):
        row = data["behavior"][player][label]
        kept = tree.infoset_actions[tree.infoset_of(tree.players.index(player), label)]
        assert all(not value for action, value in row.items() if action not in kept)
        data["behavior"][player][label] = {action: row[action] for action in kept}
    return profile_from_json(tree, data)


def identify(profile: BehaviorProfile, *regret: float, spec: str = "kuhn3") -> Identity:
    """What is recognized, which is something."""
    found = Identifier(game(spec)).identify(profile, *regret)
    assert found is not None
    return found


def infosets(tree: Any) -> list[tuple[str, str]]:
    owners = (tree.players[p] for p in tree.infoset_player)
    return list(zip(owners, tree.infoset_labels, strict=True))


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn2", "skp(pot=3.35)", "skp(pot=2)", "shapley"])
def test_random_profiles_are_never_recognized(spec: str) -> None:
    rng = np.random.default_rng(1)
    identifier, tree = Identifier(game(spec)), game(spec).tree
    assert identifier.known
    for _ in range(RANDOM):
        profile = BehaviorProfile.of(tree, random_profile(tree, rng))
        assert identifier.identify(profile) is None


def test_random_pure_profiles_are_not_taken_for_members() -> None:
    rng = np.random.default_rng(2)
    tree = game("kuhn3").tree
    identifier = Identifier(game("kuhn3"))
    for _ in range(RANDOM // 2):
        first = rng.integers(0, 2, tree.n_infosets)
        profile = BehaviorProfile.of(tree, np.stack([first, 1 - first], axis=1).ravel())
        assert identifier.identify(profile) is None


@pytest.mark.parametrize("name", ["matching_pennies", "jordan", "rock_paper_scissors"])
def test_only_the_equilibrium_of_a_classic_has_its_name(name: str) -> None:
    tree = game(name).tree
    uniform = identify(BehaviorProfile.uniform(tree), spec=name)
    assert (uniform.name, uniform.strict, uniform.parameters) == (f"matrix:{name}", True, {})
    pure = np.zeros(tree.n_actions)
    pure[tree.action_start[:-1]] = 1
    assert Identifier(game(name)).identify(BehaviorProfile.of(tree, pure)) is None


@pytest.mark.parametrize(
    "name",
    [
        *("rock_paper_scissors", "matching_pennies", "prisoners_dilemma"),
        *("battle_of_sexes", "shapley", "jordan"),
    ],
)
def test_equilibria_of_the_classics_are_exact(name: str) -> None:
    tree = game(name).tree
    sets = known_sets(game(name))
    assert len(sets) == (3 if name == "battle_of_sexes" else 1)
    for known in sets:
        measured = eqbench.verify(tree, known.member([]), exact=True)
        assert measured.max_regret == 0
        assert known.payoffs([]) == measured.payoffs


def test_a_profile_on_its_way_is_near_and_says_so() -> None:
    values = random_member("c11=0", np.random.default_rng(3))
    moved = szafron(values | {"b33": values["b33"] - Fraction(1, 1000)})
    regret = float(verify(game("kuhn3").tree, moved).max_regret)
    found = identify(moved, regret)
    assert (found.name, found.on_path, found.strict) == ("szafron:c11=0", False, False)
    assert 1e-7 < found.distance < 1e-3
    assert found.off_path == {}
    assert found.parameters["beta"] == pytest.approx(float(values["b21"]), abs=1e-3)


@pytest.mark.parametrize(
    ("spec", "solver", "seed"),
    [  # those that were farthest of all that were measured; see docs/explanation/equilibria.md
        ("kuhn3", "pcfr_plus_alternating(start=random)", 0),
        ("kuhn3", "pcfr_plus_alternating", 0),
        ("kuhn3_reduced", "pcfr_plus_alternating(start=random)", 0),
        ("kuhn3_reduced", "dcfr", 0),
        ("kuhn3(reduce=dominated25)", "dcfr(start=random)", 1),
    ],
)
def test_what_meets_the_default_target_is_identified(spec: str, solver: str, seed: int) -> None:
    found = eqbench.solve(spec, solver, eqbench.Limits(timeout_s=60), seed)
    assert found.status == "ok"
    identity = found.equilibria[0].identity
    assert identity is not None
    assert identity.on_path
    assert SAME_PLAY / 100 < identity.distance < SAME_PLAY / 5, "there is room to spare"
    assert math.isclose(SAME_PLAY, math.sqrt(DEFAULT_TARGET))


def test_what_hardly_has_regret_is_not_called_near() -> None:
    """An exact equilibrium at a distance from all that is known would be a discovery."""
    values = random_member("c11=0", np.random.default_rng(3))
    moved = szafron(values | {"b33": values["b33"] - Fraction(1, 1000)})
    assert Identifier(game("kuhn3")).identify(moved, 1e-14) is None


def test_off_path_differences_name_the_place() -> None:
    quarter = Fraction(1, 4)
    values = member(b11=0, b21=0, b32=quarter, c11=quarter, c33=quarter)
    found = identify(szafron(values | {"a33": 0, "c32": Fraction(1, 8)}))
    assert found.on_path
    assert found.off_path == pytest.approx({"P1|3:KBF|call": -0.5, "P3|3:KB|call": 0.125})
    assert found.to_json()["also"] == []


@pytest.mark.parametrize("spec", ["kuhn3_reduced", "kuhn(players=3,reduce=dominated25)"])
def test_members_are_recognized_in_reduced_games(spec: str) -> None:
    values = random_member("c11=1/2", np.random.default_rng(4))
    profile = szafron(values, spec)
    found = identify(profile, spec=spec)
    assert (found.name, found.strict) == ("szafron:c11=1/2", True)
    assert identity.in_published(game(spec), known_sets(game(spec)), profile, 1e-9).contains


@pytest.mark.parametrize(
    "spec", ["kuhn(players=3,pot=3.2)", "kuhn(players=3,cards=5)", "kuhn(raises=1)", "leduc"]
)
def test_other_games_of_a_family_have_no_known_sets(spec: str) -> None:
    assert known_sets(game(spec)) == ()
    assert Identifier(game(spec)).identify(BehaviorProfile.uniform(game(spec).tree)) is None


def test_sets_follow_the_pot_when_it_is_changed() -> None:
    names = [known.name for known in known_sets(game("skp").at(pot=3.35))]
    assert names == ["skp:2", "skp:3", "skp:4"]
    assert [known.name for known in known_sets(game("kuhn3").at(pot=4))] == []


def test_a_game_that_only_looks_like_a_known_one_is_not_mistaken_for_it() -> None:
    tree = game("kuhn3").tree
    assert tree.payoffs.slope is not None
    doubled = replace(tree.payoffs, base=2 * tree.payoffs.base, slope=2 * tree.payoffs.slope)
    for spec, payoffs in (
        (game("kuhn3").spec, doubled),
        ("skp(pot=3)", replace(tree.payoffs, parameter=None, value=None, slope=None)),
    ):
        assert known_sets(Game(spec, replace(tree, payoffs=payoffs))) == ()
    assert len(known_sets(Game(game("kuhn3").spec, tree))) == 3


def test_places_that_are_hardly_reached_count_as_off_the_path() -> None:
    """With beta = 1e-6, not calling with card 3 shows in no outcome, but player 2 gains 1/6."""
    beta = Fraction(1, 10**6)
    quarter = Fraction(1, 4)
    values = member(b11=beta, b21=beta, b32=quarter, c11=quarter, c33=quarter) | {"a33": 0}
    found = identify(szafron(values))
    assert (found.on_path, found.strict) == (True, False)
    assert found.off_path["P1|3:KBF|call"] == pytest.approx(-0.5, abs=1e-3)


def test_a_wrong_value_in_the_reference_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    values = random_member("c11=0", np.random.default_rng(5))
    wrong = tuple(
        {**d, "common": d.get("common", {}) | ({"a33": "1/3"} if "common" in d else {})}
        for d in reference_module.documents()
    )
    monkeypatch.setattr(reference_module, "documents", lambda: wrong)
    found = Identifier(game("kuhn3")).identify(szafron(values))
    assert found is None or not found.on_path


def test_same_bits_with_the_same_regret_are_compared_with_the_published_sets_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    identifier, searches = Identifier(game("kuhn3")), []
    nearest = identity.nearest_member
    monkeypatch.setattr(identity, "nearest_member", lambda *a: searches.append(0) or nearest(*a))
    uniform = BehaviorProfile.uniform(game("kuhn3").tree)
    moved = szafron(random_member("c11=0", np.random.default_rng(6)) | {"a41": Fraction(1, 10**6)})
    first, second = identifier.identify(uniform, 0.5), identifier.identify(moved, 1e-9)
    assert first is None
    assert second is not None
    before = len(searches)
    assert identifier.identify(uniform, 0.5) is None
    assert identifier.identify(moved, 1e-9) == second
    assert len(searches) == before > 0
    identifier.identify(moved, 1e-14)
    assert len(searches) > before, "with another regret it may be another equilibrium"


def test_a_tolerance_that_is_too_wide_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    values = random_member("c11=0", np.random.default_rng(6))
    moved = szafron(values | {"a41": Fraction(1, 10**6)})
    before = Identifier(game("kuhn3")).identify(moved)
    monkeypatch.setattr("eqbench.equilibria.identity.TOLERANCE", 1e-5)
    after = Identifier(game("kuhn3")).identify(moved)
    assert before is not None
    assert after is not None
    assert (before.strict, after.strict) == (False, True)


def test_a_game_with_a_name_of_its_own_has_no_known_sets() -> None:
    named = Game("a game that I made (myself)", game("kuhn3").tree)
    assert known_sets(named) == ()
    assert eqbench.solve(named, "pcfr_plus", eqbench.Limits(iterations=10)).payoffs is not None


def test_an_open_set_does_not_also_claim_its_ends() -> None:
    quarter = Fraction(1, 4)
    values = member(b11=0, b21=0, b32=quarter, c11=0, c33=quarter)
    found = identify(szafron(values))
    assert (found.name, found.strict, found.also) == ("szafron:c11=0", True, ())
