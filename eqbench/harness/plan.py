"""Turn a request into cells: games × solvers × seeds, nothing left out silently."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eqbench.equilibria import check_documents
from eqbench.errors import StoreError, UsageError, counted
from eqbench.harness.environment import environment, solver_version
from eqbench.harness.experiment import Experiment, Request, placed_scheduler
from eqbench.isolation.child import Outcome, run_child
from eqbench.isolation.messages import BuiltFrame, DescribedFrame, ErrorFrame
from eqbench.model.game import Game
from eqbench.model.game_cache import store_game
from eqbench.model.size_limit import enough_memory, node_limit
from eqbench.model.tree_files import content_hash, load_tree
from eqbench.plugins import Entry, absolute_files
from eqbench.registry import Registry
from eqbench.solver import Limits, is_deterministic
from eqbench.spec import is_foreign, parse_spec, split_specs
from eqbench.store.run_folder import FILE_OF_CELL
from eqbench.store.schema import SCHEMA, CellId, CellRecord, Status
from eqbench.text import printable, shortened

MOST_CELLS, MOST_GAMES = 100_000, 1_000  # of a part; all games are built before a cell is run


class GameFolder:
    """A folder with the arrays of a game, which children map.

    A plugin may change or remove its files by mistake; then the game is written to another folder.
    """

    def __init__(self, game: Game, path: Path, workspace: Path) -> None:
        self._game, self._path, self._workspace = game, path, workspace
        self._lock = threading.Lock()
        self._written = _state_of(path)

    def intact(self) -> Path:
        """The folder, or a new one if anything in it is not as it was written.

        Raises
        ------
        StoreError
            If a new one cannot be written.
        """
        with self._lock:
            if _state_of(self._path) != self._written:
                self._path = new_folder(self._workspace)
                with _scratch_errors(self._workspace):
                    store_game(replace(self._game, folder=None), self._path)
                self._written = _state_of(self._path)
            return self._path


def _state_of(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return size and time of change of each file."""
    states = {}
    with contextlib.suppress(OSError):
        for file in folder.rglob("*"):
            status = file.stat()
            states[file] = (status.st_size, status.st_mtime_ns)
    return states


def new_folder(workspace: Path) -> Path:
    """Make a folder in the scratch folder of a run, which is made again if it is gone."""
    with _scratch_errors(workspace):
        workspace.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=workspace))


@contextlib.contextmanager
def _scratch_errors(workspace: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write a game to the scratch folder {workspace}: {error.strerror}; free some "
            "space, or name another place by the environment variable TMPDIR"
        ) from None


@dataclass(frozen=True)
class PlannedGame:
    """A game built once; children map its arrays from `folder`.

    It is `shipped` if every installation builds the same game from its spec.
    """

    typed: str
    game: Game
    folder: GameFolder
    build_s: float
    content: str
    shipped: bool = False


@dataclass(frozen=True)
class PlannedSolver:
    """A solver as typed and in canonical form; `problem` if it cannot be used at all."""

    typed: str
    spec: str
    deterministic: bool
    version: str
    plugins: tuple[str, ...] = ()
    problem: tuple[Status, str] | None = None


@dataclass(frozen=True)
class PlannedCell:
    """One piece of work: a game, a solver, a seed (None for deterministic solvers), a repeat."""

    game: PlannedGame
    solver: PlannedSolver
    seed: int | None
    request: Request
    repeat: int = 0
    id: CellId = field(init=False)

    @property
    def key(self) -> str:
        """Hash of all that a result may depend on."""
        return self.id.key

    @property
    def limits(self) -> Limits:
        """Bounds of its child and solver."""
        return self.request.limits

    @property
    def target(self) -> float:
        """Max regret in payoff units at which an iterative solver may stop."""
        return self.limits.target_for(self.game.game.tree)

    def contradicted_by(self, record: CellRecord) -> bool:
        """Whether a record of this key is that of another cell, by what it says of itself.

        What a record does not say, as old ones do not, contradicts nothing.
        """
        names = ("game_content", "solver_spec", "solver_version")
        given = [*names, *(["target"] if self.request.target else [])]  # else the game gives it
        stated = {name: getattr(record, name) for name in given if getattr(record, name)}
        stated |= {"seed": record.seed, "repeat": record.repeat}
        keys = {found[1] for found in map(FILE_OF_CELL.fullmatch, record.files) if found}
        return not stated.items() <= vars(self.id).items() or not keys <= {self.key}

    def __post_init__(self) -> None:
        limits = self.limits
        identity = {
            "game": self.game.content,
            "solver": self.solver.spec,
            "version": self.solver.version,
            "seed": self.seed,
            "budget": {
                "time_s": limits.timeout_s,
                "iterations": limits.iterations,
                "target": limits.target,
                "threads": limits.threads,
                "memory_bytes": limits.memory_bytes,
            },
            "setup_timeout_s": limits.setup_timeout_s,
            "tolerance": self.request.tolerance,
            **({"repeat": self.repeat} if self.repeat else {}),
        }
        text = json.dumps(identity, sort_keys=True)
        names = CellId(
            key=hashlib.sha256(text.encode()).hexdigest()[:16],
            game=self.game.typed,
            solver=self.solver.typed,
            game_spec=self.game.game.spec,
            solver_spec=self.solver.spec,
            seed=self.seed,
            target=self.target,
            tolerance=self.request.tolerance * self.game.game.tree.payoff_scale,
            solver_version=self.solver.version,
            game_content=self.game.content,
            repeat=self.repeat,
            game_title=self.game.game.title,
        )
        object.__setattr__(self, "id", names)


