"""Anytime curves read back: what comes out, and files that are missing or damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from report_pages import write_trace
from stored_runs import cell

from eqbench.errors import UsageError
from eqbench.store.traces import Snapshot, read_trace


def test_snapshots_come_back_as_they_were_stored(tmp_path: Path) -> None:
    record = write_trace(tmp_path, cell("01"), (0.5, 0.25), ((0.5, 0.25), (0.0, -1e-17)))
    assert read_trace(tmp_path / f"{record.trace}") == (
        Snapshot(1, 0.5, "average", 0.75, 0.5),
        Snapshot(10, 0.25, "average", -1e-17, 0.0),
    )


@pytest.mark.parametrize("cut", [0, 2, 100, -1])
def test_damaged_files_are_refused(tmp_path: Path, cut: int) -> None:
    file = tmp_path / f"{write_trace(tmp_path, cell('01')).trace}"
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(UsageError, match=r"cannot read the anytime curve .*01\.npz"):
        read_trace(file)


def test_flipped_bytes_are_noticed(tmp_path: Path) -> None:
    file = tmp_path / f"{write_trace(tmp_path, cell('01')).trace}"
    content = bytearray(file.read_bytes())
    at = content.index(b"\x93NUMPY") + 130
    content[at] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(UsageError, match="Bad CRC-32"):
        read_trace(file)


def test_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_trace(tmp_path / "gone.npz")


@pytest.mark.parametrize(
    "arrays",
    [
        {"work": [1]},
        {"work": [1, 2], "elapsed_s": [0.1], "claim": ["average"], "regrets": [[0.0, 0.0]]},
        {"work": [1], "elapsed_s": [0.1], "claim": ["average"], "regrets": [0.0]},
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(
    tmp_path: Path, arrays: dict[str, list[object]]
) -> None:
    file = tmp_path / "curve.npz"
    np.savez(file, **{name: np.array(values) for name, values in arrays.items()})
    with pytest.raises(UsageError, match="cannot read the anytime curve"):
        read_trace(file)


def test_single_array_is_no_curve(tmp_path: Path) -> None:
    file = tmp_path / "curve.npz"
    with file.open("wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(UsageError, match="not a zip file"):
        read_trace(file)
