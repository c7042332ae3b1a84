"""The run's side of :mod:`eqbench.isolation.guardian`."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from pathlib import Path

CLOSE_S = 2.0


class Guardian:
    """A tiny process that cleans up if we are killed: our children and a scratch folder."""

    def __init__(self, scratch: str | None = None) -> None:
        self._scratch = scratch
        self._groups: set[int] = set()
        self._lock = threading.Lock()
        self._start()

    def watch(self, group: int) -> None:
        """Have a process group killed if we die; a guardian that is gone is replaced."""
        with self._lock:
            self._groups.add(group)
            try:
                self._tell(f"+{group}\n")
            except OSError:
                self.close()
                self._start()
                for known in self._groups:
                    self._tell(f"+{known}\n")

    def release(self, group: int) -> None:
        """Forget a process group that is gone."""
        with self._lock, contextlib.suppress(OSError):
            self._groups.discard(group)
            self._tell(f"-{group}\n")

    def close(self) -> None:
        """Let the guardian end; what is still watched is killed."""
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError):
            stdin.close()
        try:
            self._process.wait(timeout=CLOSE_S)
        except subprocess.TimeoutExpired:  # something has stopped it
            self._process.kill()
            self._process.wait()

    def _start(self) -> None:
        script = str(Path(__file__).with_name("guardian.py"))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", script, *([self._scratch] if self._scratch else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _tell(self, line: str) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(line.encode())
        stdin.flush()
