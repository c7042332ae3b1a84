"""Files of one JSON value per line to which several processes may append.

A line is written by one single write under a lock. Who is killed in the middle leaves a torn
last line: readers pass over it, and the next who appends cuts it off.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from eqbench.documents import OPEN_FLAGS, open_file, size_text
from eqbench.errors import DocumentError, counted
from eqbench.store.locks import NO_LOCKS, lock_file

T = TypeVar("T")

# A cell may have 1,024 candidates. On three-player Kuhn poker they take 1.2 MiB with identities,
# 13 MiB with proofs in fractions of 1,000 digits. A plan of 600,000 cells fits too.
MOST_LINE_BYTES = 16 * 2**20
_BLOCK_BYTES = 2**20
_MOST_NAMED = 5
_appending = threading.Lock()
_MOST_DAMAGED = 10_000  # lines; a file with more of them is not read to its end


def append_line(path: Path, line: bytes) -> tuple[int, int]:
    """Append JSON text without line breaks as a line and wait until it is on the disk.

    Returns the places in the file where the line begins and ends.

    Raises
    ------
    OSError
        If the file cannot be written; then nothing of the line stays in it.
    DocumentError
        If the line is longer than readers take.
    """
    line += b"\n"
    if len(line) > MOST_LINE_BYTES:
        raise DocumentError(f"a line of {path.name} takes more than {size_text(MOST_LINE_BYTES)}")
    # where a FIFO in place of the file would wait, it could take no long line, and no error either
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | OPEN_FLAGS, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        with _locked(descriptor):
            size = _cut_torn_line(descriptor)
            if os.write(descriptor, line) != len(line):
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
            return size, size + len(line)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class Damage:
    """A line that cannot be read: its number, counted from 1, and why."""

    line: int
    reason: str


class LineReader(Generic[T]):
    """Reads a file as it grows; a line that cannot be read is left out.

    Attributes
    ----------
    damaged : the first lines that were left out so far
    """

    def __init__(self, path: Path, parse: Callable[[bytes], T]) -> None:
        """`parse` raises a DocumentError if a line is damaged."""
        self.path, self._parse = path, parse
        self.damaged: list[Damage] = []
        self._offset = self._lines = self._left_out = 0

    def new(self) -> Iterator[T]:
        """Values of the lines that were completed since the last call, none if there is no file.

        Raises
        ------
        OSError
            If the file cannot be read, or is not a regular file.
        """
        try:
            file = open_file(self.path)
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            while self._left_out < _MOST_DAMAGED and (line := file.readline(MOST_LINE_BYTES)):
                kept = line.endswith(b"\n")
                if not kept and not _skip_line(file):
                    return
                self._offset = file.tell()
                self._lines += 1
                try:
                    if not kept:
                        raise DocumentError(f"it has more than {size_text(MOST_LINE_BYTES)}")
                    value = self._parse(line)
                except DocumentError as error:
                    self._left_out += 1
                    if self._left_out <= _MOST_NAMED:
                        self.damaged.append(Damage(self._lines, str(error)))
                else:
                    yield value

    def skip(self, begin: int, end: int) -> None:
        """Pass over a line that this process wrote, if all before it has been read."""
        if self._offset == begin:
            self._offset = end
            self._lines += 1

    def note(self) -> str | None:
        """What was left out of the file, in a sentence; None if nothing was."""
        if not self.damaged:
            return None
        lines = ", ".join(str(each.line) for each in self.damaged)
        more = self._left_out - len(self.damaged)
        rest = "; what follows is not read" if self._left_out == _MOST_DAMAGED else ""
        return (
            f"{counted(self._left_out, 'line')} of {self.path} cannot be read and "
            f"{'is' if self._left_out == 1 else 'are'} left out: {lines}"
            f"{f' and {more:,} more' if more > 0 else ''}{rest}; {self.damaged[0].reason}"
        )


def _skip_line(file: BinaryIO) -> bool:
    """Pass over the rest of a line; False if it is torn."""
    while part := file.readline(_BLOCK_BYTES):
        if part.endswith(b"\n"):
            return True
    return False


def _cut_torn_line(descriptor: int) -> int:
    """Size of the file in bytes without a torn last line, which is cut off."""
    size = whole = os.fstat(descriptor).st_size
    while whole:
        start = max(0, whole - _BLOCK_BYTES)
        os.lseek(descriptor, start, os.SEEK_SET)  # what is written goes to the end all the same
        found = os.read(descriptor, whole - start).rfind(b"\n")
        whole = start if found < 0 else start + found + 1
        if found >= 0:
            break
    if whole < size:
        os.ftruncate(descriptor, whole)
    return whole


@contextlib.contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Exclusive lock on an open file; where the file system has none, among threads only."""
    with _appending:
        try:
            lock_file(descriptor, wait=True)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        yield  # closing the descriptor releases the lock
