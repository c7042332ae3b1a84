"""Arrays by name in an ``.npz`` file, from outside: bounded, and damaged in one way only."""

from __future__ import annotations

import io
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
                name = member.removesuffix(".npy")
                if names is None or name in names:
                    with archive.open(member) as file:
                        arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
    except _DAMAGED as error:
        raise ValueError(shortened(printable(str(error) or repr(error)))) from None
    return arrays
