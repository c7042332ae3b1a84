"""Games from files and of others are known by what they are, whatever things are called there."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from helpers.scrambled import Scrambled

import eqbench
from eqbench.equilibria import Identifier, Identity, known_sets, same_games
from eqbench.equilibria.published import documents
from eqbench.model.gambit_text import efg_text
from eqbench.model.isomorphism import signature
from eqbench.verification import verify

CONTENTS = {spec: key for document in documents() for key, spec in document["contents"].items()}
PUBLISHED = [spec for spec in CONTENTS if known_sets(eqbench.load_game(spec))]


def test_signatures_that_are_stored_are_those_of_their_games() -> None:
    assert len(PUBLISHED) >= 12
    assert {spec: signature(eqbench.load_game(spec).tree) for spec in CONTENTS} == CONTENTS


@pytest.mark.parametrize("spec", PUBLISHED)
def test_a_game_with_other_labels_and_orders_has_the_published_sets(
    tmp_path: Path, spec: str
) -> None:
    """Members are measured there, with the payoffs of the players in their new seats."""
    game = eqbench.load_game(spec)
    (tmp_path / "game.efg").write_text(Scrambled(game.tree, 11).text())
    copy = eqbench.load_game(str(tmp_path / "game.efg"))
    (same,) = same_games(copy)
    assert (same.spec, "but for labels" in same.described(copy.tree)) == (spec, True)
    found = known_sets(copy)
    assert [own.name for own in found] == [own.name for own in known_sets(game)]
    assert {own.same_as for own in found} == {spec}
    known = found[0]
    member = known.member([Fraction(0)] * len(known.parameters))
    identity = Identifier(copy).identify(member, float(verify(copy.tree, member).max_regret))
    assert identity is not None
    assert (identity.name, identity.same_as) == (known.name, spec)
    assert Identity.of_record(identity.to_json()) == identity


def test_a_file_with_the_same_labels_is_not_called_relabeled(tmp_path: Path) -> None:
    (tmp_path / "game.efg").write_text(efg_text(eqbench.load_game("kuhn3").tree, "any title"))
    game = eqbench.load_game(str(tmp_path / "game.efg"))
    assert [same.described(game.tree) for same in same_games(game)] == ["same game as kuhn3"]


@pytest.mark.parametrize("change", ["change_payoff", "change_probability", "change_information"])
def test_a_game_that_differs_a_little_has_none(tmp_path: Path, change: str) -> None:
    copy = Scrambled(eqbench.load_game("kuhn2").tree, 5)
    getattr(copy, change)()
    (tmp_path / "game.efg").write_text(copy.text())
    game = eqbench.load_game(str(tmp_path / "game.efg"))
    assert (known_sets(game), same_games(game)) == ((), [])


@pytest.mark.parametrize(
    ("peer", "spec"),
    [("kuhn_poker", "kuhn2"), ("kuhn_poker(players=3)", "kuhn3"), ("leduc_poker", "leduc")],
)
def test_a_game_of_openspiel_is_named(peer: str, spec: str) -> None:
    pytest.importorskip("pyspiel")
    game = eqbench.load_game(f"openspiel:{peer}")
    assert [same.spec for same in same_games(game)] == [spec]
    assert {own.name for own in known_sets(game)} == {
        own.name for own in known_sets(eqbench.load_game(spec))
    }


def test_what_is_the_games_own_says_nothing_of_another() -> None:
    game = eqbench.load_game("kuhn2")
    assert same_games(game) == []
    (known,) = known_sets(game)
    identity = Identifier(game).identify(known.member([Fraction(0)]), 0.0)
    assert identity is not None
    assert "same_as" not in json.dumps(identity.to_json())


def test_games_that_are_large_or_not_exact_are_not_looked_up() -> None:
    game = eqbench.load_game("kuhn2")
    base, slope = game.tree.payoffs.base * 1.0, game.tree.payoffs.slope * 1.0
    floats = replace(game.tree.payoffs, base=base, slope=slope)
    assert same_games(replace(game, spec="a.efg", tree=replace(game.tree, payoffs=floats))) == []
    assert same_games(replace(game, spec="a.efg"), most=54) == []
    assert len(same_games(replace(game, spec="a.efg"), most=55)) == 1
