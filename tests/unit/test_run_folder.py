"""The store: whole lines only, torn tails healed, nothing overwritten."""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from eqbench.errors import DocumentError, StoreError, UsageError
from eqbench.store.run_folder import RunFolder, file_name, game_slug, new_run_path
from eqbench.store.schema import SCHEMA, CellRecord, EquilibriumRecord, IdentityRecord
from eqbench.store.traces import packed

MANIFEST = {"schema": SCHEMA, "cells": ["a", "b"], "request": {"seeds": 1, "timeout_s": 10.0}}

IDENTITY: IdentityRecord = {
    "name": "a cluster",
    "also": [],
    "parameters": {"beta": 0.25},
    "leading": "beta",
    "on_path": False,
    "strict": True,
    "distance": 0.0,
    "off_path": {},
    "dimension": None,
}


def record(key: str) -> CellRecord:
    found = EquilibriumRecord("average", [0.5, -0.5], [0.0, 1e-17], 1e-17, 1e-17)
    return CellRecord(
        key=key,
        game="kuhn2",
        solver="cfr",
        game_spec="kuhn(players=2)",
        solver_spec="cfr",
        seed=None,
        status="ok",
        equilibria=[found],
    )


def test_cells_come_back_as_they_were_stored(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    for key in ("a", "b"):
        folder.append(record(key))
    again = RunFolder.open(tmp_path / "run")
    assert again.cells() == [record("a"), record("b")]
    assert again.manifest == MANIFEST


def test_torn_tail_is_passed_over_and_cut_off_by_the_next_cell(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    folder.append(record("a"))
    lines = folder.path / "runs.jsonl"
    whole = lines.read_bytes()
    lines.write_bytes(whole + whole[: len(whole) // 2])
    again = RunFolder.open(folder.path)
    assert [cell.key for cell in again.cells()] == ["a"]
    again.append(record("b"))
    assert [cell.key for cell in again.cells()] == ["a", "b"]
    assert len(lines.read_bytes().splitlines()) == 2


def test_damaged_line_in_the_middle_is_left_out_with_a_note(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    for key in ("a", "b"):
        folder.append(record(key))
    lines = folder.path / "runs.jsonl"
    lines.write_bytes(lines.read_bytes().replace(b'{"key": "a"', b'{"key: "a"'))
    assert [cell.key for cell in folder.cells()] == ["b"]
    assert "1 line of" in folder.notes[0]


def test_of_a_cell_that_was_run_again_the_last_try_counts(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    folder.append(replace(record("a"), status="crashed"))
    folder.append(record("b"))
    folder.append(record("a"))
    assert [(cell.key, cell.status) for cell in folder.cells()] == [("b", "ok"), ("a", "ok")]


def test_plan_is_that_of_the_last_resumption(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    assert folder.plan == MANIFEST
    folder.resumed(MANIFEST | {"cells": ["c"]})
    assert RunFolder.open(folder.path).plan["cells"] == ["c"]
    folder.resumed(MANIFEST | {"cells": ["d"]})
    assert folder.plan["cells"] == ["d"]
    assert folder.manifest == MANIFEST


def test_folder_of_another_version_or_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        RunFolder.open(tmp_path)
    damaged = {"[1": "damaged", "[1]": "damaged"}
    for text, complaint in ({'{"schema": "eqbench.run/2"}': "'eqbench.run/2'"} | damaged).items():
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(UsageError, match=complaint):
            RunFolder.open(tmp_path)


def test_numbers_that_json_does_not_have_are_refused(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    broken = CellRecord(**(record("a").__dict__ | {"elapsed_s": float("nan")}))
    with pytest.raises(ValueError, match="JSON compliant"):
        folder.append(broken)
    assert folder.cells() == []


def test_folder_with_a_run_is_not_overwritten_nor_one_made_within_a_file(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", MANIFEST | {"first": True})
    with pytest.raises(UsageError, match="already holds a run"):
        RunFolder.create(tmp_path / "run", MANIFEST)
    assert RunFolder.open(tmp_path / "run").manifest["first"]
    with pytest.raises(UsageError, match=r"cannot write results to .*--out"):
        RunFolder.create(tmp_path / "run" / "manifest.json" / "deeper", MANIFEST)


def test_profiles_and_traces_are_found_by_relative_paths(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    profile = folder.write_profile("p", '{"behavior": {}}')
    trace = folder.write_trace("t", packed({"work": np.arange(3)}))
    assert json.loads((folder.path / profile).read_text()) == {"behavior": {}}
    assert np.load(folder.path / trace)["work"].tolist() == [0, 1, 2]


def test_names_become_file_names(tmp_path: Path) -> None:
    assert file_name('../kuhn(players=3, name="x/y")') == "kuhn-players-3-name-x-y"
    first, second = (new_run_path(tmp_path, "kuhn3") for _ in range(2))
    assert first != second
    assert first.is_dir()
    assert second.is_dir()


def test_interrupted_cell_is_kept_apart_from_the_finished_ones(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    folder.append(record("a"))
    folder.append(replace(record("b"), status="interrupted"))
    assert [cell.key for cell in folder.cells()] == ["a"]
    assert [cell.key for cell in folder.all_cells()] == ["b", "a"]
    folder.append(record("b"))
    assert [(cell.key, cell.status) for cell in folder.all_cells()] == [("a", "ok"), ("b", "ok")]


def test_folder_that_vanishes_is_made_again(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    shutil.rmtree(folder.path)
    assert (folder.path / folder.write_profile("p", "{}")).read_text() == "{}"
    assert RunFolder.open(folder.path).plan == MANIFEST


def test_record_names_no_files_that_went_with_the_folder(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    item = replace(record("a").equilibria[0], profile=folder.write_profile("p", "{}"))
    shutil.rmtree(folder.path)
    folder.append(replace(record("a"), equilibria=[item]))
    assert folder.cells() == [record("a")]


def test_folder_that_becomes_a_file_is_reported_with_advice(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    shutil.rmtree(folder.path)
    folder.path.write_text("")
    with pytest.raises(StoreError, match=r"cannot write results to .*--out"):
        folder.append(record("a"))


def test_plan_is_written_for_people_to_read(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    assert (folder.path / "manifest.json").read_text() == json.dumps(MANIFEST, indent=2)


def test_what_no_reader_takes_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DocumentError):
        RunFolder.create(tmp_path / "none", MANIFEST | {"request": {"timeout_s": float("nan")}})
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    for request in ({"timeout_s": float("nan")}, {"timeout_s": "long"}):
        with pytest.raises(DocumentError):
            folder.resumed(MANIFEST | {"request": request})
    with pytest.raises(ValueError, match="JSON compliant"):
        folder.write_clusters({"profiles/a.json": IDENTITY | {"distance": float("inf")}})
    assert sorted(path.name for path in tmp_path.rglob("*.json*")) == ["manifest.json"]


def test_plan_beyond_what_readers_take_is_refused_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(json.dumps(MANIFEST, indent=2))
    monkeypatch.setattr("eqbench.store.run_folder.MOST_LINE_BYTES", size)
    RunFolder.create(tmp_path / "run", MANIFEST)
    monkeypatch.setattr("eqbench.store.run_folder.MOST_LINE_BYTES", size - 1)
    with pytest.raises(UsageError, match=r"a plan of 2 cells takes more than .*fewer games"):
        RunFolder.create(tmp_path / "more", MANIFEST)
    assert not (tmp_path / "more").exists()


def test_identities_found_by_comparing_cells_are_those_of_the_records(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    item = record("a").equilibria[0]
    known = IDENTITY | {"name": "its own"}
    both = [replace(item, profile="profiles/a.json"), replace(item, profile="profiles/b.json")]
    both[1] = replace(both[1], identity=known)
    for name in "ab":
        folder.write_profile(name, "{}")
    folder.append(replace(record("a"), equilibria=both))
    folder.append(record("b"))
    found = {"profiles/a.json": IDENTITY, "profiles/b.json": IDENTITY}
    folder.write_clusters(found)
    first, second = folder.cells()
    assert [item.identity for item in first.equilibria] == [IDENTITY, known]
    assert second == record("b")
    assert folder.notes == ()


@pytest.mark.parametrize("text", ['{"profiles/a.json": 5}', "[]", "{"])
def test_damaged_identities_are_left_out_until_they_are_written_anew(
    text: str, tmp_path: Path
) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    folder.append(record("a"))
    (folder.path / "clusters.json").write_text(text)
    assert folder.cells() == [record("a")]
    (note,) = folder.notes
    assert "clusters.json is damaged: " in note
    assert note.endswith(f"eqbench run --resume {folder.path} writes it anew")
    folder.write_clusters({})
    assert folder.cells() == [record("a")]
    assert folder.notes == ()


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    for name in ("runs.jsonl", "clusters.json"):
        os.mkfifo(folder.path / name)
    assert folder.cells() == []
    assert sorted(note.partition(":")[0] for note in folder.notes) == [
        f"cannot read {folder.path / name}" for name in ("clusters.json", "runs.jsonl")
    ]
    (folder.path / "manifest.json").unlink()
    os.mkfifo(folder.path / "manifest.json")
    with pytest.raises(UsageError, match=r"cannot read .*manifest\.json"):
        _ = folder.manifest


def test_record_names_the_files_that_are_there(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    profile = folder.write_profile("p", "{}")
    trace = folder.write_trace("t", b"")
    log = folder.write_log("l", "words")
    assert (folder.path / log).read_text() == "words"
    item = replace(record("a").equilibria[0], profile=profile)
    whole = replace(record("a"), equilibria=[item], trace=trace, log=log)
    folder.append(whole)
    assert folder.cells() == [whole]
    for name in (profile, trace, log):
        text = (folder.path / name).read_bytes()
        (folder.path / name).unlink()
        folder.append(whole)
        assert folder.cells() == [record("a")]
        (folder.path / name).write_bytes(text)


def test_only_what_is_missing_is_restored(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    changed = json.dumps(MANIFEST | {"created": "later"})
    (folder.path / "manifest.json").write_text(changed)
    shutil.rmtree(folder.path / "traces")
    folder.restore()
    assert (folder.path / "traces").is_dir()
    assert (folder.path / "manifest.json").read_text() == changed
    opened = RunFolder.open(folder.path)
    shutil.rmtree(folder.path)
    opened.restore()
    assert (folder.path / "manifest.json").read_text() == json.dumps(json.loads(changed), indent=2)
    shutil.rmtree(folder.path / "traces")
    (folder.path / "traces").write_text("")
    with pytest.raises(StoreError, match="there is a file now where its folders were"):
        folder.restore()


def test_write_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(StoreError, match="no space; free some space"):
        folder.write_profile("p", "{}")
    assert list((folder.path / "profiles").iterdir()) == []


def test_runs_of_the_same_second_are_numbered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Still:
        @staticmethod
        def now(zone: object) -> datetime:
            return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    monkeypatch.setattr("eqbench.store.run_folder.datetime", Still)
    names = [new_run_path(tmp_path / "made" / "here", "kuhn" * 20).name for _ in range(3)]
    first = "20260102T030405Z-" + "kuhn" * 15
    assert names == [first, f"{first}-2", f"{first}-3"]


def test_folder_that_cannot_be_made_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("nowhere")
    for root in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "link"):
        with pytest.raises(UsageError, match=r"cannot write results to .*--out"):
            new_run_path(root, "kuhn2")


def test_game_file_gives_a_run_its_last_name() -> None:
    assert game_slug("kuhn(pot=1/2)") == "kuhn(pot=1/2)"
    assert game_slug("'games/a.efg'") == "a.efg"


def test_path_that_leads_out_of_the_folder_is_refused_though_it_is_there(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    for name in ("../run", str(tmp_path)):
        with pytest.raises(DocumentError):
            folder.append(replace(record("a"), trace=name))
    assert folder.cells() == []
