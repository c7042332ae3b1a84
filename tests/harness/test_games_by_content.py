"""Games from files are known by their content."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

import eqbench
from eqbench.equilibria import known_sets
from eqbench.equilibria.reference import FILES, fingerprint
from eqbench.model.gambit_text import efg_text

DOCUMENTS = [
    document
    for name in FILES
    for document in json.loads(
        (resources.files("eqbench.equilibria") / "data" / f"{name}.json").read_text()
    )
]
CONTENTS = {spec: key for document in DOCUMENTS for key, spec in document["contents"].items()}


def test_every_document_names_at_least_one_game() -> None:
    assert len(DOCUMENTS) >= 9
    assert all(document["contents"] for document in DOCUMENTS)


@pytest.mark.parametrize("spec", CONTENTS)
def test_a_game_from_a_file_has_the_published_sets_of_the_game_it_is(
    tmp_path: Path, spec: str
) -> None:
    game = eqbench.load_game(spec)
    assert fingerprint(game.tree) == CONTENTS[spec]
    path = tmp_path / "game.efg"
    path.write_text(efg_text(game.tree, "any title"))
    found = [known.name for known in known_sets(eqbench.load_game(str(path)))]
    assert found == [known.name for known in known_sets(game)]
    assert found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{ 1, -1 }", "{ 1001/1000, -1 }"),
        ("{ 1, -1 }", "{ 2, -2 }"),
        ('"1:KB"', '"1:KX"'),
        ('"P2"', '"Bob"'),
        ('"1" 1/6 "2" 1/6', '"1" 1/5 "2" 2/15'),
    ],
)
def test_a_game_that_differs_a_little_has_none(tmp_path: Path, old: str, new: str) -> None:
    text = efg_text(eqbench.load_game("kuhn2").tree)
    assert old in text
    path = tmp_path / "game.efg"
    path.write_text(text.replace(old, new))
    assert known_sets(eqbench.load_game(str(path))) == ()


def test_the_order_and_the_numbers_of_information_sets_do_not_matter(tmp_path: Path) -> None:
    text = efg_text(eqbench.load_game("kuhn2").tree)
    for k in range(1, 7):
        text = text.replace(f'p "" 2 {k} ', f'p "" 2 {70 - k} ')
    path = tmp_path / "game.efg"
    path.write_text(text)
    tree = eqbench.load_game(str(path)).tree
    assert tree.infoset_labels != eqbench.load_game("kuhn2").tree.infoset_labels
    assert fingerprint(tree) == CONTENTS["kuhn2"]


def test_large_and_inexact_games_have_no_fingerprint() -> None:
    tree = eqbench.load_game("kuhn2").tree
    floats = replace(tree.payoffs, base=tree.payoffs.base * 1.0, slope=tree.payoffs.slope * 1.0)
    assert fingerprint(replace(tree, payoffs=floats)) is None
    assert fingerprint(eqbench.load_game("goofspiel").tree) is None
