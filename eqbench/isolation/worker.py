"""The child process of one job: ``python -m eqbench.isolation.worker FRAMES CONTROL``.

Reads the job as JSON on standard input and answers with frames on the descriptor FRAMES, as long as
the run holds the pipe CONTROL open. Jobs are `solve` (one cell), `describe` (what a solver is) and
`build` (the tree of a game). A run gives all third-party code to such children; the contract suites
may also call `perform` in their own process.

Frames: `ready` when set-up is over and the clock starts, then `snapshot` and `candidate`, and
one of `done`, `refused`, `error`; or `described`, `built`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from eqbench.isolation.keeper import split

if TYPE_CHECKING:
    from eqbench.isolation.messages import Frame

    Send = Callable[[Frame], None]

# Of the garbage collector. Loading packages makes so many objects that looking through them
# again and again would take a seventh of the time.
COLLECT_AFTER = (50_000, 10, 10)


def main() -> int:
    """Run the job; 0 if it ended in an orderly way, whatever its result."""
    gc.set_threshold(*COLLECT_AFTER)
    descriptor, control = map(int, sys.argv[1:])
    split(control, not_kept=(descriptor, 0))
    from eqbench.isolation.messages import write_frame

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
        from eqbench.harness.solve import error_frame

        send(error_frame(error))


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
    from eqbench.isolation.messages import DescribedFrame, text
    from eqbench.solver import is_deterministic

    loaded = _load(job)
    form = _form(loaded.entry, type(loaded.instance), job)
    send(DescribedFrame(text(loaded.spec), is_deterministic(loaded.instance), **form))


def _form(entry: Any, cls: type, job: dict[str, Any]) -> dict[str, Any]:
    """How a plugin presents itself: whether it is frozen and documented."""
    from eqbench.isolation.messages import text
    from eqbench.registry import default_registry

    options = default_registry().with_plugins(job["plugins"]).options(entry)
    parameters = getattr(cls, "__dataclass_params__", None)
    return {
        "frozen": bool(parameters and parameters.frozen),
        "undocumented": [text(option.name) for option in options if not option.doc],
    }


def _build(job: dict[str, Any], send: Send) -> None:
    from eqbench.isolation.messages import BuiltFrame, text
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
    from msgspec.structs import replace

    from eqbench.errors import SolverUnavailableError
    from eqbench.harness.solve import solve_once
    from eqbench.isolation.messages import DoneFrame, ErrorFrame, RefusedFrame, text
    from eqbench.isolation.processes import memory_bytes
    from eqbench.model.game_cache import mapped_game
    from eqbench.solver import Budget

    try:
        solver = _load(job).instance
    except SolverUnavailableError as error:
        send(RefusedFrame("unavailable", text(f"missing: {error}")))
        return
    game = mapped_game(job["game_spec"], Path(job["folder"]))
    last, _ = solve_once(solver, game, Budget(**job["budget"]), job["seed"], send)
    if isinstance(last, DoneFrame | ErrorFrame):
        last = replace(last, memory_bytes=memory_bytes("self"))
    send(last)


def leave(code: int) -> NoReturn:
    """End this process after its last word; taking down Numba and the interpreter takes long."""
    import ctypes

    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a solver may have closed or replaced them
            stream.flush()
    ctypes.CDLL(None).fflush(None)  # what native code has printed
    os._exit(code)


if __name__ == "__main__":
    leave(main())
