"""The child process of one job: ``python -m eqbench.harness.worker FRAMES CONTROL``.

Reads the job as JSON on standard input and answers with frames on the descriptor FRAMES, as long as
the run holds the pipe CONTROL open. Jobs are `solve` (one cell), `describe` (what a solver is) and
`build` (the tree of a game). A run gives all third-party code to such children; the contract suites
may also call `perform` in their own process.

Frames: `ready` when set-up is over and the clock starts, then `snapshot` and `candidate`, and
one of `done`, `refused`, `error`; or `described`, `built`.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eqbench.harness.keeper import split

if TYPE_CHECKING:
    from eqbench.harness.frames import Clocks, ErrorFrame, Frame, ProfileFrame
    from eqbench.solver import Monitor, Report

    Send = Callable[[Frame], None]


def main() -> int:
    """Run the job; 0 if it ended in an orderly way, whatever its result."""
    descriptor, control = map(int, sys.argv[1:])
    split(control, not_kept=(descriptor, 0))
    from eqbench.harness.frames import write_frame

    os.set_inheritable(descriptor, False)
    job = json.loads(sys.stdin.buffer.read())
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    perform(job, lambda frame: write_frame(descriptor, frame))
    return 0


def perform(job: dict[str, Any], send: Send) -> None:
    """Do a job and report by frames; whatever goes wrong is reported as well."""
    try:
        {"solve": _solve, "describe": _describe, "build": _build}[job["do"]](job, send)
    except Exception as error:
        send(error_frame(error))


def error_frame(error: BaseException, **figures: Any) -> ErrorFrame:
    """Frame about an exception; `figures` are those that a solver had reached."""
    from eqbench.errors import SolverUnavailableError, UsageError
    from eqbench.harness.frames import ErrorFrame, text

    return ErrorFrame(
        type=text(type(error).__name__),
        message=text(_message(error)),
        traceback=text("".join(traceback.format_exception(error)[-6:])),
        usage=isinstance(error, UsageError),
        memory=isinstance(error, MemoryError),
        unavailable=isinstance(error, SolverUnavailableError),
        **figures,
    )


def _message(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # a plugin's exception need not be able to say anything
        return type(error).__name__


def _load(job: dict[str, Any]) -> Any:
    """The solver of the job with its canonical spec; imports the plugin that brings it."""
    from eqbench.errors import UsageError
    from eqbench.harness.environment import solver_version
    from eqbench.registry import default_registry

    registry = default_registry().with_plugins(job["plugins"])
    entry = registry.solver_entry(job["solver"])
    if entry.plugin and job.get("version", solver_version(entry)) != solver_version(entry):
        raise UsageError(
            f"{entry.plugin} was edited while the run was going on; resume the run to use it as "
            "it is now"
        )
    return registry.load_solver(job["solver"])


def _describe(job: dict[str, Any], send: Send) -> None:
    from eqbench.harness.frames import DescribedFrame, text
    from eqbench.solver import is_deterministic

    loaded = _load(job)
    form = _form(loaded.entry, type(loaded.instance), job)
    send(DescribedFrame(text(loaded.spec), is_deterministic(loaded.instance), **form))


def _form(entry: Any, cls: type, job: dict[str, Any]) -> dict[str, Any]:
    """How a plugin presents itself: whether it is frozen and documented."""
    from eqbench.harness.frames import text
    from eqbench.registry import default_registry

    options = default_registry().with_plugins(job["plugins"]).options(entry)
    parameters = getattr(cls, "__dataclass_params__", None)
    return {
        "frozen": bool(parameters and parameters.frozen),
        "undocumented": [text(option.name) for option in options if not option.doc],
    }


def _build(job: dict[str, Any], send: Send) -> None:
    from eqbench.harness.frames import BuiltFrame, text
    from eqbench.model.tree_files import save_tree
    from eqbench.registry import default_registry

    registry = default_registry().with_plugins(job["plugins"])
    game = registry.load_game(job["game"], max_nodes=job["max_nodes"])
    save_tree(game.tree, Path(job["folder"]))
    instance, _, entry = registry.describe_game(job["game"])
    expected = getattr(instance, "expected_nodes", None)
    form = _form(entry, type(instance), job)
    send(BuiltFrame(text(game.spec), expected() if expected else None, **form))


def _solve(job: dict[str, Any], send: Send) -> None:
    import numpy as np

    from eqbench.errors import SolverUnavailableError
    from eqbench.harness.frames import ReadyFrame, RefusedFrame, text
    from eqbench.model.game_cache import mapped_game
    from eqbench.solver import Budget, Monitor, obstacle_of, warm_up

    try:
        solver = _load(job).instance
    except SolverUnavailableError as error:
        send(RefusedFrame("unavailable", text(f"missing: {error}")))
        return
    game = mapped_game(job["game_spec"], Path(job["folder"]))
    obstacle = obstacle_of(solver, game)
    if obstacle is not None:
        status, reason = obstacle
        send(RefusedFrame(status, text(reason)))
        return
    if hasattr(solver, "prepare"):
        solver.prepare(game)
    warm_up(game)
    rng = np.random.default_rng(job["seed"])
    budget = Budget(**job["budget"])
    send(ReadyFrame())
    monitor = Monitor(game, budget, lambda report: send(_profile_frame(report)))
    send(_solved(solver, game, monitor, rng))


def _solved(solver: Any, game: Any, monitor: Monitor, rng: Any) -> Frame:
    """Let the solver solve; the frame about its end."""
    from eqbench.harness.figures import plain_figures
    from eqbench.harness.frames import DoneFrame, text
    from eqbench.solver import check_termination

    ended, failure, statistics = None, None, dict[str, Any]()
    try:
        ended = check_termination(solver.solve(game, monitor, rng))
    except Exception as error:
        failure = error
    try:
        statistics = plain_figures(monitor.statistics)
    except Exception as error:
        failure = failure or error
    figures = _figures(monitor, statistics)
    if ended is None or failure is not None:
        return error_frame(failure or RuntimeError("solve() did not end"), **figures)
    return DoneFrame(reason=ended.reason, detail=text(ended.detail), **figures)


def _figures(monitor: Monitor, statistics: dict[str, Any]) -> dict[str, Any]:
    clocks = _clocks(monitor)
    return {"clocks": clocks, "statistics": statistics, "memory_bytes": _resident_bytes()}


def _clocks(of: Monitor | Report) -> Clocks:
    """Clocks of a monitor or a report; differences of clocks may round below zero."""
    from eqbench.harness.frames import Clocks

    elapsed_s, cpu_s = max(float(of.elapsed_s), 0.0), max(float(of.cpu_s), 0.0)
    return Clocks(elapsed_s, cpu_s, max(float(of.overhead_s), 0.0), int(of.work))


def _profile_frame(report: Report) -> ProfileFrame:
    """Frame of a snapshot or candidate.

    Raises
    ------
    TypeError
        If the frequencies are no real numbers.
    """
    import numpy as np

    from eqbench.harness.frames import CandidateFrame, SnapshotFrame

    candidate = report.candidate
    exact, claimed = candidate.profile.exact, candidate.claimed_regret
    frequencies = np.asarray(candidate.profile.probabilities)
    frame = SnapshotFrame if report.kind == "snapshot" else CandidateFrame
    return frame(
        claim=candidate.claim,
        claimed_regret=None if claimed is None else float(claimed),
        exact=None if exact is None else [str(value) for value in exact],
        profile=frequencies.astype("<f8", casting="same_kind").tobytes(),
        clocks=_clocks(report),
    )


def _resident_bytes() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)


if __name__ == "__main__":
    sys.exit(main())
