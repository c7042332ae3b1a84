"""Published sets from files and distributions: within bounds, measured, refused with reasons."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from helpers.scrambled import Scrambled

import eqbench
from eqbench.equilibria import Identifier, known_sets
from eqbench.equilibria.published import MOST_BYTES, documents
from eqbench.errors import UsageError

GAME = """EFG 2 R "chicken" { "row" "column" } ""
p "" 1 1 "r" { "swerve" "stay" } 0
p "" 2 1 "c" { "swerve" "stay" } 0
t "" 1 "" { 0, 0 }
t "" 2 "" { -1, 1 }
p "" 2 1 "c" { "swerve" "stay" } 0
t "" 3 "" { 1, -1 }
t "" 4 "" { -4, -4 }
"""
MIXED = {"name": "chicken:mixed", "parameters": {}, "payoffs": ["-1/4", "-1/4"]}
MIXED |= {"values": {"x": "3/4", "y": "3/4"}}
PURE = {"name": "chicken:row", "parameters": {}, "payoffs": ["1", "-1"]}
PURE |= {"values": {"x": "0", "y": "1"}}
DOCUMENT: dict[str, Any] = {
    "game": "chicken.efg",
    "source": "folklore",
    "variables": {"x": "row|r|swerve", "y": "column|c|swerve"},
    "sets": [MIXED, PURE],
}
Publish = Callable[..., "eqbench.Game"]


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Write a document for a game file next to it, as JSON, and load the game."""

    def written(document: Any = DOCUMENT) -> eqbench.Game:
        (tmp_path / "chicken.efg").write_text(GAME)
        text = document if isinstance(document, str) else json.dumps(document)
        (tmp_path / "sets.json").write_text(text)
        monkeypatch.setenv("EQBENCH_EQUILIBRIA", str(tmp_path / "sets.json"))
        return eqbench.load_game(str(tmp_path / "chicken.efg"))

    return written


def with_set(**changes: Any) -> dict[str, Any]:
    return DOCUMENT | {"sets": [MIXED | changes]}


def test_a_game_file_has_the_sets_of_a_document_and_so_has_a_copy(
    publish: Publish, tmp_path: Path
) -> None:
    game = publish()
    found = known_sets(game)
    assert [(own.name, own.source, own.same_as) for own in found] == [
        ("chicken:mixed", "folklore", ""),
        ("chicken:row", "folklore", ""),
    ]
    profile = found[1].member([])
    assert Identifier(game).identify(profile, 0.0).name == "chicken:row"
    (tmp_path / "copy.efg").write_text(Scrambled(game.tree, 1).text())
    copy = known_sets(eqbench.load_game(str(tmp_path / "copy.efg")))
    assert [own.name for own in copy] == ["chicken:mixed", "chicken:row"]
    assert all(own.same_as.endswith("chicken.efg") for own in copy)


def test_toml_is_read_too_and_several_files(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "a.toml").write_text("""
game = "kuhn2"
source = "a thesis"
[variables]
q = "P1|2:KB|call"
j = "P1|1:|bet"
k = "P1|3:|bet"
kk = "P1|3:KB|call"
b = "P2|1:K|bet"
bb = "P2|3:K|bet"
c = "P2|2:B|call"
cc = "P2|3:B|call"
rest1 = "P1|2:|bet"
rest2 = "P1|1:KB|call"
rest3 = "P2|2:K|bet"
rest4 = "P2|1:B|call"
[[sets]]
name = "thesis"
payoffs = ["-1/18", "1/18"]
leading = "third"
[sets.parameters]
third = "3*j"
[sets.shown]
third = "third"
[sets.values]
j = "third/3"
q = "third/3 + 1/3"
k = "third"
kk = "1"
b = "1/3"
bb = "1"
c = "1/3"
cc = "1"
rest1 = "0"
rest2 = "0"
rest3 = "0"
rest4 = "0"
""")
    (tmp_path / "b.json").write_text("[]")
    paths = os.pathsep.join(str(tmp_path / name) for name in ("a.toml", "b.json"))
    monkeypatch.setenv("EQBENCH_EQUILIBRIA", paths)
    game = eqbench.load_game("kuhn2")
    sets = known_sets(game)
    assert [own.name for own in sets] == ["kuhn2", "thesis"]
    found = Identifier(game).identify(sets[1].member([Fraction(1, 2)]), 0.0)
    assert found is not None
    assert (found.name, found.also) == ("kuhn2", ("thesis",))


def test_a_distribution_brings_files_without_running_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "my_sets"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('it runs')")
    (package / "chicken.efg").write_text(GAME)
    (package / "chicken.json").write_text(json.dumps(DOCUMENT))
    facts = tmp_path / "my_sets-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-sets\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[eqbench.equilibria]\nmine = my_sets\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("EQBENCH_EQUILIBRIA", "")
    monkeypatch.setattr("eqbench.equilibria.published._documents", UNCACHED)
    game = eqbench.load_game(str(package / "chicken.efg"))
    assert [own.name for own in known_sets(game)] == ["chicken:mixed", "chicken:row"]


