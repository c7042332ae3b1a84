"""One solve, in a child or in the caller's process: ask, prepare, warm up, solve, check."""

from __future__ import annotations

import importlib
import math
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.harness.environment import solver_version
from eqbench.isolation.messages import (
    AgainFrame,
    BuiltFrame,
    CandidateFrame,
    Clocks,
    CompilingFrame,
    DescribedFrame,
    DoneFrame,
    ErrorFrame,
    Frame,
    JointFrame,
    LastFrame,
    ProfileFrame,
    ReadyFrame,
    RefusedFrame,
    SnapshotFrame,
    TremblesMessage,
    text,
)
from eqbench.isolation.processes import memory_bytes
from eqbench.model import compiled
from eqbench.model.game import Game
from eqbench.registry import default_registry
from eqbench.solver import (
    JointPlay,
    Limits,
    Monitor,
    MonitorReport,
    check_termination,
    is_deterministic,
    obstacle_of,
    warm_up,
)


def solve_once(
    solver: Any, game: Game, limits: Limits, seed: int, send: Callable[[Frame], None]
) -> tuple[LastFrame, Exception | None]:
    """Let a solver solve a game; set-up is over when `send` gets the frame `ready`.

    Parameters
    ----------
    seed : of the generator that the solver gets
    send : takes the frames on the way: `ready`, then snapshots and candidates

    Returns
    -------
    LastFrame, Exception or None
        How it ended: refused, done or with an error; and what the solver raised.

    Raises
    ------
    Exception
        What the solver raises before the clock starts.
    """
    obstacle = obstacle_of(solver, game)
    if obstacle is not None:
        status, reason = obstacle
        return RefusedFrame(status, text(reason)), None
    if hasattr(solver, "prepare"):
        solver.prepare(game)
    warm_up(game)
    rng = np.random.default_rng(seed)
    send(ReadyFrame())
    monitor = Monitor(game, limits, lambda report: send(_frame(report)))
    ended, failure, statistics = None, None, dict[str, Any]()
    plain_s = compiled.preparation.plain_s
    try:
        ended = check_termination(solver.solve(game, monitor, rng))
    except Exception as error:
        failure = error
    try:
        statistics = _plain_statistics(monitor.statistics)
    except Exception as error:
        failure = failure or error
    clocks = _clocks(monitor)
    plain_s = compiled.preparation.plain_s - plain_s
    if plain_s > max(NOTED_S, NOTED_SHARE * clocks.elapsed_s) or compiled.are_plain():
        statistics["kernels"] = "plain Python"
    if ended is None or failure is not None:
        failure = failure or RuntimeError("solve() did not end")
        return error_frame(failure, clocks=clocks, statistics=statistics), failure
    detail = text(ended.detail)
    return DoneFrame(reason=ended.reason, detail=detail, clocks=clocks, statistics=statistics), None


def error_frame(error: BaseException, **figures: Any) -> ErrorFrame:
    """Frame about an exception; `figures` are those that a solver had reached."""
    message = type(error).__name__
    with suppress(Exception):  # a plugin's exception need not have a text
        message = str(error) or message
    return ErrorFrame(
        type=text(type(error).__name__),
        message=text(message),
        traceback=text("".join(traceback.format_exception(error)[-6:])),
        usage=isinstance(error, UsageError),
        memory=isinstance(error, MemoryError),
        unavailable=isinstance(error, SolverUnavailableError),
        **figures,
    )


def _clocks(of: Monitor | MonitorReport) -> Clocks:
    """Clocks of a monitor or a report; differences of clocks may round below zero."""
    elapsed_s, cpu_s = max(float(of.elapsed_s), 0.0), max(float(of.cpu_s), 0.0)
    return Clocks(elapsed_s, cpu_s, max(float(of.overhead_s), 0.0), int(of.work))


def _frame(report: MonitorReport | JointPlay) -> Frame:
    if isinstance(report, JointPlay):
        profiles, weights = np.asarray(report.profiles, "<f8"), np.asarray(report.weights, "<f8")
        return JointFrame(profiles.tobytes(), weights.tobytes(), int(report.iterations))
    return _profile_frame(report)


def _profile_frame(report: MonitorReport) -> ProfileFrame:
    """Frame of a snapshot or candidate.

    Raises
    ------
    TypeError
        If the frequencies are no real numbers.
    """
    candidate = report.candidate
    exact, claimed = candidate.profile.exact, candidate.claimed_regret
    frequencies = np.asarray(candidate.profile.probabilities)
    fields: dict[str, Any] = {
        "claim": candidate.claim,
        "claimed_regret": None if claimed is None else float(claimed),
        "exact": None if exact is None else [str(value) for value in exact],
        "profile": frequencies.astype("<f8", casting="same_kind").tobytes(),
        "clocks": _clocks(report),
    }
    if report.kind == "snapshot":
        return SnapshotFrame(**fields)
    trembles = candidate.trembles
    message = None if trembles is None else TremblesMessage.of(trembles)
    return CandidateFrame(**fields, trembles=message)


def _plain_statistics(figures: Any) -> dict[str, Any]:
    """Figures of a method with NumPy's types replaced; what JSON has no word for becomes text.

    Raises
    ------
    TypeError
        If they are no dictionary.
    """
    if not isinstance(figures, dict):
        raise TypeError(
            f"the statistics are {type(figures).__name__}; use monitor.record(name=value)"
        )
    return {_plain_text(key): _plain(value) for key, value in figures.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, str):
        return _plain_text(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_plain_text(key): _plain(item) for key, item in value.items()}
    return _plain_text(value)


def _plain_text(value: object) -> str:
    """Text without lone surrogates, which no file could hold."""
    return str(value).encode(errors="backslashreplace").decode()


Send = Callable[[Frame], None]

# What solving needs and describing does not. No parallel kernel runs before a fork, since GNU
# OpenMP does not survive it.
_NEEDED = (
    *("ast", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg"),
    *("eqbench.model.game_cache", "eqbench.model.payoff_model"),
)
# Time of kernels in plain Python from which on a result is marked, and its share of solving.
NOTED_S, NOTED_SHARE = 0.05, 0.1
_WARM = ("rock_paper_scissors", "kuhn2", "kuhn3")  # machine code differs by number of players


def prepare_to_solve() -> None:
    """Load what forked workers need: modules, names of solvers, machine code of the monitor."""
    for name in _NEEDED:
        importlib.import_module(name)
    registry = default_registry()
    registry.solvers()
    for name in _WARM:
        warm_up(registry.load_game(name))


def perform(job: dict[str, Any], send: Send, *, in_worker: bool = False) -> None:
    """Do a job and report by messages; whatever goes wrong is reported as well.

    In a worker, a solver that needs kernels which have to be compiled is interrupted by that.
    """
    if in_worker:
        compiled.preparation.around = lambda kernel: _apart(kernel, send)
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
    try:
        last, _ = solve_once(solver, game, Limits(**job["limits"]), job["seed"], send)
    except _Compiled:
        last = AgainFrame()
    if isinstance(last, DoneFrame | ErrorFrame):
        last = replace(last, memory_bytes=memory_bytes(os.getpid()))
    send(last)


class _Compiled(BaseException):
    """Ends a job whose times, memory and limits would be those of the compiler."""


@contextmanager
def _apart(kernel: str, send: Send) -> Iterator[None]:
    """Compile a kernel, and end the job if its machine code will be there for the next one."""
    send(CompilingFrame(text(kernel)))
    yield
    if compiled.cache_folder() is not None and not compiled.always():
        raise _Compiled
