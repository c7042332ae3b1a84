"""How `eqbench trace` is interrupted, and what it shows while it works."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


@contextmanager
def first_interrupt() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; pressed once more, it ends the process at once.

    An exception from a signal may surface within compiled code, which turns it into another one;
    so the first signal is only noted, and the second one takes the way that it has without Python.
    """
    pressed = []
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}

    def note(number: int, frame: Any) -> None:
        pressed.append(number)
        for again in signals:
            signal.signal(again, signal.SIG_DFL)

    for number in signals:
        signal.signal(number, note)
    try:
        yield lambda: bool(pressed)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Line(NamedTuple):
    """What `Control` is given to speak to: the place on the branch, and words."""

    report: Callable[[float, int], None]
    tell: Callable[[str], None]


@contextmanager
def progress_line(setting: Any, quiet: bool) -> Iterator[Line]:
    """A live line on standard error if that is a terminal."""
    from rich.text import Text

    from eqbench.report.screen import Screen

    console, name = Screen(stderr=True), setting.request.parameter
    if quiet or not console.is_terminal:
        yield Line(lambda value, points: None, lambda words: None)
        return
    with console.status("looking for a start") as status:
        yield Line(
            lambda value, points: status.update(Text(f"{name} {value:.6f}, {points:,} points")),
            lambda words: status.update(Text(words)),
        )
