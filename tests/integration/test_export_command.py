"""`eqbench export`, and game files wherever a command takes a game."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import accepted
from command import eqbench_here as eqbench

from eqbench import load_game
from eqbench.cli import app
from eqbench.errors import UsageError
from eqbench.model.tree_files import content_hash

ODD = "sub dir (x)/it's, kuhn.efg"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with Kuhn poker under an odd name."""
    path = tmp_path_factory.mktemp("games")
    (path / "sub dir (x)").mkdir()
    done = eqbench("export", "--game", "kuhn2", "--out", ODD, "--json", cwd=path)
    assert done.json == {
        "schema": "eqbench.export/1",
        "game": "kuhn(players=2,cards=3,pot=2,reduce=none,raises=0)",
        "file": ODD,
        "nodes": 55,
        "bytes": (path / ODD).stat().st_size,
    }
    return path


def test_home_folder_is_found_without_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    done = eqbench("export", "--game", "jordan", "--out", "~/x.nfg", "--json", cwd=tmp_path)
    assert done.json["file"] == str(tmp_path / "x.nfg")
    assert [path.name for path in tmp_path.iterdir()] == ["x.nfg"]


def test_no_hard_links_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems have none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(os, "link")
    app.main(["export", "--game", "jordan", "--out", "x.nfg"], standalone_mode=False)
    assert (tmp_path / "x.nfg").read_text().startswith("NFG 1")


def test_file_that_appears_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.nfg"

    def lines(tree: object, title: str) -> Iterator[str]:
        path.write_text("of somebody else")
        yield "NFG 1"

    monkeypatch.setattr("eqbench.model.gambit_text.nfg_lines", lines)
    with pytest.raises(UsageError, match=r"x\.nfg exists"):
        app.main(["export", "--game", "jordan", "--out", str(path)], standalone_mode=False)
    assert path.read_text() == "of somebody else"
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
    assert "all 1 cells are there already" in again.err


def test_info_and_draw_take_a_path(folder: Path) -> None:
    facts = eqbench("info", ODD, "--json", cwd=folder).json
    assert (facts["kind"], facts["spec"], facts["sizes"]["nodes"]) == ("game", ODD, 55)
    assert facts["equilibria"][0]["name"] == "kuhn2"
    assert eqbench("draw", ODD, "--out", "-", cwd=folder).out.startswith("<svg")


def test_files_are_converted_and_replaced_only_by_force(tmp_path: Path) -> None:
    assert eqbench("export", "--game", "jordan", "--out", "a.nfg", cwd=tmp_path).code == 0
    assert eqbench("export", "--game", "a.nfg", "--out", "a.efg", cwd=tmp_path).code == 0
    before = (tmp_path / "a.efg").read_text()
    refused = eqbench("export", "--game", "kuhn2", "--out", "a.efg", cwd=tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert "a.efg exists" in refused.err
    assert "--force" in refused.err
    assert (tmp_path / "a.efg").read_text() == before
    done = eqbench("export", "--game", "kuhn2", "--out", "a.efg", "--force", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "55 nodes" in done.err
    assert (tmp_path / "a.efg").read_text() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.efg", "a.nfg"]


@pytest.mark.parametrize(
    ("game", "target", "words"),
    [
        ("kuhn2", "game.txt", ("neither .efg", ".nfg")),
        ("kuhn2", "nowhere/game.efg", ("nowhere/game.efg", "No such file", "writable folder")),
        ("kuhn2", "game.nfg", ("not in strategic form", "write an .efg file")),
        ("khun2", "game.efg", ("unknown game", "kuhn2")),
        ("missing.efg", "game.efg", ("missing.efg", "No such file")),
        ("leduc3", "game.efg", ("allowed are 1,000 nodes", "--max-nodes")),
    ],
)
def test_export_refuses(tmp_path: Path, game: str, target: str, words: tuple[str, ...]) -> None:
    done = eqbench(
        *("export", "--game", game, "--out", target, "--max-nodes", "1000"), cwd=tmp_path
    )
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err
    assert list(tmp_path.iterdir()) == []
