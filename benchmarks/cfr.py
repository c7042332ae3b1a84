"""Measurements of CFR: beside OpenSpiel and LiteEFG, and from random starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from measuring import cpu_s, solved

from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry, load_game, load_solver
from eqbench.solver import obstacle_of
from eqbench.solvers.cfr import iteration
from eqbench.verification import verify


def goofspiel(cards: int) -> str:
    """OpenSpiel's name of our goofspiel."""
    options = f"imp_info=True,num_cards={cards},points_order=descending"
    return f"turn_based_simultaneous_game(game=goofspiel({options}))"


CFR_PLUS = "cfr_plus(regrets=clipped,averaging=linear,alternating=true)"
# OpenSpiel's name, iterations a repetition, ours and theirs, which take a few hundredths of a
# second and more in large games, and after how many iterations averages are compared.
BESIDE = {
    "kuhn2": ("kuhn_poker(players=2)", 400_000, 2_000, 100),
    "kuhn3": ("kuhn_poker(players=3)", 60_000, 200, 100),
    "kuhn4": ("kuhn_poker(players=4)", 6_000, 40, 100),
    "leduc": ("leduc_poker", 5_000, 10, 100),
    "goofspiel": (goofspiel(4), 30_000, 60, 100),
    "goofspiel(cards=5)": (goofspiel(5), 2_000, 4, 30),
    "liars_dice": ("liars_dice", 400, 1, 10),
}
PREDICTIVE = (
    "pcfr_plus(regrets=clipped,predictive=true,averaging=quadratic,start=random,"
    "alternating={alternating})"
)
FROM_RANDOM = ("cfr(start=random)", "cfr_plus(start=random)", "fictitious_play(start=random)")
RANDOM_GAME = "random_tree(players=3,depth=6,actions=3,information=0,seed={seed})"


def beside_openspiel(repetitions: int, games: Sequence[str] = tuple(BESIDE)) -> dict[str, Any]:
    """CPU time of CFR+ iterations and of NashConv, ours and OpenSpiel's in turns.

    Ours is the time of a whole `solve`, snapshots included. OpenSpiel's includes the Python loop
    that calls its C++ iteration, which is far below a microsecond per call.
    """
    return {"rows": [_compared(name, repetitions) for name in games]}


def _compared(name: str, repetitions: int) -> dict[str, Any]:
    import pyspiel

    their_name, our_iterations, their_iterations, compared = BESIDE[name]
    game, solver = load_game(name), load_solver(CFR_PLUS)
    their_game = pyspiel.load_game(their_name)
    solver.prepare(game)
    theirs = pyspiel.CFRPlusSolver(their_game)
    ours_us, theirs_us = [], []
    for _ in range(repetitions):
        ours = cpu_s(lambda: solved(solver, game, iterations=our_iterations))
        ours_us.append(1e6 * ours / our_iterations)
        other = cpu_s(theirs.evaluate_and_update_policy, their_iterations)
        theirs_us.append(1e6 * other / their_iterations)
    return {
        "game": name,
        "ours_us": ours_us,
        "theirs_us": theirs_us,
        "nash_conv": _nash_convs(solver, game, their_game, compared),
        "nash_conv_us": _nash_conv_times(game, their_game, repetitions),
    }


def _nash_convs(solver: Any, game: Any, their_game: Any, iterations: int) -> dict[str, Any]:
    """NashConv of both averages, ours by our verifier and OpenSpiel's by OpenSpiel."""
    import pyspiel

    theirs = pyspiel.CFRPlusSolver(their_game)
    for _ in range(iterations):
        theirs.evaluate_and_update_policy()
    average = solved(solver, game, iterations=iterations).last("average").profile
    return {
        "iterations": iterations,
        "ours": float(verify(game.tree, average).nash_conv),
        "theirs": pyspiel.nash_conv(their_game, theirs.average_policy()),
    }


