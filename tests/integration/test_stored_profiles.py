"""Cells of runs are profiles wherever one is asked for, also of games that a plugin brings."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest
from helpers.command import accepted, eqbench_here, refused

import eqbench
from eqbench.harness.experiment import Request

PLUGIN = """
from dataclasses import dataclass
import sys
import eqbench

@eqbench.register_game("coin", summary="one coin")
@dataclass(frozen=True)
class Coin:
    def build(self):
        print("its code runs", file=sys.stderr)
        tree = eqbench.TreeBuilder(["A", "B"])
        first = tree.decision(None, 0, "first", ["heads", "tails"])
        for side in range(2):
            second = tree.decision((first, side), 1, "second", ["heads", "tails"])
            for other in range(2):
                won = 1 if side == other else -1
                tree.terminal((second, other), [won, -won])
        return tree.tree()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of kuhn2, `first`, and one of a plugin's game, `coins`."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "coin.py").write_text(PLUGIN)
    run = ("run", "--solver", "lcp,logit", "-q")
    assert eqbench_here(*run, "--game", "kuhn2", "--out", "first", cwd=folder).code == 0
    plugin = ("--plugin", "coin.py")
    assert eqbench_here(*run, "--game", "coin", *plugin, "--out", "coins", cwd=folder).code == 0
    return folder


@pytest.mark.parametrize("words", [(".", "lcp"), ("./lcp",), ("../first", "lcp")], ids=" ".join)
def test_cell_of_the_run_in_this_folder_is_verified(place: Path, words: tuple[str, ...]) -> None:
    assert eqbench_here("verify", *words, cwd=place / "first").code == 0


def test_cells_of_files_are_named_as_they_are_listed(place: Path) -> None:
    """Also if the folder above holds the manifest of something else."""
    site = place / "site"
    site.mkdir()
    (site / "manifest.json").write_text('{"name": "a site"}')
    assert eqbench_here("export", "--game", "kuhn2", "game.efg", cwd=site).code == 0
    for number, game in enumerate((f"{site}/game.efg", "./game.efg", "game.efg")):
        asked = ("run", "--game", game, "--solver", "lcp", "--out", f"of{number}", "-q")
        assert eqbench_here(*asked, cwd=site).code == 0
        for words in ((f"of{number}", f"{game}/lcp"), (f"of{number}/{game}/lcp",)):
            accepted("verify", *words, cwd=site)


def test_plugin_that_a_run_names_is_named_before_its_code_runs(place: Path) -> None:
    done = accepted("show", "coins", "lcp", cwd=place)
    assert done.err.count(f"using the plugin {place / 'coin.py'}") == 1
    assert done.err.index("using the plugin") < done.err.index("its code runs")


def test_plugin_of_a_run_is_the_file_that_the_run_began_with(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "coin.py").write_text("raise SystemExit('another file of that name')")
    monkeypatch.chdir(place)
    request = Request(["coin"], ["lcp"], plugins=("coin.py",))
    for given in ((request,), ("coin", "lcp")):
        options = {} if given == (request,) else {"plugins": "coin.py"}
        run = eqbench.run(*given, out=tmp_path / f"run{len(given)}", **options)
        assert run.stored.plan["request"]["plugins"] == [str(place / "coin.py")]
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match=f"using the plugin {place / 'coin.py'}"):
        run.profile("lcp")


def test_plugin_of_a_run_that_may_be_any_file_is_not_used(place: Path, tmp_path: Path) -> None:
    folder = copytree(place / "coins", tmp_path / "coins")
    (tmp_path / "coin.py").write_text(PLUGIN)
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text.replace(str(place / "coin.py"), "coin.py"))
    for words in (
        ("show", "coins", "lcp"),
        ("verify", "coins/lcp"),
        ("crossplay", "coins"),
        ("run", "--resume", "coins"),
    ):
        refused(*words, words="the plugin coin.py without its folder", cwd=tmp_path)
    accepted("show", "coins", "lcp", "--plugin", "coin.py", cwd=tmp_path)


def test_plugin_is_not_used_for_a_game_that_is_known(place: Path) -> None:
    done = eqbench_here("export", "kuhn2", ".svg", "--profile", "coins/lcp", cwd=place)
    assert "plugin" not in done.err
    file = next((place / "coins" / "profiles").glob("*.json"))
    assert "coin" in json.loads(file.read_text())["game"]
    again = eqbench_here("verify", file, cwd=place)
    assert (again.code, again.err.count("using the plugin")) == (0, 1)


def test_plugin_of_a_study_is_stored_with_its_folder(place: Path) -> None:
    words = ("stability", "coin", "--plugin", "coin.py", "--profile", "coins/lcp", "--samples", "0")
    accepted(*words, "--out", "plugged", cwd=place)
    stored = json.loads((place / "plugged" / "manifest.json").read_text())
    assert stored["request"]["plugin"] == [str(place / "coin.py")]
