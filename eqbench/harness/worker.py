"""The child process of one job: ``python -m eqbench.harness.worker DESCRIPTOR``.

Reads the job as JSON on standard input and answers with frames on the given descriptor. Jobs
are `solve` (one cell), `describe` (what a solver is) and `build` (the tree of a game). A run
gives all third-party code to such children; the contract suites may also call `perform` in
their own process.

Frames: `ready` when set-up is over and the clock starts, then `snapshot` and `candidate`, and
one of `done`, `refused`, `error`; or `described`, `built`.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eqbench.harness.frames import Frame, write_frame


def main() -> int:
    """Run the job; 0 if it ended in an orderly way, whatever its result."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    job = json.loads(sys.stdin.buffer.read())
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)

    def send(kind: str, **fields: Any) -> None:
        arrays = fields.pop("arrays", {})
        write_frame(descriptor, Frame(kind, fields, arrays))

    perform(job, send)
    return 0


def perform(job: dict[str, Any], send: Callable[..., None]) -> None:
    """Do a job and report by ``send(kind, **fields)``, whose `arrays` are arrays by name.

    Whatever goes wrong is reported as well.
    """
    try:
        {"solve": _solve, "describe": _describe, "build": _build}[job["do"]](job, send)
    except Exception as error:
        send("error", **describe_error(error))


def describe_error(error: BaseException) -> dict[str, Any]:
    """Fields of an `error` frame."""
    from eqbench.errors import SolverUnavailableError, UsageError

    text = str(error) or type(error).__name__
    return {
        "type": type(error).__name__,
        "message": text,
        "usage": isinstance(error, UsageError),
        "memory": isinstance(error, MemoryError),
        "unavailable": isinstance(error, SolverUnavailableError),
        "traceback": "".join(traceback.format_exception(error)[-6:]),
    }


def _load(job: dict[str, Any]) -> Any:
    """The solver of the job with its canonical spec; imports the plugin that brings it."""
    from eqbench.errors import UsageError
    from eqbench.harness.versions import solver_version
    from eqbench.registry import default_registry

    registry = default_registry().with_plugins(job["plugins"])
    entry = registry.solver_entry(job["solver"])
    if entry.plugin and job.get("version", solver_version(entry)) != solver_version(entry):
        raise UsageError(
            f"{entry.plugin} was edited while the run was going on; resume the run to use it as "
            "it is now"
        )
    return registry.load_solver(job["solver"])


def _describe(job: dict[str, Any], send: Any) -> None:
    from eqbench.solver import is_deterministic

    loaded = _load(job)
    send(
        "described",
        spec=loaded.spec,
        deterministic=is_deterministic(loaded.instance),
        **_form(loaded.entry, type(loaded.instance), job),
    )


def _form(entry: Any, cls: type, job: dict[str, Any]) -> dict[str, Any]:
    """How a plugin presents itself: whether it is frozen and documented."""
    from eqbench.registry import default_registry

    options = default_registry().with_plugins(job["plugins"]).options(entry)
    parameters = getattr(cls, "__dataclass_params__", None)
    return {
        "frozen": bool(parameters and parameters.frozen),
        "undocumented": [option.name for option in options if not option.doc],
    }


def _build(job: dict[str, Any], send: Any) -> None:
    from eqbench.model.tree_files import save_tree
    from eqbench.registry import default_registry

    registry = default_registry().with_plugins(job["plugins"])
    game = registry.load_game(job["game"], max_nodes=job["max_nodes"])
    save_tree(game.tree, Path(job["folder"]))
    instance, _, entry = registry.describe_game(job["game"])
    expected = getattr(instance, "expected_nodes", None)
    send(
        "built",
        spec=game.spec,
        expected_nodes=expected() if expected else None,
        **_form(entry, type(instance), job),
    )


def _solve(job: dict[str, Any], send: Any) -> None:
    import numpy as np

    from eqbench.errors import SolverUnavailableError
    from eqbench.harness.figures import plain_figures
    from eqbench.model.game_cache import mapped_game
    from eqbench.solver import (
        Budget,
        Monitor,
        Report,
        check_termination,
        obstacle_of,
        warm_up,
    )

    try:
        solver = _load(job).instance
    except SolverUnavailableError as error:
        send("refused", status="unavailable", reason=f"missing: {error}")
        return
    game = mapped_game(job["game_spec"], Path(job["folder"]))
    obstacle = obstacle_of(solver, game)
    if obstacle is not None:
        status, reason = obstacle
        send("refused", status=status, reason=reason)
        return
    if hasattr(solver, "prepare"):
        solver.prepare(game)
    warm_up(game)

    def sink(report: Report) -> None:
        candidate = report.candidate
        exact = candidate.profile.exact
        send(
            report.kind,
            claim=candidate.claim,
            claimed_regret=_number(candidate.claimed_regret),
            exact=None if exact is None else [str(value) for value in exact],
            work=report.work,
            elapsed_s=report.elapsed_s,
            cpu_s=report.cpu_s,
            overhead_s=report.overhead_s,
            arrays={"profile": candidate.profile.probabilities},
        )

    rng = np.random.default_rng(job["seed"])
    budget = Budget(**job["budget"])
    send("ready")
    monitor = Monitor(game, budget, sink)
    kind, ending = "error", dict[str, Any]()
    try:
        ending = asdict(check_termination(solver.solve(game, monitor, rng)))
        kind = "done"
    except Exception as error:
        ending = describe_error(error)
    clocks = {"elapsed_s": monitor.elapsed_s, "cpu_s": monitor.cpu_s}
    send(
        kind,
        **ending,
        **clocks,
        overhead_s=monitor.overhead_s,
        work=monitor.work,
        statistics=plain_figures(monitor.statistics),
        memory_bytes=_resident_bytes(),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _resident_bytes() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)


if __name__ == "__main__":
    sys.exit(main())
