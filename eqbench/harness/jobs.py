"""The jobs of a worker: `solve` (one cell), `describe` (a solver), `build` (the tree of a game).

A run gives all third-party code to workers; the contract suites may also call `perform` in their
own process.

Messages: `ready` when set-up is over and the clock starts, then `snapshot` and `candidate`, and
one of `done`, `refused`, `error`; or `described`, `built`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.harness.environment import solver_version
from eqbench.harness.solve import error_frame, solve_once
from eqbench.isolation.messages import (
    BuiltFrame,
    DescribedFrame,
    DoneFrame,
    ErrorFrame,
    Frame,
    RefusedFrame,
    text,
)
from eqbench.isolation.processes import memory_bytes
from eqbench.registry import default_registry
from eqbench.solver import Limits, is_deterministic, warm_up

Send = Callable[[Frame], None]

# What solving needs and describing does not. No parallel kernel runs before a fork, since GNU
# OpenMP does not survive it.
_NEEDED = (
    *("ast", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg"),
    *("eqbench.model.game_cache", "eqbench.model.payoff_model"),
)
_WARM = ("rock_paper_scissors", "kuhn2", "kuhn3")  # machine code differs by number of players


def prepare_to_solve() -> None:
    """Load what forked workers need: modules, names of solvers, machine code of the monitor."""
    for name in _NEEDED:
        importlib.import_module(name)
    registry = default_registry()
    registry.solvers()
    for name in _WARM:
        warm_up(registry.load_game(name))


def perform(job: dict[str, Any], send: Send) -> None:
    """Do a job and report by messages; whatever goes wrong is reported as well."""
    try:
        {"solve": _solve, "describe": _describe, "build": _build}[job["do"]](job, send)
    except Exception as error:
        send(error_frame(error))


def _load(job: dict[str, Any]) -> Any:
    """Return the solver of the job with its canonical spec; this imports its plugin."""
    registry = default_registry().with_plugins(job["plugins"])
    entry = registry.solver_entry(job["solver"])
    if entry.plugin and job.get("version", solver_version(entry)) != solver_version(entry):
        raise UsageError(
            f"{entry.plugin} was edited while the run was going on; resume the run to use it as "
            "it is now"
        )
    return registry.load_solver(job["solver"])


def _describe(job: dict[str, Any], send: Send) -> None:
    loaded = _load(job)
    form = _form(loaded.entry, type(loaded.instance), job)
    send(DescribedFrame(text(loaded.spec), is_deterministic(loaded.instance), **form))


def _form(entry: Any, cls: type, job: dict[str, Any]) -> dict[str, Any]:
    """Return whether a plugin is frozen, and which of its options lack a description."""
    options = default_registry().with_plugins(job["plugins"]).options(entry)
    parameters = getattr(cls, "__dataclass_params__", None)
    return {
        "frozen": bool(parameters and parameters.frozen),
        "undocumented": [text(option.name) for option in options if not option.doc],
    }


def _build(job: dict[str, Any], send: Send) -> None:
    from eqbench.model.tree_files import save_tree

    registry = default_registry().with_plugins(job["plugins"])
    game = registry.load_game(job["game"], max_nodes=job["max_nodes"])
    save_tree(game.tree, Path(job["folder"]))
    instance, _, entry = registry.describe_game(job["game"])
    expected = getattr(instance, "expected_nodes", None)
    form = _form(entry, type(instance), job)
    send(BuiltFrame(text(game.spec), expected() if expected else None, **form))


def _solve(job: dict[str, Any], send: Send) -> None:
    from eqbench.model.game_cache import mapped_game

    try:
        solver = _load(job).instance
    except SolverUnavailableError as error:
        send(RefusedFrame("unavailable", text(f"missing: {error}")))
        return
    game = mapped_game(job["game_spec"], Path(job["folder"]))
    last, _ = solve_once(solver, game, Limits(**job["limits"]), job["seed"], send)
    if isinstance(last, DoneFrame | ErrorFrame):
        last = replace(last, memory_bytes=memory_bytes(os.getpid()))
    send(last)
