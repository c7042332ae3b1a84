"""What following branches of equilibria costs (Billingham 2018): time, steps, memory.

    python benchmarks/arclength_cost.py              # measures, then draws
    python benchmarks/arclength_cost.py --draw-only  # draws again from the raw results

Each case has a process of its own on one thread, so that its peak memory is its own, and all
kernels are compiled before the clock starts. A branch costs the CPU time from nothing to the
other end of its range. What it takes to make a fold exact is measured apart, at some folds.
So is what a factorization consists of: derivatives of the game, the matrix made from them, its
LU factors; the rest are solves, predictions, decisions about steps, and points handed over.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from branches import first_pot, kuhn, prepared
from measuring import read_results, use_one_thread, write_results

NAME = "arclength_cost"
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / f"{NAME}.svg"
LEDUC = {"game": "leduc", "epsilon": 1e-9, "repetitions": 3}
STARTS = {"game": "kuhn3", "epsilon": 1e-7, "starts": 100}
POLISHED = 1e-12
REPETITION_S, REPETITIONS = 0.02, 9
SHOWN = ("game", "epsilon", "cpu_s", "factorizations", "peak_bytes")
# Folds that are made exact in each case.
MOST_FOLDS = 10
# Points that are followed before the clock starts.
WARM_UP = 12


def branch_case(game: str, first: float, last: float, epsilon: float, **goals: Any) -> dict:
    """A case: a range of the pot, and the seconds and MiB that it is meant to stay below."""
    return {"game": game, "ends": (first, last), "epsilon": epsilon, "goals": goals}


BRANCHES = (
    branch_case("skp", 2, 6, 1e-9, cpu_s=1),
    branch_case(kuhn(4), 2, 16, 1e-7, cpu_s=1),
    *(branch_case(kuhn(n), first_pot(n), 16, 1e-7) for n in (5, 8)),
    branch_case(kuhn(10), first_pot(10), 16, 1e-7, cpu_s=15),
    branch_case(kuhn(13), first_pot(13), 16, 1e-7, cpu_s=60),
    branch_case(kuhn(26), first_pot(26), 10, 1e-6, cpu_s=180, peak_MiB=500),
    branch_case(kuhn(52), first_pot(52), 10, 1e-4, cpu_s=480),
    branch_case("kuhn(players=4,cards=6)", 1, 8, 1e-4, cpu_s=60),
    branch_case("kuhn(players=3,cards=4,raises=1)", 2, 8, 1e-6),
)


def main() -> None:
    """Measure every case in a child process, write the raw results, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", help="measure this one case here and print JSON")
    parser.add_argument("--draw-only", action="store_true", help="draw from the raw results")
    options = parser.parse_args()
    use_one_thread()
    if options.only is not None:
        print(json.dumps(measure(options.only)))
        return
    if not options.draw_only:
        branches = [in_child(str(number)) for number in range(len(BRANCHES))]
        others = {name: in_child(name) for name in ("starts", "leduc")}
        write_results(NAME, {"branches": branches, **others})
    draw(read_results(NAME), FIGURE)


def in_child(case: str) -> dict[str, Any]:
    """Results of a case, measured by a process of its own."""
    command = [sys.executable, __file__, "--only", case]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    row = json.loads(done.stdout)
    shown = {name: row.get(name) for name in SHOWN}
    print({name: x for name, x in shown.items() if isinstance(x, str | float | int)}, flush=True)
    return row


def measure(case: str) -> dict[str, Any]:
    """Raw results of one case."""
    if case == "starts":
        return STARTS | random_starts(**STARTS)
    if case == "leduc":
        return LEDUC | homotopies(**LEDUC)
    return follow_branch(**BRANCHES[int(case)])


def follow_branch(
    game: str, ends: tuple[float, float], epsilon: float, goals: dict[str, float]
) -> dict[str, Any]:
    """What following a branch costs; times in CPU seconds, memory in bytes."""
    from eqbench.registry import load_game

    first, last = ends
    loaded = load_game(game)
    solver = prepared(loaded, epsilon)
    warm = solver.continuation(loaded)
    for _ in zip(range(WARM_UP), warm.follow(warm.start(first)), strict=False):
        pass
    continuation = solver.continuation(loaded)
    before, begin = peak_bytes(), time.process_time()
    point = continuation.start(first)
    start_s, folds, direction = time.process_time() - begin, [], 1.0
    for after in continuation.follow(point):
        if direction * after.direction < 0:
            folds.append((point, after))
        point, direction = after, after.direction
        if not first <= point.value <= last:
            break
    cpu_s, counts = time.process_time() - begin, continuation.statistics
    peak = peak_bytes()
    return {
        "game": game,
        "range": list(ends),
        "reached": point.value,
        "epsilon": epsilon,
        "goals": goals,
        "free": continuation.system.choices.size,
        "cpu_s": cpu_s,
        "start_s": start_s,
        **counts,
        "folds": len(folds),
        "exact_fold_s": [seconds(lambda f=f: continuation.fold(*f), 1) for f in some_of(folds)],
        "python_bytes": before,
        "peak_bytes": peak,
        "parts_us": parts(continuation, point),
    }


