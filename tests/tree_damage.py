"""Kinds of damage to the folder of a tree, drawn by hypothesis."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

HEADER = "labels.json"
NUMBERS = [-(2**31), -7, -3, -2, -1, 0, 1, 2, 3, 7, 2**31 - 1, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [float("nan"), float("inf"), -float("inf"), 1e308, -1e301, 1e300, 5e-324, 0.5]
DTYPES = ["int8", "int16", "int64", "uint32", "float32", "float64", "bool", ">i4", "S3", "complex"]
VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 2, 2**62, 2**70, 1.5, 1e308, "", "x", "1/0", "2/4", "nan", "1e9"),
    *([], [[]], ["x"], [["x"]], [1], [None], {}, {"x": 1}, "9" * 5000, "\x00", "\u202e"),
]


def damage(folder: Path, data: st.DataObject) -> str:
    """Damage one thing in a folder, and say what."""
    file = folder / data.draw(st.sampled_from(sorted(place.name for place in folder.iterdir())))
    kinds = [_file, _header] if file.name == HEADER else [_file, _array, _array, _array]
    kind = data.draw(st.sampled_from(kinds))
    return f"{file.name}: {kind(file, data)}"


def _file(file: Path, data: st.DataObject) -> str:
    content = file.read_bytes()
    kind = data.draw(st.sampled_from(list(_FILES)))
    file.unlink()
    _FILES[kind](file, content)
    return kind


_FILES: dict[str, Callable[[Path, bytes], object]] = {
    "missing": lambda file, content: None,
    "empty": lambda file, content: file.write_bytes(b""),
    "cut": lambda file, content: file.write_bytes(content[:-1]),
    "longer": lambda file, content: file.write_bytes(content + b"\0" * 8),
    "garbage": lambda file, content: file.write_bytes(b"\xff" * len(content)),
    "device": lambda file, content: file.symlink_to("/dev/zero"),
    "folder": lambda file, content: file.mkdir(),
    "dangling": lambda file, content: file.symlink_to("nowhere"),
    "deep": lambda file, content: file.write_bytes(b"[" * 100_000),
}


def _header(file: Path, data: st.DataObject) -> str:
    header = json.loads(file.read_text())
    key = data.draw(st.sampled_from(sorted(header)))
    value = header[key]
    kind = data.draw(st.sampled_from(["value", "drop", "extra", "item", "order"]))
    if kind == "drop":
        del header[key]
    elif kind == "extra":
        header["surprise"] = value
    elif kind == "value" or not isinstance(value, list) or not value:
        header[key] = data.draw(st.sampled_from(VALUES))
    elif kind == "order":
        header[key] = data.draw(st.permutations(value))
    else:
        item = data.draw(st.integers(0, len(value) - 1))
        value[item : item + 1] = data.draw(
            st.sampled_from([[], [value[0]], value, *VALUES[-11:-5]])
        )
    file.write_text(json.dumps(header))
    return f"{kind} of {key}"


def _array(file: Path, data: st.DataObject) -> str:
    array = np.load(file)
    kind = data.draw(st.sampled_from(list(_ARRAYS)))
    if array.size == 0 and kind not in ("append", "dtype", "shape"):
        kind = "dtype"
    changed = _ARRAYS[kind](array.copy(), data)
    content = io.BytesIO()
    np.save(content, changed, allow_pickle=True)
    file.write_bytes(content.getvalue())
    return kind


def _entry(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    values = NUMBERS + (FLOATS if array.dtype.kind == "f" else [])
    place = data.draw(st.integers(0, array.size - 1))
    value = np.array(data.draw(st.sampled_from(values)))
    with np.errstate(all="ignore"):
        array.reshape(-1)[place] = value.astype(array.dtype)
    return array


def _moved(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    first, second = (data.draw(st.integers(0, len(array) - 1)) for _ in range(2))
    array[[first, second]] = array[[second, first]]
    return array


def _all(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    array[...] = data.draw(st.sampled_from([-1, 0, 1]))
    return array


def _dtype(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(data.draw(st.sampled_from(DTYPES)))


_ARRAYS: dict[str, Callable[[np.ndarray, st.DataObject], np.ndarray]] = {
    "entry": _entry,
    "two entries": lambda array, data: _entry(_entry(array, data), data),
    "moved": _moved,
    "reversed": lambda array, data: array[::-1],
    "all": _all,
    "drop": lambda array, data: array[:-1],
    "append": lambda array, data: np.concatenate((array, np.zeros_like(array[:1]), array[:1])),
    "none": lambda array, data: array[:0],
    "dtype": _dtype,
    "shape": lambda array, data: array[:, None],
    "scalar": lambda array, data: array.reshape(-1)[0],
    "fortran": lambda array, data: np.asfortranarray(np.stack((array, array), axis=1)),
    "pickled": lambda array, data: array.astype(object),
    "wide": lambda array, data: np.repeat(array, 1000, axis=-1),
}
