"""Start a job in a process group of its own, read its frames, and end it when it must end."""

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
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from eqbench.errors import DocumentError
from eqbench.isolation.guard import Guardian
from eqbench.isolation.keeper import ControlGroup
from eqbench.isolation.messages import (
    MOST_BYTES,
    Clocks,
    DoneFrame,
    ErrorFrame,
    Frame,
    FrameDecoder,
    LastFrame,
    ProfileFrame,
    ReadyFrame,
)
from eqbench.isolation.processes import Process, Sampler, Table, all_processes, memory_bytes
from eqbench.isolation.server import ForkedProcess, ForkServerError, server_for

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


class Descendants:
    """The processes below a leader and those of its group, as far as they were ever seen."""

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self._seen: dict[tuple[int, float], Process] = {}

    def memory_bytes(self) -> int:
        """Summed memory of those alive now, without the leader, which only waits."""
        return sum(memory_bytes(process.number) for process in self._look(_sampler.newest()))

    def look(self) -> None:
        """Remember all that are there at this very moment."""
        self._look(Table(all_processes()))

    def kill(self) -> None:
        """Kill the group and every other process that was seen; call it before reaping."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, signal.SIGKILL)
        for process in self._seen.values():
            process.kill()
        group = ControlGroup(self.leader)  # of a keeper that somebody has killed
        group.kill()
        group.remove()

    def _look(self, table: Table) -> list[Process]:
        found = table.family(self.leader, self._seen.values())
        self._seen |= {(process.number, process.started): process for process in found}
        return found


_sampler = Sampler()  # for all children of this process

GRACE_S = 1.0
POLL_S = 0.05
EXIT_S = 2.0
KEEPER_S = 10.0  # it bounds what it does itself
LOG_BYTES = 20_000
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of a child, and how it is started.

    The clock of `timeout_s` starts with the frame `ready`. Where `isolation` is `fork`, a server
    that is ready forks the child if that can be done; `spawn` always starts an interpreter.
    """

    timeout_s: float = 10.0
    setup_timeout_s: float = 120.0
    memory_bytes: int = 4 * 2**30
    threads: int = 1
    isolation: str = "fork"


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
    guardian: Guardian,
    on_frame: Callable[[Frame], None] = lambda frame: None,
    stop: threading.Event | None = None,
    most_bytes: int = MOST_BYTES,
) -> Outcome:
    """Outcome of a job; never raises for anything that the child does.

    `on_frame` sees every frame as it arrives and must not block. An interrupt ends the child
    and becomes an outcome as well; it is up to the caller to go on with it. Only the main
    thread is interrupted; elsewhere the event `stop` does the same. `most_bytes` is the size of the
    largest message that the job may send.
    """
    child: _Child | None = None
    with tempfile.TemporaryFile() as log:
        try:
            with interrupts_held():
                child = _Child(
                    limits,
                    log,
                    on_frame,
                    stop or threading.Event(),
                    most_bytes,
                    solves=job.get("do") == "solve",
                )
                guardian.watch(child.process.pid)
            child.send(job)
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
                        guardian.release(child.process.pid)
                except KeyboardInterrupt:  # a second one; what was streamed must survive it
                    child.outcome.ended = "interrupted"
        log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_BYTES))
        child.outcome.log = log.read().decode(errors="replace").strip()
    return child.outcome