UNCACHED = documents.__globals__["_documents"].__wrapped__


@pytest.mark.parametrize(
    ("document", "reasons"),
    [
        ("{", ["sets.json"]),
        ("[" * 100_000, ["sets.json"]),
        (" " * (MOST_BYTES + 1), ["sets.json", "1 MiB"]),
        (DOCUMENT | {"game": "khun2"}, ["game", "khun2", "kuhn2"]),
        (DOCUMENT | {"game": "other.efg"}, ["game", "other.efg"]),
        (DOCUMENT | {"sauce": "?"}, ["sauce"]),
        (DOCUMENT | {"pot": "P"}, ["pot", "no payoff parameter"]),
        (with_set(payofs=[]), ["payofs", "sets[0]"]),
        (with_set(name="cluster:1"), ["sets[0].name"]),
        (with_set(name="kuhn2"), ["'kuhn2'", "taken"]),
        (with_set(values={"x": "3/4"}), ["sets[0].values", "y"]),
        (with_set(values={"x": "y", "y": "x"}), ["sets[0].values", "x, y"]),
        (with_set(values={"x": "3/4", "y": "xx"}), ["sets[0].values", "'xx'"]),
        (with_set(values={"x": "3/4", "y": "__import__('os')"}), ["sets[0].values"]),
        (with_set(values={"x": "3/4", "y": "9**9**9**9"}), ["sets[0].values"]),
        (with_set(values={"x": "3/4", "y": "2**1000000"}), ["sets[0].values"]),
        (with_set(values={"x": "3/4", "y": "(" * 399}), ["sets[0].values"]),
        (with_set(values={"x": "3/4", "y": "-" * 399 + "1"}), ["outside [0, 1]"]),
        (with_set(values={"x": "3/4", "y": "1" * 401}), ["sets[0].values", "400"]),
        (with_set(constraints=["x"]), ["sets[0].constraints", "relation"]),
        (with_set(constraints=["x > 0 or x < 1"] * 9), ["sets[0].constraints", "cases"]),
        (with_set(constraints=["x < 1/2"]), ["chicken:mixed", "breaks a constraint"]),
        (with_set(leading="x"), ["sets[0].leading", "x"]),
        (with_set(**{"from": "2", "to": "3"}), ["sets[0].from", "pot"]),
        (with_set(payoffs=["-1/4"]), ["sets[0].payoffs", "2 players"]),
        (with_set(payoffs=["-1/4", "1/4"]), ["chicken:mixed", "payoffs -0.25, -0.25"]),
        (with_set(values={"x": "2/3", "y": "3/4"}), ["chicken:mixed", "max regret"]),
        (with_set(values={"x": "3", "y": "3/4"}), ["chicken:mixed", "outside [0, 1]"]),
        (with_set(values={"x": "sqrt(0-1)", "y": "1"}), ["chicken:mixed"]),
        (
            with_set(parameters={"t": "x"}, values={"x": "t", "y": "3/4"}),
            ["chicken:mixed", "member with t ="],
        ),
        (DOCUMENT | {"variables": {"x": "raw|r|swerve", "y": "column|c|swerve"}}, ["raw", "row"]),
        (
            DOCUMENT | {"variables": {"x": "row|q|swerve", "y": "column|c|swerve"}},
            ["row|q|swerve", "'r'"],
        ),
        (DOCUMENT | {"variables": {"x": "row|r|swerv", "y": "column|c|stay"}}, ["did you mean"]),
        (DOCUMENT | {"variables": {"x": "row|r", "y": "column|c|stay"}}, ["PLAYER|INFOSET"]),
        (DOCUMENT | {"variables": {"x": "row|r|stay", "y": "row|r|swerve"}}, ["all actions but"]),
    ],
)
def test_mistakes_are_refused_with_file_and_key(
    publish: Publish, document: Any, reasons: list[str]
) -> None:
    game = publish(document)
    with pytest.raises(UsageError) as refusal:
        known_sets(game)
    for reason in ["sets.json", *reasons]:
        assert reason in str(refusal.value)


def test_values_that_grow_without_end_are_refused(publish: Publish) -> None:
    """Each is the square of the next, so that the first would have 2^40 digits."""
    names = [f"v{k}" for k in range(40)]
    document = with_set(
        parameters=dict.fromkeys(names[:1], "x"),
        values={"x": "3**64", "y": "3/4"},
        constraints=[" + ".join(["x**64"] * 9) + " >= 0"],
    )
    with pytest.raises(UsageError, match=r"sets\.json"):
        known_sets(publish(document))


def test_a_file_that_is_not_there_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("EQBENCH_EQUILIBRIA", str(tmp_path / "none.json"))
    with pytest.raises(UsageError, match=r"none\.json"):
        known_sets(eqbench.load_game("kuhn2"))


def test_sets_for_the_game_of_a_plugin_that_is_not_there_disturb_nothing(
    publish: Publish,
) -> None:
    publish(DOCUMENT | {"game": "a_game_of_somebody_else"})
    assert [own.name for own in known_sets(eqbench.load_game("kuhn2"))] == ["kuhn2"]
