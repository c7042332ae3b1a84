"""Profits in the replicator dynamics of SKP beside those of its published solutions.

    python benchmarks/skp_profits.py

Billingham (2017, section 4.2) says that profits stay close to those of the Lyapunov stable
solution where there is one, and else close to Solution 2 or 7. For each of his pots this follows
trajectories from random log-odds and takes average profits over windows that double, and from
the start on. A gap is the largest distance of any player's from that of the solution, as a share
of the largest payoff of the solution. Nothing is timed. Chaotic trajectories depend on rounding.
"""

from __future__ import annotations

import argparse
from typing import Any

from measuring import use_one_thread, write_results

use_one_thread()

import numpy as np  # noqa: E402

import eqbench  # noqa: E402
from eqbench.equilibria.extremes import KnownPayoffs  # noqa: E402

# The solution that the paper names at each pot.
SOLUTIONS = {2.5: 1, 3.1: 2, 3.35: 4, 3.75: 5, 4.15: 7, 4.65: 9, 5.5: 10}
DOUBLINGS = 9


def main() -> None:
    """Follow all trajectories, print one line per pot, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--time", type=float, default=10_000.0, help="where trajectories end")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    rows = [measure(pot, options.time, options.seeds) for pot in SOLUTIONS]
    for row in rows:
        windows = np.array(row["window_shares"])
        print(row["pot"], row["solution"], np.median(windows, axis=0).round(4))
    write_results("skp_profits", vars(options) | {"rows": rows})


def measure(pot: float, end: float, seeds: int) -> dict[str, Any]:
    """Gaps of all starts at one pot; each list has one entry per window."""
    game = eqbench.load_game(f"skp(pot={pot})")
    flow = eqbench.load_solver("replicator(integrator=dop853)").flow(game)
    known = KnownPayoffs.of(game)
    name = f"skp:{SOLUTIONS[pot]}"
    largest = float(np.abs(known.ranges[name]).max())
    times = np.concatenate(([0.0], end / 2.0 ** np.arange(DOUBLINGS, -1, -1)))
    rows: dict[str, Any] = {"window_shares": [], "whole_shares": [], "nearest": []}
    for seed in range(seeds):
        start = np.random.default_rng(seed).normal(size=flow.choices.size)
        found = flow.integrate(start, times)
        if found.ending:
            raise RuntimeError(found.ending)
        over = np.diff(found.profits, axis=0) / np.diff(times)[:, None]
        whole = found.profits[1:] / times[1:, None]
        gaps = [known.gaps(payoffs) for payoffs in over]
        rows["window_shares"].append([gap[name] / largest for gap in gaps])
        rows["whole_shares"].append([known.gaps(payoffs)[name] / largest for payoffs in whole])
        rows["nearest"].append([min(gap, key=gap.__getitem__) for gap in gaps])
    payoffs = known.ranges[name].mean(axis=1).tolist()
    return {"pot": pot, "solution": name, "payoffs": payoffs, "times": times.tolist()} | rows


if __name__ == "__main__":
    main()
