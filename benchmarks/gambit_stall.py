"""Where Gambit's tracer of logit equilibria stops on three-player Kuhn poker, and why.

    python benchmarks/gambit_stall.py

The tracer takes uniform beliefs at an information set whose probability is no longer a float64.
Where beliefs do not matter, as with the highest card, that changes nothing; elsewhere it changes
values of actions at once. From our own path, which is followed in logarithms, this script
computes where that must happen first, and then lets Gambit run.

To tell this from a property of the branch, a chance move is put before the game: with probability
q it is played, else everybody gets 0. Values that are conditional on reaching an information set
do not change, so neither does the branch, whatever q is. All that changes is how probable it is
to reach an information set. So the tracer must stop at one lambda for all q if the branch makes
it stop, and the earlier the smaller q is if underflow does.

q is a product of 30-bit moves, since a single tiny probability makes Gambit's first step fail.
"""

from __future__ import annotations

import argparse
import math
import re
from importlib import metadata
from typing import Any

import numpy as np
from measuring import use_one_thread, write_results

GAME = "kuhn3"
BITS = 30
MOVES = (0, 1, 2, 3, 4, 6, 8)
# exp(x) is 0 below: half of the smallest float64 is rounded to 0
LOG_ZERO = -1075 * math.log(2)
# Gambit lengthens each step by this factor, so that lambda is known to about 2 %.
MAX_ACCEL = 1.02
# The longest correction that it accepts, in log probabilities.
MAX_DISTANCE = 0.4
BEYOND = 1e6
WHERE = [250.0 * k for k in range(8, 80)]


def main() -> None:
    """Predict and measure where Gambit stops, print both, and write the raw results."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    use_one_thread()
    from eqbench.registry import load_game, load_solver

    tree = load_game(GAME).tree
    solver = load_solver(f"logit(stop_lambda={BEYOND:.0f})")
    path = solver.branch(load_game(GAME), at=WHERE)
    sets = [row for i in range(tree.n_infosets) if (row := underflow(tree, path, i, 0.0))]
    for row in sets:
        print(
            f"{row['infoset']}: underflow at lambda {row['lambda']:,.0f}, value difference "
            f"{row['difference']:+.4f}, with uniform beliefs {row['uniform']:+.4f}"
        )
    critical = [i for i in range(tree.n_infosets) if matters(underflow(tree, path, i, 0.0))]
    rows = []
    for moves in MOVES:
        shift = -moves * BITS * math.log(2)
        predicted = min(underflow(tree, path, i, shift)["lambda"] for i in critical)
        measured = gambit_stop(tree, moves)
        rows.append({"log2_q": -BITS * moves, "predicted": predicted} | measured)
        print(
            f"q = 2^-{BITS * moves}: predicted {predicted:,.0f}, Gambit's last point "
            f"{measured['last']:,.0f}, refused {measured['refused']:,.0f}"
        )
    ours = {
        "lambda": float(path.lambdas[-1]),
        "max_regret": float(load_game(GAME).payoff_model().regrets(path.behavior[-1]).max()),
        "turns": len(path.turns),
    }
    versions = {"pygambit": metadata.version("pygambit")}
    settings = {"game": GAME, "max_accel": MAX_ACCEL}
    write_results(
        "gambit_stall", {**settings, **versions, "ours": ours, "sets": sets, "rows": rows}
    )


def underflow(tree: Any, path: Any, infoset: int, shift: float) -> dict[str, Any]:
    """Where the probability of an information set becomes 0, and what its value differences are.

    Empty if that is nowhere before the end. `shift` is added to logarithms of probabilities.
    """
    nodes = np.flatnonzero(tree.infoset == infoset)
    reach = np.array([log_reach(tree, row)[nodes] for row in path.log_probabilities])
    total = np.logaddexp.reduce(reach, axis=1) + shift
    below = np.flatnonzero(total < LOG_ZERO)
    if len(below) == 0:
        return {}
    point = int(below[0])
    near = slice(point - 1, point + 1)
    gains = value_differences(tree, path.log_probabilities[point], nodes)
    beliefs = np.exp(reach[point] - np.logaddexp.reduce(reach[point]))
    return {
        "infoset": f"{tree.players[tree.infoset_player[infoset]]} {tree.infoset_labels[infoset]}",
        "lambda": float(np.interp(-LOG_ZERO, -total[near], path.lambdas[near])),
        "difference": float(beliefs @ gains),
        "uniform": float(gains.mean()),
    }


def matters(row: dict[str, Any]) -> bool:
    """Whether uniform beliefs change the log-odds there by more than the tracer corrects."""
    return bool(row) and row["lambda"] * abs(row["uniform"] - row["difference"]) > MAX_DISTANCE


def log_reach(tree: Any, log_behavior: Any) -> Any:
    """Logarithm of the probability of each node, (M,)."""
    reach = np.log(tree.chance_probability)
    decided = tree.incoming >= 0
    reach[decided] = log_behavior[tree.incoming[decided]]
    for level in tree.levels[1:]:
        reach[level] += reach[tree.parent[level]]
    return reach


def value_differences(tree: Any, log_behavior: Any, nodes: Any) -> Any:
    """How much better the second action is than the first at each of some nodes."""
    move = tree.chance_probability.copy()
    decided = tree.incoming >= 0
    move[decided] = np.exp(log_behavior[tree.incoming[decided]])
    values = np.zeros((tree.n_nodes, tree.n_players))
    values[tree.terminals] = tree.payoffs.table
    for level in reversed(tree.levels[1:]):
        np.add.at(values, tree.parent[level], move[level][:, None] * values[level])
    child = np.searchsorted(tree.parent, nodes)
    return (values[child + 1] - values[child])[:, tree.player[nodes[0]]]


def gambit_stop(tree: Any, moves: int) -> dict[str, float]:
    """Last point that Gambit accepts, and the first that it refuses."""
    import io

    import pygambit

    from eqbench.model.gambit_text import efg_text

    text = with_chance(efg_text(tree), moves)
    events: list[Any] = []
    pygambit.qre.logit_solve_lambda(
        pygambit.read_efg(io.StringIO(text)),
        [BEYOND],
        max_accel=MAX_ACCEL,
        event_callback=events.append,
    )
    kind = {name: getattr(pygambit.gambit, f"Logit{name}Event") for name in ("Path", "Bifurcation")}
    points = [event.qre.lam for event in events if isinstance(event, kind["Path"])]
    refused = [event.after.lam for event in events if isinstance(event, kind["Bifurcation"])]
    return {"last": points[-1], "refused": refused[-1] if refused else math.nan, "n": len(points)}


def with_chance(text: str, moves: int) -> str:
    """Text of a game behind so many chance moves, each of which lets it be played with 2^-30."""
    header, comment, *body = text.splitlines()
    shifted = [re.sub(r'^c "" (\d+)', lambda m: f'c "" {int(m[1]) + moves}', line) for line in body]
    share = f'"play" 1/{2**BITS} "end" {2**BITS - 1}/{2**BITS}'
    before = [f'c "" {move} "" {{ {share} }} 0' for move in range(1, moves + 1)]
    return "\n".join(
        [header, comment, *before, *shifted, *['t "" 1000 "" { 0, 0, 0 }'] * moves, ""]
    )


if __name__ == "__main__":
    main()