def make_plan(request: Request, registry: Registry, workspace: Path) -> list[PlannedCell]:
    """Cells in the order games, solvers, seeds, repeats.

    Built-in games and solvers are loaded here; third-party code only ever runs in children.

    Raises
    ------
    UsageError
        If a game or solver is unknown, has wrong options or breaks the rules of its kind.
    """
    versions: dict[str, str] = {}
    solvers = [
        _plan_solver(text, request, registry, versions)
        for text in registry.resolve_solvers(",".join(request.solvers))
    ]
    named = dict.fromkeys(part for text in request.games for part in split_specs(text))
    if not named:
        raise UsageError("no game given; name one, for example --game kuhn3")
    per_game = request.repeats * sum(len(_seeds(solver, request)) for solver in solvers)
    if len(named) > MOST_GAMES:
        raise UsageError(
            f"{len(named):,} games are too many: a part of a run has at most {MOST_GAMES:,}; "
            "divide it into several"
        )
    if len(named) * per_game > MOST_CELLS:
        raise UsageError(
            f"{counted(len(named), 'game')} with {per_game:,} cells each are too many: a part of "
            f"a run has at most {MOST_CELLS:,} cells; ask for fewer seeds, or divide it into "
            "several"
        )
    games: dict[str, PlannedGame] = {}
    for text in named:  # the first of all names of a game; more would only repeat its rows
        game = _plan_game(text, request, registry, workspace)
        games.setdefault(game.content, game)
    cells = [
        PlannedCell(game, solver, seed, request, repeat)
        for game in games.values()
        for solver in solvers
        for seed in _seeds(solver, request)
        for repeat in range(1 if solver.problem else request.repeats)
    ]
    return list({cell.key: cell for cell in cells}.values())  # a spec may be given twice


def manifest(experiment: Experiment, cells: Sequence[PlannedCell]) -> dict[str, Any]:
    """Return the request of a run and where it runs, as JSON values.

    `request` is that of the only part; of several, all games and solvers with the limits of the
    first, and `parts` has them one by one.
    """
    requests = [
        asdict(part)
        | {
            "games": list(part.games),
            "solvers": list(part.solvers),
            "plugins": list(absolute_files(part.plugins)),
            "scheduler": placed_scheduler(part.scheduler, Path.cwd()),
        }
        for part in experiment.parts
    ]
    whole = requests[0]
    for name in ("games", "solvers", "plugins"):
        whole = whole | {name: [*dict.fromkeys(item for part in requests for item in part[name])]}
    return {
        "schema": SCHEMA,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **({"name": experiment.name} if experiment.name else {}),
        **({"report": list(experiment.report)} if experiment.report else {}),
        "request": whole if len(requests) > 1 else requests[0],
        **({"parts": requests} if len(requests) > 1 else {}),
        "cells": [cell.key for cell in cells],
        "environment": environment(),
    }


def _seeds(solver: PlannedSolver, request: Request) -> Sequence[int | None]:
    return [None] if solver.deterministic or solver.problem else range(request.seeds)


