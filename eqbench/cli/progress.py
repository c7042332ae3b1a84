"""Progress of a command on standard error: a live bar on a terminal, elsewhere a line a minute."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from eqbench.cli.output import error_stream, messages, say, say_always

LINE_S = 60.0  # between lines where there is no terminal
BAR_WIDTH = 30


class LiveProgress:
    """LiveProgress of the work inside a ``with``.

    Parameters
    ----------
    words : what is done now
    running : gives a line for each thing that runs at the moment
    """

    def __init__(
        self, words: str = "starting", running: Callable[[], Iterable[str]] = tuple
    ) -> None:
        self._words, self._running = words, running
        self._bars: Any = None
        self._task: Any = None
        self._resources = ExitStack()

    def __enter__(self) -> LiveProgress:
        if messages.quiet:
            return self
        from eqbench.report.terminal import Screen

        stream = self._resources.enter_context(error_stream())
        console = Screen(file=stream)
        self._bars = _live_bars(console, self._running)
        self._task = self._bars.add_task(self._words, total=None)
        if console.is_terminal:
            self._resources.enter_context(self._bars)
        else:
            ended = threading.Event()

            def loop() -> None:
                while not ended.wait(LINE_S):
                    say_always(self.line(), stream)

            thread = threading.Thread(target=loop, daemon=True)
            thread.start()
            self._resources.callback(thread.join)
            self._resources.callback(ended.set)
        return self

    def __exit__(self, *error: object) -> None:
        self._resources.close()
        self._bars = None

    def describe(self, words: str) -> None:
        """Show what is done now."""
        if self._bars is not None:
            self._bars.update(self._task, description=words)

    def done(self, share: float) -> None:
        """Show which share is done; it never falls."""
        if self._bars is not None:
            share = min(max(share, self._bars.tasks[0].completed), 1.0)
            self._bars.update(self._task, completed=share, total=1.0)

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bars is not None and self._bars.live.is_started:
            self._bars.console.print(line)
        else:
            say(line)

    def line(self) -> str:
        """All of it in one line."""
        (task,) = self._bars.tasks
        share = "" if task.total is None else f"{task.percentage:.0f}%"
        left = ""
        if task.time_remaining is not None:
            left = f"about {timedelta(seconds=round(task.time_remaining))} left"
        parts = ", ".join(part for part in (task.description, share, left) if part)
        return "; ".join([parts, *self._running()])


def _live_bars(console: Any, running: Callable[[], Iterable[str]]) -> Any:
    """Bars of rich, with a line below for each thing that runs."""
    from rich import progress
    from rich.table import Column
    from rich.text import Text

    class Bars(progress.Progress):
        def get_renderables(self) -> Iterator[Any]:
            yield from super().get_renderables()
            for line in running():
                yield Text(f"  {line}", no_wrap=True, overflow="ellipsis")

    return Bars(
        progress.BarColumn(BAR_WIDTH),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(compact=True),
        progress.TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis"),
        ),
        console=console,
        transient=True,
        refresh_per_second=5,
        speed_estimate_period=float("inf"),  # cells take longer than rich expects of steps
    )
