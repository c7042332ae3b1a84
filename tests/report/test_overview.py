"""Pages of a folder of runs: what they show, and which files are written."""

from __future__ import annotations

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
from eqbench.report.charts import chart
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


def test_folder_of_runs_gets_an_index_and_each_run_its_page(folder: Path) -> None:
    call = ["report", str(folder), "--format", "html"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    pages = [folder / name / "report.html" for name in ("one", "two")]
    assert all(page.exists() for page in pages)
    text = (folder / "index.html").read_text()
    links = {e.attributes.get("href") for e in read_page(text).all("a")}
    assert {"./one/report.html", "./two/report.html"} <= links
    pages[0].write_text("kept")
    assert CliRunner().invoke(app, call).exit_code == 0
    assert pages[0].read_text() == "kept"


def test_side_by_side_begins_with_the_two_that_have_most_trials_in_common(tmp_path: Path) -> None:
    cells = seeds("a", [1.0, 2.0, 3.0]), seeds("b", [1.0]), seeds("c", [2.0, 2.0, 2.0])
    run = write_run(tmp_path / "run", *(each for own in cells for each in own))
    spec = chart("pairs", [read_run(run)])
    values = {param["name"]: param["value"] for param in spec["params"] if "value" in param}
    assert {values["first"], values["second"]} == {"a", "c"}


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
