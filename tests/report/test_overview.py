"""Pages of a folder of runs and of comparisons: what they show, and which files are written."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from helpers.command import accepted, refused
from helpers.pages import read_page
from helpers.runs import cell, write_lines, write_run

from eqbench.cli import app
from eqbench.report.writing import runs_in, write_index
from eqbench.store.run_folder import INTERRUPTED
from eqbench.store.stored_run import read_run


def seeds(solver: str, times: list[float], **fields: Any) -> list[Any]:
    return [
        cell(f"{solver}-{s}", solver=solver, solver_spec=solver, seed=s, elapsed_s=t, **fields)
        for s, t in enumerate(times)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two runs of the same two solvers, a study and something else."""
    place = tmp_path / "results"
    write_run(place / "one", *seeds("a", [1.0, 2.0]), *seeds("b", [4.0, 2.0]))
    write_run(place / "two", *seeds("a", [3.0, 3.0]), *seeds("b", [5.0, 5.0], status="crashed"))
    (place / "study").mkdir()
    (place / "study" / "manifest.json").write_text('{"schema": "eqbench.study/1"}')
    (place / "notes").mkdir()
    return place


def data_of(text: str) -> dict[str, Any]:
    (element,) = [e for e in read_page(text).all("script") if e.attributes.get("id") == "data"]
    return json.loads(element.full_text)


def points(data: dict[str, Any], first: str, second: str, measure: str = "elapsed_s") -> set[Any]:
    """Game, name and both values of the trials that two sides have in common."""
    tables = {
        name: [dict(zip(own["columns"], row, strict=True)) for row in own["rows"]]
        for name, own in data["datasets"].items()
    }
    trials: dict[int, dict[str, Any]] = {}
    for row in tables["trials"]:
        cell = tables["cells"][row["cell"]]
        own = trials.setdefault(row["trial"], {"game": cell["game"], "seed": row["seed"]})
        own[row["side"]] = cell[measure]
    both = [own for own in trials.values() if {first, second} <= own.keys()]
    return {(own["game"], own["seed"], own[first], own[second]) for own in both}


def test_folder_of_runs_gets_an_index_and_each_run_its_page(folder: Path) -> None:
    call = ["report", str(folder), "--format", "html"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    pages = [folder / name / "report.html" for name in ("one", "two")]
    assert all(page.exists() for page in pages)
    text = (folder / "index.html").read_text()
    links = {e.attributes.get("href") for e in read_page(text).all("a")}
    assert {"./one/report.html", "./two/report.html"} <= links
    data = data_of(text)
    assert points(data, "a (one)", "b (one)") == {
        ("kuhn2", "seed 0", 1.0, 4.0),
        ("kuhn2", "seed 1", 2.0, 2.0),
    }
    of_runs = points(data, "all of one", "all of two")
    assert ("kuhn2", "a seed 1", 2.0, 3.0) in of_runs
    assert len(of_runs) == 4
    pages[0].write_text("kept")
    assert CliRunner().invoke(app, call).exit_code == 0
    assert pages[0].read_text() == "kept"


def test_index_begins_with_the_two_that_have_most_trials_in_common(folder: Path) -> None:
    other = {"game": "kuhn3", "game_spec": "kuhn(players=3)"}
    write_run(folder / "zero", *seeds("c", [1.0], **other))
    *_, index = write_index(runs_in(folder), folder / "index.html")
    values = {
        p["name"]: p["value"] for p in data_of(index.read_text())["charts"]["pairs"]["params"]
    }
    assert {values["first"], values["second"]} == {"all of one", "all of two"}
    assert values["measure"] == "elapsed_s"


def test_index_has_no_chart_of_runs_that_have_nothing_in_common(tmp_path: Path) -> None:
    other = {"game": "kuhn3", "game_spec": "kuhn(players=3)"}
    write_run(tmp_path / "one", *seeds("a", [1.0]))
    write_run(tmp_path / "two", *seeds("b", [2.0], **other))
    *_, index = write_index(runs_in(tmp_path), tmp_path / "index.html")
    assert data_of(index.read_text())["charts"] == {}


def test_index_pairs_files_by_what_they_hold_not_by_where_they_are(tmp_path: Path) -> None:
    for name, content in (("one", "x"), ("two", "y"), ("three", "x")):
        file = {"game": "game.efg", "game_spec": f"/{name.replace('two', 'one')}/game.efg"}
        write_run(tmp_path / name, *seeds("a", [1.0, 2.0], **file, game_content=content))
    *_, index = write_index(runs_in(tmp_path), tmp_path / "index.html")
    data = data_of(index.read_text())
    assert len(points(data, "all of one", "all of three")) == 2
    assert points(data, "all of one", "all of two") == set()


def test_index_is_written_again_whatever_the_runs_hold(folder: Path) -> None:
    """Also with a run that ended before its first cell, or whose name reads like a scheme."""
    begun, page = folder / "run:1", folder / "run:1" / "report.html"
    write_run(begun, planned=["a"])
    for _ in range(2):
        files = [*write_index(runs_in(folder), folder / "index.html")]
    assert files == [folder / "index.html"]
    links = {e.attributes.get("href") for e in read_page(files[0].read_text()).all("a")}
    assert "./run%3A1/report.html" in links
    os.utime(page, (0, 0))
    (begun / INTERRUPTED).touch()
    assert page in write_index(runs_in(folder), folder / "index.html")


def test_published_runs_have_pages_and_data_beside_an_index_that_names_no_folder_outside(
    folder: Path, tmp_path: Path
) -> None:
    site, again = tmp_path / "site", tmp_path / "again"
    accepted("publish", site, folder / "one", cwd=tmp_path)
    accepted("publish", site, folder, cwd=tmp_path)  # one and two
    for name in ("one", "two"):
        copy, own = (place / name / "runs.jsonl" for place in (site, folder))
        assert copy.read_bytes() == own.read_bytes()
        assert str(tmp_path) not in (site / name / "report.html").read_text()
    write_run(again / "one", *seeds("z", [1.0]))  # another run of that name
    write_lines(folder / "two", seeds("b", [7.0]))
    accepted("publish", site, again / "one", folder / "two", cwd=tmp_path)
    index = (site / "index.html").read_text()
    assert str(tmp_path) not in index
    links = {str(e.attributes.get("href")) for e in read_page(index).all("a")}
    assert {link for link in links if link.endswith("html")} == {
        f"./{name}/report.html" for name in ("one", "one-2", "two")
    }
    assert len(read_run(site / "two").cells) == len(read_run(folder / "two").cells)
    assert {file.name for file in site.iterdir()} == {"index.html", "one", "one-2", "two"}
    shutil.rmtree(site / "two")
    accepted("publish", site, cwd=tmp_path)
    assert "./two/" not in (site / "index.html").read_text()


@pytest.mark.parametrize("name", ["thesis.txt", "index.html"])
def test_folder_with_files_of_others_is_not_published_into(folder: Path, name: str) -> None:
    place = folder.parent / "home"
    place.mkdir()
    (place / name).write_text("<h1>mine</h1>")
    (place / ".git").mkdir()
    refused("publish", place, folder / "one", words=name, cwd=folder)
    assert {file.name for file in place.iterdir()} == {name, ".git"}
    (place / name).unlink()
    accepted("publish", place, folder / "one", cwd=folder)
    refused("publish", folder / "one", folder / "two", words="manifest.json", cwd=folder)
    refused("publish", folder, folder, words="one", cwd=folder)  # nobody published into it
    (place / "one" / "notes.md").write_text("mine")
    accepted("publish", place, place, cwd=folder)
    assert (place / "one" / "notes.md").read_text() == "mine"
