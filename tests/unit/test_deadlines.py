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
from eqbench.harness import child as module
from eqbench.harness.child import Limits, Outcome, _Child, _Reader
from eqbench.harness.frames import (
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

    def resident_bytes(self) -> int:
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


def test_child_that_never_gets_ready_is_ended_when_its_set_up_is_over(clock: Clock) -> None:
    child = Scripted(clock)
    child.watch()
    assert child.outcome.ended == "setup timeout"
    assert child.now == pytest.approx(30.0, abs=0.01)


def test_child_that_hangs_has_its_time_from_ready_on_and_a_grace(clock: Clock) -> None:
    child = Scripted(clock, {4.0: ReadyFrame()})
    child.watch()
    assert (child.outcome.ended, child.outcome.ready) == ("timeout", True)
    assert child.now == pytest.approx(4.0 + 7.0 + 1.0, abs=0.01)


@pytest.mark.parametrize(
    ("overhead_s", "more_s"), [(0.0, 0.0), (2.5, 2.5), (7.0, 7.0), (50.0, 7.0)]
)
def test_time_of_the_monitor_is_added_up_to_the_budget(
    clock: Clock, overhead_s: float, more_s: float
) -> None:
    child = Scripted(clock, {4.0: ReadyFrame(), 5.0: at(1, overhead_s)})
    child.watch()
    assert child.outcome.ended == "timeout"
    assert child.now == pytest.approx(4.0 + 7.0 + 1.0 + more_s, abs=0.01)


def test_newest_clocks_decide_and_messages_without_any_change_nothing(clock: Clock) -> None:
    error = ErrorFrame(
        type="", message="", traceback="", usage=False, memory=False, unavailable=False
    )
    child = Scripted(clock, {4.0: ReadyFrame(), 5.0: at(1, 3.0), 6.0: at(2, 1.5)})
    child.watch()
    assert child.now == pytest.approx(4.0 + 7.0 + 1.0 + 1.5, abs=0.01)
    child._take(error)
    assert child.outcome.clocks == clocks(1.5, 2)


def test_clock_of_a_child_does_not_start_again(clock: Clock) -> None:
    child = Scripted(clock, {4.0: ReadyFrame(), 8.0: ReadyFrame(), 11.0: ReadyFrame()})
    child.watch()
    assert (child.outcome.ended, child.ready_at) == ("timeout", BEGIN + 4.0)
    assert child.now == pytest.approx(12.0, abs=0.01)


def test_child_that_sends_without_end_is_ended_all_the_same(clock: Clock) -> None:
    flood = {4.0 + n / 100: at(n, 0.0) for n in range(1, 3000)}
    child = Scripted(clock, {4.0: ReadyFrame()} | flood)
    child.watch()
    assert (child.outcome.ended, child.now) == ("timeout", pytest.approx(12.0, abs=0.02))
    assert len(child.frames) == pytest.approx(801, abs=2)


@pytest.mark.parametrize("growth", [1e5, 1e6])
def test_child_that_takes_too_much_memory_is_ended_soon(clock: Clock, growth: float) -> None:
    child = Scripted(clock, {0.5: ReadyFrame()}, growth=growth)
    child.limits = Limits(setup_timeout_s=300, timeout_s=300, memory_bytes=10**6)
    child.watch()
    assert child.outcome.ended == "memory"
    assert child.now == pytest.approx(1e6 / growth, abs=2 * module.POLL_S)
    assert child.outcome.peak_memory_bytes == pytest.approx(1e6, abs=growth * 2 * module.POLL_S)


def test_child_that_sends_without_end_is_ended_for_its_memory_all_the_same(clock: Clock) -> None:
    messages = {at / 100: ReadyFrame() for at in range(1, 2000)}
    child = Scripted(clock, messages, growth=1e6)
    child.watch()
    assert child.outcome.ended == "memory"
    assert child.now < 2


@pytest.mark.parametrize(("came_s", "outcome"), [(0.3, ("exit", DONE)), (50.0, ("timeout", None))])
def test_when_an_answer_came_counts_and_not_when_it_is_looked_at(
    clock: Clock, came_s: float, outcome: tuple[str, Any]
) -> None:
    messages = {0.1: ReadyFrame(), 0.2: at(1, 0.0), came_s: DONE}
    child = Scripted(clock, messages, ends=came_s + 0.1)

    def slow(frame: Frame) -> None:
        clock.now += 100.0 if frame.kind == "snapshot" else 0.0

    child.on_frame = slow
    child.watch()
    assert (child.outcome.ended, child.outcome.last) == outcome


def test_memory_is_looked_at_from_the_start_and_often(clock: Clock) -> None:
    child = Scripted(clock)
    child.watch()
    assert child.descendants.looks[0] == 0.0
    assert len(child.descendants.looks) == pytest.approx(30.0 / module.POLL_S, rel=0.05)


def test_looking_through_slow_processes_takes_a_twentieth_of_the_time(clock: Clock) -> None:
    child = Scripted(clock, cost_s=0.1)
    child.watch()
    assert child.outcome.ended == "setup timeout"
    assert len(child.descendants.looks) * 0.1 / child.now == pytest.approx(1 / 20, rel=0.1)


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


def test_child_that_is_done_has_a_moment_to_end_and_its_code_is_kept(clock: Clock) -> None:
    child = Scripted(clock, {1.0: ReadyFrame(), 3.0: DONE}, ends=3.0 + 1.9, code=3)
    child.watch()
    assert (child.outcome.ended, child.outcome.last, child.outcome.exit_code) == ("exit", DONE, 3)
    assert child.now == pytest.approx(4.9, abs=0.01)
    assert child.descendants.said == ["kill"], "whatever it leaves behind"


def test_child_that_is_done_but_does_not_end_is_not_waited_for(clock: Clock) -> None:
    child = Scripted(clock, {1.0: ReadyFrame(), 3.0: DONE})
    child.watch()
    assert (child.outcome.ended, child.outcome.last, child.outcome.exit_code) == (
        "exit",
        DONE,
        None,
    )
    assert child.now == pytest.approx(3.0 + 2.0, abs=0.01)


def test_child_that_dies_without_a_word_is_noticed_soon(clock: Clock) -> None:
    child = Scripted(clock, {1.0: ReadyFrame()}, ends=3.0, code=-6)
    child.watch()
    assert (child.outcome.ended, child.outcome.last, child.outcome.exit_code) == ("exit", None, -6)
    assert child.now == pytest.approx(3.0, abs=2 * module.POLL_S)


def test_message_that_is_on_its_way_when_a_child_has_gone_is_taken(clock: Clock) -> None:
    child = Scripted(clock, {1.0: ReadyFrame(), 1.02: at(1, 0.0), 1.04: DONE}, ends=1.01)
    child.watch()
    assert child.outcome.last == DONE
    assert [frame.kind for frame in child.frames] == ["ready", "snapshot", "done"]


@pytest.mark.parametrize(
    ("error", "words"),
    [(DocumentError("`work` is -1"), "`work` is -1"), (ValueError("no magic"), "channel")],
)
def test_message_that_is_none_ends_the_child_at_once(
    clock: Clock, error: Exception, words: str
) -> None:
    child = Scripted(clock, {1.0: ReadyFrame(), 2.0: error, 2.5: DONE})
    child.watch()
    assert (child.outcome.ended, child.now) == ("garbled", 2.0)
    assert words in child.outcome.garbled == module._what_is_wrong(error)


def test_what_comes_after_the_last_message_does_not_count(clock: Clock) -> None:
    child = Scripted(clock)
    for frame in (ReadyFrame(), DONE, at(100, 5.0), REFUSED):
        child._take(frame)
    assert child.frames == [ReadyFrame(), DONE]
    assert (child.outcome.last, child.outcome.clocks) == (DONE, DONE.clocks)


@pytest.mark.parametrize(("seen", "peak"), [(3, 5), (8, 8)])
def test_peak_of_memory_is_the_larger_of_what_both_sides_saw(
    clock: Clock, seen: int, peak: int
) -> None:
    child = Scripted(clock)
    child.outcome.peak_memory_bytes = seen
    child._take(DONE)
    assert child.outcome.peak_memory_bytes == peak
    refused = Scripted(clock)
    refused._take(REFUSED)
    assert (refused.outcome.last, refused.outcome.peak_memory_bytes) == (REFUSED, 0)


@pytest.mark.parametrize(("ready_at", "setup_s", "solve_s"), [(None, 9.0, 0.0), (4.0, 4.0, 5.0)])
def test_time_is_split_at_ready(
    clock: Clock, ready_at: float | None, setup_s: float, solve_s: float
) -> None:
    child = Scripted(clock, ends=0.0)
    child.ready_at = None if ready_at is None else BEGIN + ready_at
    clock.now += 9.0
    child.end()
    assert (child.outcome.setup_s, child.outcome.solve_s) == (setup_s, solve_s)


def test_end_closes_the_control_kills_what_is_left_and_takes_what_was_sent(clock: Clock) -> None:
    child = Scripted(clock, ends=0.0, rest=[ReadyFrame(), at(3, 0.0)])
    child.end()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(child.control)
    assert child.descendants.said == ["kill"]
    assert [frame.kind for frame in child.frames] == ["ready", "snapshot"]
    assert child.now < 0.1


def test_keeper_that_does_not_end_has_its_relatives_looked_up_and_killed(clock: Clock) -> None:
    child = Scripted(clock)
    child.end()
    assert child.descendants.said == ["look", "kill"]
    assert clock.sent == [signal.SIGCONT]  # a solver may have stopped it
    assert child.now == pytest.approx(module.KEEPER_S, abs=0.01)


def test_reader_gives_messages_in_order_then_nothing() -> None:
    receiver, sender = os.pipe()
    reader = _Reader(receiver)
    assert reader.next(0.01) is None
    for frame in (ReadyFrame(), REFUSED):
        write_frame(sender, frame)
    assert (reader.next(60), reader.next(60)) == (ReadyFrame(), REFUSED)
    os.close(sender)
    assert reader.rest() == []


def test_reader_ends_with_the_pipe() -> None:
    receiver, sender = os.pipe()
    reader = _Reader(receiver)
    write_frame(sender, REFUSED)
    os.close(sender)
    reader._thread.join(60)
    assert not reader._thread.is_alive()
    assert reader.rest() == [REFUSED]


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
    write_frame(sender, ReadyFrame())

    def chatter() -> None:
        with suppress(BrokenPipeError):
            while chatty and not over.is_set():
                write_frame(sender, REFUSED)

    stranger = threading.Thread(target=chatter, daemon=True)
    stranger.start()
    frames = reader.rest()
    over.set()
    assert frames[0] == ReadyFrame()
    assert chatty or frames == [ReadyFrame()]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(receiver)
