"""Shared by all measurements: one thread, clocks, processes of their own, commands of eqbench."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from eqbench.solver import Candidate, Monitor, Termination

RUN = Path(__file__).resolve().parent / "run.py"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
AMPLE_S = 600.0
REPETITION_S, REPETITIONS = 0.02, 9


def cpu_s(work: Callable[[], Any], count: int = 1) -> float:
    """CPU seconds that this process takes for so many calls."""
    begin = time.process_time()
    for _ in range(count):
        work()
    return time.process_time() - begin


def calls_of(work: Callable[[], Any]) -> int:
    """Number of calls that make a repetition."""
    return max(1, int(REPETITION_S / min(cpu_s(work) for _ in range(5))))


def repeated_us(work: Callable[[], Any]) -> list[float]:
    """CPU microseconds of one call in each of several repetitions."""
    count = calls_of(work)
    return [1e6 * cpu_s(work, count) / count for _ in range(REPETITIONS)]


def peak_bytes() -> int:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def in_child(function: str, **options: Any) -> dict[str, Any]:
    """Call ``module:function`` in a process of its own, whose memory is its own."""
    command = [sys.executable, str(RUN), "--call", function, json.dumps(options)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def eqbench_json(*words: str) -> dict[str, Any]:
    """Run a command of eqbench with ``--json``; its answer counts whatever its exit code."""
    command = [sys.executable, "-m", "eqbench", *words, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, env=os.environ | ONE_THREAD)
    return json.loads(done.stdout)


def first_measurement(players: int) -> float:
    """CPU seconds of the compiled way in a process that has loaded neither it nor Numba."""
    import numpy as np

    from eqbench.registry import load_game

    tree = load_game(f"kuhn{players}").tree

    def measure() -> None:
        from eqbench.verification.compiled_sweep import CompiledSweep

        CompiledSweep(tree).evaluate(np.ones(tree.n_actions))

    return cpu_s(measure)


class Solved(NamedTuple):
    """The end of a solve: all that was handed over in its order, monitor, termination."""

    candidates: list[Candidate]
    monitor: Monitor
    ended: Termination

    def last(self, claim: str) -> Candidate:
        """The last profile that was handed over with this claim."""
        return next(each for each in reversed(self.candidates) if each.claim == claim)


def solved(
    solver: Any, game: Any, *, iterations: int | None = None, target: float = 0.0, seed: int = 0
) -> Solved:
    """Solve a game in this process, by nothing but the solver."""
    import numpy as np

    from eqbench.solver import Limits, Monitor

    reports: list[Any] = []
    monitor = Monitor(
        game, Limits(timeout_s=AMPLE_S, iterations=iterations, target=target), reports.append
    )
    ended = solver.solve(game, monitor, np.random.default_rng(seed))
    handed = [report.candidate for report in reports if report.kind == "candidate"]
    return Solved(handed, monitor, ended)
