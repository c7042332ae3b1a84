"""Arrays in ``.npz`` files from outside, such as the anytime curve of a cell."""

from __future__ import annotations

import io
import struct
import tokenize
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import read_file, size_text
from eqbench.errors import UsageError
from eqbench.text import printable, shortened

# 64 snapshots of a game with a thousand players take one
MOST_TRACE_BYTES = 16 * 2**20
# kind of NumPy type and number of dimensions; the first is that of snapshots, the second of players
ARRAYS = {"work": ("i", 1), "elapsed_s": ("f", 1), "claim": ("U", 1), "regrets": ("f", 2)}
# what NumPy and zipfile raise where bytes are not what they expect
_DAMAGED = (
    *(OSError, EOFError, ValueError, TypeError, LookupError, OverflowError, MemoryError),
    *(SyntaxError, RuntimeError, zipfile.BadZipFile, struct.error, tokenize.TokenError),
)


@dataclass(frozen=True)
class Snapshot:
    """A measured snapshot.

    `work` counts iterations, 0 where a method counts none; `elapsed_s` is seconds of solving.
    """

    work: int
    elapsed_s: float
    claim: str
    nash_conv: float
    max_regret: float


def packed(arrays: dict[str, NDArray[Any]]) -> bytes:
    """The bytes of a file with a curve."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def read_arrays(
    data: bytes, most_bytes: int, names: Collection[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Arrays of an archive by name, which take at most so many bytes; nothing is unpickled.

    With `names` only those of them that are there.

    Raises
    ------
    ValueError
        If the bytes are damaged or the arrays are larger.
    """
    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > most_bytes:
                raise ValueError(f"its arrays take more than {size_text(most_bytes)}")
            for member in archive.namelist():
                name = member.removesuffix(".npy")
                if name == member:
                    raise ValueError("it holds what is not an array")
                if names is None or name in names:
                    file = io.BytesIO(archive.read(member))
                    arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
    except _DAMAGED as error:
        raise ValueError(shortened(printable(str(error) or repr(error)))) from None
    return arrays


def read_trace(file: Path) -> tuple[Snapshot, ...]:
    """Snapshots in the order in which they were stored.

    Raises
    ------
    UsageError
        If the file is missing or damaged.
    """
    arrays = _arrays(file, ARRAYS)
    regrets = arrays["regrets"]
    columns = [arrays[name] for name in ("work", "elapsed_s", "claim")]
    columns += [regrets.sum(axis=1), regrets.max(axis=1)]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Snapshot(*row) for row in rows)


def read_progress(file: Path) -> list[tuple[float, float]]:
    """Seconds of solving and max regret of each snapshot, in half the time of `read_trace`."""
    arrays = _arrays(file, ("elapsed_s", "regrets"))
    regrets = arrays["regrets"].max(axis=1)
    return list(zip(arrays["elapsed_s"].tolist(), regrets.tolist(), strict=True))


def _arrays(file: Path, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Some arrays of a curve, as declared and of equal length."""
    try:
        stored = read_arrays(read_file(file, MOST_TRACE_BYTES), MOST_TRACE_BYTES, names)
        if missing := set(names) - stored.keys():
            raise ValueError(f"it holds no {min(missing)}")
        arrays = {name: stored[name] for name in names}
        first = next(iter(names))
        for name, array in arrays.items():
            kind, dimensions = ARRAYS[name]
            if array.dtype.kind != kind or array.ndim != dimensions:
                raise ValueError(f"{name} holds {array.dtype} in {array.ndim} dimensions")
            if kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"{name} holds what is not finite")
            if len(array) != len(arrays[first]):
                raise ValueError(f"{name} and {first} are of different lengths")
            if name in ("work", "elapsed_s") and array.min(initial=0) < 0:
                raise ValueError("work or elapsed_s is negative")
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"cannot read the anytime curve {file}: {what}; restore the "
            "file, or run its cell again into another folder"
        ) from None
    return arrays
