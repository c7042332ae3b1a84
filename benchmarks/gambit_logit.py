"""CPU time of Gambit's logit path, called directly and through eqbench.

    python benchmarks/gambit_logit.py

Both run in this process on one thread, in turns, so that a busy machine slows both. Directly
means `pygambit.qre.logit_solve_lambda` on a game that is already in Gambit, without a callback.
Through eqbench means the whole `solve` of `gambit_logit_path`: conversion of the game, the same
path with a callback at every point, snapshots and their regrets. Building the game, imports and
compilation are left out of both.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

from measuring import use_one_thread, write_results

GAMES = ("kuhn2", "kuhn3_reduced", "kuhn3")
END = 1e6


def main() -> None:
    """Measure, print one line per game, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=9)
    repetitions = parser.parse_args().repetitions
    use_one_thread()
    rows = [compare(name, repetitions) for name in GAMES]
    versions = {"pygambit": metadata.version("pygambit")}
    write_results("gambit_logit", {"end": END, **versions, "rows": rows})


def compare(name: str, repetitions: int) -> dict[str, Any]:
    """CPU seconds of both, and where the path ended."""
    from pygambit.qre import logit_solve_lambda

    from eqbench.registry import load_game, load_solver

    game, solver = load_game(name), load_solver(f"gambit_logit_path(end={END:g})")
    solver.prepare(game)
    theirs = importlib.import_module("eqbench.solvers.gambit").to_gambit(game).game
    directly: list[float] = []
    through: list[float] = []
    ended: dict[str, Any] = {}
    for _ in range(repetitions):
        directly.append(cpu_s(lambda: logit_solve_lambda(theirs, [END], max_accel=1.1)))
        through.append(cpu_s(lambda: ended.update(solve(solver, game))))
    ratio = statistics.median(through) / statistics.median(directly)
    print(
        f"{name}: directly {statistics.median(directly):.4f} s, through eqbench "
        f"{statistics.median(through):.4f} s, {ratio:.2f} times; {ended['detail']}"
    )
    return {"game": name, "directly_s": directly, "through_eqbench_s": through, **ended}


def cpu_s(work: Callable[[], Any]) -> float:
    """CPU seconds of this process during ``work()``."""
    start = time.process_time()
    work()
    return time.process_time() - start


def solve(solver: Any, game: Any) -> dict[str, Any]:
    """How the path ended, with the figures that the solver recorded."""
    import numpy as np

    from eqbench.solver import Budget, Monitor

    monitor = Monitor(game, Budget(time_s=600, target=0), lambda report: None)
    termination = solver.solve(game, monitor, np.random.default_rng(0))
    return {
        "reason": termination.reason,
        "detail": termination.detail,
        "lambda": monitor.statistics["lambda"],
        "points": monitor.statistics["steps"],
    }


if __name__ == "__main__":
    main()
