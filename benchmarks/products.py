"""Measurements of dealt games: CFR+ on trees and on products, next to peers, and large ones solved.

Rivers can go to a peer too, a command that takes both ranges, board, pot, stack, sizes of bets and
of raises, a target as a share of the pot, the most iterations, and after how many it measures. It
prints lines ``iteration N exploitability X``, and ``net X``, what player 1 wins.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from measuring import cpu_s, in_child, peak_bytes, solved

import eqbench
from eqbench.model.dealt_form import promised
from eqbench.model.game import Game
from eqbench.registry import default_registry, load_game, load_solver
from eqbench.solver import Limits
from eqbench.verification import verify

CFR_PLUS = "cfr_plus(regrets=clipped,averaging=linear,alternating=true)"
LITEEFG = "liteefg_cfr_plus(updates=all)"
REPETITION_S, MOST = 0.3, 65_536  # CPU seconds and iterations of a repetition
PATIENCE_S = 20.0  # for what NashConv is compared after
LABELS = {"tree": "tree", "product": "products", "openspiel": "OpenSpiel", "liteefg": "LiteEFG"}
MEASURED = re.compile(r"iteration (\d+) exploitability (\S+)")
PAYOFF = re.compile(r"net (-?[\d.]+)")


# -- Iterations on each path ---------------------------------------------------------------------


def measured(
    games: Sequence[str],
    repetitions: int,
    compared: int,
    most_nodes: Mapping[str, int],
    large: Sequence[Mapping[str, Any]] = (),
    rivers: Sequence[Mapping[str, Any]] = (),
    peer: str = "",
) -> dict[str, Any]:
    """CPU seconds of one CFR+ iteration on each path, large games solved, and a peer on rivers.

    Parameters
    ----------
    compared : after how many iterations NashConv of the averages is compared
    most_nodes : nodes of the tree up to which each path is measured
    large : options of :func:`solved_game`
    rivers : options of :func:`by_peer`
    peer : command as above; none is called if it is empty
    """
    # machine code for small games too, which are not worth compiling otherwise
    os.environ.setdefault("EQBENCH_KERNELS", "machine")
    os.environ.setdefault("RAYON_NUM_THREADS", "1")  # of a peer
    rows = []
    for name in games:
        product = default_registry().describe_game(name)[0].rules().product()
        row = {"game": name, "nodes": product.n_nodes, "public": len(product.parent)}
        row["hands"] = len(product.hands.labels)
        for path, most in most_nodes.items():
            use = product.n_nodes <= most and (path != "openspiel" or openspiel_name(name))
            given = {"name": name, "path": path, "repetitions": repetitions, "compared": compared}
            row[path] = in_child("products:on_path", **given) if use else None
        rows.append(row)
    return {
        "rows": rows,
        "large": [in_child("products:solved_game", **each) for each in large],
        "peer": [by_peer(peer, **each) for each in rivers] if peer else [],
    }


def on_path(name: str, path: str, repetitions: int, compared: int) -> dict[str, Any]:
    """What CFR+ costs on one path in this process: CPU seconds, and bytes at most."""
    if path == "openspiel":
        return _openspiel(name, repetitions, compared)
    spec = LITEEFG if path == "liteefg" else CFR_PLUS
    for small in ("kuhn2", "kuhn3"):  # loads and compiles everything
        eqbench.solve(small, spec, Limits(iterations=10))
    before, start = peak_bytes(), time.process_time()
    game, solver = game_on(path, name), load_solver(spec)
    solver.prepare(game)
    first_s = solved(solver, game, iterations=1).monitor.cpu_s  # fixed costs too
    setup_s, count = time.process_time() - start, 2
    least_s = max(REPETITION_S, first_s / 2)  # above the scatter of fixed costs
    while count < MOST and solved(solver, game, iterations=count).monitor.cpu_s - first_s < least_s:
        count *= 4
    iteration_s = []
    for _ in range(repetitions):
        first_s, all_s = (solved(solver, game, iterations=n).monitor.cpu_s for n in (1, count))
        iteration_s.append((all_s - first_s) / (count - 1))
    found = {"setup_s": setup_s, "iteration_s": iteration_s}
    found |= {"python_bytes": before, "peak_bytes": peak_bytes(), "nash_conv": None}
    if compared * median(iteration_s) < PATIENCE_S:
        average = solved(solver, game, iterations=compared).last("average").profile
        found["nash_conv"] = float(verify(game.tree, average).nash_conv)
    return found


def game_on(path: str, name: str) -> Game:
    """A dealt game on products, or with the nodes of its tree."""
    instance, spec, _ = default_registry().describe_game(name)
    if path != "product":
        return Game(spec, instance.build())
    tree = promised(instance.rules().product(), 0)  # whose nodes must not be built
    assert tree is not None
    return Game(spec, tree)


def _openspiel(name: str, repetitions: int, compared: int) -> dict[str, Any]:
    import pyspiel

    before, start = peak_bytes(), time.process_time()
    game = pyspiel.load_game(*openspiel_name(name))
    solver = pyspiel.CFRPlusSolver(game)
    setup_s = time.process_time() - start
    count = max(1, int(REPETITION_S / cpu_s(solver.evaluate_and_update_policy)))
    iteration_s = [
        cpu_s(solver.evaluate_and_update_policy, count) / count for _ in range(repetitions)
    ]
    found = {"setup_s": setup_s, "iteration_s": iteration_s}
    found |= {"python_bytes": before, "peak_bytes": peak_bytes(), "nash_conv": None}
    if compared * median(iteration_s) < PATIENCE_S:
        solver = pyspiel.CFRPlusSolver(game)
        for _ in range(compared):
            solver.evaluate_and_update_policy()
        found["nash_conv"] = pyspiel.nash_conv(game, solver.average_policy())
    return found


def openspiel_name(name: str) -> tuple[Any, ...]:
    """OpenSpiel's name of our Kuhn or Leduc poker, and options where it takes universal_poker.

    Empty beyond 13 ranks, where universal_poker crashes.
    """
    game = default_registry().describe_game(name)[0]
    leduc, players = hasattr(game, "ranks"), game.players
    ranks = game.ranks if leduc else game.cards
    if ranks == players + 1:
        return (f"{'leduc' if leduc else 'kuhn'}_poker(players={players})",)
    if ranks > 13:
        return ()
    rounds = 2 if leduc else 1
    return "universal_poker", {
        "betting": "limit",
        "numPlayers": players,
        "numRounds": rounds,
        "blind": " ".join("1" * players),
        "raiseSize": "2 4" if leduc else "1",
        "firstPlayer": " ".join("1" * rounds),
        "maxRaises": "2 2" if leduc else "1",
        "numSuits": rounds,
        "numRanks": ranks,
        "numHoleCards": 1,
        "numBoardCards": "0 1" if leduc else "0",
    }


# -- Large games ---------------------------------------------------------------------------------


def solved_game(game: str, pot: float, share: float) -> dict[str, Any]:
    """Solve a game by CFR+ in this process until NashConv is at most a share of the pot."""
    before, start = peak_bytes(), time.process_time()
    loaded = load_game(game)
    solver = load_solver(CFR_PLUS)
    solver.prepare(loaded)
    setup_s = time.process_time() - start
    target = share * pot / loaded.tree.n_players  # of the largest regret
    start = time.process_time()
    found = solved(solver, loaded, target=target)
    solve_s, middle = time.process_time() - start, peak_bytes()
    average = found.last("average").profile
    start = time.process_time()
    measured = verify(loaded.tree, average)
    verify_s = time.process_time() - start
    return {
        "game": game,
        "pot": pot,
        "share": share,
        "nodes": loaded.tree.n_nodes,
        "infosets": loaded.tree.n_infosets,
        "ended": found.ended.reason,
        "iterations": found.monitor.work,
        "setup_s": setup_s,
        "solve_s": solve_s,
        "verify_s": verify_s,
        "nash_conv": float(measured.nash_conv),
        "payoffs": [float(value) for value in measured.payoffs],
        "python_bytes": before,
        "solving_bytes": middle,
        "peak_bytes": peak_bytes(),
    }


def by_peer(
    peer: str, game: str, words: Sequence[str], pot: float, share: float, every: int = 50
) -> dict[str, Any]:
    """What a peer takes for a river until NashConv is at most a share of the pot.

    Parameters
    ----------
    words : ranges of both players, board, pot, stack, sizes of bets and of raises, for the peer
    every : iterations between measurements of the gains
    """
    # its exploitability is the mean of both gains, of which NashConv is the sum
    given = [*shlex.split(peer), *words, str(share / 2), "100000", str(every)]
    start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    text = subprocess.run(given, stdout=subprocess.PIPE, check=True, text=True).stdout
    solve_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
    *_, (iterations, exploitability) = MEASURED.findall(text)
    return {
        "game": game,
        "iterations": int(iterations),
        "solve_s": solve_s,
        "nash_conv": 2 * float(exploitability),
        "payoff": float(PAYOFF.findall(text)[-1]),
        "pot": pot,
    }


# -- The figure ----------------------------------------------------------------------------------


def growth(data: Mapping[str, Any]) -> None:
    """Draw the time of an iteration on each path against ranks and cards, a panel for each game."""
    from figures import FOLDER, LOOKS

    from eqbench.plots.style import Panel, draw_figure, line, save_figure
    from eqbench.report import COLORS

    by_kind: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for row in data["rows"]:
        kind, size = re.fullmatch(r"(.*),(?:cards|ranks)=(\d+)\)", row["game"]).groups()
        by_kind.setdefault(kind, []).append((int(size), row))
    panels = []
    for kind, rows in by_kind.items():
        name, players = kind.split("(players=")
        series = []
        for path, color, look in zip(data["most_nodes"], COLORS, LOOKS, strict=False):
            points = [(n, 1e3 * median(row[path]["iteration_s"])) for n, row in rows if row[path]]
            series += (
                [line(*zip(*points, strict=True), color, LABELS[path], **look)] if points else []
            )
        words = ("cards" if name == "kuhn" else "ranks", "" if panels else "CPU ms an iteration")
        ticks = [n for n, _ in rows]
        settings = {"xscale": "log", "yscale": "log"}
        title = f"{name}, {players} players"
        panels.append((Panel(series, *words, title, settings), ticks))
    figure = draw_figure([each for each, _ in panels], 7.2, 3.4, len(panels), sharey=True)
    for ax, (_, ticks) in zip(figure.axes, panels, strict=True):
        ax.set_xticks(ticks, [str(n) for n in ticks])
        ax.set_xticks([], minor=True)
    save_figure(figure, FOLDER / "products.svg")
