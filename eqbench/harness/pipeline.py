"""Run a plan: one child for each cell; what it reports is judged and stored as it ends."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from eqbench.harness.child import interrupts_held, run_child
from eqbench.harness.experiment import Experiment
from eqbench.harness.frames import most_bytes
from eqbench.harness.guard import Guardian
from eqbench.harness.judge import Received
from eqbench.harness.plan import Cell, make_plan
from eqbench.harness.record import Recorder
from eqbench.harness.request import Request
from eqbench.registry import Registry, default_registry
from eqbench.store.json_lines import LineReader
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord, Status
from eqbench.verification import Verifier

LOOK_AGAIN_S = 0.2


class Pool:
    """Threads that do every cell once, unless another runner of the folder does it first.

    A cell is claimed before it is run, and left alone while another process holds it. When
    nothing else is left, the pool waits for what the others finish; it takes over the cells
    of a process that has died.

    Attributes
    ----------
    stop : event that ends the work; set by an interrupt or an error
    waiting : cells that nobody has begun or finished, as far as is known, by key
    """

    def __init__(
        self, cells: Sequence[Cell], folder: RunFolder, lines: LineReader[CellRecord]
    ) -> None:
        self.stop = threading.Event()
        self.waiting = {cell.key: cell for cell in cells}
        self._lines = lines
        self._claims = folder.claims()
        self._lock = threading.Lock()

    def work(self, do: Callable[[Cell], None], jobs: int, interrupted: Callable[[], bool]) -> None:
        """Call `do` for all cells, in `jobs` threads, until `interrupted` says so.

        Raises
        ------
        KeyboardInterrupt
            After all that were at work have ended.
        Exception
            Whatever `do` raises, after the others have ended.
        """
        try:
            with ThreadPoolExecutor(jobs) as threads:
                # not threads of our own: an interrupted join takes a running thread for ended
                loops: list[Future[None]] = []
                try:
                    # an interrupt may come here already, when the first of them is at work
                    for _ in range(jobs):
                        loops.append(threads.submit(self._loop, do))
                    # a signal just before the wait begins does not end it, so it must not be long
                    while wait(loops, timeout=LOOK_AGAIN_S).not_done:
                        if interrupted():
                            raise KeyboardInterrupt
                except KeyboardInterrupt:
                    self.stop.set()
                    with interrupts_held():
                        wait(loops)
                    raise
        finally:
            self._claims.close()
        for loop in loops:
            loop.result()

    def _loop(self, do: Callable[[Cell], None]) -> None:
        try:
            while not self.stop.is_set() and self.waiting:
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
            for key in list(self.waiting):
                if not self._claims.take(key):
                    continue
                # it may have been finished between our last look and the claim
                for record in self._lines.new():
                    self.waiting.pop(record.key, None)
                if key in self.waiting:
                    return self.waiting.pop(key)
                self._claims.release(key)
            return None


# What a resumed run does again: it says more about that day than about the solver.
NEVER_CACHED: tuple[Status, ...] = ("crashed", "failed", "unavailable")


class Observer(Protocol):
    """Who watches a run, for example a progress display; called from several threads."""

    def planned(self, cells: Sequence[Cell], finished: int) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def finished(self, record: CellRecord) -> None: ...


@dataclass(frozen=True)
class Running:
    """A cell at work, since a moment of the monotonic clock, with what it has reported so far."""

    cell: Cell
    since: float
    received: Received


class PlannedRun:
    """A planned run; children and scratch files are gone when the ``with`` ends.

    Attributes
    ----------
    cells : what is planned
    waiting : cells that are to be run, by key
    running : cells at work, by key
    """

    def __init__(self, asked: Request | Experiment, registry: Registry | None = None) -> None:
        self.experiment = asked if isinstance(asked, Experiment) else Experiment((asked,))
        self.registry = registry or default_registry().with_plugins(self.experiment.plugins)
        self.cells: list[Cell] = []
        self.waiting: Mapping[str, Cell] = {}
        self.running: dict[str, Running] = {}
        self._recorder: Recorder | None = None
        self._ended: dict[str, Status] = {}
        self._lines: LineReader[CellRecord] | None = None

    def __enter__(self) -> PlannedRun:
        self._workspace = tempfile.TemporaryDirectory(prefix="eqbench-")
        self._guardian = Guardian(self._workspace.name)
        try:
            workspace = Path(self._workspace.name)
            cells = [
                cell
                for part in self.experiment.parts
                for cell in make_plan(part, self.registry, self._guardian, workspace)
            ]
            self.cells = list({cell.key: cell for cell in cells}.values())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._workspace.cleanup()
        except (OSError, RecursionError):  # a solver may leave there what it likes
            pass
        finally:
            self._guardian.close()

    @property
    def records(self) -> list[CellRecord]:
        """What came of the cells so far, in the order of the plan; interrupted ones as well."""
        known = {} if self._recorder is None else self._recorder.records
        return [known[cell.key] for cell in self.cells if cell.key in known]

    def finished_in(self, folder: RunFolder, again: Collection[Status] = NEVER_CACHED) -> set[str]:
        """Keys of the planned cells that a folder has, but for those that ended as in `again`.

        The folder is looked through once; what is added later counts as done when it is there.
        """
        if self._lines is None:
            self._lines = folder.new_cells()
            self._ended = {record.key: record.status for record in folder.cells(self._lines)}
        return {cell.key for cell in self.cells if self._ended.get(cell.key) not in (None, *again)}

    def verifier_of(self, cell: Cell) -> Verifier:
        """The verifier that measures a cell that is at work."""
        assert self._recorder is not None
        return self._recorder.judge_of(cell).verifier

    def execute(
        self,
        folder: RunFolder,
        observer: Observer,
        again: Collection[Status] = NEVER_CACHED,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Run all cells that the folder does not have, each stored as soon as it is finished.

        Several runners may do so in the same folder at the same time; each takes what no other
        has taken. All stored records of the plan are in `records` afterwards.

        Parameters
        ----------
        again : statuses of stored cells that are run once more
        interrupted : asked again and again whether to stop, as an interrupt does

        Raises
        ------
        KeyboardInterrupt
            After what the running cells had reported was stored as interrupted.
        StoreError
            If the folder can no longer be written.
        """
        done = self.finished_in(folder, again)
        assert self._lines is not None
        waiting = [cell for cell in self.cells if cell.key not in done]
        pool = Pool(waiting, folder, self._lines)
        self.waiting = pool.waiting
        observer.planned(self.cells, finished=len(done))
        recorder = self._recorder = Recorder(folder, self.experiment.jobs)
        lock = threading.Lock()

        def do(cell: Cell) -> None:
            n_actions = cell.game.game.tree.n_actions
            received, outcome = Received(n_actions), None
            self.running[cell.key] = Running(cell, time.monotonic(), received)
            with lock:
                observer.started(cell)
            if cell.solver.problem is None:
                outcome = run_child(
                    _job(cell, cell.game.folder.intact()),
                    cell.limits,
                    self._guardian,
                    received.add,
                    pool.stop,
                    most_bytes(n_actions),
                )
            record = recorder.record(cell, outcome, received)
            with lock:
                observer.finished(record)
            del self.running[cell.key]

        try:
            pool.work(do, self.experiment.jobs, interrupted)
        finally:
            recorder.conclude(self.cells, self.experiment.tolerance)


def _job(cell: Cell, folder: Path) -> dict[str, Any]:
    return {
        "do": "solve",
        "solver": cell.solver.spec,
        "plugins": cell.solver.plugins,
        "version": cell.solver.version,
        "game_spec": cell.game.game.spec,
        "folder": str(folder),
        "seed": cell.seed or 0,
        "budget": asdict(cell.budget),
    }
