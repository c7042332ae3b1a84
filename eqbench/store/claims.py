"""Which runner works on which cell, when several share the folder of a run."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from eqbench.store.json_lines import NO_LOCKS

LARGEST_OFFSET = 2**62


class Claims:
    """Locks on the cells of a run, one byte of a file each.

    They are held by this process until released, and the system releases them when it ends,
    however it ends. Threads of one process are not kept apart. On a file system without locks
    everything can be taken, so there only one runner may use a folder.
    """

    def __init__(self, path: Path) -> None:
        # opened once: closing any descriptor of the file would give up all locks on it
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)

    def take(self, key: str) -> bool:
        """Whether the cell is ours now; False if another process is at work on it."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
        except (BlockingIOError, PermissionError):  # POSIX allows systems either of them
            return False
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        return True

    def release(self, key: str) -> None:
        """Give a cell up."""
        with contextlib.suppress(OSError):
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _offset(key))

    def close(self) -> None:
        """Give all cells up."""
        os.close(self._descriptor)


def _offset(key: str) -> int:
    return int(key, 16) % LARGEST_OFFSET
