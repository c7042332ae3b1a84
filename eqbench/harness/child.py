"""Run one job in a child process of its own, with deadlines and a memory limit that hold.

The child leads its own process group. Whatever happens to it, the frames that it sent before
are kept, the whole group is killed, and nothing here waits for a process that may hang.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from eqbench.harness.frames import Frame, FrameDecoder

GRACE_S = 1.0
POLL_S = 0.05
EXIT_S = 2.0
LAST_FRAMES = frozenset({"done", "refused", "error", "described", "built"})
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True)
class Limits:
    """Bounds of a child; the clock of `time_s` starts with its frame `ready`."""

    setup_s: float = 120.0
    time_s: float = 10.0
    memory_bytes: int = 4 * 2**30
    threads: int = 1


@dataclass
class Outcome:
    """How a child ended.

    Attributes
    ----------
    frames : list of Frame
        Everything that it sent, in order.
    ended : `exit`, `setup timeout`, `timeout`, `memory` or `garbled`
    exit_code : negative number of the signal if a signal ended it; None if it was killed here
    setup_s, solve_s : wall seconds before and after `ready`
    peak_memory_bytes : largest sum of resident memory over its process group that was seen
    log : end of what it wrote to standard output and error
    """

    frames: list[Frame] = field(default_factory=list)
    ended: str = "exit"
    exit_code: int | None = None
    setup_s: float = 0.0
    solve_s: float = 0.0
    peak_memory_bytes: int = 0
    log: str = ""

    @property
    def last(self) -> Frame | None:
        """The frame that closes a job, or None if the child did not get there."""
        return next((frame for frame in self.frames if frame.kind in LAST_FRAMES), None)


class Guardian:
    """A tiny process that cleans up if we are killed: our children and a scratch folder."""

    def __init__(self, scratch: str | None = None) -> None:
        script = str(Path(__file__).with_name("guardian.py"))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", script, *([scratch] if scratch else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        self._tell(f"+{group}\n")

    def release(self, group: int) -> None:
        self._tell(f"-{group}\n")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait()

    def _tell(self, line: str) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(line.encode())
        stdin.flush()


def run_child(
    job: dict[str, Any],
    limits: Limits,
    guardian: Guardian,
    on_frame: Callable[[Frame], None] = lambda frame: None,
) -> Outcome:
    """Outcome of a job; never raises for anything that the child does.

    `on_frame` sees every frame as it arrives and must not block. On KeyboardInterrupt the
    child's group is killed before the exception goes on.
    """
    with tempfile.TemporaryFile() as log:
        child = _Child(job, limits, log)
        guardian.watch(child.group)
        try:
            child.begin(job)
            outcome = child.watch(on_frame)
        finally:
            child.end()
            guardian.release(child.group)
        log.seek(max(0, log.seek(0, os.SEEK_END) - 4000))
        outcome.log = log.read().decode(errors="replace").strip()
    return outcome


class _Child:
    def __init__(self, job: dict[str, Any], limits: Limits, log: Any) -> None:
        self.limits = limits
        self.receiver, sender = os.pipe()
        environment = os.environ | {name: str(limits.threads) for name in THREAD_VARIABLES}
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            # -P: a file of the user's folder must not pass for a module of ours
            [sys.executable, "-P", "-m", "eqbench.harness.worker", str(sender)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=(sender,),
            start_new_session=True,
            env=environment,
        )
        os.close(sender)
        self.group = self.process.pid
        self.arrived: queue.SimpleQueue[Frame | Exception | None] = queue.SimpleQueue()
        self.stop_reading = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.peak = 0

    def begin(self, job: dict[str, Any]) -> None:
        self.reader.start()
        stdin = self.process.stdin
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(job).encode())
            stdin.close()

    def watch(self, on_frame: Callable[[Frame], None]) -> Outcome:
        """Collect frames until the child ends or breaks a limit."""
        outcome = Outcome()
        ready: float | None = None
        overhead = 0.0
        next_poll = self.started
        while True:
            now = time.monotonic()
            if now >= next_poll:
                self._measure_memory()
                next_poll = now + POLL_S
            # what the monitor costs is not the solver's time, but it is bounded as well
            allowance = min(overhead, self.limits.time_s)
            deadline = (
                self.started + self.limits.setup_s
                if ready is None
                else ready + self.limits.time_s + GRACE_S + allowance
            )
            exceeded = self._exceeded(now, deadline, setting_up=ready is None)
            if exceeded:
                outcome.ended = exceeded
                break
            frame = self._next(min(next_poll, deadline) - now)
            if isinstance(frame, Exception):
                outcome.ended = "garbled"
                break
            if frame is None:
                if self._gone():
                    break
                continue
            outcome.frames.append(frame)
            overhead = frame.fields.get("overhead_s", overhead)
            if frame.kind == "ready":
                ready = time.monotonic()
                continue
            on_frame(frame)
            if frame.kind in LAST_FRAMES:
                self.peak = max(self.peak, frame.fields.get("memory_bytes", 0))
                break
        finished = time.monotonic()
        outcome.setup_s = (ready or finished) - self.started
        outcome.solve_s = 0.0 if ready is None else finished - ready
        outcome.exit_code = self._wait_for_exit() if outcome.ended == "exit" else None
        for late in self._drain():
            outcome.frames.append(late)
            on_frame(late)
        outcome.peak_memory_bytes = self.peak
        return outcome

    def end(self) -> None:
        """Kill what is left of the group, reap the leader, close the pipe."""
        self._kill()
        self.process.wait()
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        self._finish_reading()
        os.close(self.receiver)

    def _kill(self) -> None:
        leftovers = self._family()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.group, signal.SIGKILL)
        for process in leftovers:  # those that moved to a group of their own
            with contextlib.suppress(psutil.Error):
                process.kill()

    def _exceeded(self, now: float, deadline: float, *, setting_up: bool) -> str | None:
        if self.peak > self.limits.memory_bytes:
            return "memory"
        if now >= deadline:
            return "setup timeout" if setting_up else "timeout"
        return None

    def _next(self, wait_s: float) -> Frame | Exception | None:
        try:
            return self.arrived.get(timeout=max(wait_s, 0.001))
        except queue.Empty:
            return None

    def _drain(self) -> Iterator[Frame]:
        """Frames that the child had sent but nobody has looked at; the child is dead then."""
        self._kill()
        self._finish_reading()
        while isinstance(frame := self._next(0), Frame):
            yield frame

    def _finish_reading(self) -> None:
        """Let the reader take what is in the pipe, even if a stray process holds it open."""
        self.stop_reading.set()
        if self.reader.is_alive():
            self.reader.join(timeout=EXIT_S)

    def _gone(self) -> bool:
        """Whether the leader has ended; it is not reaped, so that its group stays ours."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self.process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self.process.pid, flags) is not None
        except ChildProcessError:
            return True

    def _wait_for_exit(self) -> int | None:
        """Exit code of a child that has said its last word, if it goes soon."""
        limit = time.monotonic() + EXIT_S
        while not self._gone():
            if time.monotonic() > limit:
                return None
            time.sleep(0.002)
        self._kill()  # before the leader is reaped: until then its group number is ours
        return self.process.wait()

    def _read(self) -> None:
        """Reader thread: always drains the pipe, so that no child waits for us."""
        decoder = FrameDecoder()
        while True:
            readable, _, _ = select.select([self.receiver], [], [], 0.05)
            if not readable:
                if self.stop_reading.is_set():
                    return
                continue
            data = os.read(self.receiver, 1 << 20)
            if not data:
                return
            try:
                for frame in decoder.feed(data):
                    self.arrived.put(frame)
            except (ValueError, KeyError, TypeError) as error:
                self.arrived.put(error)
                return

    def _family(self) -> list[psutil.Process]:
        try:
            leader = psutil.Process(self.process.pid)
            return [leader, *leader.children(recursive=True)]
        except psutil.Error:
            return []

    def _measure_memory(self) -> None:
        total = 0
        for process in self._family():
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
        self.peak = max(self.peak, total)
