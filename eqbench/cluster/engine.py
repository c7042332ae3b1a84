"""Cells on the workers of a Dask cluster: the side of the run, which alone stores results.

Importing it needs Dask. Whoever may connect to its scheduler may run code
there; what comes back to the run is only ever read as documents of declared types.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from eqbench.documents import read_file
from eqbench.errors import DocumentError, SchedulerError, UsageError, counted
from eqbench.harness.attempt import Place, Result, judged, record_of, unusable
from eqbench.harness.engine import Ended
from eqbench.harness.environment import Check, fingerprint
from eqbench.harness.judge import Received
from eqbench.harness.plan import Cell
from eqbench.harness.request import LOCAL_CLUSTER
from eqbench.store.schema import CellRecord
from eqbench.text import printable, shortened

try:
    import distributed

    from eqbench.cluster import node
except ImportError:
    raise UsageError("a scheduler needs Dask: pip install 'eqbench[cluster]'") from None

CONNECT_S = 30.0
LOOK_S = 2.0  # between looks at which workers there are
FETCH_S = 60.0  # for a result that a worker has
TRIES = 4  # of a cell whose worker or game is lost
CORES_A_WORKER = 8  # of a cluster on this machine
MOST_ANSWER_BYTES = 1024 * 2**20
# Dask's own words for documents and bytes; without them its default would unpickle results
DESERIALIZERS = ["dask", "msgpack", "error"]


def connect(scheduler: str) -> Any:
    """Client of a scheduler: of an address, of one whose address is in a file, or a new ``local``.

    Raises
    ------
    UsageError
        If no scheduler answers.
    """
    settings: dict[str, Any] = {
        "deserializers": DESERIALIZERS,
        "set_as_default": False,
        "timeout": CONNECT_S,
    }
    if scheduler == LOCAL_CLUSTER:
        cores = os.cpu_count() or 1
        workers = -(-cores // CORES_A_WORKER)
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=-(-cores // workers),
            memory_limit=0,  # cells have limits of their own
            dashboard_address=None,
        )
        try:
            return distributed.Client(cluster, **settings)
        except BaseException:
            cluster.close()
            raise
    try:
        if "://" in scheduler:
            return distributed.Client(scheduler, **settings)
        return distributed.Client(json.loads(read_file(scheduler))["address"], **settings)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"no scheduler answers at {scheduler} ({printable(str(error))}); start one by `dask "
            "scheduler`, and give its address, such as tcp://HOST:8786, or the file that it writes "
            "with --scheduler-file"
        ) from None


@contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """Client of a scheduler as by :func:`connect`, closed at the end of the block."""
    client = connect(scheduler)
    try:
        yield client
    finally:
        disconnect(client)


def disconnect(client: Any) -> None:
    """Close a client, and the cluster that was begun for it."""
    cluster = client.cluster
    try:
        with suppress(Exception):  # a scheduler that is gone cannot be taken leave of
            client.close(timeout=CONNECT_S)
    finally:
        if cluster is not None:
            cluster.close()


def workers_of(client: Any) -> dict[str, tuple[str, str]]:
    """What each worker of a cluster is, by its address, and why it must take no part, if so."""
    threads = {address: info["nthreads"] for address, info in _infos(client).items()}
    answers = client.run(node.about, on_error="return") if threads else {}
    found = {}
    for address in sorted(threads.keys() | answers.keys()):
        answer: Any = answers.get(address)
        about = ""
        try:
            facts = json.loads(answer)
            unfit = node.differences(fingerprint(), facts["fingerprint"])
            name, processor = (facts["host"].get(each) for each in ("name", "processor"))
            about = f"{name}, {processor}, {threads.get(address, 1)} threads"
        except (AttributeError, TypeError, ValueError, KeyError):  # it has no eqbench, or another
            unfit = f"it cannot say what it is: {printable(str(answer))}"
        found[address] = about, unfit
    return found


@contextmanager
def _answering() -> Iterator[None]:
    """Errors of Dask as those of a scheduler that does not answer any more."""
    try:
        yield
    except Exception as error:
        words = printable(shortened(str(error) or type(error).__name__))
        raise SchedulerError(f"the scheduler does not answer any more: {words}") from None


def _infos(client: Any) -> dict[str, Any]:
    """What the scheduler knows of each worker."""
    with _answering():
        ask = client.scheduler.identity
        known: dict[str, Any] = client.sync(ask, n_workers=-1, callback_timeout=CONNECT_S)
        workers: dict[str, Any] = known["workers"]
        return workers


class ClusterEngine:
    """Carries out cells on the workers of a cluster.

    Parameters
    ----------
    place : where results are judged if `verify_here`
    jobs : cells in flight; twice as many as there are threads unless given
    say : called with what the user should know

    Raises
    ------
    UsageError
        If no scheduler answers.
    SchedulerError
        If there are workers and none of them may take part.
    """

    def __init__(
        self,
        scheduler: str,
        place: Place,
        workspace: Path,
        jobs: int | None = None,
        *,
        verify_here: bool = False,
        say: Callable[[str], None],
    ) -> None:
        self._place, self._workspace = place, workspace
        self._jobs, self._verify_here, self._say = jobs, verify_here, say
        self._run = secrets.token_hex(4)
        self._flights: dict[str, _Flight] = {}
        self._held: list[_Flight] = []
        self._landed: deque[tuple[str, Any]] = deque()
        self._some_landed = threading.Event()
        self._trees: dict[str, Any] = {}
        self._unfit: dict[str, str] = {}
        self._fit: dict[str, Any] = {}
        self._numbers, self._looked, self._cancelled = itertools.count(), 0.0, False
        self._said: set[str] = set()
        self._client = connect(scheduler)
        try:
            self._look()
            for address, (_, unfit) in workers_of(self._client).items():
                if unfit:
                    self._refuse(address, unfit)
            with suppress(Exception):  # those without eqbench cannot have it, and take no part
                self._client.register_plugin(node.Hook())
        except BaseException:
            self.close()
            raise

    @staticmethod
    def checks(scheduler: str) -> list[Check]:
        """What each worker of a cluster is, and whether it may take part in runs from here."""
        own = ", ".join(f"{name} {version}" for name, version in fingerprint().items())
        found = [Check("here", "good", own)]
        with connected(scheduler) as client:
            for address, (about, unfit) in workers_of(client).items():
                found.append(Check(address, "broken" if unfit else "good", unfit or about))
        if len(found) == 1:
            found.append(Check("workers", "broken", f"none: start some by dask worker {scheduler}"))
        return found

    @property
    def at_work(self) -> int:
        return len(self._flights) + len(self._held)

    def slots(self) -> int:
        if time.monotonic() - self._looked > LOOK_S:
            self._look()
        if not self._fit:
            self._say_once(f"waits for workers; {self._client.scheduler.address} has none")
            return 0
        return self._jobs or 2 * max(1, sum(info["nthreads"] for info in self._fit.values()))

    def submit(self, cell: Cell, received: Received) -> None:
        self._send(_Flight(cell, received))

    def wait(self, seconds: float) -> None:
        self._some_landed.wait(seconds)

    def ended(self) -> list[Ended]:
        self._some_landed.clear()
        ended: list[Ended] = []
        while self._landed:
            name, data = self._landed.popleft()
            flight = self._flights.pop(name, None)
            if flight is None:
                continue
            result: Result | BaseException | None
            try:
                result = self._result(flight, data)
            except SchedulerError as error:  # what else has landed is stored all the same
                result = error
            if result is not None:
                ended.append((flight.cell, result))
        return ended

    def cancel(self) -> None:
        """End all cells; what they had reported is on other machines, and lost."""
        self._cancelled = True
        self._held.clear()
        landed = {name for name, _ in list(self._landed)}
        under_way = [name for name in self._flights if name not in landed]
        futures = [self._flights.pop(name).future for name in under_way]
        if futures and self._client.status == "running":
            with suppress(Exception):  # they end with the connection, too
                self._client.cancel(futures)

    def close(self) -> None:
        disconnect(self._client)

    def _send(self, flight: _Flight) -> None:
        """Send a cell to a worker as soon as there is one, unless all is to end."""
        if self._cancelled:
            return
        if not self._fit:
            self._held.append(flight)
            return
        cell = flight.cell
        # a name of its own for each time: Dask answers to a known one with what it has
        name = f"eqbench-{self._run}-{cell.key}-{next(self._numbers)}"
        document = msgspec.msgpack.encode(self._task(cell, name))
        flight.only = frozenset(self._fit) if self._unfit else frozenset()
        flight.tree = self._tree(cell)
        with _answering():
            flight.future = self._client.submit(
                node.carry_out,
                document,
                flight.tree,
                key=name,
                pure=False,
                workers=sorted(flight.only) or None,
                resources=self._needed(cell) or None,
            )
            self._flights[name] = flight
            flight.future.add_done_callback(lambda future: self._land(name, future))

    def _land(self, name: str, future: Any) -> None:
        """Fetch a result, in Dask's thread for that: no interrupt has to wait for it."""
        try:
            data = future.result(timeout=FETCH_S)
        except BaseException as error:
            if future.status == "pending":  # its worker went away, and another one runs it
                future.add_done_callback(lambda future: self._land(name, future))
                return
            data = error
        self._landed.append((name, data))
        self._some_landed.set()

    def _task(self, cell: Cell, name: str) -> node.Task:
        own = ("games", "solvers", "plugins", "scheduler")
        request = {k: v for k, v in asdict(cell.request).items() if k not in own}
        return node.Task(
            name=name,
            cell=cell.id,
            fingerprint=fingerprint(),
            shipped=cell.game.shipped,
            deterministic=cell.solver.deterministic,
            plugins={file: read_file(file) for file in cell.solver.plugins},
            request=request | {"games": [], "solvers": []},
            judge=not self._verify_here,
        )

    def _tree(self, cell: Cell) -> Any:
        """The tree of a game that a worker cannot build, sent to each of them once."""
        if cell.game.shipped:
            return None
        content = cell.game.content
        if content not in self._trees:
            data = node.packed(cell.game.game, self._workspace)
            with _answering():
                self._trees[content] = self._client.scatter(data)
        return self._trees[content]

    def _needed(self, cell: Cell) -> dict[str, float]:
        """What a cell takes of what all workers say that they have."""
        offers = [info.get("resources") or {} for info in self._fit.values()]
        limits = cell.limits
        needed = {"cores": float(limits.threads), "memory": float(limits.memory_bytes)}
        needed = {k: v for k, v in needed.items() if all(k in offer for offer in offers)}
        if not any(all(offer[k] >= v for k, v in needed.items()) for offer in offers):
            words = " and ".join(f"{name}={number:g}" for name, number in needed.items())
            self._say_once(f"no worker has the resources {words} of a cell, which waits for one")
        return needed

    def _look(self) -> None:
        """See which workers there are; a cell bound to none of them is sent once more."""
        infos = _infos(self._client)
        self._fit = {each: info for each, info in infos.items() if each not in self._unfit}
        self._looked = time.monotonic()
        bound = [each for each in self._flights.values() if each.only]
        lost = [each.future for each in bound if not each.only & self._fit.keys()]
        if lost and self._fit:
            with _answering():
                self._client.cancel(lost)
        held, self._held = self._held, []
        for flight in held:
            self._send(flight)

    def _say_once(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            self._say(words)

    def _result(self, flight: _Flight, data: Any) -> Result | None:
        """Result of a cell that has landed; None if it was sent once more."""
        cell = flight.cell
        if isinstance(data, BaseException) and flight.future.status == "error":
            return self._failed(cell, data)
        # a type error says that it is not one of those that are read
        if isinstance(data, BaseException) and not isinstance(data, TypeError):
            return self._lost(flight)
        try:
            answer = self._read(data)
        except DocumentError as error:
            return unusable(record_of(cell), error)
        if answer.refused:
            self._refuse(answer.worker, answer.refused)
            self._send(flight)
            return None
        if answer.ended_early:
            return self._lost(flight)
        try:
            return self._taken(answer, flight)
        except Exception as error:  # whatever it sent, only its own cell may suffer
            return unusable(record_of(cell), error).on(answer.host)

    def _read(self, data: Any) -> node.Answer:
        if not isinstance(data, bytes) or len(data) > MOST_ANSWER_BYTES:
            what = f": {data}" if isinstance(data, Exception) else ""
            raise DocumentError(f"the answer of a worker is not one{what}")
        try:
            return msgspec.msgpack.decode(data, type=node.Answer)
        except msgspec.MsgspecError as error:
            raise DocumentError(f"the answer of a worker is not one: {error}") from None

    def _taken(self, answer: node.Answer, flight: _Flight) -> Result:
        """What a worker answers, under the names that the cell has here."""
        cell = flight.cell
        if answer.heard is not None:
            outcome = answer.heard.outcome(flight.received)
            return judged(cell, self._place, outcome, flight.received).on(answer.host)
        record = CellRecord.of_line(answer.record.encode())
        if record.key != cell.key:
            raise DocumentError(f"a worker answered with the cell {printable(record.key)}")
        if len(answer.profiles) != len(record.equilibria):
            raise DocumentError("a worker answered with another number of profiles than it says")
        record = replace(record, **vars(cell.id)).without_files()
        return Result(record, answer.profiles, answer.trace, answer.log).on(answer.host)

    def _lost(self, flight: _Flight) -> Result | None:
        """Send a cell once more whose worker or game went away, unless the scheduler did."""
        if self._client.status != "running":
            raise SchedulerError("the connection to the scheduler is lost")
        flight.tries += 1
        if flight.tries >= TRIES:
            return _gone_away(flight.cell)
        content = flight.cell.game.content
        if self._trees.get(content) is flight.tree:  # other cells may have sent it again
            self._trees.pop(content, None)
        self._send(flight)
        return None

    def _failed(self, cell: Cell, error: BaseException) -> Result:
        """Result of a cell whose task Dask has abandoned."""
        if type(error).__name__ == "KilledWorker":
            return _gone_away(cell)
        words = printable(shortened(f"the worker failed: {type(error).__name__}: {error}"))
        return Result(replace(record_of(cell), status="crashed", reason=words))

    def _refuse(self, address: str, reason: str) -> None:
        """Leave a worker alone that would compute something else."""
        if address not in self._unfit:
            self._unfit[address] = reason
            self._say(f"the worker {address} takes no part: {reason}")
        self._look()
        if not self._fit:
            raise self._none_fit()

    def _none_fit(self) -> SchedulerError:
        reasons = "; ".join(dict.fromkeys(self._unfit.values()))
        number = counted(len(self._unfit), "worker")
        return SchedulerError(
            f"none of {number} may take part: {reasons}; install the same version everywhere"
        )


@dataclass
class _Flight:
    """A cell on its way."""

    cell: Cell
    received: Received
    tries: int = 0
    future: Any = None
    tree: Any = None
    only: frozenset[str] = frozenset()  # workers that it is bound to; empty if to none


def _gone_away(cell: Cell) -> Result:
    reason = f"the machine that ran it went away {TRIES} times"
    return Result(replace(record_of(cell), status="crashed", reason=reason))
