"""CPU time of CFR+ iterations and of NashConv, beside OpenSpiel's C++ code.

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


def goofspiel(cards: int) -> str:
    """OpenSpiel's name of our goofspiel."""
    options = f"imp_info=True,num_cards={cards},points_order=descending"
    return f"turn_based_simultaneous_game(game=goofspiel({options}))"


SOLVER = "cfr_plus(regrets=clipped,averaging=linear,alternating=true)"
# Iterations a repetition, ours and theirs: a few hundredths of a second, large games more.
GAMES = {
    "kuhn2": ("kuhn_poker(players=2)", 400_000, 2_000),
    "kuhn3": ("kuhn_poker(players=3)", 60_000, 200),
    "kuhn4": ("kuhn_poker(players=4)", 6_000, 40),
    "leduc": ("leduc_poker", 5_000, 10),
    "goofspiel": (goofspiel(4), 30_000, 60),
    "goofspiel(cards=5)": (goofspiel(5), 2_000, 4),
    "liars_dice": ("liars_dice", 400, 1),
}
COMPARED_ITERATIONS = {"goofspiel(cards=5)": 30, "liars_dice": 10}


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
        "nash_conv": nash_convs(solver, game, name),
        "nash_conv_us": nash_conv_times(game, their_name, repetitions),
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


def nash_conv_times(game: Any, their_name: str, repetitions: int) -> dict[str, list[float]]:
    """CPU microseconds of NashConv of the uniform profile: our kernels, and OpenSpiel."""
    import pyspiel

    from eqbench.model.profile import BehaviorProfile

    model = game.payoff_model()
    uniform = BehaviorProfile.uniform(game.tree).probabilities
    model.regrets(uniform)
    their_game = pyspiel.load_game(their_name)
    theirs = pyspiel.UniformRandomPolicy(their_game)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    count = max(5, 3_000_000 // game.tree.n_nodes)
    for _ in range(repetitions):
        times["ours"].append(
            per_iteration_us(lambda n: [model.regrets(uniform) for _ in range(n)], count)
        )
        times["theirs"].append(per_iteration_us(lambda n: pyspiel.nash_conv(their_game, theirs), 1))
    return times


def nash_convs(solver: Any, game: Any, name: str) -> dict[str, Any]:
    """NashConv of both averages, ours by our verifier and OpenSpiel's by OpenSpiel."""
    import pyspiel

    from eqbench.verification import verify

    iterations = COMPARED_ITERATIONS.get(name, 100)
    their_game = pyspiel.load_game(GAMES[name][0])
    theirs = pyspiel.CFRPlusSolver(their_game)
    repeat(theirs, iterations)
    return {
        "iterations": iterations,
        "ours": float(verify(game.tree, solve(solver, game, iterations)).nash_conv),
        "theirs": pyspiel.nash_conv(their_game, theirs.average_policy()),
    }


if __name__ == "__main__":
    main()
