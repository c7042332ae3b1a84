"""Files of one JSON value per line to which several processes may append.

A line is written by one single write under a lock. Who is killed in the middle leaves a torn
last line: readers pass over it, and the next who appends cuts it off.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eqbench.errors import StoreError

NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP)


def append_line(path: Path, value: Any) -> None:
    """Append a JSON value as one line and wait until it is on the disk.

    Raises
    ------
    OSError
        If the file cannot be written; then nothing of the line stays in it.
    ValueError
        If a number is NaN or infinite.
    """
    line = json.dumps(value, allow_nan=False).encode() + b"\n"
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        with _locked(descriptor):
            size = _cut_torn_line(descriptor)
            if os.write(descriptor, line) != len(line):
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_lines(path: Path) -> Iterator[Any]:
    """JSON values of a file in order, none if there is no file; a torn last line is left out.

    Raises
    ------
    StoreError
        If another line is not JSON.
    """
    return LineReader(path).new()


class LineReader:
    """Reads a file as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = self._lines = 0

    def new(self) -> Iterator[Any]:
        """JSON values of the lines that were completed since the last call; see `read_lines`."""
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                self._lines += 1
                yield self._parsed(line)

    def _parsed(self, line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError:
            raise StoreError(
                f"line {self._lines} of {self.path} is damaged; restore the file, or delete that "
                "line and resume the run"
            ) from None


def _cut_torn_line(descriptor: int) -> int:
    """Size of the file in bytes without a torn last line, which is cut off."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return size
    whole = os.pread(descriptor, size, 0).rfind(b"\n") + 1
    os.ftruncate(descriptor, whole)
    return whole


@contextlib.contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Exclusive lock on an open file; without effect where the file system has none."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    yield  # closing the descriptor releases the lock
