"""How long it takes to build and verify large dealt games: three-player Kuhn, N cards.

    python benchmarks/bulk_games.py

Times are medians of several repetitions in one process, on one thread. The exact column is
the verification of a profile of fractions in rational arithmetic, measured up to 26 cards.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from measuring import write_results

import eqbench
from eqbench.model.profile import random_profile
from eqbench.registry import default_registry
from eqbench.verification import verify_exactly

REPETITIONS = 5
EXACT_UP_TO = 26


def timed(work: Callable[[], Any]) -> tuple[Any, list[float]]:
    """Last result of `work` and the seconds of each repetition."""
    seconds = []
    for _ in range(REPETITIONS):
        result = None  # free the last game before the next is built
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, seconds


def rational_profile(tree: eqbench.GameTree, rng: np.random.Generator) -> eqbench.BehaviorProfile:
    """A random profile in thousandths; every information set has two actions."""
    aggressive = [Fraction(int(part), 1000) for part in rng.integers(0, 1001, tree.n_infosets)]
    return eqbench.BehaviorProfile.of_exact(
        tree, [part for high in aggressive for part in (1 - high, high)]
    )


def measure(cards: int) -> dict[str, Any]:
    """Row of raw results for a deck of `cards`."""
    rng = np.random.default_rng(0)
    spec = f"kuhn(players=3,cards={cards})"
    # not by load_game, which would read large games from the cache
    _, build_s = timed(default_registry().describe_game(spec)[0].build)
    game = eqbench.load_game(spec)
    profile = eqbench.BehaviorProfile.of(game.tree, random_profile(game.tree, rng))
    _, verify_s = timed(lambda: eqbench.verify(game, profile))
    row = {
        "game": spec,
        "nodes": game.tree.n_nodes,
        "build_s": build_s,
        "verify_s": verify_s,
        "exact_s": None,
    }
    if cards <= EXACT_UP_TO:
        exact = rational_profile(game.tree, rng)
        row["exact_s"] = timed(lambda: verify_exactly(game.tree, exact))[1]
    return row


def main() -> None:
    """Measure, print medians and write the raw results."""
    rows = [measure(cards) for cards in (4, 13, 26, 52)]
    for row in rows:
        medians = {
            name: "–" if row[name] is None else f"{statistics.median(row[name]):.3f}"
            for name in ("build_s", "verify_s", "exact_s")
        }
        print(row["game"], f"{row['nodes']:,} nodes", medians)
    write_results("bulk_games", {"rows": rows})


if __name__ == "__main__":
    main()
