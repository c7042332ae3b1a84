"""Start a job in a process of its own, take its messages, and end it when it must end."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from eqbench.errors import DocumentError
from eqbench.isolation.messages import (
    Clocks,
    CompilingFrame,
    DoneFrame,
    ErrorFrame,
    Frame,
    FrameDecoder,
    LastFrame,
    ProfileFrame,
    ReadyFrame,
)
from eqbench.isolation.processes import family_memory_bytes
from eqbench.solver import Limits

TYPE_CHECKING = False
if TYPE_CHECKING or sys.platform == "win32":  # both have the same classes
    from eqbench.isolation.spawned import Inbox, Worker
    from eqbench.isolation.spawned import ScratchFolder as ScratchFolder  # noqa: PLC0414
else:
    from eqbench.isolation.server import Inbox, Worker
    from eqbench.isolation.server import ScratchFolder as ScratchFolder  # noqa: PLC0414

GRACE_S = 1.0
COMPILE_S = 600.0  # for a kernel, which no limit of a cell is meant for
POLL_S = 0.05
EXIT_S = 2.0
LOG_BYTES = 20_000
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let SIGINT and SIGTERM take effect only when the block has ended.

    Python delivers signals to the main thread; elsewhere there is nothing to hold.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # a handler that was not installed from Python could not be put back
    before = {number: handler for number, handler in before.items() if handler is not None}
    for number in before:
        signal.signal(number, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if arrived:
        signal.raise_signal(arrived[0])


@dataclass
class Outcome:
    """How a child ended.

    Attributes
    ----------
    last : the frame that closes a job, or None if the child did not get there
    ready : whether set-up was over
    clocks : the newest clocks that any frame carried, None if none did
    ended : `exit`, `setup timeout`, `timeout`, `memory`, `garbled` or `interrupted`
    garbled : what was wrong with the message that ended it
    exit_code : negative number of the signal if a signal ended it; None if it was killed here
    setup_s, solve_s : wall seconds before and after `ready`
    peak_memory_bytes : largest sum of the memory of its processes that was seen
    log : end of what it wrote to standard output and error
    """

    last: LastFrame | None = None
    ready: bool = False
    clocks: Clocks | None = None
    ended: str = "exit"
    garbled: str = ""
    exit_code: int | None = None
    setup_s: float = 0.0
    solve_s: float = 0.0
    peak_memory_bytes: int = 0
    log: str = ""

    def take(self, frame: Frame) -> None:
        """Take note of a frame."""
        if isinstance(frame, ProfileFrame | DoneFrame | ErrorFrame) and frame.clocks is not None:
            self.clocks = frame.clocks
        if isinstance(frame, ReadyFrame):
            self.ready = True
        elif isinstance(frame, LastFrame):
            self.last = frame
            if isinstance(frame, DoneFrame | ErrorFrame):
                self.peak_memory_bytes = max(self.peak_memory_bytes, frame.memory_bytes)


def run_child(
    job: dict[str, Any],
    limits: Limits,
    on_frame: Callable[[Frame], None] = lambda frame: None,
    stop: threading.Event | None = None,
) -> Outcome:
    """Return the outcome of a job; never raise for anything that the child does.

    `on_frame` sees every frame as it arrives and must not block. An interrupt ends the child
    and becomes an outcome as well; it is up to the caller to act on it. Only the main
    thread is interrupted; elsewhere the event `stop` does the same.
    """
    child: _Child | None = None
    with tempfile.TemporaryFile() as log:
        try:
            with interrupts_held():
                child = _Child(job, limits, log, on_frame, stop or threading.Event())
            child.watch()
        except KeyboardInterrupt:
            if child is None:
                raise
            child.outcome.ended = "interrupted"
        finally:
            if child is not None:
                try:
                    with interrupts_held():
                        child.end()
                except KeyboardInterrupt:  # a second one; what was streamed must survive it
                    child.outcome.ended = "interrupted"
        log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_BYTES))
        child.outcome.log = log.read().decode(errors="replace").strip()
    return child.outcome


class _Child:
    compiling_at: float | None = None  # since when a kernel is compiled, while one is

    def __init__(
        self,
        job: dict[str, Any],
        limits: Limits,
        log: IO[bytes],
        on_frame: Callable[[Frame], None],
        stop: threading.Event,
    ) -> None:
        self.limits, self.on_frame, self.stop = limits, on_frame, stop
        self.outcome = Outcome()
        self.started, self.ready_at = time.monotonic(), float("inf")
        pipe, sender = os.pipe()
        try:
            with tempfile.TemporaryFile() as document:
                document.write(json.dumps(job).encode())
                document.seek(0)
                self.worker = Worker(
                    threads=limits.threads,
                    fork=limits.isolation == "fork",
                    solves=job.get("do") == "solve",
                    files=(document.fileno(), log.fileno(), sender),
                )
        except BaseException:
            os.close(pipe)
            raise
        finally:
            os.close(sender)
        self.decoder = FrameDecoder()
        self.inbox = Inbox(pipe, self.worker)

    def watch(self) -> None:
        """Pass frames on until the child ends or breaks a limit."""
        next_poll = self.started + POLL_S  # there is nothing to see before
        while True:
            now = time.monotonic()
            if now >= next_poll:
                self._measure_memory()
                # looking through its processes must stay a small share of a core
                next_poll = now + max(POLL_S, 20 * (time.monotonic() - now))
            deadline = self._deadline()
            exceeded = self._exceeded(now, deadline)
            late = exceeded in ("timeout", "setup timeout")
            # what has arrived in time counts, however late we look at it
            received = (late or not exceeded) and self._receive(min(next_poll, deadline) - now)
            if self.outcome.ended == "garbled":
                return
            if self.outcome.last is not None or (
                not exceeded and not received and self.worker.exit_code is not None
            ):
                # one that has sent its last message has a moment to end by itself
                if self.worker.wait(EXIT_S):
                    self.outcome.exit_code = self.worker.exit_code
                return
            # a frame that has just been read may have moved the deadline
            if exceeded and (exceeded := self._exceeded(now, self._deadline())):
                self.outcome.ended = exceeded
                return

    def end(self) -> None:
        """Have everything killed that is left, and take what had been sent."""
        finished = time.monotonic()
        start = min(self.ready_at, finished)
        self.outcome.setup_s = start - self.started
        self.outcome.solve_s = finished - start
        self.worker.close()
        self.inbox.leave_worker()
        limit = time.monotonic() + EXIT_S  # where another process holds the pipe open
        while self.outcome.ended != "garbled" and time.monotonic() < limit and self._receive(0.0):
            pass
        self.inbox.close()

    def _receive(self, wait_s: float) -> bool:
        """Take the frames that are there; return whether any bytes were.

        Wait at most so long for some, or for news of the worker.
        """
        data = self.inbox.read(wait_s)
        try:
            for frame in self.decoder.feed(data):
                self._take(frame)
        except DocumentError as error:
            self.outcome.ended = "garbled"
            self.outcome.garbled = f"it sent what does not fit: {error}"
        return bool(data)

    def _take(self, frame: Frame) -> None:
        """Take note of a frame; what comes after the last one does not count."""
        if self.outcome.last is not None:
            return
        if self.compiling_at is not None:
            took = time.monotonic() - self.compiling_at
            self.started, self.ready_at = self.started + took, self.ready_at + took
        self.compiling_at = time.monotonic() if isinstance(frame, CompilingFrame) else None
        if isinstance(frame, ReadyFrame):
            self.ready_at = min(self.ready_at, time.monotonic())  # the clock starts only once
        self.outcome.take(frame)
        self.on_frame(frame)

    def _deadline(self) -> float:
        if self.compiling_at is not None:
            return self.compiling_at + COMPILE_S
        if not self.outcome.ready:
            return self.started + self.limits.setup_timeout_s
        # what the monitor costs is not the solver's time, but it is bounded as well
        clocks = self.outcome.clocks
        overhead = 0.0 if clocks is None else min(clocks.overhead_s, self.limits.timeout_s)
        return self.ready_at + self.limits.timeout_s + GRACE_S + overhead

    def _exceeded(self, now: float, deadline: float) -> str | None:
        if self.stop.is_set():
            return "interrupted"
        if self.outcome.peak_memory_bytes > self.limits.memory_bytes and self.compiling_at is None:
            return "memory"
        if now >= deadline:
            return "timeout" if self.outcome.ready else "setup timeout"
        return None

    def _measure_memory(self) -> None:
        if self.worker.number:
            memory = family_memory_bytes(self.worker.number)
            self.outcome.peak_memory_bytes = max(self.outcome.peak_memory_bytes, memory)
