"""`eqbench stability` as users run it: verdicts, files, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import accepted, eqbench_here, refused

import eqbench as package
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with what is stable in SKP at a pot of 3.25 in ``skp``."""
    cwd = tmp_path_factory.mktemp("place")
    done = accepted(
        *("stability", "--game", "skp(pot=3.25)", "--rest-points", "30"),
        *("--figures", "--out", "skp", "--json"),
        cwd=cwd,
    )
    assert done.json == json.loads((cwd / "skp/summary.json").read_text())
    assert all(
        (cwd / f"skp/figures/eigenvalues.{form}").stat().st_size > 5_000 for form in ("svg", "png")
    )
    return cwd


def test_published_solutions_have_the_published_verdicts(place: Path) -> None:
    """Billingham 2017, section 4.1: three solutions coexist at this pot, and one is no repeller."""
    document = json.loads((place / "skp/summary.json").read_text())
    assert document["schema"] == "eqbench.stability/1"
    assert {entry["name"]: entry["verdict"] for entry in document["equilibria"]} == {
        "skp:2": "unstable",
        "skp:3": "unstable",
        "skp:4": "centre manifold of oscillatory dimension 4",
    }
    for entry in document["equilibria"]:
        counted = [entry[key] for key in ("unstable", "centre_oscillatory", "zero", "stable")]
        assert sum(counted) == len(entry["eigenvalues"]) == 11
        assert all(len(pair) == 2 for pair in entry["eigenvalues"])
        assert entry["max_regret"] <= 1e-12
        assert entry["members"]["same_everywhere"]
    (search,) = document["rest_points"]
    assert search["unstable"] == search["distinct"] > 0


def test_verdicts_along_the_parameter_are_drawn(tmp_path: Path) -> None:
    done = accepted(
        *("stability", "--game", "skp", "--parameter", "pot", "--at", "3", "--at", "61/20"),
        *("--samples", "2", "--figures", "--out", "out"),
        cwd=tmp_path,
    )
    assert "3.05 skp:2" in done.out
    assert "the corner a2=0" in done.out
    assert "results in out" in done.err
    assert (tmp_path / "out/figures/verdicts.svg").exists()


def test_profile_in_a_file_is_looked_at(tmp_path: Path) -> None:
    game = package.load_game("shapley")
    uniform = BehaviorProfile.uniform(game.tree)
    (tmp_path / "given").mkdir()
    (tmp_path / "given/uniform.json").write_text(profile_text(game.tree, uniform, game.spec))
    options = ("stability", "--game", "shapley", "--profile", "given/uniform.json", "--json", "-q")
    done = eqbench_here(*options, "--out", "out", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    entry = done.json["equilibria"][-1]
    assert entry["name"] == "uniform.json"
    assert (entry["is_equilibrium"], entry["verdict"]) == (True, "unstable")  # Shapley 1964
    points = (tmp_path / "out/points.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in points] == ["name", "matrix:shapley", "uniform.json"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--game", "leduc"), "--rest-points"),
        (("--game", "skp", "--at", "high"), "is not a number"),
        (("--game", "skp", "--out", "."), "is not empty"),
        (("--game", "kuhn2", "--profile", "missing.json"), "cannot read the profile"),
        (("--game", "kuhn2", "--profile", "moves.json"), "is not a rest point"),
    ],
)
def test_what_cannot_be_done_is_refused_with_advice(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    tree = package.load_game("kuhn2").tree
    (tmp_path / "moves.json").write_text(profile_text(tree, BehaviorProfile.uniform(tree)))
    refused("stability", *options, words=words, cwd=tmp_path)
    assert not (tmp_path / "results").exists()
