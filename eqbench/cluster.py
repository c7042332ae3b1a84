"""Cells on the workers of a Dask cluster; begin with :class:`ClusterEngine`, the side of the run.

Importing it needs Dask. Whoever may connect to its scheduler may run code there. What is sent and
what comes back are documents of declared types with plain bytes in them; nothing that arrives at
the run, which alone stores results, is ever unpickled.
"""

from __future__ import annotations

import functools
import hashlib
import io
import itertools
import json
import os
import secrets
import socket
import threading
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec

from eqbench.documents import read_file, size_text
from eqbench.errors import DocumentError, EqbenchError, SchedulerError, UsageError, counted
from eqbench.extras import needed_for
from eqbench.harness.attempt import (
    Attempt,
    Ended,
    Machine,
    attempt,
    judged,
    observe,
    record_of,
    unusable,
)
from eqbench.harness.environment import Check, fingerprint, host_facts, solver_version
from eqbench.harness.experiment import LOCAL_CLUSTER, Request
from eqbench.harness.judge import Received
from eqbench.harness.plan import PlannedCell, PlannedGame, PlannedSolver, new_folder, planned_game
from eqbench.isolation.child import Outcome, ScratchFolder
from eqbench.isolation.messages import CandidateFrame, JointFrame, SnapshotFrame
from eqbench.model.game import Game
from eqbench.model.tree_files import load_tree, save_tree
from eqbench.registry import Registry, default_registry
from eqbench.store.schema import CellId, CellRecord, HostRecord
from eqbench.store.stored_run import cell_name
from eqbench.text import printable, shortened

with needed_for("a scheduler"):
    import distributed
    from distributed.comm.addressing import get_address_host_port

LISTEN_S = 5.0  # for a connection, after which a scheduler may take its time
CONNECT_S = 30.0
LOOK_S = 2.0  # between looks at which workers there are
FETCH_S = 60.0  # for a result that a worker has
TRIES = 4  # of a cell whose worker or game is lost
CORES_A_WORKER = 8  # of a cluster on this machine
MOST_ANSWER_BYTES = 1024 * 2**20
# Dask's own words for documents and bytes; without them its default would unpickle results
DESERIALIZERS = ["dask", "msgpack", "error"]
MOST_RESULT_BYTES = 64 * 2**20
GAMES = 4  # that are kept


