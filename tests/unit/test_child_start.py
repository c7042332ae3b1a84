"""How a child is started, what of it is known before it has said anything, and when it has gone;
interrupts meanwhile are held back and never lost.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest
from command import PATIENCE_S, wait_for

from eqbench.isolation import child as module
from eqbench.isolation.child import Limits, _Child, interrupts_held, run_child
from eqbench.isolation.server import ForkServerError

LIMITS = Limits(threads=3)


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


def make() -> _Child:
    return _Child(LIMITS, None, print, threading.Event(), 1000)


def test_child_that_cannot_be_started_leaves_no_pipe_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any, **options: Any) -> Any:
        raise OSError("too many processes")

    monkeypatch.setattr(module, "_start", fail)
    before = open_files()
    with pytest.raises(OSError, match="too many processes"):
        make()
    assert open_files() == before


def test_interrupt_before_there_is_a_child_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_Child", interrupted)
    guardian: Any = None
    with pytest.raises(KeyboardInterrupt):
        run_child({}, LIMITS, guardian)


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system cannot look without reaping")
def test_child_that_has_gone_is_not_reaped_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number stays taken, so that no stranger is killed in its place."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    monkeypatch.setattr(module, "_start", lambda *given, **options: process)
    child = make()
    assert not child._gone()
    process.communicate()
    assert child._gone()
    assert process.returncode == 0
    waiting = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    child.process = waiting
    assert wait_for(child._gone)
    assert waiting.returncode is None
    child.end()
    assert waiting.returncode == 0
    assert waiting.stdin is not None
    assert waiting.stdin.closed


@pytest.mark.parametrize("handles", [True, False])
def test_end_of_a_child_is_awaited_as_long_as_it_may_take(
    monkeypatch: pytest.MonkeyPatch, handles: bool
) -> None:
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    monkeypatch.setattr(module, "_start", lambda *given, **options: process)
    if not handles:  # as on macOS and on old kernels
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    child, before = make(), open_files()
    assert not child._ends_within(0.05)
    threading.Timer(0.2, process.stdin.close).start()  # type: ignore[union-attr]
    assert child._ends_within(PATIENCE_S)
    assert process.returncode is None, "its number stays taken"
    assert open_files() < before, "the pipe to it"
    child.end()


def test_child_starts_in_a_session_of_its_own_with_its_threads_and_without_the_users_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*given: Any) -> Any:
        raise ForkServerError("there is none")

    seen: dict[str, Any] = {}
    monkeypatch.setattr(
        subprocess, "Popen", lambda *given, **options: seen.update(options, c=given)
    )
    monkeypatch.setattr(module, "server_for", refuse)
    module._start(LIMITS, "log", 5, 6, solves=True)
    ((command,),) = [seen["c"]]
    assert command == [sys.executable, "-P", "-m", "eqbench.isolation.worker", "5", "6"]
    assert {seen["env"][name] for name in module.THREAD_VARIABLES} == {"3"}
    assert {"OMP_NUM_THREADS", "NUMBA_NUM_THREADS"} < set(module.THREAD_VARIABLES)
    assert (seen["start_new_session"], seen["pass_fds"]) == (True, (5, 6))
    assert (seen["stdout"], seen["stderr"]) == ("log", subprocess.STDOUT)


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
