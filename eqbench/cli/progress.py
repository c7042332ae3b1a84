"""How far a run or a study has come: a live bar, or a line a minute where there is no terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from eqbench.cli.output import error_stream, messages, say, say_always
from eqbench.harness.standing import Standing, Told, clock

if TYPE_CHECKING:
    from rich.console import Console

MEASURE_S = 1.0  # between measurements of what runs, where there is a terminal
LINE_S = 60.0  # between lines where there is no terminal
BAR_WIDTH, LEAST_BAR = 30, 5


class Work(Protocol):
    """Work that can be asked how far it has come, many times a second."""

    def standing(self) -> Standing: ...


@contextmanager
def shown(
    work: Work, measure: Callable[[], None] = lambda: None
) -> Iterator[Callable[[str], None]]:
    """Show on standard error how far work has come; what says a line meanwhile, above a live bar.

    `measure` is called again and again: of what is shown something may have to be found out.
    """
    from eqbench.report.terminal import Screen

    def line() -> None:
        measure()
        say_always(_line(work.standing()), stream)

    if messages.quiet:
        yield say
        return
    with error_stream() as stream:
        console = Screen(file=stream)
        if console.is_terminal:
            with _live(work, console), _every(MEASURE_S, measure):
                yield console.print
        else:
            with _every(LINE_S, line):
                yield say


@contextmanager
def _live(work: Work, console: Console) -> Iterator[None]:
    from rich.live import Live

    started = time.monotonic()

    def picture() -> Any:
        return _picture(work.standing(), time.monotonic() - started, console.width)

    live = Live(get_renderable=picture, console=console, transient=True, refresh_per_second=5)
    with live:
        live.refresh()  # native code that comes now may hold up the thread that does it else
        yield


@contextmanager
def _every(period_s: float, do: Callable[[], None]) -> Iterator[None]:
    """Do something again and again in another thread until the block ends."""
    ended = threading.Event()

    def loop() -> None:
        while not ended.wait(period_s):
            do()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _line(standing: Standing) -> str:
    share = "" if standing.share is None else f"{standing.share:.0%}"
    parts = [part for part in (standing.words, share, standing.left) if part]
    return "; ".join([", ".join(parts), *standing.now])


def _picture(standing: Standing, elapsed_s: float, width: int) -> Any:
    """The bar with what is said beside it, and a line for each thing that runs."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    share = standing.share
    times = ", ".join(part for part in (clock(elapsed_s), standing.left) if part)
    words = [*([] if share is None else [f"{share:4.0%}"]), times, standing.words]
    beside, *lines = (
        Text(line, no_wrap=True, overflow="ellipsis")
        for line in ("  ".join(words), *(f"  {line}" for line in standing.now))
    )
    room = min(BAR_WIDTH, width - len(beside) - 2)
    bar = ProgressBar(1.0, share or 0.0, width=room, pulse=share is None)
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_row(*([bar] if room >= LEAST_BAR else []), beside)
    return Group(row, *lines)


@contextmanager
def told(words: str = "starting") -> Iterator[Told]:
    """Show on standard error how far work has come that tells it."""
    work = Told(words)
    with shown(work):
        yield work
