"""Solvers that tell in what kind of process they find themselves."""

import os
import signal
import sys
import time
from dataclasses import dataclass

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


def end(game, monitor):
    monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="iterate")
    return Termination("limit", "asked")


@eqbench.register_solver("process")
@dataclass(frozen=True)
class Process:
    """Its surroundings, and what an unseeded generator gives."""

    seconds: int = 0

    def solve(self, game, monitor, rng):
        time.sleep(self.seconds)
        monitor.record(
            drawn=float(np.random.rand()),  # noqa: NPY002
            folder=os.getcwd(),
            variable=os.environ.get("EQBENCH_TEST_VARIABLE", ""),
            loader=os.path.basename(os.readlink("/proc/self/exe")),
            tasks=len(os.listdir("/proc/self/task")),
            files=len(os.listdir("/proc/self/fd")),
        )
        return end(game, monitor)


@eqbench.register_solver("parallel")
@dataclass(frozen=True)
class Parallel:
    def solve(self, game, monitor, rng):
        monitor.record(total=float(sum_in_parallel(np.ones(1000))))
        return end(game, monitor)


@eqbench.register_solver("exits")
@dataclass(frozen=True)
class Exits:
    code: int | str = 3

    def solve(self, game, monitor, rng):
        sys.stdout.write("the last words")
        raise SystemExit(self.code)


@eqbench.register_solver("interrupts_itself")
@dataclass(frozen=True)
class InterruptsItself:
    def solve(self, game, monitor, rng):
        signal.raise_signal(signal.SIGINT)
