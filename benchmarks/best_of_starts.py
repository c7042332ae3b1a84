"""How much the best of several random starts gains over one, in games of three players.

    python benchmarks/best_of_starts.py              # measures, then draws
    python benchmarks/best_of_starts.py --draw-only  # draws again from the raw results

Every start has the same number of iterations, and its result is the smaller of the verified max
regrets of the profiles that the solver hands over, as a share of the payoff range of the game.
The raw results are those of all starts; what the best of k is to be expected to reach follows
from them exactly, over all sets of k starts.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring import read_results, use_one_thread, write_results

NAME = "best_of_starts"
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / f"{NAME}.svg"
SOLVERS = ("cfr(start=random)", "cfr_plus(start=random)", "fictitious_play(start=random)")
RANDOM_GAME = "random_tree(players=3,depth=6,actions=3,information=0,seed={seed})"
STYLES = (("o", "-"), ("s", "--"), ("^", ":"))


def main() -> None:
    """Measure, write the raw results, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--starts", type=int, default=64)
    parser.add_argument("--games", type=int, default=40, help="number of random games")
    parser.add_argument("--iterations", type=int, default=5_000)
    parser.add_argument("--draw-only", action="store_true", help="draw from the raw results")
    options = parser.parse_args()
    if not options.draw_only:
        use_one_thread()
        write_results(NAME, measure(options.starts, options.games, options.iterations))
    draw(read_results(NAME), FIGURE)


def measure(starts: int, games: int, iterations: int) -> dict[str, Any]:
    """Raw results on three-player Kuhn poker and on a batch of random games."""
    batch = [RANDOM_GAME.format(seed=seed) for seed in range(games)]
    return {
        "starts": starts,
        "iterations": iterations,
        "groups": [
            {"title": "Kuhn poker (kuhn3)", "rows": rows(["kuhn3"], starts, iterations)},
            {"title": f"mean of {games} random games", "rows": rows(batch, starts, iterations)},
        ],
    }


def rows(games: Sequence[str], starts: int, iterations: int) -> list[dict[str, Any]]:
    """Max regrets of all starts, one row per game and solver."""
    from eqbench.registry import load_game, load_solver

    found = []
    for spec in games:
        game = load_game(spec)
        for solver in SOLVERS:
            instance = load_solver(solver)
            regrets = [run(instance, game, seed, iterations) for seed in range(starts)]
            found.append({"game": game.spec, "solver": solver, "max_regrets": regrets})
    return found


def run(solver: Any, game: Any, seed: int, iterations: int) -> float:
    """One start: the smallest verified max regret of what it hands over, per payoff range."""
    import numpy as np

    from eqbench.solver import Budget, Monitor
    from eqbench.verification import verify

    reports: list[Any] = []
    monitor = Monitor(game, Budget(600, iterations, target=0.0), reports.append)
    solver.solve(game, monitor, np.random.default_rng(seed))
    handed = [report.candidate.profile for report in reports if report.kind == "candidate"]
    regret = min(verify(game.tree, profile).max_regret for profile in handed)
    # rounding can leave a regret below zero
    return max(float(regret), 0.0) / game.tree.payoff_range


def expected_best(regrets: Sequence[float], k: int) -> float:
    """Mean of the smallest of k values over all sets of k out of those given."""
    values, size = sorted(regrets), len(regrets)
    return sum(
        value * math.comb(size - 1 - rank, k - 1) for rank, value in enumerate(values)
    ) / math.comb(size, k)


def curve(group: dict[str, Any], solver: str, counts: Sequence[int]) -> list[float]:
    """Expected best of k starts for each k, averaged over the games of a group."""
    rows = [row["max_regrets"] for row in group["rows"] if row["solver"] == solver]
    return [math.fsum(expected_best(row, k) for row in rows) / len(rows) for k in counts]


def counts_of(starts: int) -> list[int]:
    """Powers of two up to the number of starts."""
    return [2**power for power in range(starts.bit_length())]


def draw(data: dict[str, Any], path: Path) -> None:
    """Figure of the expected best regret against the number of starts, one panel per group."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    counts = counts_of(data["starts"])
    # without a salt of its own, each drawing would have other ids
    with plt.rc_context({"svg.hashsalt": NAME, "font.size": 9}):
        figure, panels = plt.subplots(
            1, len(data["groups"]), figsize=(7.2, 3.6), sharey=True, layout="constrained"
        )
        for panel, group in zip(panels, data["groups"], strict=True):
            for solver, (marker, line) in zip(SOLVERS, STYLES, strict=True):
                panel.plot(
                    counts,
                    curve(group, solver, counts),
                    marker=marker,
                    linestyle=line,
                    label=solver.partition("(")[0],
                )
            panel.set(title=group["title"], xlabel="number of random starts k", yscale="log")
            panel.set_xscale("log", base=2)
            panel.set_xticks(counts, [str(count) for count in counts])
            panel.grid(which="major", alpha=0.3)
        panels[0].set_ylabel("expected best max regret\n(share of the payoff range)")
        panels[-1].legend()
        figure.suptitle(
            f"Best of k random starts with {data['iterations']:,} iterations each, three players"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
