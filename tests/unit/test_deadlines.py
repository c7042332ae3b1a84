"""The deadlines of a child on a made-up clock: what ends it, when, and what is known of it then."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from frame_cases import snapshot

from eqbench.documents import DocumentError
from eqbench.isolation import child as module
from eqbench.isolation.child import Limits, Outcome, _Child, _Reader
from eqbench.isolation.messages import (
    Clocks,
    DoneFrame,
    ErrorFrame,
    Frame,
    ReadyFrame,
    RefusedFrame,
    write_frame,
)

BEGIN = 1000.0
LIMITS = Limits(setup_timeout_s=30.0, timeout_s=7.0, memory_bytes=10**6, threads=3)
DONE = DoneFrame(reason="limit", detail="", memory_bytes=5, clocks=Clocks(1.0, 1.0, 0.5, 9))
ERROR = ErrorFrame(type="", message="", traceback="", usage=False, memory=False, unavailable=False)
REFUSED = RefusedFrame(status="unsupported", reason="three players")


class Clock:
    """Stands in for the module `time`: nobody waits."""

    def __init__(self) -> None:
        self.now = BEGIN
        self.sent: list[int] = []  # signals to the keeper

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Script:
    """A reader that gives each message at its time, and what is left to the last at the end."""

    def __init__(self, clock: Clock, messages: dict[float, Any], rest: Iterable[Frame]) -> None:
        self.clock, self._rest = clock, list(rest)
        self._messages = sorted((BEGIN + at, message) for at, message in messages.items())

    def next(self, wait_s: float, until: float = float("inf")) -> Any:
        wait_s = max(wait_s, 0.001)
        if self._messages and self._messages[0][0] <= min(self.clock.now + wait_s, until):
            at, message = self._messages.pop(0)
            self.clock.now = max(self.clock.now, at)
            return message
        self.clock.now += wait_s
        return None

    def rest(self) -> list[Frame]:
        return self._rest


class Relatives:
    """A family whose memory grows by a number of bytes a second, and is slow to look through."""

    def __init__(self, clock: Clock, growth: float = 0.0, cost_s: float = 0.0) -> None:
        self.clock, self.growth, self.cost_s = clock, growth, cost_s
        self.looks: list[float] = []
        self.said: list[str] = []

    def memory_bytes(self) -> int:
        self.looks.append(self.clock.now - BEGIN)
        self.clock.now += self.cost_s
        return int(self.growth * (self.clock.now - BEGIN))

    def look(self) -> None:
        self.said.append("look")

    def kill(self) -> None:
        self.said.append("kill")


class Scripted(_Child):
    """A child without a process: what it sends and when it ends is made up."""

    def __init__(
        self,
        clock: Clock,
        messages: dict[float, Any] | None = None,
        *,
        ends: float = float("inf"),
        code: int = 0,
        rest: Iterable[Frame] = (),
        **memory: float,
    ) -> None:
        self.clock, self.ends, self.frames = clock, BEGIN + ends, list[Frame]()
        self.limits, self.on_frame, self.stop = LIMITS, self.frames.append, threading.Event()
        self.outcome = Outcome()
        self.started, self.ready_at = clock.now, None
        self.reader: Any = Script(clock, messages or {}, rest)
        self.descendants: Any = Relatives(clock, **memory)
        self.process: Any = SimpleNamespace(
            pid=4711, stdin=None, returncode=None, wait=lambda: code
        )
        self.control = os.open(os.devnull, os.O_RDONLY)

    def _gone(self) -> bool:
        return self.clock.now >= self.ends

    def _pause(self, most_s: float) -> None:
        self.clock.sleep(min(most_s, 0.002))

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return self.clock.now - BEGIN


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made_up = Clock()
    monkeypatch.setattr(module, "time", made_up)
    # there is no process 4711, or it is a stranger
    monkeypatch.setattr(module.os, "kill", lambda process, number: made_up.sent.append(number))
    return made_up


def clocks(overhead_s: float, work: int = 1) -> Clocks:
    return Clocks(elapsed_s=0.1, cpu_s=0.1, overhead_s=overhead_s, work=work)


def at(work: int, overhead_s: float) -> Frame:
    return msgspec.structs.replace(snapshot(work), clocks=clocks(overhead_s, work))


def test_limits_are_those_that_are_documented() -> None:
    assert (module.GRACE_S, module.POLL_S) == (1.0, 0.05)
    assert (module.EXIT_S, module.KEEPER_S) == (2.0, 10.0)
    assert Limits() == Limits(
        setup_timeout_s=120.0, timeout_s=10.0, memory_bytes=4 * 1024**3, threads=1
    )


READY = ReadyFrame()
FLOOD = {4.0 + n / 100: at(n, 0.0) for n in range(1, 3000)}
EARLY_FLOOD = {n / 100: READY for n in range(1, 2000)}
# These are on their way when the child has gone.
LATE = {1.0: READY, 1.02: at(1, 0.0), 1.04: DONE}
# What a child sends and when it ends; what ends the watch, and when.
WATCHED: dict[str, tuple[dict[float, Any], dict[str, Any], str, float]] = {
    "never gets ready": ({}, {}, "setup timeout", 30.0),
    "hangs": ({4.0: READY}, {}, "timeout", 12.0),
    # the time of the monitor is added, up to the budget, and its newest clocks decide
    "monitor took none": ({4.0: READY, 5.0: at(1, 0.0)}, {}, "timeout", 12.0),
    "monitor took 2.5 s": ({4.0: READY, 5.0: at(1, 2.5)}, {}, "timeout", 14.5),
    "monitor took 7 s": ({4.0: READY, 5.0: at(1, 7.0)}, {}, "timeout", 19.0),
    "monitor took 50 s": ({4.0: READY, 5.0: at(1, 50.0)}, {}, "timeout", 19.0),
    "says less then": ({4.0: READY, 5.0: at(1, 3), 6.0: at(2, 1.5)}, {}, "timeout", 13.5),
    "gets ready again": ({4.0: READY, 8.0: READY, 11.0: READY}, {}, "timeout", 12.0),
    "sends without end": ({4.0: READY} | FLOOD, {}, "timeout", 12.0),
    "is done and ends": ({1.0: READY, 3.0: DONE}, {"ends": 4.9, "code": 3}, "exit", 4.9),
    "is done but does not end": ({1.0: READY, 3.0: DONE}, {}, "exit", 5.0),
    "is done when it has gone": (LATE, {"ends": 1.01, "code": 0}, "exit", 1.04),
    "takes memory": ({}, {"growth": 1e5}, "memory", 10.0 + module.POLL_S),
    "takes much at once": ({0.5: READY}, {"growth": 1e6}, "memory", 1.0 + module.POLL_S),
    "sends and takes memory": (EARLY_FLOOD, {"growth": 1e6}, "memory", 1.0 + module.POLL_S),
    "dies without a word": ({1.0: READY}, {"ends": 3.0, "code": -6}, "exit", 3.0 + module.POLL_S),
}


@pytest.mark.parametrize("name", WATCHED)
def test_child_is_ended_in_time(clock: Clock, name: str) -> None:
    messages, more, ended, now = WATCHED[name]
    child = Scripted(clock, messages, **more)
    child.watch()
    assert child.outcome.ended == ended
    assert child.now == pytest.approx(now, abs=0.02)
    assert child.outcome.ready == (READY in messages.values())
    assert child.outcome.last == (DONE if DONE in messages.values() else None)
    assert child.outcome.exit_code == (more.get("code") if ended == "exit" else None)
    said = (
        ["kill"] if child.outcome.last else ["look", "kill"]
    )  # somebody may have ended the keeper
    assert child.descendants.said == said * ("ends" in more), "whatever it leaves behind"
    if ended == "memory":
        growth = more["growth"]
        assert child.outcome.peak_memory_bytes == pytest.approx(growth * child.now, rel=0.01)
    sent = sum(BEGIN + time <= clock.now for time in messages)
    assert len(child.frames) == pytest.approx(sent, abs=2)


@pytest.mark.parametrize(("came_s", "outcome"), [(0.3, ("exit", DONE)), (50.0, ("timeout", None))])
def test_when_an_answer_came_counts_and_not_when_it_is_looked_at(
    clock: Clock, came_s: float, outcome: tuple[str, Any]
) -> None:
    messages = {0.1: READY, 0.2: at(1, 0.0), came_s: DONE}
    child = Scripted(clock, messages, ends=came_s + 0.1)

    def slow(frame: Frame) -> None:
        clock.now += 100.0 if frame.kind == "snapshot" else 0.0

    child.on_frame = slow
    child.watch()
    assert (child.outcome.ended, child.outcome.last) == outcome


@pytest.mark.parametrize(("cost_s", "share"), [(0.0, 0.0), (0.1, 1 / 20)])
def test_memory_is_looked_at_often_but_for_a_twentieth_of_the_time_at_most(
    clock: Clock, cost_s: float, share: float
) -> None:
    child = Scripted(clock, cost_s=cost_s)
    child.watch()
    looks = child.descendants.looks
    assert (child.outcome.ended, looks[0]) == ("setup timeout", pytest.approx(module.POLL_S))
    assert len(looks) * cost_s / child.now == pytest.approx(share, rel=0.1)
    assert cost_s or len(looks) == pytest.approx(30.0 / module.POLL_S, rel=0.05)


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
    child.ready_at = 3.0 if ready else None
    child.outcome.peak_memory_bytes = memory
    if stopped:
        child.stop.set()
    assert child._exceeded(now, 50.0) == ended


@pytest.mark.parametrize(
    ("error", "words"),
    [(DocumentError("`work` is -1"), "`work` is -1"), (ValueError("no magic"), "channel")],
)
def test_message_that_is_none_ends_the_child_at_once(
    clock: Clock, error: Exception, words: str
) -> None:
    child = Scripted(clock, {1.0: READY, 2.0: error, 2.5: DONE})
    child.watch()
    assert (child.outcome.ended, child.now) == ("garbled", 2.0)
    assert words in child.outcome.garbled == module._what_is_wrong(error)


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


@pytest.mark.parametrize(("ready_at", "setup_s", "solve_s"), [(None, 9.0, 0.0), (4.0, 4.0, 5.0)])
def test_end_splits_the_time_closes_the_control_kills_what_is_left_and_takes_what_was_sent(
    clock: Clock, ready_at: float | None, setup_s: float, solve_s: float
) -> None:
    child = Scripted(clock, ends=0.0, rest=[READY, at(3, 0.0)])
    child.ready_at = None if ready_at is None else BEGIN + ready_at
    clock.now += 9.0
    child.end()
    assert (child.outcome.setup_s, child.outcome.solve_s) == (setup_s, solve_s)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(child.control)
    assert child.descendants.said == ["look", "kill"]
    assert [frame.kind for frame in child.frames] == ["ready", "snapshot"]
    assert child.now < 9.1


def test_keeper_that_does_not_end_has_its_relatives_looked_up_and_killed(clock: Clock) -> None:
    child = Scripted(clock)
    child.end()
    assert child.descendants.said == ["look", "kill"]
    assert clock.sent == [signal.SIGCONT]  # a solver may have stopped it
    assert child.now == pytest.approx(module.KEEPER_S, abs=0.01)


def test_reader_gives_messages_in_order_and_ends_with_the_pipe() -> None:
    receiver, sender = os.pipe()
    reader = _Reader(receiver)
    assert reader.next(0.01) is None
    for frame in (READY, REFUSED, DONE):
        write_frame(sender, frame)
    assert (reader.next(60), reader.next(60)) == (READY, REFUSED)
    os.close(sender)
    reader._thread.join(60)
    assert not reader._thread.is_alive()
    assert reader.rest() == [DONE]


def test_reader_hands_over_what_is_wrong_with_bytes_that_are_no_message() -> None:
    receiver, sender = os.pipe()
    reader = _Reader(receiver)
    os.write(sender, b"no frame at all")
    assert isinstance(reader.next(60), Exception)
    assert reader.rest() == []
    os.close(sender)


@pytest.mark.parametrize("chatty", [False, True])
def test_reader_does_not_wait_for_a_stranger_who_holds_the_pipe_open(
    monkeypatch: pytest.MonkeyPatch, chatty: bool
) -> None:
    monkeypatch.setattr(module, "EXIT_S", 0.2)
    receiver, sender = os.pipe()
    reader, over = _Reader(receiver), threading.Event()
    write_frame(sender, READY)

    def chatter() -> None:
        with suppress(BrokenPipeError):
            while chatty and not over.is_set():
                write_frame(sender, REFUSED)

    stranger = threading.Thread(target=chatter, daemon=True)
    stranger.start()
    frames = reader.rest()
    over.set()
    assert frames[0] == READY
    assert chatty or frames == [READY]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(receiver)
