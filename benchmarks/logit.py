"""Branches of logit equilibria: agreement with Gambit, cost, and how far they go.

    python benchmarks/logit.py

Agreement: largest difference of a frequency between our branch and Gambit's at several lambda.
Cost: CPU time from lambda 0 to 1000, ours and `pygambit.qre.logit_solve_lambda` in this process
on one thread, in turns. Ours is the whole `branch`, with frequencies and logarithms of all
points, once right after Gambit, whose work has filled the caches of the processor, and then the
mean of twenty in a row, which take about as long as one of Gambit's. Building the game, imports and
compilation are left out of both.
Reach: lambda, regret on the branch, and regret of the equilibrium near its end, of principal
branches on several games and of branches from random priors on three-player Kuhn poker; all
regrets are measured by the verifier. CPU times of single runs.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from measuring import use_one_thread, write_results

COMPARED = ("kuhn2", "kuhn3_reduced", "kuhn3")
COMPARED_AT = (1.0, 10.0, 100.0, 1000.0, 10_000.0)
TIMED_TO = 1000.0
IN_A_ROW = 20
REACHED = (
    *("kuhn2", "kuhn3_reduced", "kuhn3", "kuhn4", "kuhn(players=3,cards=6)", "skp", "leduc"),
    *("goofspiel", "jordan", "shapley", "random_tree", "travelers_dilemma(highest=10)"),
    *(f"random(players=3,actions=4,seed={seed})" for seed in range(10)),
)
RANDOM = "kuhn3"


def main() -> None:
    """Measure, print one line per game, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--branches", type=int, default=100, help="from random priors")
    options = parser.parse_args()
    use_one_thread()
    compared = [compare(name, options.repetitions) for name in COMPARED]
    reached = [reach(name, 0)["branches"][0] | {"game": name} for name in REACHED]
    for row in reached:
        print(
            f"{row['game']}: lambda {row['lambda']:,.0f}, regret {row['max_regret']:.2g}, polished "
            f"{row['equilibrium']['max_regret']:.2g}, {row['cpu_s']:.3g} s; {row['ending']}"
        )
    random = reach(RANDOM, options.branches)
    print(f"{RANDOM}, random priors: {random['random']}")
    drawn = [
        {name: entry[name] for name in ("seed", "lambda", "max_regret", "cpu_s", "turns")}
        | {"polished": entry["equilibrium"]["max_regret"]}
        for entry in random["branches"][1:]
    ]
    versions = {"pygambit": metadata.version("pygambit")}
    found = {"compared": compared, "reached": reached}
    found |= {"random": {"game": RANDOM, **random["random"], "branches": drawn}}
    write_results("logit", vars(options) | versions | found)


def compare(name: str, repetitions: int) -> dict[str, Any]:
    """CPU seconds of both to `TIMED_TO`, and how much their frequencies differ."""
    from pygambit.qre import logit_solve_lambda

    from eqbench.registry import load_game, load_solver

    game = load_game(name)
    theirs = importlib.import_module("eqbench.solvers.gambit").to_gambit(game)
    ours = load_solver(f"logit(stop_lambda={TIMED_TO:.0f})")
    ours.prepare(game)
    times: dict[str, list[float]] = {"ours_s": [], "first_s": [], "gambit_s": []}
    for _ in range(repetitions):
        times["gambit_s"].append(cpu_s(lambda: logit_solve_lambda(theirs.game, [TIMED_TO])))
        times["first_s"].append(cpu_s(lambda: ours.branch(game)))
        times["ours_s"].append(cpu_s(lambda: [ours.branch(game) for _ in range(IN_A_ROW)]))
    times["ours_s"] = [row / IN_A_ROW for row in times["ours_s"]]
    median = {name: statistics.median(values) for name, values in times.items()}
    ratio, first = (median["gambit_s"] / median[name] for name in ("ours_s", "first_s"))
    path = load_solver(f"logit(stop_lambda={COMPARED_AT[-1]:.0f})").branch(game, at=COMPARED_AT)
    points = logit_solve_lambda(theirs.game, list(COMPARED_AT))
    rows = [path.behavior[k] for k in path.landings]
    gaps = [
        float(np.abs(row - theirs.behavior(point.profile).probabilities).max())
        for row, point in zip(rows, points, strict=True)
    ]
    words = ", ".join(f"{gap:.1e}" for gap in gaps)
    print(f"{name}: {ratio:.1f} times, the first {first:.1f} times, differences {words}")
    return {"game": name, **times, "at": list(COMPARED_AT), "differences": gaps}


def reach(name: str, branches: int) -> dict[str, Any]:
    """Summary of `eqbench qre` for a game."""
    from eqbench.studies.frame import study_in
    from eqbench.studies.qre import QuantalStudy
    from eqbench.studies.requests import QuantalRequest

    with tempfile.TemporaryDirectory() as folder:
        return study_in(Path(folder), QuantalStudy(QuantalRequest(game=name, branches=branches)))


def cpu_s(work: Callable[[], Any]) -> float:
    """CPU seconds of this process during ``work()``."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
