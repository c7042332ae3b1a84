"""Measurements beside Gambit: its path of logit equilibria and ours, its catalog, where it stops.

Where Gambit stops: its tracer takes uniform beliefs at an information set whose probability is no
longer a float64. Where beliefs do not matter, as with the highest card, that changes nothing;
elsewhere it changes values of actions at once. From our own path, which is followed in logarithms,
`stall` computes where that must happen first, and then lets Gambit run.

To tell this from a property of the branch, a chance move is put before the game: with probability
q it is played, else everybody gets 0. Values that are conditional on reaching an information set
do not change, so neither does the branch, whatever q is. All that changes is how probable it is
to reach an information set. So the tracer must stop at one lambda for all q if the branch makes
it stop, and the earlier the smaller q is if underflow does.
"""

from __future__ import annotations

import importlib
import io
import math
import re
import tempfile
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from measuring import cpu_s, eqbench_json, solved
from msgspec import to_builtins

from eqbench.errors import EqbenchError
from eqbench.model.gambit_text import efg_text
from eqbench.registry import load_game, load_solver
from eqbench.studies.frame import answer
from eqbench.studies.qre import QuantalStudy
from eqbench.studies.requests import QuantalRequest

KUHN = ("kuhn2", "kuhn3_reduced", "kuhn3")
END = 1e6
COMPARED_AT = (1.0, 10.0, 100.0, 1000.0, 10_000.0)
TIMED_TO = 1000.0
IN_A_ROW = 20  # which take about as long as one of Gambit's
REACHED = (
    *("kuhn2", "kuhn3_reduced", "kuhn3", "kuhn4", "kuhn(players=3,cards=6)", "skp", "leduc"),
    *("goofspiel", "jordan", "shapley", "random_tree", "travelers_dilemma(highest=10)"),
    *(f"random(players=3,actions=4,seed={seed})" for seed in range(10)),
)
RANDOM = "kuhn3"
# q is a product of 30-bit moves, since a single tiny probability makes Gambit's first step fail.
BITS = 30
# exp(x) is 0 below: half of the smallest float64 is rounded to 0
LOG_ZERO = -1075 * math.log(2)
# The longest correction that Gambit accepts, in log probabilities.
MAX_DISTANCE = 0.4
WHERE = [250.0 * k for k in range(8, 80)]
# Of the catalog's games those of at most so many players and nodes are solved.
SUFFIXES, PLAYERS, NODES = (".efg", ".nfg"), 3, 20_000
CATALOG_SOLVERS = "all,gambit_all"


def _to_gambit(game: Any) -> Any:
    return importlib.import_module("eqbench.solvers.gambit").to_gambit(game)


# -- Its catalog ---------------------------------------------------------------------------------


def catalog(timeout: float, most_games: int | None = None) -> dict[str, Any]:
    """All games that come with pygambit: their sizes and how cells ended, or why one is refused."""
    with as_file(files("pygambit") / "catalog_data") as folder:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
        names = {path: str(path.relative_to(folder)) for path in paths[:most_games]}
        return {"rows": [catalog_game(path, name, timeout) for path, name in names.items()]}


def catalog_game(path: Path, name: str, timeout: float) -> dict[str, Any]:
    """Sizes of a game and how its cells ended, or why it is refused."""
    try:
        tree = load_game(str(path)).tree
    except EqbenchError as error:
        return {"game": name, "refused": type(error).__name__}
    sizes = {"players": tree.n_players, "nodes": tree.n_nodes, "infosets": tree.n_infosets}
    if tree.n_players > PLAYERS or tree.n_nodes > NODES:
        return {"game": name, **sizes}
    asked = ("--game", str(path), "--solver", CATALOG_SOLVERS, "--timeout", str(timeout))
    with tempfile.TemporaryDirectory() as folder:
        cells = eqbench_json("run", *asked, "--out", f"{folder}/run")["cells"]
    kept = [{"solver": cell["solver"], "status": cell["status"]} for cell in cells]
    return {"game": name, **sizes, "cells": kept}


# -- Logit equilibria ----------------------------------------------------------------------------


def logit_path(repetitions: int, games: Sequence[str] = KUHN) -> dict[str, Any]:
    """CPU time of Gambit's path, called directly and through eqbench, in turns.

    Directly means `pygambit.qre.logit_solve_lambda` on a game that is already in Gambit, without a
    callback. Through eqbench means the whole `solve` of `gambit_logit_path`: conversion of the
    game, the same path with a callback at every point, snapshots and their regrets. Building the
    game, imports and compilation are left out of both.
    """
    return {"rows": [_both_ways(name, repetitions) for name in games]}


