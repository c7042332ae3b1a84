"""Arrays by name in an ``.npz`` file, from outside: bounded, and damaged in one way only."""

from __future__ import annotations

import functools
import io
import math
import struct
import tokenize
import zipfile
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import size_text
from eqbench.text import printable, shortened

# what NumPy and zipfile raise where bytes are not what they expect
_DAMAGED = (
    *(OSError, EOFError, ValueError, TypeError, LookupError, OverflowError, MemoryError),
    *(SyntaxError, RuntimeError, zipfile.BadZipFile, struct.error, tokenize.TokenError),
)


def read_arrays(
    data: bytes, most_bytes: int, names: Collection[str] | None = None
) -> dict[str, NDArray[Any]]:
    """All arrays of an archive that take at most so many bytes; nothing is unpickled.

    With `names` only those of them that are there.

    Raises
    ------
    ValueError
        If the bytes are damaged or the arrays are larger.
    """
    try:
        # a file that is no archive would be read as a single array, which has no context
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > most_bytes:
                raise ValueError(f"its arrays take more than {size_text(most_bytes)}")
            arrays = {}
            for member in archive.namelist():
                if not member.endswith(".npy"):
                    raise ValueError("it holds what is not an array")
                name = member.removesuffix(".npy")
                if names is None or name in names:
                    arrays[name] = _array(archive.read(member))
    except _DAMAGED as error:
        raise ValueError(shortened(printable(str(error) or repr(error)))) from None
    return arrays


def _array(data: bytes) -> NDArray[Any]:
    """The array in a file; a header is parsed once, since that takes longer than all else."""
    start = 10 + int.from_bytes(data[8:10], "little")
    if data[:8] != b"\x93NUMPY\x01\x00":
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    shape, is_fortran, dtype = _header(data[8:start])
    if dtype.hasobject or is_fortran:
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return np.frombuffer(data, dtype, math.prod(shape), start).reshape(shape).copy()


@functools.lru_cache(1000)
def _header(text: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    return np.lib.format.read_array_header_1_0(io.BytesIO(text))