# -- a machine of the cluster --------------------------------------------------------------------


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cell, as it is sent to a machine.

    `name` is its name in Dask. `plugins` are files by their names. A game is built from
    its spec if it is `shipped`, otherwise its tree is sent along.
    """

    name: str
    cell: CellId
    fingerprint: dict[str, str]
    shipped: bool
    deterministic: bool
    plugins: dict[str, bytes]
    request: dict[str, Any]
    judge: bool


class Heard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a child ended and what it reported, for a run that judges for itself."""

    outcome: Outcome
    profiles: list[SnapshotFrame | CandidateFrame | JointFrame]
    dropped: int
    misfit: str

    @classmethod
    def of(cls, outcome: Outcome, received: Received) -> Heard:
        """Return what a child has reported."""
        joint = [] if received.joint is None else [received.joint]
        profiles: list[Any] = [*received.snapshots, *received.candidates, *joint]
        return cls(outcome, profiles, received.dropped, received.misfit)

    def received(self, frequencies: int) -> Received:
        """Return what it reported, as profiles with so many frequencies."""
        received = Received(frequencies)
        for frame in self.profiles:
            received.add(frame)
        received.dropped, received.misfit = self.dropped, received.misfit or self.misfit
        return received


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine answers: a refusal, a judged result, or what the child has reported.

    `host` describes the machine, `record` is a line of ``runs.jsonl``; `ended_early` if the machine
    was ended.
    """

    worker: str
    host: HostRecord
    refused: str = ""
    record: str = ""
    profiles: list[str] = []
    trace: bytes | None = None
    log: str = ""
    heard: Heard | None = None
    ended_early: bool = False


class WorkerNode:
    """A machine at work for runs on other machines; several threads share it."""

    def __init__(self) -> None:
        self._workspace = ScratchFolder()
        self.place = Machine(GAMES)
        self._games: dict[str, PlannedGame] = {}
        self._lock = threading.Lock()
        self._stops: dict[str, threading.Event] = {}

    def carry_out(self, task: Task, tree: bytes | None, worker: str) -> Reply:
        """What comes of a cell, or why this machine must not run it."""
        answer = functools.partial(Reply, worker, cast("HostRecord", self.place.host))
        if task.fingerprint != fingerprint():
            return answer(refused=differences(task.fingerprint, fingerprint()))
        # from here on, since building a game may take long
        with self._stop(task.name) as stop:
            try:
                cell = self._cell(task, tree)
            except EqbenchError as error:
                return answer(refused=str(error))
            if not task.judge:
                outcome, received = observe(cell, stop)
                return answer(
                    heard=Heard.of(outcome, received), ended_early=outcome.ended == "interrupted"
                )
            result = _bounded(attempt(cell, self.place, stop))
        line = result.record.to_line().decode()
        profiles = list(result.profiles)
        return answer(
            record=line,
            profiles=profiles,
            trace=result.trace,
            log=result.log,
            ended_early=result.record.status == "interrupted",
        )

    def released(self, task: str) -> None:
        """End a cell that no run waits for any more."""
        if stop := self._stops.get(task):
            stop.set()

    def end(self) -> None:
        """End all cells."""
        for stop in list(self._stops.values()):
            stop.set()

    @contextmanager
    def _stop(self, task: str) -> Iterator[threading.Event]:
        self._stops[task] = threading.Event()
        try:
            yield self._stops[task]
        finally:
            del self._stops[task]

    def _cell(self, task: Task, tree: bytes | None) -> PlannedCell:
        """The cell of a task, made of what is here.

        Raises
        ------
        EqbenchError
            If something here is not what the run has: its key says so.
        """
        workspace = Path(self._workspace.name)
        files = tuple(_written(workspace, name, data) for name, data in task.plugins.items())
        registry = default_registry().with_plugins(files)
        names = task.cell
        version = solver_version(registry.solver_entry(names.solver_spec))
        solver = PlannedSolver(names.solver, names.solver_spec, task.deterministic, version, files)
        request = Request(**task.request | {"plugins": files})
        game = self._game(names, tree, registry, request.max_nodes)
        cell = PlannedCell(game, solver, names.seed, request, names.repeat)
        if cell.key != names.key:
            raise UsageError(
                f"its {names.solver_spec} is {version}, that of the run {names.solver_version}"
                if version != names.solver_version
                else f"{names.game_spec} is another game there than in the run"
            )
        return cell

    def _game(
        self, names: CellId, tree: bytes | None, registry: Registry, max_nodes: int
    ) -> PlannedGame:
        """The game of a cell, built once and kept for a while."""
        with self._lock:
            game = self._games.pop(names.game_content, None)
            if game is None:
                started, workspace = time.perf_counter(), Path(self._workspace.name)
                if tree is None:
                    built = registry.load_game(names.game_spec, max_nodes=max_nodes)
                else:
                    built = unpacked(names.game_spec, tree, workspace)
                game = planned_game(names.game, built, workspace, started)
            self._games[names.game_content] = game
            if len(self._games) > GAMES:
                del self._games[next(iter(self._games))]
            return game


def differences(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """In which versions a run and a machine differ."""
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    return "; ".join(
        f"{name} is {ours.get(name, 'missing')} there, {theirs.get(name, 'missing')} in the run"
        for name in names
    )


def packed(game: Game, workspace: Path) -> bytes:
    """The tree of a game as bytes."""
    folder, buffer = new_folder(workspace), io.BytesIO()
    save_tree(game.tree, folder)
    with zipfile.ZipFile(buffer, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    return buffer.getvalue()


def unpacked(spec: str, tree: bytes, workspace: Path) -> Game:
    """A game from the bytes of its tree."""
    folder = new_folder(workspace)
    with zipfile.ZipFile(io.BytesIO(tree)) as archive:
        archive.extractall(folder)
    return Game(spec, load_tree(folder, spec))


def _written(workspace: Path, name: str, data: bytes) -> str:
    """Path of a plugin's file, which is written unless it is there."""
    file = workspace / "plugins" / hashlib.sha256(data).hexdigest() / Path(name).name
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{threading.get_ident()}")
        draft.write_bytes(data)
        draft.replace(file)
    return str(file)


