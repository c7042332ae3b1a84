"""What large games cost: building, compiling, a CFR+ iteration, and memory.

    python benchmarks/large_games.py

Each game has a process of its own on one thread, so that its peak memory is its own; that of
Python with Numba and the solvers loaded is measured first and printed beside it. Nothing comes
from the cache of games. The last game is put together node by node with a TreeBuilder, as an
imported game would be.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from fractions import Fraction
from typing import Any

from measuring import use_one_thread, write_results

# Iterations of CFR+ a repetition; about a tenth of a second.
GAMES = {"leduc3": 30, "liars_dice": 200, "kuhn(players=3,cards=52)": 30}
IMPORTED = {"random_tree(depth=17)": 200}
REPETITIONS = 5


def main() -> None:
    """Measure every game in a child process, print and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", help="measure this one game here and print JSON")
    only = parser.parse_args().only
    use_one_thread()
    if only is not None:
        print(json.dumps(measure(only)))
        return
    rows = []
    for name in GAMES | IMPORTED:
        command = [sys.executable, __file__, "--only", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout))
        print(done.stdout.strip())
    write_results("large_games", {"rows": rows})


def measure(name: str) -> dict[str, Any]:
    """Times in seconds and peak memory in bytes of one game in this process."""
    from eqbench.model.game import Game
    from eqbench.registry import default_registry, load_solver

    warm_up()
    before = peak_bytes()
    instance, spec, _ = default_registry().describe_game(name)
    start = time.perf_counter()
    tree = instance.build()
    build_s = time.perf_counter() - start
    if name in IMPORTED:
        build_s, tree = put_together(tree)
    game = Game(spec, tree)
    start = time.perf_counter()
    form = game.sequence_form
    _ = form.arrays
    compile_s = time.perf_counter() - start
    iterations = GAMES.get(name) or IMPORTED[name]
    solver = load_solver("cfr_plus")
    iteration_s = [iterate(solver, game, iterations) for _ in range(REPETITIONS)]
    return {
        "game": name,
        "nodes": tree.n_nodes,
        "terminals": tree.n_terminals,
        "infosets": tree.n_infosets,
        "imported": name in IMPORTED,
        "build_s": build_s,
        "compile_s": compile_s,
        "iteration_s": iteration_s,
        "python_bytes": before,
        "peak_bytes": peak_bytes(),
    }


def warm_up() -> None:
    """Load and compile everything on a small game."""
    import eqbench

    for game in ("kuhn2", "kuhn3"):
        eqbench.solve(game, "cfr_plus", eqbench.Budget(iterations=10))


def iterate(solver: Any, game: Any, iterations: int) -> float:
    """CPU seconds per iteration, without the time spent on monitoring."""
    import numpy as np

    from eqbench.solver import Budget, Monitor

    budget = Budget(time_s=600, iterations=iterations, target=0)
    monitor = Monitor(game, budget, lambda report: None)
    solver.solve(game, monitor, np.random.default_rng(0))
    return monitor.cpu_s / iterations


def put_together(tree: Any) -> tuple[float, Any]:
    """Seconds that a TreeBuilder takes for the nodes of a tree, and the tree that it makes."""
    import numpy as np

    from eqbench.model.builder import TreeBuilder
    from eqbench.model.tree import CHANCE, TERMINAL

    places = [None, *zip(tree.parent.tolist()[1:], tree.move.tolist()[1:], strict=True)]
    player, infoset, chance = tree.player.tolist(), tree.infoset.tolist(), tree.chance.tolist()
    payoffs = iter(tree.payoffs.base.tolist())
    child = np.searchsorted(tree.parent, np.arange(tree.n_nodes + 1)).tolist()
    start = time.perf_counter()
    builder = TreeBuilder(tree.players)
    for node, place in enumerate(places):
        if player[node] == TERMINAL:
            builder.terminal(place, next(payoffs))
        elif player[node] == CHANCE:
            outcomes = chance[child[node] : child[node + 1]]
            builder.chance(place, [Fraction(c, tree.chance_denominator) for c in outcomes])
        else:
            i = infoset[node]
            builder.decision(place, player[node], tree.infoset_labels[i], tree.infoset_actions[i])
    again = builder.tree()
    return time.perf_counter() - start, again


def peak_bytes() -> int:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    main()
