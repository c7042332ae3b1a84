"""Hold back Ctrl-C for a moment, so that what must be done together is done together."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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