def some_of(folds: list[Any]) -> list[Any]:
    """At most so many of the folds, from all over the branch."""
    return folds[:: -(-len(folds) // MOST_FOLDS)] if folds else []


def parts(continuation: Any, point: Any) -> dict[str, list[float]]:
    """CPU microseconds of the parts of a factorization, several repetitions each.

    The evaluation contains the derivatives of the game.
    """
    import numpy as np
    from scipy.linalg import lapack

    system, value = continuation.system, point.value
    z = point.state["y"][:-1]
    matrix = system.evaluate(z, continuation.epsilon, value).matrix
    # any border makes as much work
    matrix[-1] = matrix[:, -1] = np.linspace(1.0, 2.0, len(matrix))
    return {
        "derivatives": repeated(lambda: system.linearize(point.behavior, value)),
        "evaluation": repeated(lambda: system.evaluate(z, continuation.epsilon, value)),
        # the copy stands for the matrix that is made anew each time
        "lu": repeated(lambda: lapack.dgetrf(matrix.T)),
    }


def repeated(work: Callable[[], Any]) -> list[float]:
    """CPU microseconds of one call in each of several repetitions."""
    count = max(1, int(REPETITION_S / min(seconds(work, 1) for _ in range(5))))
    return [1e6 * seconds(work, count) / count for _ in range(REPETITIONS)]


def seconds(work: Callable[[], Any], count: int) -> float:
    """CPU seconds of so many calls."""
    begin = time.process_time()
    for _ in range(count):
        work()
    return time.process_time() - begin


def random_starts(game: str, epsilon: float, starts: int) -> dict[str, Any]:
    """Time of homotopies from random weights to polished profiles, and their max regrets."""
    import numpy as np

    from eqbench.model.profile import BehaviorProfile
    from eqbench.registry import load_game
    from eqbench.verification import Verifier

    loaded = load_game(game)
    continuation = prepared(loaded, epsilon).continuation(loaded)
    value, verifier = float(loaded.tree.payoffs.value), Verifier(loaded.tree)
    rng = np.random.default_rng(0)
    continuation.polish(continuation.start(value, rng), value)
    cpu_s, regrets = [], []
    for seed in range(starts):
        rng = np.random.default_rng(seed)
        begin = time.process_time()
        behavior, _ = continuation.polish(continuation.start(value, rng), value)
        cpu_s.append(time.process_time() - begin)
        measured = verifier.verify(BehaviorProfile.of(loaded.tree, behavior))
        regrets.append(float(measured.max_regret))
    return {"cpu_s": cpu_s, "max_regrets": regrets}


def homotopies(game: str, epsilon: float, repetitions: int) -> dict[str, Any]:
    """Time of a homotopy and of polishing its end, and the verified regrets of both profiles."""
    from eqbench.model.profile import BehaviorProfile
    from eqbench.registry import load_game
    from eqbench.verification import Verifier

    loaded = load_game(game)
    prepared(loaded, epsilon)
    polishing = inside("polish")
    homotopy_s, polish_s = [], []
    for _ in range(repetitions):
        system = inside("regularization").RegularizedGame(loaded)
        begin = time.process_time()
        z = inside("homotopy").descend(system, system.parameter, epsilon)
        homotopy_s.append(time.process_time() - begin)
        made = system.frequencies(z, epsilon)
        start = polishing.Polished(system.behavior(made), system.parameter, float("inf"))
        begin = time.process_time()
        end = polishing.polish(system, start, polishing.support_of(system, made))
        polish_s.append(time.process_time() - begin)
    verifier = Verifier(loaded.tree)
    before, after = (
        verifier.verify(BehaviorProfile.of(loaded.tree, profile.behavior))
        for profile in (start, end)
    )
    return {
        "homotopy_s": homotopy_s,
        "polish_s": polish_s,
        "factorizations": system.counts["factorizations"],
        "nash_conv_before": float(before.nash_conv),
        "max_regret_after": float(after.max_regret),
    }


def inside(name: str) -> Any:
    """A module of the solver's package, which the solver's contract does not offer."""
    return importlib.import_module(f"eqbench.solvers.arclength.{name}")


def peak_bytes() -> int:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def draw(data: dict[str, Any], path: Path) -> None:
    """Figure of the time of a factorization and of whole branches against the number of cards."""
    from eqbench.plots.style import log_log_figure, save_figure

    rows = {
        cards: row
        for cards in range(4, 53)
        for row in data["branches"]
        if row["game"] == kuhn(cards)
    }
    whole = {cards: row["cpu_s"] for cards, row in rows.items() if row["epsilon"] == 1e-7}
    each = {cards: factorization_us(row) / 1e6 for cards, row in rows.items()}
    figure = log_log_figure(
        {
            "one factorization": (list(each), list(each.values())),
            "whole branch": (list(whole), list(whole.values())),
        },
        x_label="cards",
        y_label="CPU time (s)",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)


def factorization_us(row: dict[str, Any]) -> float:
    """CPU microseconds of following a branch per factorization."""
    return 1e6 * row["cpu_s"] / row["factorizations"]


def shares(row: dict[str, Any]) -> dict[str, float]:
    """What part of that time is spent on derivatives, the matrix, LU factors, and the rest."""
    whole = factorization_us(row)
    derivatives, evaluation, lu = (
        statistics.median(row["parts_us"][part]) / whole
        for part in ("derivatives", "evaluation", "lu")
    )
    return {
        "derivatives": derivatives,
        "matrix": evaluation - derivatives,
        "LU": lu,
        "rest": 1 - evaluation - lu,
    }


if __name__ == "__main__":
    main()
