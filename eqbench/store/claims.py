"""Who works on a run: locks on its cells, or one runner only where the file system has no locks."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eqbench.documents import decode, read_file
from eqbench.errors import DocumentError, UsageError
from eqbench.store.json_lines import NO_LOCKS

CLAIMS, RUNNER = "claims", "runner.json"
LARGEST_OFFSET = 2**62
_PRESENT = LARGEST_OFFSET  # the byte behind those of all cells


class Claims:
    """Locks on the cells of a run, one byte of a file each.

    They are held by this process until released, and the system releases them when it ends,
    however it ends. Threads of one process are not kept apart. On a file system without locks
    the first runner leaves a file with its name instead, and others are refused.
    """

    def __init__(self, path: Path) -> None:
        """Raise a UsageError if another runner is at work and there are no locks to share by."""
        # opened once: closing any descriptor of the file would release all locks on it
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._runner: Path | None = None
        try:
            # fails where the file system has no locks
            fcntl.lockf(self._descriptor, fcntl.LOCK_SH, 1, _PRESENT)
        except OSError as error:
            try:
                if error.errno not in NO_LOCKS:
                    raise
                _become_only_runner(path.with_name(RUNNER))
            except BaseException:
                os.close(self._descriptor)
                raise
            self._runner = path.with_name(RUNNER)

    def take(self, key: str) -> bool:
        """Whether the cell is ours now; False if another process is at work on it."""
        if self._runner is not None:
            return True
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
        except (BlockingIOError, PermissionError):  # POSIX allows systems either of them
            return False
        return True

    def release(self, key: str) -> None:
        """Give a cell up."""
        with contextlib.suppress(OSError):
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _offset(key))

    def close(self) -> None:
        """Give all cells up."""
        os.close(self._descriptor)
        if self._runner is not None:
            self._runner.unlink(missing_ok=True)


def refuse_second_runner(run: Path) -> None:
    """Raise a UsageError if a runner that cannot share it works on the run in a folder."""
    file = run / RUNNER
    if not file.exists():
        return
    try:
        runner = decode(read_file(file), dict[str, Any], str(file))
    except (OSError, DocumentError):  # it may be gone just now, or be written
        runner = {}
    host, process = runner.get("host", "unknown"), runner.get("process", "unknown")
    gone = host == socket.gethostname() and isinstance(process, int) and not _lives(process)
    raise UsageError(
        f"process {process} on {host} works on {run} since {runner.get('since', 'some time')}, and "
        "this file system has no locks, so only one runner may; "
        + ("it has ended, so " if gone else "wait until it has ended, or, if it has died, ")
        + f"remove {file} and try again; eqbench doctor --locks {run} checks the locks"
    )


def _become_only_runner(file: Path) -> None:
    """Leave a file that names this process, unless another one has."""
    since = datetime.now(UTC).isoformat(timespec="seconds")
    own = {"host": socket.gethostname(), "process": os.getpid(), "since": since}
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(json.dumps(own))
    except FileExistsError:
        refuse_second_runner(file.parent)
        raise UsageError(f"{file.parent} was just used by another runner; try again") from None


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    except OverflowError:
        return False
    return True


def _offset(key: str) -> int:
    return int(key, 16) % LARGEST_OFFSET
