"""Solvers that try to outlive, stop or deceive the processes that watch them."""

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import eqbench
from eqbench.solver import Termination


def hand_over(game, monitor):
    monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="iterate")
    return Termination("limit", "did its best")


@eqbench.register_solver("leaves_a_daemon")
@dataclass(frozen=True)
class LeavesADaemon:
    """Leaves a process with another parent, session and environment, and writes its number."""

    pids: str
    then: str = "end"

    def solve(self, game, monitor, rng):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            partial = Path(self.pids).with_suffix(".partial")
            partial.write_text(str(os.getpid()))
            partial.rename(self.pids)
            code = "import time; time.sleep(600)"
            os.execve(sys.executable, [sys.executable, "-c", code], {})
        while not Path(self.pids).exists():
            time.sleep(0.01)
        if self.then == "kill the keeper":
            os.kill(os.getppid(), signal.SIGKILL)
        if self.then != "end":
            time.sleep(600)
        return hand_over(game, monitor)


@eqbench.register_solver("signals_its_parent")
@dataclass(frozen=True)
class SignalsItsParent:
    signal: str = "SIGINT"

    def solve(self, game, monitor, rng):
        os.kill(os.getppid(), getattr(signal, self.signal))
        time.sleep(0.2)
        return hand_over(game, monitor)


@eqbench.register_solver("signals_its_server")
@dataclass(frozen=True)
class SignalsItsServer:
    """The process that forks the children of the run, or the run where all are spawned."""

    signal: str = "SIGKILL"

    def solve(self, game, monitor, rng):
        stat = Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(stat.rpartition(")")[2].split()[1]), getattr(signal, self.signal))
        time.sleep(0.2)
        return hand_over(game, monitor)


@eqbench.register_solver("starts_its_clock_again")
@dataclass(frozen=True)
class StartsItsClockAgain:
    """Says that it is ready, again and again, into the pipe that it finds open."""

    def solve(self, game, monitor, rng):
        from eqbench.isolation.messages import ReadyFrame, write_frame

        descriptor = int(sys.argv[1])
        while True:
            write_frame(descriptor, ReadyFrame())
            time.sleep(0.05)


@eqbench.register_solver("overwrites_the_game")
@dataclass(frozen=True)
class OverwritesTheGame:
    """Makes everybody's payoffs equal, in the very files that the next cell would read."""

    def solve(self, game, monitor, rng):
        file = game.folder / "base.npy"
        payoffs = np.load(file)
        with open(file, "r+b") as raw:
            raw.seek(file.stat().st_size - payoffs.nbytes)
            raw.write(np.zeros_like(payoffs).tobytes())
        monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="equilibrium")
        return Termination("converged")


@eqbench.register_solver("removes_the_scratch_folder")
@dataclass(frozen=True)
class RemovesTheScratchFolder:
    def solve(self, game, monitor, rng):
        import shutil

        shutil.rmtree(game.folder.parent)
        return hand_over(game, monitor)


@eqbench.register_solver("removes")
@dataclass(frozen=True)
class Removes:
    """Removes a file or folder that is named by its absolute path."""

    path: str

    def solve(self, game, monitor, rng):
        import shutil

        shutil.rmtree(self.path) if Path(self.path).is_dir() else Path(self.path).unlink()
        return hand_over(game, monitor)
