"""One try at a cell: a child solves, and what it reports is judged in the same place.

The same everywhere, in a thread of the run as on another machine. Nothing is stored here: what
comes of a try is a record and the bytes of its files.
"""

from __future__ import annotations

import pkgutil
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from eqbench.builtin import extensions
from eqbench.harness.environment import host_facts
from eqbench.harness.judge import Judge, MeasuredProfile, Received
from eqbench.harness.plan import PlannedCell
from eqbench.isolation.child import Outcome, run_child
from eqbench.isolation.messages import AgainFrame, CompilingFrame, ErrorFrame, Frame
from eqbench.model.profile_json import profile_text
from eqbench.solver import CLAIMS
from eqbench.store.schema import CellRecord
from eqbench.store.traces import packed
from eqbench.text import printable, shortened


@dataclass(frozen=True)
class Attempt:
    """What came of a cell.

    Attributes
    ----------
    record : without the paths of files
    profiles : texts in the interchange form, one for each of the record's equilibria
    trace : anytime curve as the bytes of its file, None if there is none
    log : what the solver printed or raised; may be empty
    host : facts about the machine where it ran, empty if none did
    """

    record: CellRecord
    profiles: Sequence[str] = ()
    trace: bytes | None = None
    log: str = ""
    host: Mapping[str, Any] = field(default_factory=dict)

    def on(self, host: Mapping[str, Any]) -> Attempt:
        """The same from a machine with these facts."""
        return replace(self, record=replace(self.record, host=host["host"]), host=host)


class Machine:
    """The machine where cells run, with the judges of their games.

    Several threads may share it.

    Parameters
    ----------
    games : how many may be at work at a time

    Attributes
    ----------
    host : facts about this machine
    """

    def __init__(self, games: int = 1) -> None:
        self._games = games
        self.host = host_facts()
        self._judges: dict[str, Judge] = {}
        self._lock = threading.Lock()

    def judge_of(self, cell: PlannedCell) -> Judge:
        """The judge of a cell, kept for the games at hand: it costs more than a measurement."""
        content = cell.game.content
        with self._lock:
            # those that were requested last are last, and never more than are at work
            judge = self._judges.pop(content, None) or Judge(cell.game.game)
            self._judges[content] = judge
            if len(self._judges) > self._games:
                del self._judges[next(iter(self._judges))]
            return judge


def attempt(cell: PlannedCell, place: Machine, stop: threading.Event) -> Attempt:
    """Run a cell and judge what it reported.

    What a child sends must not be able to stop a run, so it becomes a result whatever it is.

    Parameters
    ----------
    stop : ends the child when it is set

    Raises
    ------
    StoreError
        If the game cannot be handed to the child.
    """
    return judged(cell, place, *observe(cell, stop))


def observe(cell: PlannedCell, stop: threading.Event) -> tuple[Outcome, Received]:
    """Run the child of a cell; building its game is part of the set-up.

    One that ends because a kernel had to be compiled is run again, with the machine code there:
    times, memory and limits of a cell are not those of the compiler.

    Raises
    ------
    StoreError
        If the game cannot be handed to the child.
    """
    job = {
        "do": "solve",
        "solver": cell.solver.spec,
        "plugins": cell.solver.plugins,
        "version": cell.solver.version,
        "game_spec": cell.game.game.spec,
        "folder": str(cell.game.folder.intact()),
        "seed": cell.seed or 0,
        "limits": asdict(cell.limits),
    }
    received = Received(cell.game.game.tree.n_actions)

    def take(frame: Frame) -> None:
        if isinstance(frame, CompilingFrame):
            compiling[cell.key] = frame.kernel
        received.add(frame)

    try:
        while isinstance((outcome := run_child(job, cell.limits, take, stop)).last, AgainFrame):
            received = Received(cell.game.game.tree.n_actions)
    finally:
        compiling.pop(cell.key, None)
    outcome.setup_s += cell.game.build_s
    return outcome, received


