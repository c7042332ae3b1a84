"""Run a plan: one child for each cell; what it reports is judged and stored as it ends."""

from __future__ import annotations

import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from eqbench.harness.attempt import Place, not_loaded
from eqbench.harness.child import interrupts_held
from eqbench.harness.engine import Ended, Engine, LocalEngine, engine_of
from eqbench.harness.experiment import Experiment
from eqbench.harness.guard import Guardian
from eqbench.harness.judge import Received
from eqbench.harness.plan import Cell, make_plan
from eqbench.harness.record import Recorder
from eqbench.harness.request import Request
from eqbench.registry import Registry, default_registry
from eqbench.store.json_lines import LineReader
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord, Status
from eqbench.store.stored_run import cell_name
from eqbench.verification import Verifier

LOOK_AGAIN_S = 0.2


class Queue:
    """Cells that nobody has finished; each is given out once, unless another runner takes it first.

    A cell is claimed before it is run, and left alone while another process holds it. The cells
    of a process that has died can be claimed again.

    Attributes
    ----------
    waiting : cells that nobody has begun or finished, as far as is known, by key
    """

    def __init__(
        self, cells: Sequence[Cell], folder: RunFolder, lines: LineReader[CellRecord]
    ) -> None:
        # unlike that of a dict, its beginning is found at once when many have been taken out
        self.waiting = OrderedDict((cell.key, cell) for cell in cells)
        self._lines = lines
        self._claims = folder.claims()

    def next(self) -> Cell | None:
        """A cell that is ours now; None if others are at work on all that are left."""
        for _ in range(len(self.waiting)):
            if not self.waiting:
                break
            key = next(iter(self.waiting))
            if not self._claims.take(key):
                self.waiting.move_to_end(key)
                continue
            # it may have been finished between our last look and the claim
            for record in self._lines.new():
                if (own := self.waiting.get(record.key)) and not own.contradicted_by(record):
                    del self.waiting[record.key]
            if key in self.waiting:
                return self.waiting.pop(key)
            self._claims.release(key)
        return None

    def release(self, cell: Cell) -> None:
        """Say that we are done with a cell."""
        self._claims.release(cell.key)

    def close(self) -> None:
        """Give up all cells."""
        self._claims.close()


# What a resumed run does again: it says more about that day than about the solver.
NEVER_CACHED: tuple[Status, ...] = ("crashed", "failed", "unavailable")


class Observer(Protocol):
    """Who watches a run, for example a progress display."""

    def planned(self, cells: Sequence[Cell], finished: int) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def finished(self, record: CellRecord) -> None: ...

    def noted(self, words: str) -> None:
        """Something that the user should know."""


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
        self._place: Place | None = None
        self._ended: dict[str, Status] = {}
        #: names of stored cells that stand under the key of another one
        self.mistaken: list[str] = []
        self._lines: LineReader[CellRecord] | None = None

    def __enter__(self) -> PlannedRun:
        self._scheduler = self.experiment.scheduler
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
            stored = {record.key: record for record in folder.cells(self._lines)}
            for cell in self.cells:
                if (record := stored.get(cell.key)) is None:
                    continue
                if cell.contradicted_by(record):
                    self.mistaken.append(cell_name(record))
                else:
                    self._ended[cell.key] = record.status
        return {cell.key for cell in self.cells if self._ended.get(cell.key) not in (None, *again)}

    def verifier_of(self, cell: Cell) -> Verifier:
        """The verifier that measures a cell that is at work."""
        assert self._place is not None
        return self._place.judge_of(cell).verifier

    def execute(
        self,
        folder: RunFolder,
        observer: Observer,
        again: Collection[Status] = NEVER_CACHED,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Run all cells that the folder does not have, each stored as soon as it is finished.

        Several runners may do so in the same folder at the same time; each takes what no other
        has taken. When nothing else is left, it waits for what the others finish. All stored
        records of the plan are in `records` afterwards.

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
        SchedulerError, UsageError
            If the cluster that is asked for cannot be used, or not any more.
        """
        done = self.finished_in(folder, again)
        assert self._lines is not None
        self._place = Place(self._guardian, self.experiment.jobs or 1)
        recorder = self._recorder = Recorder(folder)
        queue = Queue([cell for cell in self.cells if cell.key not in done], folder, self._lines)
        self.waiting = queue.waiting
        observer.planned(self.cells, finished=len(done))
        try:
            # where nothing is left, no cluster is needed
            if queue.waiting:
                engine = self._engine(observer)
                try:
                    _Work(queue, engine, recorder, observer, self.running).all(interrupted)
                finally:
                    engine.close()
        finally:
            queue.close()
            recorder.conclude(self.cells, self.experiment.tolerance)

    def _engine(self, observer: Observer) -> Engine:
        """What carries out the cells: this machine, or a cluster."""
        asked, place = self.experiment, self._place
        assert place is not None
        if self._scheduler is None:
            return LocalEngine(place, asked.jobs or 1)
        engine: Engine = engine_of(self._scheduler)(
            self._scheduler,
            place,
            Path(self._workspace.name),
            asked.jobs,
            verify_here=any(part.verify_here for part in asked.parts),
            say=observer.noted,
        )
        return engine


@dataclass
class _Work:
    """Cells go from a queue to an engine, and what comes back is stored."""

    queue: Queue
    engine: Engine
    recorder: Recorder
    observer: Observer
    running: dict[str, Running]

    def all(self, interrupted: Callable[[], bool]) -> None:
        """Carry out all cells, until `interrupted` says otherwise."""
        try:
            while self.queue.waiting or self.running:
                with interrupts_held():  # nothing that has come back is lost
                    self._store(self.engine.ended())
                    self._begin()
                if interrupted():
                    raise KeyboardInterrupt
                # a signal just before the wait begins does not end it, so it must not be long
                self.engine.wait(LOOK_AGAIN_S)
        except BaseException:
            with interrupts_held():
                self._end()
            raise

    def _begin(self) -> None:
        """Give the engine as many cells as it takes."""
        while len(self.running) < self.engine.slots():
            cell = self.queue.next()
            if cell is None:
                return
            received = Received(cell.game.game.tree.n_actions)
            self.running[cell.key] = Running(cell, time.monotonic(), received)
            self.observer.started(cell)
            if cell.solver.problem is None:
                self.engine.submit(cell, received)
            else:
                self._store([(cell, not_loaded(cell))])

    def _store(self, ended: Iterable[Ended]) -> None:
        """Store results; raise what was meant for the run when all are stored."""
        failure: BaseException | None = None
        for cell, result in ended:
            try:
                if isinstance(result, BaseException):
                    raise result
                self.observer.finished(self.recorder.store(cell, result))
            except BaseException as error:
                failure = failure or error
            del self.running[cell.key]
            self.queue.release(cell)
        if failure is not None:
            raise failure

    def _end(self) -> None:
        """End what is at work and store how far it got, as far as it can be stored."""
        self.engine.cancel()
        while self.engine.at_work:
            self.engine.wait(LOOK_AGAIN_S)
            with suppress(Exception):  # the first failure is reported
                self._store(self.engine.ended())
