"""Workers of a run on a system without forks: its own children, each a new interpreter.

It has what :mod:`eqbench.isolation.server` has, with two differences. What a worker has started
is killed with it, but not where the worker has ended before. And a run that is killed leaves its
workers, which end at their next message, and its scratch folders.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress

from eqbench.isolation import worker
from eqbench.isolation.processes import KILL_S, THREAD_VARIABLES, kill_with_descendants

END_S = 2.0  # for bytes to come out of a pipe whose other end is closed
BLOCKS = 16  # of at most BLOCK_BYTES that wait to be looked at; then the worker has to wait
BLOCK_BYTES = 2**16


class Worker:
    """A worker, as the run sees it; parameters and attributes as of that of the server."""

    def __init__(self, *, threads: int, fork: bool, solves: bool, files: Sequence[int]) -> None:
        job, log, frames = files
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", worker.__name__],
            stdin=job,
            stdout=frames,
            stderr=log,
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
            # Ctrl-C is for the run
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self.number: int | None = self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code; None before it has ended."""
        return self._process.poll()

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended, at most so long; return whether it has."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, seconds))
        return self._process.returncode is not None

    def close(self) -> None:
        """Kill it with all that it has started, unless it has ended, and wait for that."""
        if self.exit_code is None:
            kill_with_descendants(self._process.pid)
            self.wait(KILL_S)


class Inbox:
    """The messages of a worker as they come through a pipe, which a thread reads and closes.

    Where pipes cannot be polled, only a read that waits learns of bytes as they come.
    """

    def __init__(self, pipe: int, worker: Worker) -> None:
        self._worker = worker
        self._blocks = queue.Queue[bytes](BLOCKS)
        self._open, self._ended = True, False
        threading.Thread(target=self._fill, args=(pipe,), daemon=True).start()

    def _fill(self, pipe: int) -> None:
        try:
            while self._open and (block := os.read(pipe, BLOCK_BYTES)):
                self._blocks.put(block)
            self._blocks.put(b"")
        finally:
            os.close(pipe)

    def read(self, wait_s: float) -> bytes:
        """Return what has come, if anything; wait at most so long for it, or for the worker."""
        if self._ended:
            self._worker.wait(wait_s)
            return b""
        # what an ended worker has sent may still be in the pipe
        seconds = max(wait_s, 0.0) if self._worker.exit_code is None else END_S
        try:
            block = self._blocks.get(timeout=seconds)
        except queue.Empty:
            return b""
        self._ended = not block
        return block

    def leave_worker(self) -> None:
        """Do nothing: an ended worker is not waited for."""

    def close(self) -> None:
        """Let the thread end as soon as the pipe has nothing more."""
        self._open = False
        with suppress(queue.Empty):
            while True:
                self._blocks.get_nowait()


class ScratchFolder(tempfile.TemporaryDirectory[str]):
    """A temporary folder; files that are open or mapped there stay."""

    def __init__(self) -> None:
        super().__init__(prefix="eqbench-", ignore_cleanup_errors=True)