class _Child:
    def __init__(
        self,
        limits: Limits,
        log: Any,
        on_frame: Callable[[Frame], None],
        stop: threading.Event,
        most_bytes: int,
        *,
        solves: bool = False,
    ) -> None:
        self.limits, self.on_frame, self.stop = limits, on_frame, stop
        self.outcome = Outcome()
        receiver, sender = os.pipe()
        held, self.control = os.pipe()  # the keeper ends what is left when this end is closed
        try:
            self.started = time.monotonic()
            self.process = _start(limits, log, sender, held, solves=solves)
        except BaseException:
            os.close(receiver)
            os.close(self.control)
            raise
        finally:
            os.close(sender)
            os.close(held)
        self.descendants = Descendants(self.process.pid)
        self.reader = _Reader(receiver, most_bytes)
        self.ready_at: float | None = None

    def send(self, job: dict[str, Any]) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(job).encode())
            stdin.close()

    def watch(self) -> None:
        """Pass frames on until the child ends or breaks a limit."""
        next_poll = self.started + POLL_S  # there is nothing to see before
        while True:
            now = time.monotonic()
            if now >= next_poll:
                self._measure_memory()
                # looking through all processes must stay a small share of a core
                next_poll = now + max(POLL_S, 20 * (time.monotonic() - now))
            deadline = self._deadline()
            exceeded = self._exceeded(now, deadline)
            late = exceeded in ("timeout", "setup timeout")
            if exceeded and not late:
                self.outcome.ended = exceeded
                return
            # what arrived in time counts, however late we look at it
            arrived = self.reader.next(min(next_poll, deadline) - now, deadline)
            if exceeded and arrived is None:
                self.outcome.ended = exceeded
                return
            if isinstance(arrived, Exception):
                self.outcome.ended, self.outcome.garbled = "garbled", _what_is_wrong(arrived)
                return
            if arrived is not None:
                self._take(arrived)
            if self.outcome.last is not None or (arrived is None and self._gone()):
                self._wait_for_exit()
                return

    def end(self) -> None:
        """Have everything killed that is left, pass on what had been sent, reap the keeper."""
        finished = time.monotonic()
        start = self.ready_at or finished
        self.outcome.setup_s = start - self.started
        self.outcome.solve_s = finished - start
        os.close(self.control)
        if self.process.returncode is None:  # until it is reaped, its group number is ours
            self._wake_keeper()
            self._kill_the_rest(ended=self._ends_within(KEEPER_S))
            self.process.wait()
        stdin = self.process.stdin
        if stdin is not None:
            with contextlib.suppress(OSError):
                stdin.close()
        for frame in self.reader.rest():
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        """Take note of a frame; what comes after the last one does not count."""
        if self.outcome.last is not None:
            return
        if isinstance(frame, ReadyFrame) and not self.outcome.ready:  # the clock starts only once
            self.ready_at = time.monotonic()
        self.outcome.take(frame)
        self.on_frame(frame)

    def _deadline(self) -> float:
        if self.ready_at is None:
            return self.started + self.limits.setup_timeout_s
        # what the monitor costs is not the solver's time, but it is bounded as well
        clocks = self.outcome.clocks
        overhead = 0.0 if clocks is None else min(clocks.overhead_s, self.limits.timeout_s)
        return self.ready_at + self.limits.timeout_s + GRACE_S + overhead

    def _exceeded(self, now: float, deadline: float) -> str | None:
        if self.stop.is_set():
            return "interrupted"
        if self.outcome.peak_memory_bytes > self.limits.memory_bytes:
            return "memory"
        if now >= deadline:
            return "setup timeout" if self.ready_at is None else "timeout"
        return None

    def _measure_memory(self) -> None:
        outcome = self.outcome
        outcome.peak_memory_bytes = max(outcome.peak_memory_bytes, self.descendants.memory_bytes())

    def _gone(self) -> bool:
        """Whether the leader has ended; it is not reaped, so that its group stays ours."""
        if isinstance(self.process, ForkedProcess):
            return self.process.has_ended()
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self.process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self.process.pid, flags) is not None
        except ChildProcessError:
            return True

    def _wait_for_exit(self) -> None:
        """Give a child that has said its last word a moment to end by itself."""
        if self._ends_within(EXIT_S):
            # before the leader is reaped: until then its group number is ours
            self._kill_the_rest(ended=True)
            with interrupts_held():  # or the server's answer would be lost
                self.outcome.exit_code = self.process.wait()

    def _kill_the_rest(self, *, ended: bool) -> None:
        """Kill what the keeper has left; none if it has ended after a last word."""
        if not ended or self.outcome.last is None:
            self.descendants.look()
        self.descendants.kill()

    def _wake_keeper(self) -> None:
        """Let the keeper go on if a solver has stopped it."""
        with contextlib.suppress(OSError):
            os.kill(self.process.pid, signal.SIGCONT)

    def _ends_within(self, seconds: float) -> bool:
        limit = time.monotonic() + seconds
        while not self._gone():
            left_s = limit - time.monotonic()
            if left_s <= 0:
                return False
            self._pause(left_s)
        return True

    def _pause(self, most_s: float) -> None:
        """Wait for the end of the leader, or only a moment where that cannot be awaited."""
        try:
            handle = os.pidfd_open(self.process.pid)
        except (AttributeError, OSError):
            time.sleep(0.002)
            return
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            poll.poll(1000 * most_s)
        finally:
            os.close(handle)


