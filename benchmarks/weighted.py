"""Iterates of CFR variants beside those of the program of Xu et al. (IJCAI 2024).

    python benchmarks/weighted.py FOLDER

FOLDER is a clone of github.com/rpSebastian/PDCFRPlus; its code needs OpenSpiel, and what it logs to
is not loaded. Prints the largest difference of frequencies, of averages and of last iterates.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import numpy as np

import eqbench

METHODS = {
    "CFRPlus": "cfr_plus",
    "DCFR": "dcfr",
    "PCFRPlus": "pcfr_plus_alternating",
    "DCFRPlus": "dcfr_plus(shift=3/2)",
    "PDCFRPlus": "pdcfr_plus",
}
GAMES = {"KuhnPoker": ("openspiel:kuhn_poker", 200), "LeducPoker": ("openspiel:leduc_poker", 30)}


def differences(game: str, method: str) -> Iterator[float]:
    """Largest differences of the average and of the last iterate from theirs."""
    spec, iterations = GAMES[game]
    config = importlib.import_module("pdcfrplus.game").read_game_config(game, iterations=iterations)
    theirs = getattr(importlib.import_module("pdcfrplus.cfr"), method)(config)
    for _ in range(iterations):
        theirs.iteration()
    states = {label.rpartition("/")[0]: state for label, state in theirs.states.items()}
    ours = eqbench.solve(spec, METHODS[method], iterations=iterations, target=0)
    for claim in ("average", "iterate"):
        (found,) = [each.profile for each in ours.equilibria if each.claim == claim]
        rows = [states[label] for label in found.known_tree.infoset_labels]
        played = [row.get_average_policy() if claim == "average" else row.policy for row in rows]
        values = np.concatenate([list(own.values()) for own in played])
        yield float(np.abs(values - found.probabilities).max())


def main() -> None:
    """Print the differences of all methods on all games."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.path.insert(0, sys.argv[1])
    logger = ModuleType("pdcfrplus.utils.logger")  # theirs loads PyTorch and more
    logger.Logger = SimpleNamespace  # type: ignore[attr-defined]
    sys.modules[logger.__name__] = logger
    for game in GAMES:
        for method in METHODS:
            average, last = differences(game, method)
            print(f"{game:12}{method:12}average {average:.1e}  last {last:.1e}", flush=True)


if __name__ == "__main__":
    main()
