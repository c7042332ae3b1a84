"""Interrupts are held back while things are done together, and never lost."""

from __future__ import annotations

import signal
import threading

import pytest

from eqbench.harness.child import interrupts_held


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