def _plan_solver(
    text: str, request: Request, registry: Registry, versions: dict[str, str]
) -> PlannedSolver:
    """A planned solver; `versions` keeps those of entries, since hashing sources takes a while."""
    entry = registry.solver_entry(text)
    version = versions.get(entry.name) or versions.setdefault(entry.name, solver_version(entry))
    if entry.builtin:
        loaded = registry.load_solver(text)
        return PlannedSolver(text, loaded.spec, is_deterministic(loaded.instance), version)
    plugins = (entry.plugin,) if entry.plugin else ()
    outcome = run_child({"do": "describe", "solver": text, "plugins": plugins}, request.limits)
    _go_on_unless_interrupted(outcome)
    match outcome.last:
        case DescribedFrame(spec=spec, deterministic=deterministic):
            try:
                _check_spec(spec, entry)
                return PlannedSolver(text, spec, deterministic, version, plugins)
            except UsageError as error:
                problem: tuple[Status, str] = "crashed", shortened(str(error))
        case ErrorFrame(usage=True, message=message):
            raise UsageError(shortened(message))
        case _:
            problem = _problem(outcome, request.setup_timeout_s)
    return PlannedSolver(text, text, True, version, plugins, problem)


def _go_on_unless_interrupted(outcome: Outcome) -> None:
    """An interrupt that ended a child is meant for the run, whatever the child had answered."""
    if outcome.ended == "interrupted":
        raise KeyboardInterrupt


def _problem(outcome: Outcome, setup_timeout_s: float) -> tuple[Status, str]:
    """Status of all cells of a solver that could not even be described."""
    if outcome.ended == "setup timeout":
        return "timeout", f"loading it took more than {setup_timeout_s:g} s"
    if outcome.ended == "memory":
        return "memory", "loading it exceeded the memory limit"
    match outcome.last:
        case ErrorFrame(unavailable=True, message=message):
            return "unavailable", shortened(f"missing: {message}")
        case ErrorFrame(type=kind, message=message):
            return "crashed", shortened(f"{kind}: {message}")
    if outcome.ended == "garbled":
        return "crashed", outcome.garbled
    return "crashed", f"its plugin ended the process while loading ({outcome.exit_code})"


def _plan_game(text: str, request: Request, registry: Registry, workspace: Path) -> PlannedGame:
    started = time.perf_counter()
    entry = registry.game_entry(text)
    if entry.builtin:
        game = registry.load_game(text, max_nodes=request.max_nodes)
    else:
        game = _build_in_child(text, entry, request, workspace)
    check_documents(game)  # before cells: a mistake in a document is none of a solver
    shipped = entry.builtin and not is_foreign(text)
    return replace(planned_game(text, game, workspace, started), shipped=shipped)


def planned_game(typed: str, game: Game, workspace: Path, started: float) -> PlannedGame:
    """A game in a folder for children; `started` is when its building began."""
    folder = game.folder
    if folder is None:
        folder = new_folder(workspace)
        with enough_memory(game.spec), _scratch_errors(workspace):
            store_game(game, folder)
    build_s = time.perf_counter() - started
    kept = GameFolder(game, folder, workspace)
    return PlannedGame(typed, game, kept, build_s, content_hash(game.tree))


def _build_in_child(text: str, entry: Entry, request: Request, workspace: Path) -> Game:
    """Game of a plugin, built in a child: its answer is read as a copy and checked."""
    folder = new_folder(workspace)
    outcome = run_child(
        {
            "do": "build",
            "game": text,
            "plugins": (entry.plugin,) if entry.plugin else (),
            "folder": str(folder),
            "max_nodes": request.max_nodes,
        },
        request.limits,
    )
    _go_on_unless_interrupted(outcome)
    match outcome.last:
        case BuiltFrame(spec=spec):
            try:
                _check_spec(spec, entry)
                with node_limit(request.max_nodes), enough_memory(text):
                    return Game(spec, load_tree(folder, text))
            except UsageError as error:
                reason = str(error)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        case ErrorFrame(usage=True, message=message):
            raise UsageError(shortened(message))
        case ErrorFrame(message=message):
            reason = message
        case _:
            reason = outcome.garbled or outcome.ended
    raise UsageError(shortened(f"the game {text} could not be built: {printable(reason)}"))


def _check_spec(spec: str, entry: Entry) -> None:
    """Refuse what a child calls a game or solver if that is not a spec of it.

    Otherwise the rows of a plugin could bear the name of another.

    Raises
    ------
    UsageError
    """
    if parse_spec(spec).name != entry.canonical_name:
        raise UsageError(
            f"its process answered with {spec!r}, no spec of the {entry.kind} {entry.name}"
        )