def _both_ways(name: str, repetitions: int) -> dict[str, Any]:
    from pygambit.qre import logit_solve_lambda

    game, solver = load_game(name), load_solver(f"gambit_logit_path(end={END:g})")
    solver.prepare(game)
    theirs = _to_gambit(game).game
    directly, through, runs = [], [], []
    for _ in range(repetitions):
        directly.append(cpu_s(lambda: logit_solve_lambda(theirs, [END], max_accel=1.1)))
        through.append(cpu_s(lambda: runs.append(solved(solver, game))))
    figures = runs[-1].monitor.statistics
    return {
        "game": name,
        "directly_s": directly,
        "through_eqbench_s": through,
        "lambda": figures["lambda"],
    }


def logit(
    repetitions: int,
    branches: int,
    games: Sequence[str] = KUHN,
    reached: Sequence[str] = REACHED,
) -> dict[str, Any]:
    """Agreement with Gambit, cost beside it, and how far our branches go.

    How far principal branches go, and branches from random priors on three-player Kuhn poker, with
    the regret on the branch and that of the equilibrium near its end, measured by the verifier.
    """
    random = _summary(RANDOM, branches)
    drawn = [{"seed": own["seed"], "cpu_s": own["cpu_s"]} for own in random["branches"][1:]]
    return {
        "compared": [_compared(name, repetitions) for name in games],
        "reached": [_summary(name, 0)["branches"][0] | {"game": name} for name in reached],
        "random": {"game": RANDOM, **random["random"], "branches": drawn},
    }


def _compared(name: str, repetitions: int) -> dict[str, Any]:
    """CPU seconds of both to `TIMED_TO`, in turns, and how much their frequencies differ.

    Ours is the whole `branch`, once right after Gambit, whose work has filled the caches of the
    processor, and then the mean of several in a row.
    """
    from pygambit.qre import logit_solve_lambda

    game = load_game(name)
    theirs = _to_gambit(game)
    ours = load_solver(f"logit(stop_lambda={TIMED_TO:.0f})")
    ours.prepare(game)
    times: dict[str, list[float]] = {"ours_s": [], "first_s": [], "gambit_s": []}
    for _ in range(repetitions):
        times["gambit_s"].append(cpu_s(lambda: logit_solve_lambda(theirs.game, [TIMED_TO])))
        times["first_s"].append(cpu_s(lambda: ours.branch(game)))
        times["ours_s"].append(cpu_s(lambda: ours.branch(game), IN_A_ROW) / IN_A_ROW)
    path = load_solver(f"logit(stop_lambda={COMPARED_AT[-1]:.0f})").branch(game, at=COMPARED_AT)
    points = logit_solve_lambda(theirs.game, list(COMPARED_AT))
    gaps = [
        float(np.abs(path.behavior[k] - theirs.behavior(point.profile).probabilities).max())
        for k, point in zip(path.landings, points, strict=True)
    ]
    return {"game": name, **times, "at": list(COMPARED_AT), "differences": gaps}


def _summary(name: str, branches: int) -> dict[str, Any]:
    """Summary of `eqbench qre` for a game."""
    found: dict[str, Any] = to_builtins(
        answer(QuantalStudy(QuantalRequest(game=name, branches=branches)))
    )
    return found


# -- Where its tracer stops ----------------------------------------------------------------------


def stall(
    game: str, max_accel: float, moves: Sequence[int] = (0, 1, 2, 3, 4, 6, 8)
) -> dict[str, Any]:
    """Predict the lambda at which Gambit stops behind so many chance moves, and let it run.

    Gambit lengthens each step by `max_accel`, so that lambda is known to that.
    """
    loaded = load_game(game)
    tree, path = loaded.tree, load_solver(f"logit(stop_lambda={END:.0f})").branch(loaded, at=WHERE)
    sets = {i: row for i in range(tree.n_infosets) if (row := _underflow(tree, path, i, 0.0))}
    # where uniform beliefs change the log-odds by more than the tracer corrects
    critical = [
        i
        for i, row in sets.items()
        if row["lambda"] * abs(row["uniform"] - row["difference"]) > MAX_DISTANCE
    ]
    rows = []
    for count in moves:
        shift = -count * BITS * math.log(2)
        predicted = min(_underflow(tree, path, i, shift)["lambda"] for i in critical)
        stop = _gambit_stop(tree, count, max_accel)
        rows.append({"log2_q": -BITS * count, "predicted": predicted} | stop)
    regrets = loaded.payoff_model().regrets(path.behavior[-1])
    ours = {"lambda": float(path.lambdas[-1]), "max_regret": float(regrets.max())}
    ours["turns"] = len(path.turns)
    return {"ours": ours, "sets": list(sets.values()), "rows": rows}


