"""The side of a machine of a cluster: it carries out the cells that a run sends to it.

What is sent and what comes back are documents of declared types with plain bytes in them; nothing
that arrives at the run is ever unpickled.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import msgspec
from distributed import Status, WorkerPlugin, get_worker

from eqbench.documents import size_text
from eqbench.errors import EqbenchError, UsageError, counted
from eqbench.harness.attempt import Place, Result, attempt, observe
from eqbench.harness.environment import fingerprint, host_facts, solver_version
from eqbench.harness.judge import Received
from eqbench.harness.plan import Cell, PlannedGame, PlannedSolver, new_folder, planned_game
from eqbench.harness.request import Request
from eqbench.isolation.child import Outcome
from eqbench.isolation.messages import Clocks, Message, ReadyFrame
from eqbench.isolation.server import ScratchFolder
from eqbench.model.game import Game
from eqbench.model.tree_files import load_tree, save_tree
from eqbench.registry import Registry, default_registry
from eqbench.store.schema import CellId, HostRecord
from eqbench.text import shortened

MOST_RESULT_BYTES = 64 * 2**20
GAMES = 4  # that are kept


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

    ended: str
    garbled: str
    exit_code: int | None
    setup_s: float
    solve_s: float
    peak_memory_bytes: int
    log: str
    clocks: Clocks | None
    frames: list[Message]
    dropped: int
    misfit: str

    @classmethod
    def of(cls, outcome: Outcome, received: Received) -> Heard:
        """Return what a child has reported."""
        names = set(cls.__struct_fields__) & set(asdict(Outcome()))
        fields = {name: getattr(outcome, name) for name in names}
        frames: list[Any] = [ReadyFrame()] if outcome.ready else []
        frames += [*received.snapshots, *received.candidates]
        frames += [] if outcome.last is None else [outcome.last]
        return cls(frames=frames, dropped=received.dropped, misfit=received.misfit, **fields)

    def outcome(self, received: Received) -> Outcome:
        """The outcome; what was reported goes into `received`."""
        fields = msgspec.structs.asdict(self)
        own = {name: fields.pop(name) for name in ("frames", "dropped", "misfit", "clocks")}
        outcome = Outcome(**fields)
        for frame in own["frames"]:
            outcome.take(frame)
            received.add(frame)
        outcome.clocks = own["clocks"]
        received.dropped, received.misfit = self.dropped, received.misfit or self.misfit
        return outcome


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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


class Node:
    """A machine at work for runs on other machines; several threads share it."""

    def __init__(self) -> None:
        self._workspace = ScratchFolder()
        self.place = Place(GAMES)
        self._games: dict[str, PlannedGame] = {}
        self._lock = threading.Lock()
        self._stops: dict[str, threading.Event] = {}

    def carry_out(self, task: Task, tree: bytes | None, worker: str) -> Answer:
        """What comes of a cell, or why this machine must not run it."""
        answer = functools.partial(Answer, worker, cast("HostRecord", self.place.host))
        if task.fingerprint != fingerprint():
            return answer(refused=differences(task.fingerprint, fingerprint()))
        # from here on, since building a game may take long
        with self._stop(task.name) as stop:
            try:
                cell = self._cell(task, tree)
            except EqbenchError as error:
                return answer(refused=str(error))
            received = Received(cell.game.game.tree.n_actions)
            if not task.judge:
                outcome = observe(cell, self.place, stop, received)
                return answer(
                    heard=Heard.of(outcome, received), ended_early=outcome.ended == "interrupted"
                )
            result = _bounded(attempt(cell, self.place, stop, received))
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

    @contextlib.contextmanager
    def _stop(self, task: str) -> Iterator[threading.Event]:
        self._stops[task] = threading.Event()
        try:
            yield self._stops[task]
        finally:
            del self._stops[task]

    def _cell(self, task: Task, tree: bytes | None) -> Cell:
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
        cell = Cell(game, solver, names.seed, request, names.repeat)
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


def _bounded(result: Result) -> Result:
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
def node() -> Node:
    """The node of this process."""
    return Node()


class Hook(WorkerPlugin):
    """Makes a worker of Dask a node, and ends cells that no run waits for any more."""

    name = "eqbench"

    def setup(self, worker: Any) -> None:
        node()

    def teardown(self, worker: Any) -> None:
        if worker.status != Status.running:  # and no further run is registering its hook
            node().end()

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        if start in ("executing", "long-running") and finish != "memory":
            node().released(str(key))


def carry_out(document: bytes, tree: bytes | None) -> bytes:
    """The answer to a task; runs in a thread of a worker."""
    task = msgspec.msgpack.decode(document, type=Task)
    answer = node().carry_out(task, tree, get_worker().address)
    return msgspec.msgpack.encode(answer)


def about() -> str:
    """What a worker is, as JSON text: its machine and what must be the same everywhere."""
    return json.dumps({"host": host_facts(), "fingerprint": fingerprint()})
