"""Threads that work off cells, sharing them with whoever works on the same folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from eqbench.harness.interrupts import interrupts_held
from eqbench.harness.plan import Cell
from eqbench.store.json_lines import LineReader
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord

LOOK_AGAIN_S = 0.2


class Crew:
    """Does every cell once, unless another runner of the folder does it first.

    A cell is claimed before it is run, and left alone while another process holds it. When
    nothing else is left, the crew waits for what the others finish; it takes over the cells
    of a process that has died.

    Attributes
    ----------
    stop : event that ends the work; set by an interrupt or an error
    """

    def __init__(
        self, cells: Sequence[Cell], folder: RunFolder, lines: LineReader[CellRecord]
    ) -> None:
        self.stop = threading.Event()
        self._waiting = list(cells)
        self._lines = lines
        self._claims = folder.claims()
        self._lock = threading.Lock()

    def work(self, do: Callable[[Cell], None], jobs: int) -> None:
        """Call `do` for all cells, in `jobs` threads.

        Raises
        ------
        KeyboardInterrupt
            After all that were at work have ended.
        Exception
            Whatever `do` raises, after the others have ended.
        """
        try:
            with ThreadPoolExecutor(jobs) as pool:
                # not threads of our own: an interrupted join takes a running thread for ended
                members: list[Future[None]] = []
                try:
                    # an interrupt may come here already, when the first of them is at work
                    for _ in range(jobs):
                        members.append(pool.submit(self._labor, do))
                    # a signal just before the wait begins does not end it, so it must not be long
                    while wait(members, timeout=LOOK_AGAIN_S).not_done:
                        pass
                except KeyboardInterrupt:
                    self.stop.set()
                    with interrupts_held():
                        wait(members)
                    raise
        finally:
            self._claims.close()
        for member in members:
            member.result()

    def _labor(self, do: Callable[[Cell], None]) -> None:
        try:
            while not self.stop.is_set() and self._waiting:
                cell = self._next()
                if cell is None:
                    self.stop.wait(LOOK_AGAIN_S)
                    continue
                try:
                    do(cell)
                finally:
                    self._claims.release(cell.key)
        except BaseException:
            self.stop.set()
            raise

    def _next(self) -> Cell | None:
        """A cell that is ours now; None if others are at work on all that are left."""
        with self._lock:
            for cell in list(self._waiting):
                if not self._claims.take(cell.key):
                    continue
                # it may have been finished between our last look and the claim
                finished = {record.key for record in self._lines.new()}
                self._waiting = [c for c in self._waiting if c.key not in finished]
                if cell in self._waiting:
                    self._waiting.remove(cell)
                    return cell
                self._claims.release(cell.key)
            return None