def _underflow(tree: Any, path: Any, infoset: int, shift: float) -> dict[str, Any]:
    """Find the lambda at which the probability of an information set becomes 0.

    The differences of its values are those there. Empty if that is nowhere before the end. `shift`
    is added to logarithms of probabilities.
    """
    nodes = np.flatnonzero(tree.infoset == infoset)
    reach = np.array([_log_reach(tree, row)[nodes] for row in path.log_probabilities])
    total = np.logaddexp.reduce(reach, axis=1) + shift
    below = np.flatnonzero(total < LOG_ZERO)
    if len(below) == 0:
        return {}
    point = int(below[0])
    near = slice(point - 1, point + 1)
    gains = _value_differences(tree, path.log_probabilities[point], nodes)
    beliefs = np.exp(reach[point] - np.logaddexp.reduce(reach[point]))
    return {
        "infoset": f"{tree.players[tree.infoset_player[infoset]]} {tree.infoset_labels[infoset]}",
        "lambda": float(np.interp(-LOG_ZERO, -total[near], path.lambdas[near])),
        "difference": float(beliefs @ gains),
        "uniform": float(gains.mean()),
    }


def _log_moves(tree: Any, log_behavior: Any) -> Any:
    """Logarithm of the probability of the move into each node, (M,)."""
    moves = np.log(tree.chance_probability)
    decided = tree.incoming >= 0
    moves[decided] = log_behavior[tree.incoming[decided]]
    return moves


def _log_reach(tree: Any, log_behavior: Any) -> Any:
    """Logarithm of the probability of each node, (M,)."""
    reach = _log_moves(tree, log_behavior)
    for level in tree.levels[1:]:
        reach[level] += reach[tree.parent[level]]
    return reach


def _value_differences(tree: Any, log_behavior: Any, nodes: Any) -> Any:
    """Gain of the second action over the first at each of some nodes."""
    move = np.exp(_log_moves(tree, log_behavior))
    values = np.zeros((tree.n_nodes, tree.n_players))
    values[tree.terminals] = tree.payoffs.table
    for level in reversed(tree.levels[1:]):
        np.add.at(values, tree.parent[level], move[level][:, None] * values[level])
    child = np.searchsorted(tree.parent, nodes)
    return (values[child + 1] - values[child])[:, tree.player[nodes[0]]]


def _gambit_stop(tree: Any, moves: int, max_accel: float) -> dict[str, float]:
    """Last point that Gambit accepts, and the first that it refuses."""
    import pygambit

    game = pygambit.read_efg(io.StringIO(_with_chance(efg_text(tree), moves)))
    events: list[Any] = []
    pygambit.qre.logit_solve_lambda(game, [END], max_accel=max_accel, event_callback=events.append)
    kind = {name: getattr(pygambit.gambit, f"Logit{name}Event") for name in ("Path", "Bifurcation")}
    points = [event.qre.lam for event in events if isinstance(event, kind["Path"])]
    refused = [event.after.lam for event in events if isinstance(event, kind["Bifurcation"])]
    return {"last": points[-1], "refused": refused[-1] if refused else math.nan}


def _with_chance(text: str, moves: int) -> str:
    """Text of a game behind so many chance moves, each of which lets it be played with 2^-30."""
    header, comment, *body = text.splitlines()
    shifted = [re.sub(r'^c "" (\d+)', lambda m: f'c "" {int(m[1]) + moves}', line) for line in body]
    share = f'"play" 1/{2**BITS} "end" {2**BITS - 1}/{2**BITS}'
    before = [f'c "" {move} "" {{ {share} }} 0' for move in range(1, moves + 1)]
    return "\n".join(
        [header, comment, *before, *shifted, *['t "" 1000 "" { 0, 0, 0 }'] * moves, ""]
    )
