"""Values and derivatives of three-player Kuhn poker: sums over ranks beside the generic kernels.

    python benchmarks/payoff_models.py

Both are asked about the same random profile in this process on one thread, in turns, so that a
busy machine slows both. With 52 cards there are 1.7 million terminals, and the generic kernels are
left out. How long it takes to recognize the game is measured as well.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from measuring import use_one_thread, write_results

CARDS, GENERIC_UP_TO = (4, 8, 13, 26, 52), 26
METHODS = ("counterfactual_values", "linearize")
REPETITION_S = 0.02


def main() -> None:
    """Measure, print one line per game, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=9)
    repetitions = parser.parse_args().repetitions
    use_one_thread()
    rows = [measure(cards, repetitions) for cards in CARDS]
    write_results("payoff_models", {"reduce": "billingham", "rows": rows})


def measure(cards: int, repetitions: int) -> dict[str, Any]:
    """Microseconds of a call of each method of each model, and how far the results differ."""
    import numpy as np

    from eqbench.model.payoff_model import SequenceFormModel
    from eqbench.model.profile import random_profile
    from eqbench.model.rank_sums import RankSums
    from eqbench.registry import load_game

    game = load_game(f"kuhn(players=3,cards={cards},reduce=billingham)")
    behavior = random_profile(game.tree, np.random.default_rng(0))
    start = time.perf_counter()
    models: dict[str, Any] = {"ranks": RankSums.of(game.tree)}
    recognize_s = time.perf_counter() - start
    if cards <= GENERIC_UP_TO:
        models["generic"] = SequenceFormModel(game.sequence_form)
    times: dict[str, dict[str, list[float]]] = {
        method: {name: [] for name in models} for method in METHODS
    }
    for method, by_model in times.items():
        works = {name: call(model, method, behavior) for name, model in models.items()}
        counts = {name: calls_of(work) for name, work in works.items()}
        for _ in range(repetitions):
            for name, work in works.items():
                by_model[name].append(1e6 * seconds(work, counts[name]) / counts[name])
    print(f"{cards} cards: {', '.join(summary(method, times[method]) for method in METHODS)}")
    return {
        "cards": cards,
        "terminals": game.tree.n_terminals,
        "free": len(models["ranks"].linearize(behavior).gains),
        "recognize_s": recognize_s,
        "us": times,
        "largest_difference": difference(list(models.values()), behavior),
    }


def call(model: Any, method: str, behavior: Any) -> Callable[[], Any]:
    """One call of a method, compiled already."""
    bound = getattr(model, method)
    bound(behavior)
    return lambda: bound(behavior)


def calls_of(work: Callable[[], Any]) -> int:
    """How many calls make a repetition."""
    return max(1, int(REPETITION_S / min(seconds(work, 1) for _ in range(5))))


def seconds(work: Callable[[], Any], count: int) -> float:
    """CPU seconds of so many calls."""
    start = time.process_time()
    for _ in range(count):
        work()
    return time.process_time() - start


def summary(method: str, us: dict[str, list[float]]) -> str:
    """Medians in a few words."""
    ranks = statistics.median(us["ranks"])
    if "generic" not in us:
        return f"{method} {ranks:.1f} us"
    generic = statistics.median(us["generic"])
    return f"{method} {ranks:.1f} us, generic {generic:.1f} us ({generic / ranks:.1f} times)"


def difference(models: list[Any], behavior: Any) -> float | None:
    """Largest difference of values and derivatives, None if there is one model only."""
    import numpy as np

    if len(models) == 1:
        return None
    ours, theirs = (
        [model.counterfactual_values(behavior), *model.linearize(behavior)] for model in models
    )
    return max(float(np.abs(x - y).max()) for x, y in zip(ours, theirs, strict=True))


if __name__ == "__main__":
    main()
