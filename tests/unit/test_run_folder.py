"""The store: whole lines only, torn tails healed, nothing overwritten."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eqbench.errors import StoreError, UsageError
from eqbench.store.run_folder import RunFolder, file_name, new_run_path
from eqbench.store.schema import SCHEMA, CellRecord, EquilibriumRecord

MANIFEST = {"schema": SCHEMA, "cells": ["a", "b"], "request": {"seeds": 1, "timeout_s": 10.0}}


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
    assert folder.manifest == MANIFEST


@pytest.mark.parametrize(
    ("text", "complaint"),
    [('{"schema": "eqbench.run/2"}', "format 'eqbench.run/2'"), ("[1", "damaged"), ("[1]", "dam")],
)
def test_folder_of_another_version_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match=complaint):
        RunFolder.open(tmp_path)


def test_numbers_that_json_does_not_have_are_refused(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    broken = CellRecord(**(record("a").__dict__ | {"elapsed_s": float("nan")}))
    with pytest.raises(ValueError, match="JSON compliant"):
        folder.append(broken)
    assert folder.cells() == []


def test_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", MANIFEST | {"first": True})
    with pytest.raises(UsageError, match="already holds a run"):
        RunFolder.create(tmp_path / "run", MANIFEST)
    assert RunFolder.open(tmp_path / "run").manifest["first"]


def test_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        RunFolder.open(tmp_path)


def test_profiles_and_traces_are_found_by_relative_paths(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    profile = folder.write_profile("p", '{"behavior": {}}')
    trace = folder.write_trace("t", {"work": np.arange(3)})
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
    assert [cell.key for cell in folder.interrupted()] == ["b"]
    folder.append(record("b"))
    assert folder.interrupted() == []


def test_folder_that_vanishes_is_made_again(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    shutil.rmtree(folder.path)
    folder.write_profile("p", "{}")
    assert RunFolder.open(folder.path).plan == MANIFEST


def test_folder_that_becomes_a_file_is_reported_with_advice(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    shutil.rmtree(folder.path)
    folder.path.write_text("")
    with pytest.raises(StoreError, match=r"cannot write results to .*--out"):
        folder.append(record("a"))