def _bounded(result: Attempt) -> Attempt:
    """A result that is not too large to be sent; profiles that are worth least are left out."""
    size = len(result.trace or b"")
    profiles, equilibria = [], []
    for item, text in zip(result.record.equilibria, result.profiles, strict=True):
        size += len(text)
        if size <= MOST_RESULT_BYTES:
            equilibria.append(item)
            profiles.append(text)
    dropped = len(result.profiles) - len(profiles)
    if not dropped:
        return result
    words = f"dropped {counted(dropped, 'profile')} beyond {size_text(MOST_RESULT_BYTES)}"
    reason = "; ".join(filter(None, [result.record.reason, words]))
    record = replace(result.record, equilibria=equilibria, reason=shortened(reason))
    return replace(result, record=record, profiles=profiles)


@functools.cache
def node() -> WorkerNode:
    """The node of this process."""
    return WorkerNode()


class Hook(distributed.WorkerPlugin):
    """Makes a worker of Dask a node, and ends cells that no run waits for any more."""

    name = "eqbench"

    def setup(self, worker: Any) -> None:
        node()

    def teardown(self, worker: Any) -> None:
        # a running worker has it taken off because another run registers its own
        if worker.status != distributed.Status.running:
            node().end()

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        if start in ("executing", "long-running") and finish != "memory":
            node().released(str(key))


def carry_out(document: bytes, tree: bytes | None) -> bytes:
    """The answer to a task; runs in a thread of a worker."""
    task = msgspec.msgpack.decode(document, type=Task)
    answer = node().carry_out(task, tree, distributed.get_worker().address)
    return msgspec.msgpack.encode(answer)


def machine_facts() -> str:
    """What a worker is, as JSON text: its machine and what must be the same everywhere."""
    return json.dumps({"host": host_facts(), "fingerprint": fingerprint()})


# -- the run ---------------------------------------------------------------------------------------


@contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """Client of a scheduler: of an address, of one whose address is in a file, or a new ``local``.

    Client and new cluster are closed at the end of the block.

    Raises
    ------
    UsageError
        If no scheduler answers.
    """
    cores = os.cpu_count() or 1
    workers = -(-cores // CORES_A_WORKER)
    with ExitStack() as opened:
        try:
            if scheduler == LOCAL_CLUSTER:
                place = opened.enter_context(
                    distributed.LocalCluster(
                        n_workers=workers,
                        threads_per_worker=-(-cores // workers),
                        memory_limit=0,  # cells have limits of their own
                        dashboard_address=None,
                    )
                )
            elif "://" in scheduler:
                place = scheduler
            else:
                place = json.loads(read_file(scheduler))["address"]
            if isinstance(place, str) and place.startswith(("tcp://", "tls://")):
                # Dask would try again and again for as long as a busy scheduler may take
                socket.create_connection(get_address_host_port(place), LISTEN_S).close()
            client = distributed.Client(
                place, deserializers=DESERIALIZERS, set_as_default=False, timeout=CONNECT_S
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"no scheduler answers at {scheduler} ({printable(str(error))}); start one by "
                "`dask scheduler`, and give its address, such as tcp://HOST:8786, or the file that "
                "it writes with --scheduler-file"
            ) from None
        try:
            yield client
        finally:
            with suppress(Exception):  # the scheduler may be gone
                client.close(timeout=CONNECT_S)


def workers_of(client: Any) -> dict[str, tuple[str, str]]:
    """What each worker of a cluster is, by its address, and why it must take no part, if so."""
    threads = {address: info["nthreads"] for address, info in _infos(client).items()}
    answers = client.run(machine_facts, on_error="return") if threads else {}
    found = {}
    for address in sorted(threads.keys() | answers.keys()):
        answer: Any = answers.get(address)
        about = ""
        try:
            facts = json.loads(answer)
            unfit = differences(fingerprint(), facts["fingerprint"])
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
        place: Machine,
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
        self._opened = ExitStack()
        self._client = self._opened.enter_context(connected(scheduler))
        try:
            self._look()
            for address, (_, unfit) in workers_of(self._client).items():
                if unfit:
                    self._refuse(address, unfit)
            with suppress(Exception):  # those without eqbench cannot have it, and take no part
                self._client.register_plugin(Hook())
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
            self._say_once(f"waiting: no worker at {self._client.scheduler.address} yet")
            return 0
        return self._jobs or 2 * max(1, sum(info["nthreads"] for info in self._fit.values()))

    def submit(self, cell: PlannedCell) -> None:
        self._send(_Flight(cell))

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
            result: Attempt | BaseException | None
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
        self._opened.close()

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
                carry_out,
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

    def _task(self, cell: PlannedCell, name: str) -> Task:
        own = ("games", "solvers", "plugins", "scheduler")
        request = {k: v for k, v in asdict(cell.request).items() if k not in own}
        return Task(
            name=name,
            cell=cell.id,
            fingerprint=fingerprint(),
            shipped=cell.game.shipped,
            deterministic=cell.solver.deterministic,
            plugins={file: read_file(file) for file in cell.solver.plugins},
            request=request | {"games": [], "solvers": []},
            judge=not self._verify_here,
        )

    def _tree(self, cell: PlannedCell) -> Any:
        """The tree of a game that a worker cannot build, sent to each of them once."""
        if cell.game.shipped:
            return None
        content = cell.game.content
        if content not in self._trees:
            data = packed(cell.game.game, self._workspace)
            with _answering():
                self._trees[content] = self._client.scatter(data)
        return self._trees[content]

    def _needed(self, cell: PlannedCell) -> dict[str, float]:
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

    def _result(self, flight: _Flight, data: Any) -> Attempt | None:
        """Result of a cell that has landed; None if it was sent once more."""
        cell = flight.cell
        if isinstance(data, BaseException) and flight.future.status == "error":
            if type(data).__name__ == "KilledWorker":
                return _gone_away(cell)
            words = printable(shortened(f"the worker failed: {type(data).__name__}: {data}"))
            return Attempt(replace(record_of(cell), status="crashed", reason=words))
        # a type error says that it is not one of those that are read
        if isinstance(data, BaseException) and not isinstance(data, TypeError):
            return self._lost(flight)
        try:
            if not isinstance(data, bytes) or len(data) > MOST_ANSWER_BYTES:
                raise DocumentError(f"{data}" if isinstance(data, Exception) else "it is too large")
            answer = msgspec.msgpack.decode(data, type=Reply)
        except (DocumentError, msgspec.MsgspecError) as error:
            what = DocumentError(f"the answer of a worker is not one: {error}")
            return unusable(record_of(cell), what)
        if answer.refused:
            self._refuse(answer.worker, answer.refused)
            self._send(flight)
            return None
        if answer.ended_early:
            return self._lost(flight)
        try:
            return self._taken(answer, cell)
        except Exception as error:  # whatever it sent, only its own cell may suffer
            return unusable(record_of(cell), error).on(answer.host)

    def _taken(self, answer: Reply, cell: PlannedCell) -> Attempt:
        """What a worker answers, under the names that the cell has here."""
        if answer.heard is not None:
            received = answer.heard.received(cell.game.game.tree.n_actions)
            return judged(cell, self._place, answer.heard.outcome, received).on(answer.host)
        record = CellRecord.of_line(answer.record.encode())
        if record.key != cell.key:
            raise DocumentError(f"a worker answered with the cell {printable(record.key)}")
        if len(answer.profiles) != len(record.equilibria):
            raise DocumentError("a worker answered with another number of profiles than it says")
        record = replace(record, **vars(cell.id)).without_files()
        return Attempt(record, answer.profiles, answer.trace, answer.log).on(answer.host)

    def _lost(self, flight: _Flight) -> Attempt | None:
        """Send a cell once more whose worker or game went away, unless the scheduler did."""
        if self._client.status != "running":
            raise SchedulerError("the connection to the scheduler is lost")
        flight.tries += 1
        if flight.tries >= TRIES:
            return _gone_away(flight.cell)
        self._say(f"{cell_name(record_of(flight.cell))} is run again: its worker went away")
        content = flight.cell.game.content
        if self._trees.get(content) is flight.tree:  # other cells may have sent it again
            self._trees.pop(content, None)
        self._send(flight)
        return None

    def _refuse(self, address: str, reason: str) -> None:
        """Leave a worker alone that would compute something else."""
        if address not in self._unfit:
            self._unfit[address] = reason
            self._say(f"the worker {address} takes no part: {reason}")
        self._look()
        if not self._fit:
            reasons = "; ".join(dict.fromkeys(self._unfit.values()))
            number = counted(len(self._unfit), "worker")
            raise SchedulerError(
                f"none of {number} may take part: {reasons}; install the same version everywhere"
            )


@dataclass
class _Flight:
    """A cell on its way."""

    cell: PlannedCell
    tries: int = 0
    future: Any = None
    tree: Any = None
    only: frozenset[str] = frozenset()  # workers that it is bound to; empty if to none


def _gone_away(cell: PlannedCell) -> Attempt:
    reason = f"the machine that ran it went away {TRIES} times"
    return Attempt(replace(record_of(cell), status="crashed", reason=reason))
