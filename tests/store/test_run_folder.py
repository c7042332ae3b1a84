"""The store: whole lines only, torn tails healed, nothing overwritten."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eqbench.errors import StoreError, UsageError
from eqbench.store.json_lines import LineReader
from eqbench.store.kept_runs import contents, packed
from eqbench.store.run_folder import RunFolder, file_name, game_slug, new_run_path
from eqbench.store.schema import SCHEMA, CellRecord, EquilibriumRecord, IdentityRecord

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


def record(key: str, **changes: Any) -> CellRecord:
    found = EquilibriumRecord("average", [0.5, -0.5], [0.0, 1e-17], 1e-17, 1e-17)
    names = {"game": "kuhn2", "solver": "cfr", "game_spec": "kuhn(players=2)"}
    made = CellRecord(key, **names, solver_spec="cfr", seed=None, status="ok", equilibria=[found])
    return replace(made, **changes)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", MANIFEST)


def test_cells_come_back_as_they_were_stored_and_of_a_repeated_one_the_last_try(
    folder: RunFolder,
) -> None:
    for stored in (record("a", status="crashed"), record("b"), record("a")):
        folder.append(stored)
    again = RunFolder.open(folder.path)
    assert again.cells() == [record("b"), record("a")]
    assert again.finished_keys() == {"a", "b"}
    assert again.manifest == MANIFEST
    assert (folder.path / "manifest.json").read_text() == json.dumps(MANIFEST, indent=2)


def test_reader_passes_over_what_its_process_wrote_and_reads_what_others_wrote(
    folder: RunFolder,
) -> None:
    reader = LineReader(folder.path / "runs.jsonl", CellRecord.of_line)
    folder.append(record("a"), reader)
    assert [*reader.new()] == []
    RunFolder.open(folder.path).append(record("b"))
    folder.append(record("c"), reader)
    folder.append(record("d", status="interrupted"), reader)
    assert [cell.key for cell in reader.new()] == ["b", "c"], "what stands behind is read with it"
    folder.append(record("e"), reader)
    assert [*reader.new()] == []


def test_interrupted_cell_is_kept_apart_from_the_finished_ones(folder: RunFolder) -> None:
    folder.append(record("a"))
    folder.append(record("b", status="interrupted"))
    assert [cell.key for cell in folder.cells()] == ["a"]
    assert [cell.key for cell in folder.all_cells()] == ["b", "a"]
    folder.append(record("b"))
    assert [(cell.key, cell.status) for cell in folder.all_cells()] == [("a", "ok"), ("b", "ok")]


def test_plan_is_that_of_the_last_resumption(folder: RunFolder) -> None:
    assert folder.plan == MANIFEST
    for cells in (["c"], ["d"]):
        folder.resumed(MANIFEST | {"cells": cells})
        assert RunFolder.open(folder.path).plan["cells"] == cells
    assert folder.manifest == MANIFEST


def test_what_json_does_not_have_is_not_written(folder: RunFolder) -> None:
    found = {"profiles/a.json": IDENTITY | {"distance": float("inf")}}
    with pytest.raises(ValueError, match="JSON"):
        folder.append(record("a", elapsed_s=float("nan")))
    with pytest.raises(ValueError, match="JSON"):
        folder.write_derived(found, {})
    assert folder.cells() == []
    assert sorted(path.name for path in folder.path.rglob("*.json*")) == ["manifest.json"]


def test_folder_with_a_run_is_not_overwritten_nor_one_made_within_a_file(
    folder: RunFolder,
) -> None:
    with pytest.raises(UsageError, match="run"):
        RunFolder.create(folder.path, MANIFEST | {"second": True})
    assert folder.manifest == MANIFEST
    with pytest.raises(UsageError, match="--out"):
        RunFolder.create(folder.path / "manifest.json" / "deeper", MANIFEST)


def test_plan_beyond_what_readers_take_is_refused_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(json.dumps(MANIFEST, indent=2))
    monkeypatch.setattr("eqbench.store.run_folder.MOST_LINE_BYTES", size)
    RunFolder.create(tmp_path / "run", MANIFEST)
    monkeypatch.setattr("eqbench.store.run_folder.MOST_LINE_BYTES", size - 1)
    with pytest.raises(UsageError, match="cells"):
        RunFolder.create(tmp_path / "more", MANIFEST)
    assert not (tmp_path / "more").exists()


def test_identities_found_by_comparing_cells_are_those_of_the_records(folder: RunFolder) -> None:
    item = record("a").equilibria[0]
    known = IDENTITY | {"name": "its own"}
    both = [replace(item, profile=folder.write(f"profiles/{name}.json", "{}")) for name in "ab"]
    both[1] = replace(both[1], identity=known)
    folder.append(record("a", equilibria=both))
    folder.append(record("b"))
    folder.write_derived({"profiles/a.json": IDENTITY, "profiles/b.json": IDENTITY}, {})
    first, second = folder.cells()
    assert [item.identity for item in first.equilibria] == [IDENTITY, known]
    assert second == record("b")
    assert folder.notes == ()


@pytest.mark.parametrize("text", ['{"profiles/a.json": 5}', "[]", "{"])
def test_damaged_identities_are_left_out_until_they_are_written_again(
    text: str, folder: RunFolder
) -> None:
    folder.append(record("a"))
    (folder.path / "clusters.json").write_text(text)
    assert folder.cells() == [record("a")]
    (note,) = folder.notes
    assert "damaged" in note
    assert f"eqbench run --resume {folder.path}" in note
    folder.write_derived({}, {})
    assert folder.cells() == [record("a")]
    assert folder.notes == ()


def test_files_that_cannot_be_read_are_named_and_damaged_lines_counted(folder: RunFolder) -> None:
    for key in ("a", "b"):
        folder.append(record(key))
    lines = folder.path / "runs.jsonl"
    lines.write_bytes(lines.read_bytes().replace(b'{"key": "a"', b'{"key: "a"'))
    assert [cell.key for cell in folder.cells()] == ["b"]
    assert "1 line of" in folder.notes[0]
    lines.unlink()
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


def test_copy_of_a_run_has_the_whole_files_of_its_cells(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ("x-a-0123.json", ".x-a-0123.json.7-123456789", "notes.txt")
    whole, draft, foreign = (folder.write(f"profiles/{name}", "{}") for name in files)
    folder.append(record("a"))
    assert contents(folder.path) == (["manifest.json", "runs.jsonl", draft, whole], [foreign])
    assert [*packed(folder.path)] == ["manifest.json", "runs.jsonl", whole]

    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "not allowed", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UsageError, match="not allowed"):
        contents(folder.path)


def _file_instead(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("")


@pytest.mark.parametrize("damage", [shutil.rmtree, _file_instead])
@pytest.mark.parametrize(
    "write",
    [
        lambda folder: folder.append(record("a")),
        lambda folder: folder.write("profiles/p.json", "{}"),
        lambda folder: folder.resumed(MANIFEST),
        lambda folder: folder.note_host({"host": "here"}),
    ],
)
def test_folder_that_is_gone_is_reported_with_advice(
    folder: RunFolder, damage: Callable[[Path], None], write: Callable[[RunFolder], Any]
) -> None:
    damage(folder.path)
    with pytest.raises(StoreError, match="--out"):
        write(folder)


def test_runner_makes_missing_folders_and_refuses_a_file_in_their_place(folder: RunFolder) -> None:
    shutil.rmtree(folder.path / "traces")
    folder.claims().close()
    assert (folder.path / "traces").is_dir()
    _file_instead(folder.path / "traces")
    with pytest.raises(StoreError, match="folders"):
        folder.claims()


def test_write_that_fails_leaves_nothing_behind(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    assert (folder.path / folder.write("logs/l.txt", b"words")).read_text() == "words"
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(StoreError, match="space"):
        folder.write("profiles/p.json", "{}")
    assert list((folder.path / "profiles").iterdir()) == []


def test_machines_are_noted_once_and_read_when_one_is_not_known(folder: RunFolder) -> None:
    for _ in range(2):
        folder.note_host({"host": "here", "cores": 2})
    for name in ("here", "there"):
        RunFolder.open(folder.path).note_host({"host": name})
    assert (folder.path / "hosts.jsonl").read_text().count("\n") == 2
    assert folder.hosts(["here"]) == {"here": {"host": "here", "cores": 2}}
    assert folder.hosts(["here", "there"]).keys() == {"here", "there"}


# -- names --------------------------------------------------------------------------------------


def test_runs_of_the_same_second_are_numbered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Still:
        @staticmethod
        def now(zone: object) -> datetime:
            return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    monkeypatch.setattr("eqbench.store.run_folder.datetime", Still)
    made = [new_run_path(tmp_path / "made" / "here", "kuhn" * 20) for _ in range(3)]
    first = "20260102T030405Z-" + "kuhn" * 15
    assert [path.name for path in made] == [first, f"{first}-2", f"{first}-3"]
    assert all(path.is_dir() for path in made)


def test_folder_that_cannot_be_made_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("nowhere")
    for root in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "link"):
        with pytest.raises(UsageError, match="--out"):
            new_run_path(root, "kuhn2")


@pytest.mark.parametrize(
    ("function", "text", "name"),
    [
        (file_name, '../kuhn(players=3, name="x/y")', "kuhn-players-3-name-x-y"),
        (game_slug, "kuhn(pot=1/2)", "kuhn(pot=1/2)"),
        (game_slug, "'games/a.efg'", "a.efg"),
    ],
)
def test_names_become_file_names(function: Callable[[str], str], text: str, name: str) -> None:
    assert function(text) == name
