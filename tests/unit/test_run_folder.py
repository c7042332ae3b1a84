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
from eqbench.store.schema import CellRecord, EquilibriumRecord


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
    folder = RunFolder.create(tmp_path / "run", {"schema": "x"})
    for key in ("a", "b"):
        folder.append(record(key))
    again = RunFolder.open(tmp_path / "run")
    assert list(again.cells()) == [record("a"), record("b")]
    assert again.manifest == {"schema": "x"}


def test_torn_tail_is_cut_off_when_the_folder_is_opened(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", {})
    folder.append(record("a"))
    lines = folder.path / "runs.jsonl"
    whole = lines.read_bytes()
    lines.write_bytes(whole + whole[: len(whole) // 2])
    again = RunFolder.open(folder.path)
    assert [cell.key for cell in again.cells()] == ["a"]
    again.append(record("b"))
    assert [cell.key for cell in again.cells()] == ["a", "b"]


def test_numbers_that_json_does_not_have_are_refused(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", {})
    broken = CellRecord(**(record("a").__dict__ | {"elapsed_s": float("nan")}))
    with pytest.raises(ValueError, match="JSON compliant"):
        folder.append(broken)
    assert list(folder.cells()) == []


def test_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", {"first": True})
    with pytest.raises(UsageError, match="already holds a run"):
        RunFolder.create(tmp_path / "run", {})
    assert RunFolder.open(tmp_path / "run").manifest == {"first": True}


def test_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        RunFolder.open(tmp_path)


def test_profiles_and_traces_are_found_by_relative_paths(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", {})
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
    folder = RunFolder.create(tmp_path / "run", {})
    folder.append(record("a"))
    folder.append(replace(record("b"), status="interrupted"))
    assert [cell.key for cell in folder.cells()] == ["a"]
    assert [cell.key for cell in folder.interrupted()] == ["b"]


def test_folder_that_vanishes_is_reported_with_advice(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", {})
    shutil.rmtree(folder.path)
    with pytest.raises(StoreError, match=r"cannot write results to .*--out"):
        folder.append(record("a"))
