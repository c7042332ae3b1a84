"""Arrays in ``.npy`` files, read against a declared dtype and shape: no pickles, no pipes."""

from __future__ import annotations

import math
import mmap
import os
import re
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import open_file
from eqbench.errors import DocumentError

_PREFIX = struct.Struct("<8sH")
_MAGIC = b"\x93NUMPY\x01\x00"
# what np.save writes; nothing is evaluated, and every other layout is refused
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[a-z]\d+)', 'fortran_order': False, "
    rb"'shape': \((?:(\d{1,18}),|(\d{1,18}), (\d{1,18}))\), \} *\n"
)
_MOST_HEADER_BYTES = 512


def save_array(path: Path, array: NDArray) -> None:
    """Write an array; the other functions here read it."""
    np.save(path, np.ascontiguousarray(array), allow_pickle=False)


def stored_rows(path: Path, dtype: str) -> int:
    """Length of the array in a file, without reading it.

    Raises
    ------
    OSError, DocumentError
        As `read_array`.
    """
    with open_file(path) as file:
        return _layout(path, file, dtype)[1][0]


def read_array(path: Path, dtypes: str, shape: tuple[int, ...], *, mapped: bool = False) -> NDArray:
    """Read-only array of a declared dtype and shape.

    Parameters
    ----------
    dtypes : the dtypes that it may have, for example ``"int64 float64"``
    mapped : share one copy with all who map the file, instead of having one's own. Who maps it
        sees what others write into the file later.

    Raises
    ------
    OSError
        If the file cannot be read.
    DocumentError
        If it holds anything else than such an array.
    """
    with open_file(path) as file:
        dtype, found, start = _layout(path, file, dtypes)
        if found != shape:
            raise _damaged(path, f"its shape is {found}; expected {shape}")
        if mapped:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return np.frombuffer(content, dtype, math.prod(shape), start).reshape(shape)
        array = np.empty(shape, dtype)
        file.seek(start)
        if array.nbytes and file.readinto(array.data) != array.nbytes:  # type: ignore[attr-defined]
            raise _damaged(path, "it became shorter while it was read")
    array.setflags(write=False)
    return array


def _layout(path: Path, file: BinaryIO, dtypes: str) -> tuple[np.dtype, tuple[int, ...], int]:
    """Dtype, shape and position of the data, once the file is known to hold nothing else."""
    head = file.read(_MOST_HEADER_BYTES)
    magic, length = _PREFIX.unpack_from(head.ljust(_PREFIX.size))
    start = _PREFIX.size + length
    match = _HEADER.fullmatch(head, _PREFIX.size, min(start, len(head)))
    if magic != _MAGIC or match is None or start > len(head) or start % 64:
        raise _damaged(path, "it is no plain array")
    allowed = {np.dtype(name).str: np.dtype(name) for name in dtypes.split()}
    dtype = allowed.get(match[1].decode())
    if dtype is None:
        raise _damaged(path, f"its dtype is {match[1].decode()}; expected {' or '.join(allowed)}")
    shape = tuple(int(size) for size in match.groups()[1:] if size is not None)
    size = start + math.prod(shape) * dtype.itemsize
    if os.fstat(file.fileno()).st_size != size:
        raise _damaged(path, f"an array of shape {shape} takes {size:,} bytes; it has others")
    return dtype, shape, start


def _damaged(path: Path, what: str) -> DocumentError:
    return DocumentError(f"the file {path.name} is damaged: {what}")