def _start(
    limits: Limits, log: Any, sender: int, held: int, *, solves: bool
) -> subprocess.Popen[bytes] | ForkedProcess:
    """Fork a worker where that can be done, else start one."""
    environment = os.environ | {name: str(limits.threads) for name in THREAD_VARIABLES}
    if limits.isolation == "fork":
        with contextlib.suppress(ForkServerError):
            return server_for(environment, limits.threads).start(
                environment,
                log.fileno(),
                (sender, held),
                solves=solves,
                patience_s=limits.setup_timeout_s,
            )
    return _spawn(environment, log, sender, held)


def _spawn(
    environment: dict[str, str], log: Any, sender: int, held: int
) -> subprocess.Popen[bytes]:
    """Start a worker as a new interpreter."""
    return subprocess.Popen(
        # -P: a file of the user's folder must not pass for a module of ours
        [sys.executable, "-P", "-m", "eqbench.isolation.worker", str(sender), str(held)],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        pass_fds=(sender, held),
        start_new_session=True,
        env=environment,
    )


def _what_is_wrong(error: Exception) -> str:
    """What a reason says about a message that is none."""
    if isinstance(error, DocumentError):
        return f"it sent what does not fit: {error}"
    return "it wrote into the channel to the harness"


class _Reader:
    """Thread that always drains the pipe, so that no child waits for us; it owns the pipe."""

    def __init__(self, receiver: int, most_bytes: int = MOST_BYTES) -> None:
        self._receiver, self._most = receiver, most_bytes
        # not a SimpleQueue: that of Python 3.11 waits forever if its timeout passes as it begins
        self._arrived: queue.Queue[tuple[float, Frame | Exception]] = queue.Queue()
        self._late: Frame | Exception | None = None
        self._stop_at = float("inf")
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def next(self, wait_s: float, until: float = float("inf")) -> Frame | Exception | None:
        """The next frame that arrived until a moment of the monotonic clock.

        An exception if the bytes are no frames; None if nothing came, or only later.
        """
        try:
            at, arrived = self._arrived.get(timeout=max(wait_s, 0.001))
        except queue.Empty:
            return None
        if at > until:
            self._late = arrived
            return None
        return arrived

    def rest(self) -> list[Frame]:
        """What a dead child had sent; does not wait for strangers who hold the pipe open."""
        self._stop_at = time.monotonic() + EXIT_S
        self._thread.join()
        frames = [self._late] if isinstance(self._late, Frame) else []
        while isinstance(arrived := self.next(0), Frame):
            frames.append(arrived)
        return frames

    def _read(self) -> None:
        decoder, poll = FrameDecoder(self._most), select.poll()
        poll.register(self._receiver, select.POLLIN | select.POLLHUP)
        try:
            while True:
                # looked at first: what the child sent before it ended is there for the poll
                stopping = self._stop_at < float("inf")
                readable = poll.poll(50)
                if stopping and (not readable or time.monotonic() > self._stop_at):
                    return
                if not readable:
                    continue
                data = os.read(self._receiver, 1 << 20)
                if not data:
                    return
                for frame in decoder.feed(data):
                    self._arrived.put((time.monotonic(), frame))
        except Exception as error:  # whatever the bytes were, the run must learn of it
            self._arrived.put((time.monotonic(), error))
        finally:
            os.close(self._receiver)