def _nash_conv_times(game: Any, their_game: Any, repetitions: int) -> dict[str, list[float]]:
    """CPU microseconds of NashConv of the uniform profile: our kernels, and OpenSpiel."""
    import pyspiel

    model, uniform = game.payoff_model(), BehaviorProfile.uniform(game.tree).probabilities
    theirs = pyspiel.UniformRandomPolicy(their_game)
    model.regrets(uniform)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    count = max(5, 3_000_000 // game.tree.n_nodes)
    for _ in range(repetitions):
        times["ours"].append(1e6 * cpu_s(lambda: model.regrets(uniform), count) / count)
        times["theirs"].append(1e6 * cpu_s(lambda: pyspiel.nash_conv(their_game, theirs)))
    return times


# Iterations a repetition, ours and LiteEFG's, which take some tenths of a second.
BESIDE_LITEEFG = {"kuhn2": (1_000_000, 40_000), "kuhn3": (120_000, 6_000), "leduc": (12_000, 300)}


def beside_liteefg(
    repetitions: int, compared: Sequence[int], games: Sequence[str] = tuple(BESIDE_LITEEFG)
) -> dict[str, Any]:
    """CPU time of CFR+ iterations, ours and LiteEFG's in turns, and NashConv of both averages.

    Both are solvers of the same frame, whose fixed costs are taken off: those of one iteration.
    """
    rows = []
    for name in games:
        game, us, nash_conv = load_game(name), {}, {}
        specs = {"ours": CFR_PLUS, "theirs": "liteefg_cfr_plus(updates=all)"}
        both = {who: load_solver(spec) for who, spec in specs.items()}
        for who, solver in both.items():
            solver.prepare(game)
            averages = (solved(solver, game, iterations=n).last("average") for n in compared)
            nash_conv[who] = [float(verify(game.tree, each.profile).nash_conv) for each in averages]
            us[who] = []
        for _ in range(repetitions):
            for (who, solver), count in zip(both.items(), BESIDE_LITEEFG[name], strict=True):
                first, all_ = (solved(solver, game, iterations=n).monitor.cpu_s for n in (1, count))
                us[who].append(1e6 * (all_ - first) / (count - 1))
        rows.append({"game": name, "nash_conv": nash_conv, "us": us})
    return {"rows": rows}


def random_starts(game: str, starts: int, iterations: int, target: float) -> dict[str, Any]:
    """Verified regrets of last iterates, stopped at the target and after all iterations.

    Times on the clock are those of the whole solve that stops at the target.
    """
    loaded = load_game(game)
    rows = []
    for alternating in (False, True):
        spec = PREDICTIVE.format(alternating=str(alternating).lower())
        solver = load_solver(spec)
        solver.prepare(loaded)
        found = [_start(solver, loaded, seed, iterations, target) for seed in range(starts)]
        rows.append({"solver": spec, "alternating": alternating, "starts": found})
    return {"rows": rows}


def _start(solver: Any, game: Any, seed: int, iterations: int, target: float) -> dict[str, Any]:
    begin = time.perf_counter()
    stopped = solved(solver, game, iterations=iterations, target=target, seed=seed)
    elapsed_s = time.perf_counter() - begin
    to_end = solved(solver, game, iterations=iterations, seed=seed)
    regrets = [
        float(verify(game.tree, found.last("iterate").profile).max_regret)
        for found in (stopped, to_end)
    ]
    return {
        "seed": seed,
        "iterations": stopped.monitor.work,
        "elapsed_s": elapsed_s,
        "max_regret": regrets[0],
        "final_max_regret": regrets[1],
    }


def best_of_starts(starts: int, games: int, iterations: int) -> dict[str, Any]:
    """Max regrets of all starts on three-player Kuhn poker and on a batch of random games.

    A start's result is the smaller of the verified max regrets of what the solver hands over, as
    a share of the payoff range of the game.
    """
    groups = {
        "Kuhn poker (kuhn3)": ["kuhn3"],
        f"mean of {games} random games": [RANDOM_GAME.format(seed=seed) for seed in range(games)],
    }
    return {
        "groups": [
            {
                "title": title,
                "rows": [row for spec in specs for row in _rows(spec, starts, iterations)],
            }
            for title, specs in groups.items()
        ]
    }


def _rows(spec: str, starts: int, iterations: int) -> list[dict[str, Any]]:
    """All starts on one game, a row for each solver."""
    game = load_game(spec)
    rows = []
    for name in FROM_RANDOM:
        solver = load_solver(name)
        regrets = [_least_share(solver, game, seed, iterations) for seed in range(starts)]
        rows.append({"solver": name, "max_regrets": regrets})
    return rows


def last_iterate(
    games: Sequence[str], solvers: Sequence[str], iterations: Sequence[int], most_s: float
) -> dict[str, Any]:
    """Verified NashConv of last iterates, as far as a solve should not take more CPU time."""
    return {"rows": [_last(name, spec, iterations, most_s) for name in games for spec in solvers]}


def _last(name: str, spec: str, iterations: Sequence[int], most_s: float) -> dict[str, Any]:
    game, solver = load_game(name), load_solver(spec)
    row: dict[str, Any] = {"game": name, "solver": spec, "us": None, "nash_conv": []}
    if obstacle_of(solver, game):
        return row
    solved(solver, game, iterations=1)
    for count in iterations:
        begin = time.process_time()
        profile = solved(solver, game, iterations=count).last("iterate").profile
        spent = time.process_time() - begin
        row["nash_conv"].append(float(verify(game.tree, profile).nash_conv))
        row["us"] = 1e6 * spent / count
        if 10 * spent > most_s:
            break
    return row


def _least_share(solver: Any, game: Any, seed: int, iterations: int) -> float:
    handed = solved(solver, game, iterations=iterations, seed=seed).candidates
    regret = min(verify(game.tree, candidate.profile).max_regret for candidate in handed)
    # rounding can leave a regret below zero
    return max(float(regret), 0.0) / game.tree.payoff_range


READ_ITEMS = 120_000_000  # 0.96 GB, more than any cache holds


def by_threads(game: str, repetitions: int, iterations: int) -> dict[str, Any]:
    """Time of CFR+ iterations on one and on two threads, beside reading memory likewise.

    Both are measured in turns, on the clock and as the processors' time over the number of
    threads, which other programs on the machine disturb less.
    """
    instance, spec, _ = default_registry().describe_game(game)
    # with its nodes: large dealt games are products elsewhere
    loaded, solver = Game(spec, instance.build()), load_solver(CFR_PLUS)
    solver.prepare(loaded)
    form, memory = loaded.sequence_form, np.ones(READ_ITEMS)
    sizes = np.diff(loaded.tree.action_start)
    state = iteration.begin(form, np.repeat(1 / sizes, sizes))
    rows: list[dict[str, Any]] = []
    for threads in (1, 2):
        advance = solver._advance(loaded, state, np.random.default_rng(0), threads)
        _reading(memory, threads)()
        rows.append({"threads": threads, "work": (advance, _reading(memory, threads))})
        rows[-1] |= {name: [] for name in ("clock_ms", "cpu_ms", "read_gb_s", "read_cpu_gb_s")}
    for _ in range(repetitions):
        for row in rows:
            advance, read = row["work"]
            clock, cpu = _both_clocks(lambda advance=advance: advance(0, iterations))
            row["clock_ms"].append(1e3 * clock / iterations)
            row["cpu_ms"].append(1e3 * cpu / iterations / row["threads"])
            clock, cpu = _both_clocks(read)
            row["read_gb_s"].append(memory.nbytes / 1e9 / clock)
            row["read_cpu_gb_s"].append(memory.nbytes / 1e9 / cpu * row["threads"])
    for row in rows:
        del row["work"]
    entries = loaded.interleaved
    return {
        "entries": len(form.arrays.weight),
        "bytes": entries.opponents.nbytes + entries.codes.nbytes + entries.weights.nbytes,
        "rows": rows,
    }


def _both_clocks(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of a call on the clock, and of the processors."""
    begin = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


def _reading(memory: Any, threads: int) -> Callable[[], None]:
    """Function that adds up an array, each thread a share of it."""
    import numba

    # so many sums that none waits for another's addition
    add = numba.njit(nogil=True, fastmath=True)(lambda share: share.sum())
    shares = np.array_split(memory, threads)
    add(memory[:1])

    def read() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(add, shares))

    return read
