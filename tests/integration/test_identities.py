"""Runs, files and Python say which equilibrium was found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers.command import PLUGINS, Ended, accepted
from helpers.command import eqbench_here as eqbench

import eqbench as package
from eqbench.errors import ProfileError, UsageError
from eqbench.store.stored_run import read_run

MEETING = PLUGINS / "meeting.py"
MEETS = ('meets(at="mixed")', 'meets(at="south+north")', 'meets(at="north")')


def run(folder: Path, *arguments: str | Path, out: str = "--out") -> Ended:
    return accepted("run", "-q", "--json", out, "run", *arguments, cwd=folder)


def named(solvers: tuple[str, ...]) -> list[str]:
    return [part for solver in solvers for part in ("--solver", solver)]


def meet(folder: Path, solvers: tuple[str, ...] = MEETS) -> Ended:
    return run(folder, "--game", "meeting", *named(solvers), "--plugin", MEETING)


def resumed(folder: Path, solvers: tuple[str, ...] = ()) -> Ended:
    return run(folder, *named(solvers), out="--resume")


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A run of the three that meet, to be copied before anything is changed."""
    return meet(tmp_path_factory.mktemp("met"))


@pytest.fixture
def folder(met: Ended, tmp_path: Path) -> Path:
    shutil.copytree(met.folder / "run", tmp_path / "run")
    return tmp_path


def names(cells: list[dict[str, Any]]) -> list[list[str]]:
    return [[item["identity"]["name"] for item in cell["equilibria"]] for cell in cells]


def test_a_run_names_the_sub_family_and_verify_says_the_same(tmp_path: Path) -> None:
    cell = run(tmp_path, "--game", "kuhn3", "--solver", "pcfr_plus").cell("pcfr_plus")
    identity = cell["equilibria"][0]["identity"]
    assert identity["name"].startswith("szafron:")
    assert identity["on_path"]
    assert "cluster" not in (tmp_path / "run/clusters.json").read_text(), "it has a name already"
    assert " ".join(identity["parameters"]) == "beta b11 b21 b23 b32 c11 c33 c34"
    beta = identity["parameters"]["beta"]
    assert cell["payoffs"][2] == pytest.approx((1 + beta) / 24, abs=1e-8)
    profile = Path("run", cell["equilibria"][0]["profile"])
    arguments = ("verify", "--game", "kuhn3", "--profile", profile)
    verified = eqbench(*arguments, "--json", cwd=tmp_path).json["identity"]
    assert (verified["name"], verified["strict"]) == (identity["name"], identity["strict"])
    assert verified["parameters"] == pytest.approx(identity["parameters"], abs=1e-9)
    assert identity["name"] in eqbench(*arguments, cwd=tmp_path).out


def test_unpublished_equilibria_are_clusters_numbered_across_cells(met: Ended) -> None:
    expected = [["cluster:1"], ["cluster:2", "cluster:3"], ["cluster:3"]]
    assert names(met.json["cells"]) == expected
    stored = read_run(met.folder / "run").cells
    found = [[item.identity and item.identity["name"] for item in c.equilibria] for c in stored]
    assert found == expected


def test_damaged_clusters_are_left_out_with_a_note_and_a_remedy_that_works(folder: Path) -> None:
    (folder / "run/clusters.json").write_text("[oops")
    done = eqbench("report", "run", cwd=folder)
    assert done.code == 0
    assert "clusters.json" in done.out
    assert "--resume run" in done.out
    assert "cluster:" not in done.out
    resumed(folder)
    assert len(json.loads((folder / "run/clusters.json").read_text())) == 4
    assert "clusters.json" not in eqbench("report", "run", cwd=folder).out


def test_a_profile_that_was_deleted_costs_its_name_only(met: Ended, folder: Path) -> None:
    cells = met.json["cells"]
    (folder / "run" / cells[0]["equilibria"][0]["profile"]).unlink()
    first, *others = resumed(folder).json["cells"]
    assert first["equilibria"][0]["identity"] is None
    assert names(others) == [["cluster:1", "cluster:2"], ["cluster:2"]]


def test_cells_of_another_plan_keep_clusters_and_all_are_numbered_anew(tmp_path: Path) -> None:
    """Whoever ends last writes the clusters of all that share the folder."""
    meet(tmp_path, MEETS[:2])
    assert names(resumed(tmp_path, MEETS[2:]).json["cells"]) == [["cluster:1"]]
    clusters = json.loads((tmp_path / "run/clusters.json").read_text())
    assert sorted(found["name"][-1] for found in clusters.values()) == ["1", "1", "2", "3"]
    assert names(resumed(tmp_path, MEETS).json["cells"])[2] == ["cluster:3"]


def test_profiles_far_from_everything_have_no_identity(tmp_path: Path) -> None:
    cell = run(tmp_path, "--game", "kuhn3", "--solver", "cfr", "--iterations", "3").cell("cfr")
    assert cell["equilibria"][0]["identity"] is None


def test_python_says_which_equilibrium_it_is() -> None:
    result = package.solve("kuhn2", "sequence_lp")
    identity = result.equilibria[0].identity
    assert identity is not None
    assert identity.name == "kuhn2"
    found = package.identify("kuhn2", result.equilibria[0].profile)
    assert found is not None
    assert found == identity
    uniform = package.BehaviorProfile.uniform(package.load_game("kuhn2").tree)
    assert package.identify("kuhn2", uniform) is None
    with pytest.raises(ProfileError, match="profile"):
        package.identify("kuhn2", 3)
    with pytest.raises(UsageError, match="<GameTree"):
        package.identify(package.load_game("kuhn2").tree, uniform)
