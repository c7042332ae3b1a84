"""Solvers that report in what kind of process they find themselves."""

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np

import eqbench
from eqbench.solver import Termination


@numba.njit(parallel=True)
def sum_in_parallel(values):
    total = 0.0
    for i in numba.prange(values.size):
        total += values[i]
    return total


@eqbench.register_solver("process")
@dataclass(frozen=True)
class Process:
    """Report the surroundings, and what an unseeded generator and a parallel kernel give."""

    seconds: int = 0

    def solve(self, game, monitor, rng):
        time.sleep(self.seconds)
        monitor.record(
            drawn=float(np.random.rand()),  # noqa: NPY002
            folder=os.getcwd(),
            variable=os.environ.get("EQBENCH_TEST_VARIABLE", ""),
            threads=os.environ["OMP_NUM_THREADS"],
            module=Path("/proc/self/cmdline").read_bytes().split(b"\0")[3].decode(),
            tasks=len(os.listdir("/proc/self/task")),
            files=len(os.listdir("/proc/self/fd")),
            handlers=[str(signal.getsignal(n)) for n in (2, 15, signal.SIGCHLD)],
            total=float(sum_in_parallel(np.ones(1000))),
        )
        monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="iterate")
        return Termination("limit", "reported")


@eqbench.register_solver("exits")
@dataclass(frozen=True)
class Exits:
    code: int | str = 3

    def solve(self, game, monitor, rng):
        sys.stdout.write("the last words")
        if self.code == "interrupt":
            signal.raise_signal(signal.SIGINT)
        raise SystemExit(self.code)
