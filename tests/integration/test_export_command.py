"""`eqbench export`, and game files wherever a command takes a game."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command import accepted
from helpers.command import eqbench_here as eqbench

from eqbench import load_game
from eqbench.cli import app
from eqbench.errors import UsageError
from eqbench.model.tree_files import content_hash

ODD = "sub dir (x)/it's, kuhn.efg"
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with Kuhn poker under an odd name."""
    path = tmp_path_factory.mktemp("games")
    (path / "sub dir (x)").mkdir()
    done = accepted("export", "kuhn2", ODD, cwd=path)
    size = (path / ODD).stat().st_size
    assert (done.out, done.err) == ("", f"wrote {ODD}: 55 nodes, {size:,} bytes\n")
    return path


def test_home_folder_is_found_without_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    accepted("export", "--game", "jordan", "--out", "~/x.nfg", cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["x.nfg"]


def test_no_hard_links_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems have none."""
    monkeypatch.delattr(os, "link")
    accepted("export", "--game", "jordan", "--out", "x.nfg", cwd=tmp_path)
    assert (tmp_path / "x.nfg").read_text().startswith("NFG 1")


def test_file_that_appears_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.nfg"

    def lines(tree: object, title: str) -> Iterator[str]:
        path.write_text("of another process")
        yield "NFG 1"

    monkeypatch.setattr("eqbench.model.gambit_text.nfg_lines", lines)
    with pytest.raises(UsageError, match="exists"):
        app.main(["export", "--game", "jordan", "--out", str(path)], standalone_mode=False)
    assert path.read_text() == "of another process"
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_names_its_folder_after_the_file_and_knows_the_game(folder: Path) -> None:
    # in a list of games a path with a comma stands in quotation marks
    done = accepted(*("run", "--game", f'"{ODD}"', "--solver", "sequence_lp", "--json"), cwd=folder)
    cell = done.cell("sequence_lp")
    assert (cell["status"], cell["game_spec"]) == ("ok", ODD)
    assert cell["game_content"] == content_hash(load_game(str(folder / ODD)).tree)
    assert cell["equilibria"][0]["identity"]["name"] == "kuhn2"
    run = Path(done.json["run"])
    assert run.name.endswith("Z-it-s-kuhn.efg")
    profile = run / cell["equilibria"][0]["profile"]
    measured = accepted("verify", "--profile", profile, "--exact", "--json", cwd=folder)
    assert measured.json["max_regret"] < 1e-12
    again = eqbench("run", "--resume", run, "--json", cwd=folder)
    assert again.code == 0
    assert "all 1 cells" in again.err


def test_info_and_export_take_a_path(folder: Path) -> None:
    facts = eqbench("info", ODD, "--json", cwd=folder).json
    assert (facts["kind"], facts["spec"], facts["sizes"]["nodes"]) == ("game", ODD, 55)
    assert facts["equilibria"][0]["name"] == "kuhn2"
    assert accepted("export", ODD, ".svg", cwd=folder).out.startswith("<svg")


def test_files_are_converted_and_replaced_only_by_force(tmp_path: Path) -> None:
    accepted("export", "--game", "jordan", "--out", "a.nfg", cwd=tmp_path)
    accepted("export", "--game", "a.nfg", "--out", "a.efg", cwd=tmp_path)
    before = (tmp_path / "a.efg").read_text()
    assert eqbench("export", "kuhn2", "a.efg", cwd=tmp_path).code == 2
    assert (tmp_path / "a.efg").read_text() == before
    accepted("export", "kuhn2", "a.efg", "--force", cwd=tmp_path)
    assert (tmp_path / "a.efg").read_text() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.efg", "a.nfg"]


def test_game_of_a_plugin_is_drawn_with_a_profile_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "coin.py").write_text(PLUGIN, encoding="utf-8")
    profile = json.dumps({"behavior": {"Zoë": {"which?": {"heads": "1/4", "tails": "3/4"}}}})
    call = ("export", "coin", ".svg", "--plugin", "coin.py", "--profile", "-")
    done = accepted(*call, cwd=tmp_path, stdin=profile)
    texts = ET.fromstring(done.out).iter("{http://www.w3.org/2000/svg}text")
    assert {"Zoë", "heads 1/4", "Expected payoffs: Zoë 1/4."} <= {each.text for each in texts}


def test_profile_to_edit_has_a_line_for_each_information_set(tmp_path: Path) -> None:
    accepted("export", "kuhn2", "mine.json", cwd=tmp_path)
    lines = (tmp_path / "mine.json").read_text().splitlines()
    assert sum(": {" in line and line.endswith(("}", "},")) for line in lines) == 12
    done = accepted("verify", "mine.json", "--exact", "--json", cwd=tmp_path)
    assert done.json["exact"]["payoffs"][0] == "1/8"
