"""What ends a child, when, and what is known of it then, on a made-up clock; interrupts meanwhile
are held back and never lost.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from typing import Any

import msgspec
import pytest
from helpers.command import PATIENCE_S, wait_for
from helpers.runs import snapshot

from eqbench.isolation import child as module
from eqbench.isolation import server, spawned
from eqbench.isolation.child import Limits, Outcome, _Child, interrupts_held, run_child
from eqbench.isolation.messages import (
    Clocks,
    CompilingFrame,
    DoneFrame,
    ErrorFrame,
    Frame,
    FrameDecoder,
    ReadyFrame,
    RefusedFrame,
    encode,
)
from eqbench.isolation.server import Worker

BEGIN = 1000.0
LIMITS = Limits(setup_timeout_s=30.0, timeout_s=7.0, memory_bytes=10**6, threads=3)
READY, COMPILING = ReadyFrame(), CompilingFrame(kernel="advance")
DONE = DoneFrame(reason="limit", detail="", memory_bytes=5, clocks=Clocks(1.0, 1.0, 0.5, 9))
ERROR = ErrorFrame(type="", message="", traceback="", usage=False, memory=False, unavailable=False)
REFUSED = RefusedFrame(status="unsupported", reason="three players")


NO_NEWS = os.pipe()  # nothing is ever written into it


class Clock:
    """Stands in for the module `time`: there is no waiting."""

    def __init__(self) -> None:
        self.now = BEGIN

    def monotonic(self) -> float:
        return self.now


class ScriptedWorker:
    """A worker that ends at its time."""

    number = 4711

    def __init__(self, clock: Clock, ends: float, code: int) -> None:
        self.clock, self.ends, self.code, self.closed = clock, BEGIN + ends, code, False

    @property
    def exit_code(self) -> int | None:
        return self.code if self.clock.now >= self.ends else None

    def wait(self, seconds: float) -> bool:
        self.clock.now = max(self.clock.now, min(self.clock.now + seconds, self.ends))
        return self.exit_code is not None

    def close(self) -> None:
        self.closed, self.ends = True, min(self.ends, self.clock.now)

    def fileno(self) -> int:
        return NO_NEWS[0]


class Scripted(_Child):
    """A child without a process, to which each message comes at its time.

    Its memory grows by a number of bytes a second, and takes time to be measured.
    """

    def __init__(
        self,
        clock: Clock,
        messages: dict[float, Any] | None = None,
        *,
        ends: float = float("inf"),
        code: int = 0,
        growth: float = 0.0,
        cost_s: float = 0.0,
    ) -> None:
        self.clock, self.frames = clock, list[Frame]()
        self.limits, self.on_frame, self.stop = LIMITS, self.frames.append, threading.Event()
        self.outcome = Outcome()
        self.started, self.ready_at = clock.now, float("inf")
        self.worker: Any = ScriptedWorker(clock, ends, code)
        self.messages = sorted((BEGIN + at, message) for at, message in (messages or {}).items())
        self.growth, self.cost_s, self.looks = growth, cost_s, list[float]()

    def _receive(self, wait_s: float) -> bool:
        until = self.clock.now + max(wait_s, 0.001)
        if not self.messages or self.messages[0][0] > until:
            self.clock.now = until
            return False
        now = self.clock.now = max(self.clock.now, self.messages[0][0])
        while self.messages and self.messages[0][0] <= now:
            _, message = self.messages.pop(0)
            if isinstance(message, str):
                self.outcome.ended, self.outcome.garbled = "garbled", message
                break
            self._take(message)
        return True

    def _measure_memory(self) -> None:
        self.looks.append(self.now)
        self.clock.now += self.cost_s
        self.outcome.peak_memory_bytes = int(self.growth * self.now)

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return self.clock.now - BEGIN


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made_up = Clock()
    monkeypatch.setattr(module, "time", made_up)
    return made_up


def clocks(overhead_s: float, work: int = 1) -> Clocks:
    return Clocks(elapsed_s=0.1, cpu_s=0.1, overhead_s=overhead_s, work=work)


def at(work: int, overhead_s: float) -> Frame:
    return msgspec.structs.replace(snapshot(work), clocks=clocks(overhead_s, work))


def test_limits_are_those_that_are_documented() -> None:
    assert (module.GRACE_S, module.POLL_S, module.EXIT_S, server.KILL_S) == (1.0, 0.05, 2.0, 10.0)
    assert Limits() == Limits(
        setup_timeout_s=120.0, timeout_s=10.0, memory_bytes=4 * 1024**3, threads=1
    )


FLOOD = {4.0 + n / 100: at(n, 0.0) for n in range(1, 3000)}
EARLY_FLOOD = {n / 100: READY for n in range(1, 2000)}
# These are on their way when the child has gone.
LATE = {1.0: READY, 1.02: at(1, 0.0), 1.04: DONE}
POLL = module.POLL_S
# What a child sends and when it ends; what ends the watch, and when.
WATCHED: dict[str, tuple[dict[float, Any], dict[str, Any], str, float]] = {
    "never gets ready": ({}, {}, "setup timeout", 30.0),
    "hangs": ({4.0: READY}, {}, "timeout", 12.0),
    # the time of the monitor is added, up to the budget, and its newest clocks decide
    "monitor took none": ({4.0: READY, 5.0: at(1, 0.0)}, {}, "timeout", 12.0),
    "monitor took 2.5 s": ({4.0: READY, 5.0: at(1, 2.5)}, {}, "timeout", 14.5),
    "monitor took 7 s": ({4.0: READY, 5.0: at(1, 7.0)}, {}, "timeout", 19.0),
    "monitor took 50 s": ({4.0: READY, 5.0: at(1, 50.0)}, {}, "timeout", 19.0),
    "reports less then": ({4.0: READY, 5.0: at(1, 3), 6.0: at(2, 1.5)}, {}, "timeout", 13.5),
    "gets ready again": ({4.0: READY, 8.0: READY, 11.0: READY}, {}, "timeout", 12.0),
    "sends without end": ({4.0: READY} | FLOOD, {}, "timeout", 12.0),
    # no limit is meant for compiling, but for a compiler that hangs
    "compiles long": ({1.0: COMPILING, 200.0: READY}, {"growth": 1e5}, "memory", 200.0),
    "compiles while solving": ({4.0: READY, 5.0: COMPILING, 65.0: at(1, 0)}, {}, "timeout", 72.0),
    "compiles without end": ({4.0: READY, 5.0: COMPILING}, {}, "timeout", 605.0),
    "is done and ends": ({1.0: READY, 3.0: DONE}, {"ends": 4.9, "code": 3}, "exit", 4.9),
    "is done but does not end": ({1.0: READY, 3.0: DONE}, {}, "exit", 5.0),
    "is done when it has gone": (LATE, {"ends": 1.01, "code": 0}, "exit", 1.04),
    "takes memory": ({}, {"growth": 1e5}, "memory", 10.0 + POLL),
    "takes much at once": ({0.5: READY}, {"growth": 1e6}, "memory", 1.0 + POLL),
    "sends and takes memory": (EARLY_FLOOD, {"growth": 1e6}, "memory", 1.0 + POLL),
    "dies without a word": ({1.0: READY}, {"ends": 3.0, "code": -6}, "exit", 3.0 + POLL),
    "sends what is no message": ({1.0: READY, 2.0: "no magic", 2.5: DONE}, {}, "garbled", 2.0),
}


@pytest.mark.parametrize("name", WATCHED)
def test_child_is_ended_in_time(clock: Clock, name: str) -> None:
    messages, more, ended, now = WATCHED[name]
    child = Scripted(clock, messages, **more)
    child.watch()
    assert child.outcome.ended == ended
    assert child.now == pytest.approx(now, abs=0.02)
    assert child.outcome.ready == (READY in messages.values())
    assert child.outcome.last == (DONE if DONE in messages.values() and ended == "exit" else None)
    assert child.outcome.exit_code == (more.get("code") if ended == "exit" else None)
    if ended == "memory":
        growth = more["growth"]
        assert child.outcome.peak_memory_bytes == pytest.approx(growth * child.now, rel=0.01)
    sent = sum(BEGIN + time <= clock.now for time in messages)
    assert len(child.frames) == pytest.approx(sent, abs=2)


def test_answer_in_time_counts_however_late_it_is_looked_at(clock: Clock) -> None:
    child = Scripted(clock, {0.1: READY, 0.2: at(1, 0.0), 0.3: DONE}, ends=0.4)
    child.on_frame = lambda frame: setattr(clock, "now", clock.now + 100.0)
    child.watch()
    assert (child.outcome.ended, child.outcome.last) == ("exit", DONE)


def test_message_that_moves_the_deadline_counts_when_it_is_looked_at_late(clock: Clock) -> None:
    child = Scripted(clock, {0.1: READY, 5.0: at(1, 6.0)})
    late = {"ready": 9.0, "snapshot": 0.0}  # as long as it takes to look at the next one
    child.on_frame = lambda frame: setattr(clock, "now", clock.now + late[frame.kind])
    child.watch()
    assert (child.outcome.ended, child.now) == ("timeout", pytest.approx(14.1, abs=0.1))


@pytest.mark.parametrize(("cost_s", "share"), [(0.0, 0.0), (0.1, 1 / 20)])
def test_memory_is_looked_at_often_but_for_a_twentieth_of_the_time_at_most(
    clock: Clock, cost_s: float, share: float
) -> None:
    child = Scripted(clock, cost_s=cost_s)
    child.watch()
    looks = child.looks
    assert (child.outcome.ended, looks[0]) == ("setup timeout", pytest.approx(POLL))
    assert len(looks) * cost_s / child.now == pytest.approx(share, rel=0.1)
    assert cost_s or len(looks) == pytest.approx(30.0 / POLL, rel=0.05)


@pytest.mark.parametrize(
    ("stopped", "memory", "now", "ready", "ended"),
    [
        (False, 10**6, 49.99, False, None),
        (False, 10**6, 50.0, False, "setup timeout"),
        (False, 10**6, 50.0, True, "timeout"),
        (False, 10**6 + 1, 49.99, True, "memory"),
        (False, 10**6 + 1, 50.0, True, "memory"),
        (True, 10**6 + 1, 50.0, True, "interrupted"),
        (True, 0, 0.0, False, "interrupted"),
    ],
)
def test_limit_is_exceeded_beyond_it_and_the_gravest_one_is_named(
    clock: Clock, stopped: bool, memory: int, now: float, ready: bool, ended: str | None
) -> None:
    child = Scripted(clock)
    child.outcome.ready, child.outcome.peak_memory_bytes = ready, memory
    if stopped:
        child.stop.set()
    assert child._exceeded(now, 50.0) == ended


@pytest.mark.parametrize(
    ("last", "newest", "seen", "peak"),
    [
        (DONE, DONE.clocks, 3, 5),
        (DONE, DONE.clocks, 8, 8),
        (ERROR, clocks(2.0, 1), 8, 8),
        (REFUSED, clocks(2.0, 1), 0, 0),
    ],
)
def test_last_message_counts_with_its_clocks_and_memory_and_nothing_after_it(
    clock: Clock, last: Frame, newest: Clocks, seen: int, peak: int
) -> None:
    child = Scripted(clock)
    child.outcome.peak_memory_bytes = seen
    for frame in (READY, at(1, 2.0), last, at(100, 5.0), READY, REFUSED):
        child._take(frame)
    assert child.frames == [READY, at(1, 2.0), last]
    assert (child.outcome.last, child.outcome.clocks) == (last, newest)
    assert child.outcome.peak_memory_bytes == peak


# -- what is in the pipe ---------------------------------------------------------------------------


INBOXES = pytest.mark.parametrize("inbox", [server.Inbox, spawned.Inbox])


def with_a_pipe(clock: Clock, inbox: Any, *data: bytes) -> tuple[_Child, int, int]:
    """A child without a process, and both ends of its pipe, into which something is written."""
    child = Scripted(clock)
    pipe, sender = os.pipe()
    child.decoder, child.inbox = FrameDecoder(), inbox(pipe, child.worker)
    child._receive = lambda wait_s: _Child._receive(child, wait_s)  # type: ignore[method-assign]
    for each in data:
        os.write(sender, each)
    return child, pipe, sender


def is_closed(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


@INBOXES
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize(("ready_at", "setup_s", "solve_s"), [(None, 9.0, 0.0), (4.0, 4.0, 5.0)])
def test_end_splits_the_time_ends_the_worker_and_takes_what_was_sent(
    clock: Clock, inbox: Any, held: bool, ready_at: float | None, setup_s: float, solve_s: float
) -> None:
    """Also where another process holds the pipe open."""
    sent = encode(READY), encode(at(3, 0.0)), encode(DONE)[:-1]
    child, pipe, sender = with_a_pipe(clock, inbox, *sent)
    if not held:
        os.close(sender)
    child.ready_at = float("inf") if ready_at is None else BEGIN + ready_at
    clock.now += 9.0
    child.end()
    assert (child.outcome.setup_s, child.outcome.solve_s) == (setup_s, solve_s)
    assert child.worker.closed  # type: ignore[attr-defined]
    assert [frame.kind for frame in child.frames] == ["ready", "snapshot"]  # type: ignore[attr-defined]
    assert child.outcome.last is None
    if held:
        os.close(sender)
    assert wait_for(lambda: is_closed(pipe))


@INBOXES
@pytest.mark.parametrize("data", [b"progress: 10 %\n", b'{"kind":"done"}\n'])
def test_bytes_that_are_no_message_end_the_child_with_a_reason(
    clock: Clock, inbox: Any, data: bytes
) -> None:
    child, pipe, sender = with_a_pipe(clock, inbox, data, encode(READY))
    os.close(sender)
    assert child._receive(PATIENCE_S)
    child.end()
    assert (child.outcome.ended, child.outcome.ready) == ("garbled", False)
    assert "not fit" in child.outcome.garbled
    assert wait_for(lambda: is_closed(pipe))


# -- how it starts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError("too many processes"), KeyboardInterrupt()])
def test_child_that_cannot_be_started_leaves_no_file_open(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*given: Any) -> None:
        raise error

    monkeypatch.setattr(server, "_send_to_server", fail)
    before = len(os.listdir("/dev/fd"))
    with pytest.raises(type(error)):
        run_child({}, LIMITS)
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize(
    ("numbers", "code", "killed"), [((7,), -9, [7]), ((7, 3), 3, []), ((0, 1), 1, []), ((), -9, [])]
)
def test_end_of_a_worker_is_what_the_server_reports_or_that_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, numbers: tuple[int, ...], code: int, killed: list[int]
) -> None:
    ours, theirs = socket.socketpair()
    groups: list[int] = []
    monkeypatch.setattr(server, "_open_channel", lambda *given: ours)
    monkeypatch.setattr(server, "_kill_group", groups.append)
    worker = Worker(threads=1, fork=True, solves=True, files=())
    assert not worker.wait(0.0)
    for number in numbers:
        theirs.sendall(server._NUMBER.pack(number))
    theirs.close()
    worker.close()
    assert (worker.exit_code, groups) == (code, killed)


# -- interrupts ------------------------------------------------------------------------------------


def test_interrupt_takes_effect_when_the_block_has_ended() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the block is what is tested
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest of the block")
        done.append("not reached")
    assert done == ["the rest of the block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_have_nothing_to_hold() -> None:
    entered = []

    def work() -> None:
        with interrupts_held():
            entered.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered == [True]
