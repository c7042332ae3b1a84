"""`eqbench merge`, `publish` and `results`: nothing of a run is lost."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.command import eqbench_here
from helpers.runs import cell, write_lines, write_run

from eqbench.store.run_folder import RunFolder
from eqbench.store.stored_run import read_run

DAY_S = 24 * 3600.0


def merge(*words: str, cwd: Path):
    return eqbench_here("merge", *words, cwd=cwd)


def statuses(run: Path) -> dict[str, str]:
    return {record.key: record.status for record in read_run(run).cells}


def aged(run: Path, days: float) -> Path:
    for file in run.iterdir():
        if file.is_file():
            before = file.stat().st_mtime - days * DAY_S
            os.utime(file, (before, before))
    return run


# -- Merging -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two parts of what one run would have done, and that run."""
    folder = tmp_path_factory.mktemp("parts")
    limits = ("--iterations", "2000", "--target", "0", "--solver", "cfr_plus(start=random)")
    for name, game in {"one": "kuhn2", "two": "random(seed=3)"}.items():
        done = eqbench_here(
            "run", "--game", game, *limits, "--seeds", "2", "--out", name, cwd=folder
        )
        assert done.code == 0, done.err
    return folder


def test_merged_run_has_the_cells_and_files_of_all_and_nothing_is_left_to_run(
    parts: Path,
) -> None:
    done = merge("one", "two", "--out", "all", cwd=parts)
    assert (done.code, done.out) == (0, ""), done.err
    found, sources = read_run(parts / "all"), [read_run(parts / name) for name in ("one", "two")]
    assert [each.key for each in found.cells] == [c.key for run in sources for c in run.cells]
    assert found.missing == found.outdated == 0
    for run in sources:
        for record in run.cells:
            assert record.files
            for name in record.files:
                assert (found.path / name).read_bytes() == (run.path / name).read_bytes()
    again = eqbench_here("run", "--resume", "all", "--json", cwd=parts)
    assert again.code == 0, again.err
    assert "all 4 cells" in again.err
    assert len(read_run(parts / "all").plan["parts"]) == 2
    assert eqbench_here("report", "all", cwd=parts).code == 0


def test_of_a_cell_of_several_runs_the_last_finished_try_counts(tmp_path: Path) -> None:
    ok, crashed = cell("01"), cell("01", status="crashed")
    first = write_run(tmp_path / "a", ok, replace(cell("02"), iterations=1), planned=["01", "02"])
    write_lines(first, [cell("03", status="crashed")])
    RunFolder.open(first).append(replace(cell("04"), status="interrupted"))
    second = write_run(tmp_path / "b", crashed, replace(cell("02"), iterations=2))
    write_lines(second, [cell("03"), cell("04")])
    RunFolder.open(second).append(replace(cell("02"), status="interrupted"))
    for runs in (("a", "b"), ("b", "a")):
        out = f"{runs[0]}-first"
        assert merge(*runs, "--out", out, cwd=tmp_path).code == 0
        records = {each.key: each for each in RunFolder.open(tmp_path / out).all_cells()}
        assert {key: each.status for key, each in records.items()} == dict.fromkeys(
            ("01", "02", "03", "04"), "ok"
        )
        assert records["02"].iterations == (2 if runs[1] == "b" else 1)
    assert statuses(first)["01"] == "ok", "the parts stay as they are"


def test_machines_and_versions_of_all_parts_are_kept(tmp_path: Path) -> None:
    for name, cores in {"a": 2, "b": 64}.items():
        manifest = json.loads(
            (write_run(tmp_path / name, cell(name)) / "manifest.json").read_text()
        )
        manifest["environment"] = {"python": "3.11.7", "cores": cores}
        (tmp_path / name / "manifest.json").write_text(json.dumps(manifest))
        hosts = "".join(f'{{"host": "{host}"}}\n' for host in ("shared", name))
        (tmp_path / name / "hosts.jsonl").write_text(hosts)
    assert merge("a", "b", "--out", "c", cwd=tmp_path).code == 0
    plan = read_run(tmp_path / "c").plan
    assert [each["cores"] for each in plan["environments"]] == [2, 64]
    assert plan["environment"] == {"python": "3.11.7"}
    hosts = (tmp_path / "c" / "hosts.jsonl").read_text().splitlines()
    assert [json.loads(line)["host"] for line in hosts] == ["shared", "a", "b"]


def test_what_is_damaged_or_missing_is_said_and_the_rest_merged(tmp_path: Path) -> None:
    write_run(tmp_path / "a", cell("01"), cell("02"))
    lines = (tmp_path / "a" / "runs.jsonl").read_bytes()
    (tmp_path / "a" / "runs.jsonl").write_bytes(lines.replace(b'{"key": "02"', b'{"key: "02"'))
    escaping = replace(cell("03"), log="manifest.json", equilibria=[])
    write_run(tmp_path / "b", escaping, planned=["03"])
    done = merge("a", "b", "--out", "c", cwd=tmp_path)
    assert done.code == 0
    assert "1 line of a" in done.err
    assert "2 cells" in done.err
    assert statuses(tmp_path / "c") == {"01": "ok", "03": "ok"}
    assert not any(record.files for record in read_run(tmp_path / "c").cells)


# -- Listing and publishing ----------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Three runs, of which that of the middle lacks a cell, beside a study and a deeper run."""
    results = tmp_path / "results"
    aged(write_run(results / "old", cell("01")), 40)
    aged(write_run(results / "part", cell("01"), planned=["01", "02"]), 20)
    write_run(results / "new", cell("01"), cell("02"))
    aged(write_run(results / "reference" / "kuhn3", cell("01")), 400)
    (results / "study").mkdir()
    (results / "study" / "manifest.json").write_text('{"schema": "eqbench.study/1"}')
    return results


def test_list_says_what_runs_have_and_take(kept: Path) -> None:
    (kept / "study" / "manifest.json").write_text('{"schema": "eqbench.run/7"}')
    done = eqbench_here("results", "--json", cwd=kept.parent)
    assert done.code == 0
    runs = {Path(run["run"]).name: run for run in done.json["runs"]}
    assert list(runs) == ["new", "part", "old"]
    assert [(run["finished"], run["planned"]) for run in runs.values()] == [(2, 2), (1, 2), (1, 1)]
    assert all(run["size_bytes"] > 0 for run in runs.values())
    assert "results/study" in done.err, "a run of another version is named"
    one = eqbench_here("results", "results/new", cwd=kept.parent).out
    assert "results/new" in one
    assert "results/old" not in one


def test_what_is_left_out_is_named_and_cells_are_lost_only_on_demand(kept: Path) -> None:
    (kept / "new" / "profiles" / "notes.txt").write_text("mine")
    (kept / "new" / "logs" / "link").symlink_to("/etc/passwd")
    both = ("profiles/notes.txt", "logs/link")
    for words in (
        ("merge", "results/new", "results/old", "--out", "all"),
        ("publish", "site", "results/new"),
    ):
        done = eqbench_here(*words, cwd=kept.parent)
        assert done.code == 0, done.err
        assert all(name in done.err for name in both), words
    lines = kept / "new" / "runs.jsonl"
    lines.write_bytes(lines.read_bytes().splitlines(keepends=True)[1])
    done = eqbench_here("publish", "site", "results/new", cwd=kept.parent)
    assert (done.code, len(read_run(kept.parent / "site" / "new").cells)) == (2, 2)
    assert "--replace" in done.err
    done = eqbench_here("publish", "site", "results/new", "--replace", cwd=kept.parent)
    assert (done.code, statuses(kept.parent / "site" / "new")) == (0, {"02": "ok"})
