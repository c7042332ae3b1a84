"""Where cells are carried out: an engine takes cells and hands back results."""

from __future__ import annotations

import pkgutil
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from eqbench.builtin import extensions
from eqbench.harness.attempt import Place, Result, attempt
from eqbench.harness.judge import Received
from eqbench.harness.plan import Cell

Ended = tuple[Cell, Result | BaseException]


class Engine(Protocol):
    """Carries out cells for one thread, which alone stores what comes of them."""

    def slots(self) -> int:
        """How many cells it can have at a time."""
        ...

    def submit(self, cell: Cell, received: Received) -> None:
        """Begin with a cell; profiles may arrive in `received` while it is at work."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait until a cell has ended, at most so long; an interrupt here loses nothing."""
        ...

    def ended(self) -> list[Ended]:
        """Cells that have ended since the last call; an exception is meant for the run.

        Raises
        ------
        SchedulerError
            If the machines cannot be reached any more.
        """
        ...

    def cancel(self) -> None:
        """End all cells at once; those of which anything is known still come from `ended`."""
        ...

    @property
    def at_work(self) -> int:
        """How many cells will still come from `ended`."""
        ...

    def close(self) -> None:
        """Release all resources; call only when no cell is running."""
        ...


def engine_of(scheduler: str) -> Any:
    """Class of the engine that a scheduler ``ENGINE://…`` names, by default that of Dask.

    Installed distributions bring engines in the entry-point group ``eqbench.engines``; each is
    made as `eqbench.cluster.engine.ClusterEngine` is.
    """
    engines = extensions("engines")
    return pkgutil.resolve_name(engines.get(scheduler.partition("://")[0], engines["dask"]))


class LocalEngine:
    """Children of this process, each looked after by a thread."""

    def __init__(self, place: Place, jobs: int) -> None:
        self._place, self._jobs = place, jobs
        # not threads of our own: an interrupted join takes a running thread for ended
        self._threads = ThreadPoolExecutor(jobs)
        self._stop, self._some_ended = threading.Event(), threading.Event()
        self._ended: deque[Ended] = deque()
        self.at_work = 0

    def slots(self) -> int:
        return self._jobs

    def submit(self, cell: Cell, received: Received) -> None:
        self.at_work += 1
        self._threads.submit(self._run, cell, received)

    def _run(self, cell: Cell, received: Received) -> None:
        try:
            self._ended.append((cell, attempt(cell, self._place, self._stop, received)))
        except BaseException as error:
            self._ended.append((cell, error))
        self._some_ended.set()

    def wait(self, seconds: float) -> None:
        self._some_ended.wait(seconds)

    def ended(self) -> list[Ended]:
        self._some_ended.clear()
        ended = []
        while self._ended:
            ended.append(self._ended.popleft())
        self.at_work -= len(ended)
        return ended

    def cancel(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._threads.shutdown()