def judged(cell: PlannedCell, place: Machine, outcome: Outcome, received: Received) -> Attempt:
    """Measure and judge what a cell reported whose child has ended."""
    game = cell.game.game
    try:
        judgement = place.judge_of(cell).judge(
            outcome, received, cell.limits, target=cell.target, tolerance=cell.request.tolerance
        )
        handed = judgement.handed
        profiles = [profile_text(game.tree, each.candidate.profile, game.spec) for each in handed]
        record = replace(
            record_of(cell),
            **judgement.fields([None] * len(handed))
            | {"reason": shortened(printable(judgement.reason))},
            peak_memory_bytes=outcome.peak_memory_bytes,
        )
        raised = outcome.last.traceback if isinstance(outcome.last, ErrorFrame) else ""
        is_long = shortened(judgement.reason) != judgement.reason and not raised
        parts = (outcome.log, raised, judgement.reason if is_long else "")
        log = "\n".join(filter(None, parts))
        result = Attempt(record, profiles, trace_of(judgement.path, handed), log)
    except Exception as error:  # whatever it sent, only its own cell may suffer
        result = unusable(record_of(cell), error)
    return result.on(place.host)


def record_of(cell: PlannedCell) -> CellRecord:
    """A record with the names of a cell; status and figures are filled in later."""
    return CellRecord(**vars(cell.id), status="crashed")


def unusable(record: CellRecord, error: Exception) -> Attempt:
    """Result of a cell whose solver sent what nothing can be made of."""
    reason = printable(f"what the solver sent cannot be used: {str(error) or type(error).__name__}")
    return Attempt(replace(record, status="crashed", reason=shortened(reason)))


def not_loaded(cell: PlannedCell) -> Attempt:
    """Result of a cell whose solver could not even be loaded."""
    assert cell.solver.problem is not None
    status, reason = cell.solver.problem
    return Attempt(replace(record_of(cell), status=status, reason=reason))


def trace_of(path: Sequence[MeasuredProfile], handed: Sequence[MeasuredProfile]) -> bytes | None:
    """The anytime curve of measured snapshots, which ends with the profile that the cell shows."""
    if not path:
        return None
    best = min(handed, key=lambda finding: finding.rank)
    points = [*path, best] if best.work > path[-1].work else path
    width = max(map(len, CLAIMS))
    arrays = {
        "work": np.array([point.work for point in points], dtype=np.int64),
        "elapsed_s": np.array([point.elapsed_s for point in points]),
        "claim": np.array([point.candidate.claim for point in points], dtype=f"U{width}"),
        "regrets": np.array([point.measured.regrets for point in points], dtype=float),
        "payoffs": np.array([point.measured.payoffs for point in points], dtype=float),
    }
    return packed(arrays)


# Kernels that cells at work wait for, by the cells' keys.
compiling: dict[str, str] = {}

Ended = tuple[PlannedCell, Attempt | BaseException]


class Engine(Protocol):
    """Carries out cells for one thread, which alone stores what comes of them."""

    def slots(self) -> int:
        """How many cells it can have at a time."""
        ...

    def submit(self, cell: PlannedCell) -> None:
        """Begin with a cell."""
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
    made as `eqbench.cluster.ClusterEngine` is.
    """
    engines = extensions("engines")
    return pkgutil.resolve_name(engines.get(scheduler.partition("://")[0], engines["dask"]))


class LocalEngine:
    """Children of this process, each looked after by a thread."""

    def __init__(self, place: Machine, jobs: int) -> None:
        self._place, self._jobs = place, jobs
        # not threads of our own: an interrupted join takes a running thread for ended
        self._threads = ThreadPoolExecutor(jobs)
        self._stop, self._some_ended = threading.Event(), threading.Event()
        self._running: dict[Future[Attempt], PlannedCell] = {}

    @property
    def at_work(self) -> int:
        return len(self._running)

    def slots(self) -> int:
        return self._jobs

    def submit(self, cell: PlannedCell) -> None:
        future = self._threads.submit(attempt, cell, self._place, self._stop)
        self._running[future] = cell
        future.add_done_callback(lambda future: self._some_ended.set())

    def wait(self, seconds: float) -> None:
        self._some_ended.wait(seconds)

    def ended(self) -> list[Ended]:
        self._some_ended.clear()
        ended = [future for future in self._running if future.done()]
        return [(self._running.pop(each), each.exception() or each.result()) for each in ended]

    def cancel(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._threads.shutdown()
