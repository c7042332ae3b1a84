"""Anytime curves read back: what comes out, and files that are missing or damaged."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.pages import write_trace
from helpers.runs import cell

from eqbench.errors import UsageError
from eqbench.store.traces import MOST_TRACE_BYTES, Snapshot, read_arrays, read_trace


def test_snapshots_come_back_as_they_were_stored(tmp_path: Path) -> None:
    record = write_trace(tmp_path, cell("01"), (0.5, 0.25), ((0.5, 0.25), (0.0, -1e-17)))
    assert read_trace(tmp_path / f"{record.trace}") == (
        Snapshot(1, 0.5, "average", 0.75, 0.5),
        Snapshot(10, 0.25, "average", -1e-17, 0.0),
    )


def flipped(content: bytes) -> bytes:
    at = content.index(b"\x93NUMPY") + 130
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


def single_array(content: bytes) -> bytes:
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    return file.getvalue()


def with_words(content: bytes) -> bytes:
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("words.txt", "no array")
    return file.getvalue()


def claiming(shape: bytes) -> Callable[[bytes], bytes]:
    """An archive whose first array claims to have another shape."""

    def claim(content: bytes) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
            for name in old.namelist():
                changed = old.read(name).replace(b"(3,), ", shape)
                new.writestr(name, changed)
        return file.getvalue()

    return claim


@pytest.mark.parametrize(
    "damage",
    [
        *(lambda content, cut=cut: content[:cut] for cut in (0, 2, 100, -1)),
        *(flipped, single_array, with_words, claiming(b"(9,), "), claiming(b"(-1,),")),
        *(claiming(b"(9999999999999,), "), claiming(b"(99999999999999999999,), ")),
    ],
)
def test_damaged_files_are_refused_by_their_name(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    file = tmp_path / f"{write_trace(tmp_path, cell('01')).trace}"
    assert len(read_trace(file)) == 3
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(UsageError, match=r"01\.npz"):
        read_trace(file)


def test_missing_file_is_no_curve(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.npz"):
        read_trace(tmp_path / "gone.npz")


CURVE = {"work": [1], "elapsed_s": [0.1], "claim": ["average"], "regrets": [[0.0, 0.0]]}


def curve(file: Path, **arrays: list[object]) -> Path:
    np.savez(file, **{name: np.array(values) for name, values in arrays.items()})
    return file


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"work": [1, 2]}, "elapsed_s and work are of different lengths"),
        ({"regrets": [0.0]}, "regrets holds float64 in 1 dimensions"),
        ({"regrets": [[0, 0]]}, "regrets holds int64 in 2 dimensions"),
        ({"claim": [1]}, "claim holds int64"),
        ({"regrets": [[0.0, float("nan")]]}, "regrets holds what is not finite"),
        ({"elapsed_s": [float("inf")]}, "elapsed_s holds what is not finite"),
        ({"work": [-1]}, "work or elapsed_s is negative"),
        ({"elapsed_s": [-0.1]}, "work or elapsed_s is negative"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(
    tmp_path: Path, change: dict[str, list[object]], complaint: str
) -> None:
    assert read_trace(curve(tmp_path / "whole.npz", **CURVE))
    with pytest.raises(UsageError, match=f"cannot read the anytime curve .*{complaint}"):
        read_trace(curve(tmp_path / "curve.npz", **(CURVE | change)))


@pytest.mark.parametrize("name", CURVE)
def test_array_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    others = {other: values for other, values in CURVE.items() if other != name}
    with pytest.raises(UsageError, match=f"holds no {name}"):
        read_trace(curve(tmp_path / "curve.npz", **others))


def test_curve_without_snapshots_is_empty(tmp_path: Path) -> None:
    with (tmp_path / "curve.npz").open("wb") as file:
        empty = {name: np.array(values)[:0] for name, values in CURVE.items()}
        np.savez(file, **empty)
    assert read_trace(tmp_path / "curve.npz") == ()


def test_curve_may_be_as_large_as_allowed_and_no_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = curve(tmp_path / "curve.npz", **CURVE)
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    data = file.read_bytes()
    assert read_arrays(data, unpacked).keys() == CURVE.keys()
    assert MOST_TRACE_BYTES == 16 * 2**20, "as documented"
    with pytest.raises(ValueError, match="arrays"):
        read_arrays(data, unpacked - 1)
    monkeypatch.setattr("eqbench.store.traces.MOST_TRACE_BYTES", len(data) - 1)
    with pytest.raises(UsageError, match="curve"):
        read_trace(file)
