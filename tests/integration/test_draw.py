"""`eqbench draw` writes a picture, or says why not."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from command import accepted
from command import eqbench_here as eqbench

PLUGIN = """
from dataclasses import dataclass
import eqbench

@eqbench.register_game("coin", summary="one coin")
@dataclass(frozen=True)
class Coin:
    def build(self):
        tree = eqbench.TreeBuilder(["Zoë"])
        root = tree.decision(None, 0, "which?", ["heads", "tails"])
        tree.terminal((root, 0), [1])
        tree.terminal((root, 1), [0])
        return tree.tree()
"""


def words(picture: str) -> list[str]:
    found = ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    return [element.text or "" for element in found]


def test_picture_is_a_file_and_goes_to_standard_output_only_if_asked(tmp_path: Path) -> None:
    done = eqbench("draw", "matching_pennies", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "wrote matching_pennies.svg\n")
    picture = (tmp_path / "matching_pennies.svg").read_text()
    assert words(picture)[0] == "matrix(name=matching_pennies)"
    assert eqbench("draw", "matching_pennies", "--out", "-", cwd=tmp_path).out == picture
    again = eqbench("draw", "--game", "matching_pennies", "--out", "mp.svg", "-q", cwd=tmp_path)
    assert (again.code, again.out, again.err) == (0, "", "")
    assert (tmp_path / "mp.svg").read_text() == picture


def test_game_of_a_plugin_is_drawn_with_a_profile_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "coin.py").write_text(PLUGIN, encoding="utf-8")
    profile = json.dumps({"behavior": {"Zoë": {"which?": {"heads": "1/4", "tails": "3/4"}}}})
    call = ("draw", "coin", "--plugin", "coin.py", "--profile", "-", "--out", "-")
    done = accepted(*call, cwd=tmp_path, stdin=profile)
    assert {"Zoë", "heads 1/4", "Expected payoffs: Zoë 1/4."} <= set(words(done.out))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kuhn4",), "7,801 nodes; a drawing has at most 1,500"),
        (("kuhn2", "--profile", "none.json"), "cannot read the profile none.json: No such file"),
        (("kuhn2", "--profile", "other.json"), "unknown player 'nobody'"),
        (("kuhn2", "--out", "no/such/folder.svg"), "cannot write no/such"),
    ],
)
def test_what_cannot_be_drawn_is_a_usage_error(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "other.json").write_text('{"behavior": {"nobody": {}}}')
    done = eqbench("draw", *arguments, cwd=tmp_path)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""
