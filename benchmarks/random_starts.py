"""How often and how fast predictive CFR+ solves three-player Kuhn poker from random starts.

    python benchmarks/random_starts.py

Counts the starts whose last iterate the verifier finds below the target, once when the solver
stops at the target and once after all iterations, for both orders of the players' updates.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from measuring import use_one_thread, write_results

SOLVER = (
    "pcfr_plus(regrets=clipped,predictive=true,averaging=quadratic,start=random,"
    "alternating={alternating})"
)


def main() -> None:
    """Measure, print one line per order of updates, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--game", default="kuhn3")
    parser.add_argument("--starts", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=20_000)
    parser.add_argument("--target", type=float, default=1e-9, help="max regret in payoff units")
    options = parser.parse_args()
    use_one_thread()
    rows = [measure(options, alternating=order) for order in (False, True)]
    for row in rows:
        print(summary(row, options.target))
    write_results("random_starts", vars(options) | {"rows": rows})


def measure(options: argparse.Namespace, *, alternating: bool) -> dict[str, Any]:
    """Raw results of all starts with one order of updates."""
    from eqbench.registry import load_game, load_solver

    spec = SOLVER.format(alternating=str(alternating).lower())
    game, solver = load_game(options.game), load_solver(spec)
    solver.prepare(game)
    starts = []
    for seed in range(options.starts):
        to_target = run(solver, game, seed, options.iterations, options.target)
        to_end = run(solver, game, seed, options.iterations, 0.0)
        starts.append(to_target | {"final_max_regret": to_end["max_regret"]})
    return {"solver": spec, "alternating": alternating, "starts": starts}


def run(solver: Any, game: Any, seed: int, iterations: int, target: float) -> dict[str, Any]:
    """One start: wall time of the whole solve, and the verified regret of the last iterate."""
    import numpy as np

    from eqbench.solver import Budget, Monitor
    from eqbench.verification import verify

    reports: list[Any] = []
    begin = time.perf_counter()
    budget = Budget(time_s=600, iterations=iterations, target=target)
    monitor = Monitor(game, budget, reports.append)
    solver.solve(game, monitor, np.random.default_rng(seed))
    elapsed_s = time.perf_counter() - begin
    last = next(r.candidate for r in reversed(reports) if r.candidate.claim == "iterate")
    return {
        "seed": seed,
        "iterations": monitor.work,
        "elapsed_s": elapsed_s,
        "max_regret": float(verify(game.tree, last.profile).max_regret),
    }


def summary(row: dict[str, Any], target: float) -> str:
    """Share of the starts that reached the target, and medians over these."""
    starts = row["starts"]
    reached = [start for start in starts if start["max_regret"] <= target]
    stayed = sum(start["final_max_regret"] <= target for start in starts)
    text = f"alternating={row['alternating']}: {len(reached)} of {len(starts)} reach {target:g}"
    if reached:
        milliseconds = 1e3 * statistics.median(start["elapsed_s"] for start in reached)
        iterations = statistics.median(start["iterations"] for start in reached)
        text += f", median {milliseconds:.2f} ms and {iterations:g} iterations"
    return f"{text}; {stayed} of {len(starts)} after all iterations"


if __name__ == "__main__":
    main()
