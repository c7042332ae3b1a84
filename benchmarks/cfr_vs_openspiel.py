"""CPU time of one CFR+ iteration: `cfr_plus` beside OpenSpiel's C++ CFRPlusSolver.

    python benchmarks/cfr_vs_openspiel.py

Both run in this process on one thread, in turns, so that a busy machine slows both. Ours is
the time of a whole `solve`, snapshots included. OpenSpiel's includes the Python loop that
calls its C++ iteration, which is far below a microsecond per call.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

from measuring import use_one_thread, write_results

SOLVER = "cfr_plus(regrets=clipped,averaging=linear,alternating=true)"
# Iterations a repetition, ours and theirs: a few hundredths of a second, and kuhn4 more.
GAMES = {
    "kuhn2": ("kuhn_poker(players=2)", 400_000, 2_000),
    "kuhn3": ("kuhn_poker(players=3)", 60_000, 200),
    "kuhn4": ("kuhn_poker(players=4)", 6_000, 40),
}
COMPARED_ITERATIONS = 100


def main() -> None:
    """Measure, print one line per game, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=9)
    repetitions = parser.parse_args().repetitions
    use_one_thread()
    rows = [compare(name, repetitions) for name in GAMES]
    versions = {"open_spiel": metadata.version("open_spiel")}
    write_results("cfr_vs_openspiel", {"solver": SOLVER, **versions, "rows": rows})


def compare(name: str, repetitions: int) -> dict[str, Any]:
    """Times per iteration in microseconds, and NashConv after equally many iterations."""
    import pyspiel

    from eqbench.registry import load_game, load_solver

    their_name, our_iterations, their_iterations = GAMES[name]
    game, solver = load_game(name), load_solver(SOLVER)
    solver.prepare(game)
    theirs = pyspiel.CFRPlusSolver(pyspiel.load_game(their_name))
    ours_us, theirs_us = [], []
    for _ in range(repetitions):
        ours_us.append(per_iteration_us(lambda n: solve(solver, game, n), our_iterations))
        theirs_us.append(per_iteration_us(lambda n: repeat(theirs, n), their_iterations))
    ratio = statistics.median(theirs_us) / statistics.median(ours_us)
    print(
        f"{name}: {statistics.median(ours_us):.3g} us, OpenSpiel "
        f"{statistics.median(theirs_us):.4g} us, {ratio:.0f} times"
    )
    return {
        "game": name,
        "our_iterations": our_iterations,
        "their_iterations": their_iterations,
        "ours_us": ours_us,
        "theirs_us": theirs_us,
        "nash_conv": nash_convs(solver, game, their_name),
    }


def per_iteration_us(work: Callable[[int], Any], iterations: int) -> float:
    """CPU microseconds of this process per iteration of ``work(iterations)``."""
    start = time.process_time()
    work(iterations)
    return (time.process_time() - start) / iterations * 1e6


def solve(solver: Any, game: Any, iterations: int) -> Any:
    """Average profile after so many iterations of our solver."""
    import numpy as np

    from eqbench.solver import Budget, Monitor

    reports: list[Any] = []
    monitor = Monitor(game, Budget(time_s=600, iterations=iterations, target=0), reports.append)
    solver.solve(game, monitor, np.random.default_rng(0))
    return next(r.candidate.profile for r in reversed(reports) if r.candidate.claim == "average")


def repeat(solver: Any, iterations: int) -> None:
    """Do so many further iterations of OpenSpiel's solver."""
    for _ in range(iterations):
        solver.evaluate_and_update_policy()


def nash_convs(solver: Any, game: Any, their_name: str) -> dict[str, Any]:
    """NashConv of both averages, ours by our verifier and OpenSpiel's by OpenSpiel."""
    import pyspiel

    from eqbench.verification import verify

    their_game = pyspiel.load_game(their_name)
    theirs = pyspiel.CFRPlusSolver(their_game)
    repeat(theirs, COMPARED_ITERATIONS)
    return {
        "iterations": COMPARED_ITERATIONS,
        "ours": float(verify(game.tree, solve(solver, game, COMPARED_ITERATIONS)).nash_conv),
        "theirs": pyspiel.nash_conv(their_game, theirs.average_policy()),
    }


if __name__ == "__main__":
    main()
