"""Turn a request into cells: games × solvers × seeds, nothing left out silently."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from eqbench.errors import UsageError
from eqbench.harness.child import Limits, Outcome, run_child
from eqbench.harness.guard import Guardian
from eqbench.harness.versions import solver_version
from eqbench.model.game import Game
from eqbench.model.game_cache import CACHED_FROM, store_game
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree_files import content_hash, load_tree, save_form
from eqbench.registry import Registry
from eqbench.solver import Budget, is_deterministic
from eqbench.spec import split_specs
from eqbench.store.schema import Status


@dataclass(frozen=True)
class Request:
    """What the user asked for. `target` None means 1e-10 of each game's payoff range.

    `jobs` is the number of cells that run at the same time.
    """

    games: Sequence[str]
    solvers: Sequence[str]
    seeds: int = 1
    timeout_s: float = 10.0
    setup_timeout_s: float = 120.0
    iterations: int | None = None
    target: float | None = None
    memory_bytes: int = 4 * 2**30
    threads: int = 1
    tolerance: float = 1e-6
    max_nodes: int = DEFAULT_MAX_NODES
    jobs: int = 1
    plugins: Sequence[str] = ()


@dataclass(frozen=True)
class PlannedGame:
    """A game built once; children map its arrays from `folder`."""

    typed: str
    game: Game
    folder: Path
    build_s: float
    content: str


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
class Cell:
    """One piece of work: a game, a solver and a seed (None for deterministic solvers).

    Its key is a hash of all that a result may depend on: the content of the game, the solver
    with its options and version, the seed and the limits. Cells with equal keys need not be
    run twice.
    """

    game: PlannedGame
    solver: PlannedSolver
    seed: int | None
    budget: Budget
    setup_timeout_s: float
    tolerance: float
    key: str = field(init=False)

    @property
    def target(self) -> float:
        """Max regret in payoff units at which an iterative solver may stop."""
        return self.budget.target_for(self.game.game.tree)

    def __post_init__(self) -> None:
        identity = {
            "game": self.game.content,
            "solver": self.solver.spec,
            "version": self.solver.version,
            "seed": self.seed,
            "budget": asdict(self.budget),
            "setup_timeout_s": self.setup_timeout_s,
            "tolerance": self.tolerance,
        }
        text = json.dumps(identity, sort_keys=True)
        object.__setattr__(self, "key", hashlib.sha256(text.encode()).hexdigest()[:16])


def make_plan(
    request: Request, registry: Registry, guardian: Guardian, workspace: Path
) -> list[Cell]:
    """Cells in the order games, solvers, seeds.

    Built-in games and solvers are loaded here; third-party code only ever runs in children.

    Raises
    ------
    UsageError
        If a game or solver is unknown, has wrong options or breaks the rules of its kind.
    """
    solvers = [
        _plan_solver(text, request, registry, guardian)
        for text in registry.resolve_solvers(",".join(request.solvers))
    ]
    games = [
        _plan_game(text, request, registry, guardian, workspace)
        for text in dict.fromkeys(part for text in request.games for part in split_specs(text))
    ]
    if not games:
        raise UsageError("no game given; name one, for example --game kuhn3")
    cells = []
    for game in _different(games):
        budget = Budget(
            request.timeout_s,
            request.iterations,
            request.target,
            request.threads,
            request.memory_bytes,
        )
        for solver in solvers:
            seeds = [None] if solver.deterministic or solver.problem else range(request.seeds)
            cells += [
                Cell(game, solver, seed, budget, request.setup_timeout_s, request.tolerance)
                for seed in seeds
            ]
    return list({cell.key: cell for cell in cells}.values())  # a spec may be given twice


def _different(games: list[PlannedGame]) -> list[PlannedGame]:
    """The first of all names of each game; more would only repeat its rows."""
    different: dict[str, PlannedGame] = {}
    for game in games:
        different.setdefault(game.content, game)
    return list(different.values())


def _plan_solver(
    text: str, request: Request, registry: Registry, guardian: Guardian
) -> PlannedSolver:
    entry = registry.solver_entry(text)
    version = solver_version(entry)
    if entry.builtin:
        loaded = registry.load_solver(text)
        return PlannedSolver(text, loaded.spec, is_deterministic(loaded.instance), version)
    plugins = (entry.plugin,) if entry.plugin else ()
    outcome = run_child(
        {"do": "describe", "solver": text, "plugins": plugins},
        Limits(setup_s=request.setup_timeout_s, memory_bytes=request.memory_bytes),
        guardian,
    )
    _go_on_unless_interrupted(outcome)
    last = outcome.last
    if last is not None and last.kind == "described":
        fields = last.fields
        return PlannedSolver(text, fields["spec"], fields["deterministic"], version, plugins)
    if last is not None and last.fields.get("usage"):
        raise UsageError(last.fields["message"])
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
    last = outcome.last
    if last is not None and last.fields["unavailable"]:
        return "unavailable", f"missing: {last.fields['message']}"
    if last is not None:
        return "crashed", f"{last.fields['type']}: {last.fields['message']}"
    return "crashed", f"its plugin ended the process while loading ({outcome.exit_code})"


def _plan_game(
    text: str, request: Request, registry: Registry, guardian: Guardian, workspace: Path
) -> PlannedGame:
    folder = Path(tempfile.mkdtemp(dir=workspace))
    started = time.perf_counter()
    entry = registry.game_entry(text)
    if entry.builtin:
        game = registry.load_game(text, max_nodes=request.max_nodes)
        if game.folder is None:
            store_game(game, folder)
    else:
        game = _build_in_child(text, entry.plugin, request, guardian, folder)
        if game.tree.n_nodes >= CACHED_FROM:
            save_form(game.sequence_form, folder)
    build_s = time.perf_counter() - started
    return PlannedGame(text, game, game.folder or folder, build_s, content_hash(game.tree))


def _build_in_child(
    text: str, plugin: str | None, request: Request, guardian: Guardian, folder: Path
) -> Game:
    outcome = run_child(
        {
            "do": "build",
            "game": text,
            "plugins": (plugin,) if plugin else (),
            "folder": str(folder),
            "max_nodes": request.max_nodes,
        },
        Limits(setup_s=request.setup_timeout_s, memory_bytes=request.memory_bytes),
        guardian,
    )
    _go_on_unless_interrupted(outcome)
    last = outcome.last
    if last is not None and last.kind == "built":
        return Game(last.fields["spec"], load_tree(folder))
    if last is not None and last.fields.get("usage"):
        raise UsageError(last.fields["message"])
    reason = outcome.ended if last is None else last.fields["message"]
    raise UsageError(f"the game {text} could not be built: {reason}")
