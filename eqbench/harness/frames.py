"""Messages from child to parent: a JSON header and raw arrays, never pickles.

A frame is 4 magic bytes, the lengths of header and body as little-endian uint32 and uint64,
the header, and the arrays one after the other as C-ordered bytes.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"EQB1"
_PREFIX = struct.Struct("<4sIQ")
MAX_HEADER, MAX_BODY = 64 * 2**20, 2**30
CLOCKS = ("elapsed_s", "cpu_s", "overhead_s", "work")


@dataclass(frozen=True)
class Frame:
    """One message: its kind, JSON fields and named arrays."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray] = field(default_factory=dict)


def encode(frame: Frame) -> bytes:
    """Bytes of a frame."""
    arrays = {name: np.ascontiguousarray(array) for name, array in frame.arrays.items()}
    layout = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    header = json.dumps({"kind": frame.kind, "fields": frame.fields, "arrays": layout}).encode()
    body = b"".join(array.tobytes() for array in arrays.values())
    return _PREFIX.pack(MAGIC, len(header), len(body)) + header + body


def write_frame(descriptor: int, frame: Frame) -> None:
    """Write a whole frame to a pipe; blocks until the other side has taken it."""
    data = memoryview(encode(frame))
    while data:
        data = data[os.write(descriptor, data) :]


class FrameDecoder:
    """Turns bytes, cut anywhere, back into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Frames that are complete with `data`.

        Raises
        ------
        ValueError, KeyError, TypeError
            If the bytes are not frames, for example because a solver wrote into the pipe.
        """
        self._buffer += data
        while len(self._buffer) >= _PREFIX.size:
            magic, header_size, body_size = _PREFIX.unpack_from(self._buffer)
            if magic != MAGIC or header_size > MAX_HEADER or body_size > MAX_BODY:
                raise ValueError("the child's messages are garbled")
            end = _PREFIX.size + header_size + body_size
            if len(self._buffer) < end:
                return
            header = _header(bytes(self._buffer[_PREFIX.size : _PREFIX.size + header_size]))
            body = bytes(self._buffer[_PREFIX.size + header_size : end])
            del self._buffer[:end]
            yield Frame(header["kind"], header["fields"], _arrays(header["arrays"], body))


def _header(data: bytes) -> dict[str, Any]:
    """Header with fields of the expected types; what arrives need not come from our code."""
    header = json.loads(data)
    fields = header["fields"]
    if not isinstance(header["kind"], str) or not isinstance(fields, dict):
        raise ValueError(f"a message with the kind {header['kind']!r} is garbled")
    for name in (*CLOCKS, "memory_bytes"):
        value = fields.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"a message with {name}={value!r} is garbled")
        if not math.isfinite(value):
            raise ValueError(f"a message with {name}={value!r} is garbled")
    return header


def _arrays(layout: list, body: bytes) -> dict[str, NDArray]:
    arrays, offset = {}, 0
    for name, dtype, shape in layout:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(body, dtype=np.dtype(dtype), count=count, offset=offset)
        arrays[name] = array.reshape(shape)
        offset += array.nbytes
    return arrays
