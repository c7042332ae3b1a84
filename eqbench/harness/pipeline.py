"""Execute a plan: one child per cell, then verify, then store."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from eqbench.harness.child import interrupts_held, run_child
from eqbench.harness.evidence import Evidence
from eqbench.harness.experiment import Experiment
from eqbench.harness.frames import most_bytes
from eqbench.harness.guard import Guardian
from eqbench.harness.naming import name_clusters
from eqbench.harness.plan import Cell, make_plan
from eqbench.harness.recorder import Recorder, limits_of
from eqbench.harness.request import Request
from eqbench.registry import Registry, default_registry
from eqbench.store.json_lines import LineReader
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord, Status

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


# What a resumed run does again: it says more about that day than about the solver.
NEVER_CACHED: tuple[Status, ...] = ("crashed", "failed", "unavailable")


class Observer(Protocol):
    """Who watches a run, for example a progress display; called from several threads."""

    def planned(self, cells: Sequence[Cell], finished: int) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def finished(self, record: CellRecord) -> None: ...


class Run:
    """A planned run; children and scratch files are gone when the ``with`` ends.

    Attributes
    ----------
    cells : what is planned
    """

    def __init__(self, asked: Request | Experiment, registry: Registry | None = None) -> None:
        self.experiment = asked if isinstance(asked, Experiment) else Experiment((asked,))
        self.registry = registry or default_registry().with_plugins(self.experiment.plugins)
        self.cells: list[Cell] = []
        self._records: dict[str, CellRecord] = {}

    def __enter__(self) -> Run:
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
        return [self._records[cell.key] for cell in self.cells if cell.key in self._records]

    def finished_in(self, folder: RunFolder, again: Collection[Status] = NEVER_CACHED) -> set[str]:
        """Keys of the planned cells that a folder has, but for those that ended as in `again`."""
        planned = {cell.key for cell in self.cells}
        stored = {record.key: record for record in folder.cells() if record.key in planned}
        return {key for key, record in stored.items() if record.status not in again}

    def execute(
        self, folder: RunFolder, observer: Observer, again: Collection[Status] = NEVER_CACHED
    ) -> None:
        """Run all cells that the folder does not have, each stored as soon as it is finished.

        Several runners may do so in the same folder at the same time; each takes what no other
        has taken. All stored records of the plan are in `records` afterwards.

        Parameters
        ----------
        again : statuses of stored cells that are run once more

        Raises
        ------
        KeyboardInterrupt
            After what the running cells had reported was stored as interrupted.
        StoreError
            If the folder can no longer be written.
        """
        lines = folder.new_cells()
        for _ in lines.new():  # what is there now is judged by its status, what comes is done
            pass
        done = self.finished_in(folder, again)
        observer.planned(self.cells, finished=len(done))
        crew = Crew([cell for cell in self.cells if cell.key not in done], folder, lines)
        recorder, lock = Recorder(folder), threading.Lock()

        def do(cell: Cell) -> None:
            with lock:
                observer.started(cell)
            evidence, outcome = Evidence(cell.game.game.tree.n_actions), None
            if cell.solver.problem is None:
                outcome = run_child(
                    _job(cell, cell.game.folder.intact()),
                    limits_of(cell),
                    self._guardian,
                    evidence.add,
                    crew.stop,
                    most_bytes(cell.game.game.tree.n_actions),
                )
            record = recorder.record(cell, outcome, evidence)
            with lock:
                self._records[cell.key] = record
                observer.finished(record)

        try:
            crew.work(do, self.experiment.jobs)
        finally:
            try:
                self._name_clusters(folder)
            finally:
                stored = {record.key: record for record in folder.cells()}
                self._store_again(folder, stored)
                # what is stored counts: a try that was interrupted does not undo an earlier one
                self._records |= stored

    def _store_again(self, folder: RunFolder, stored: Collection[str]) -> None:
        """Store again what was stored before and is gone, as when a solver removes the folder."""
        folder.restore()
        for key, record in self._records.items():
            if key not in stored and record.status != "interrupted":
                folder.append(record)

    def _name_clusters(self, folder: RunFolder) -> None:
        games = {cell.game.game.spec: cell.game.game for cell in self.cells}
        name_clusters(folder, [cell.key for cell in self.cells], games, self.experiment.tolerance)


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
