"""Measurements of branches: what they cost, how many equilibria coexist, what many cards do.

A branch of three-player Kuhn poker is that of Billingham 2018, from just below the least pot at
which anybody can gain.
"""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measuring import cpu_s, in_child, peak_bytes, repeated_us

import eqbench
from eqbench.equilibria.dimension import local_dimension
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.registry import load_game, load_solver
from eqbench.solver import warm_up
from eqbench.studies.branch import crossing_counts, read_points
from eqbench.studies.kuhn_ranges import NODES, KuhnNodes, held
from eqbench.studies.trace.study import in_the_middle_of_most
from eqbench.verification import verify

LEDUC = {"game": "leduc", "epsilon": 1e-9, "repetitions": 3}
STARTS = {"game": "kuhn3", "epsilon": 1e-7, "starts": 100}
# Folds that are made exact in each case, and points that are followed before the clock starts.
MOST_FOLDS, WARM_UP = 10, 12
# Ends and folds that are no further apart count as one, since a regularized branch winds where it
# is nearly vertical, and more so for larger epsilon; with the narrow one hardly any do.
TOLERANCE, NARROW = 1e-4, 1e-6
LAST_POT = 16
POTS = {4: "4.19", 5: "5.202", 10: "3.5"}
# "up to" so many, §5 and §5.2; 24 is said of a neighborhood of one pot in Figures 11 and 12.
PAPER, PAPER_MOST = {"4": 3, "5": 5, "10": 15}, 24


def kuhn(cards: int, pot: int | None = None) -> str:
    """Three-player Kuhn poker with the reductions of Billingham 2018, §2."""
    own = "" if pot is None else f",pot={pot}"
    return f"kuhn(players=3,cards={cards},reduce=billingham{own})"


def first_pot(cards: int) -> float:
    """First pot of a branch, below 2/(N-3), the least at which anybody can gain (§2)."""
    return 0.9 * 2 / (cards - 3)


class Case(NamedTuple):
    """A branch over a range of the pot, and the seconds and MiB that it is meant to stay below."""

    game: str
    first: float
    last: float
    epsilon: float
    goals: dict[str, float]


CASES = (
    Case("skp", 2, 6, 1e-9, {"cpu_s": 1}),
    Case(kuhn(4), 2, 16, 1e-7, {"cpu_s": 1}),
    Case(kuhn(5), first_pot(5), 16, 1e-7, {}),
    Case(kuhn(8), first_pot(8), 16, 1e-7, {}),
    Case(kuhn(10), first_pot(10), 16, 1e-7, {"cpu_s": 15}),
    Case(kuhn(13), first_pot(13), 16, 1e-7, {"cpu_s": 60}),
    Case(kuhn(26), first_pot(26), 10, 1e-6, {"cpu_s": 180, "peak_MiB": 500}),
    Case(kuhn(52), first_pot(52), 10, 1e-4, {"cpu_s": 480}),
    Case("kuhn(players=4,cards=6)", 1, 8, 1e-4, {"cpu_s": 60}),
    Case("kuhn(players=3,cards=4,raises=1)", 2, 8, 1e-6, {}),
    Case(kuhn(104), first_pot(104), 10, 1e-4, {"cpu_s": 1800}),
)
MOST_NODES = 30_000_000


# -- Costs ---------------------------------------------------------------------------------------


def arclength_cost(
    cases: Sequence[int] = range(len(CASES)), starts: int = 100, *, leduc: bool = True
) -> dict[str, Any]:
    """Measure branches, homotopies from random starts, and that of Leduc poker.

    Each case has a process of its own, and all kernels are compiled before the clock starts.
    """
    found = {"branches": [in_child("branches:follow_branch", case=case) for case in cases]}
    if starts:
        found["starts"] = in_child("branches:random_starts", **STARTS | {"starts": starts})
    if leduc:
        found["leduc"] = in_child("branches:homotopies", **LEDUC)
    return found


def follow_branch(case: int) -> dict[str, Any]:
    """Follow a branch; times in CPU seconds, memory in bytes.

    A branch costs the time from nothing to the other end of its range. What it takes to make a
    fold exact is measured apart, at some folds.
    """
    game, first, last, epsilon, goals = CASES[case]
    loaded = load_game(game, max_nodes=MOST_NODES)
    solver = _prepared(loaded, epsilon)
    warm = solver.continuation(loaded)
    for _ in zip(range(WARM_UP), warm.follow(warm.start(first)), strict=False):
        pass
    continuation = solver.continuation(loaded)
    before, begin = peak_bytes(), time.process_time()
    point = continuation.start(first)
    folds, direction = [], 1.0
    for after in continuation.follow(point):
        if direction * after.direction < 0:
            folds.append((point, after))
        point, direction = after, after.direction
        if not first <= point.value <= last:
            break
    cpu_seconds = time.process_time() - begin
    work, peak = continuation.statistics, peak_bytes()
    some = folds[:: -(-len(folds) // MOST_FOLDS)] if folds else []
    return {
        "game": game,
        "range": [first, last],
        "reached": point.value,
        "epsilon": epsilon,
        "goals": goals,
        "free": continuation.system.choices.size,
        "cpu_s": cpu_seconds,
        **work,
        "folds": len(folds),
        "exact_fold_s": [cpu_s(lambda ends=ends: continuation.fold(*ends)) for ends in some],
        "python_bytes": before,
        "peak_bytes": peak,
        "parts_us": _parts(continuation, point),
    }


def _prepared(game: Any, epsilon: float) -> Any:
    """The solver, its kernels compiled for a game."""
    solver = load_solver(f"arclength(epsilon={epsilon})")
    solver.prepare(game)
    warm_up(game)
    return solver


def _parts(continuation: Any, point: Any) -> dict[str, list[float]]:
    """CPU microseconds of the parts of a factorization, several repetitions each.

    The evaluation contains the derivatives of the game.
    """
    from scipy.linalg import lapack

    system, value = continuation.system, point.value
    z = point.state["y"][:-1]
    _, matrix = system.evaluate(z, continuation.epsilon, value)
    # any border makes as much work
    matrix[-1] = matrix[:, -1] = np.linspace(1.0, 2.0, len(matrix))
    return {
        "derivatives": repeated_us(lambda: system.linearize(point.behavior, value)),
        "evaluation": repeated_us(lambda: system.evaluate(z, continuation.epsilon, value)),
        # the copy stands for the matrix that is made anew each time
        "lu": repeated_us(lambda: lapack.dgetrf(matrix.T)),
    }


def random_starts(game: str, epsilon: float, starts: int) -> dict[str, Any]:
    """Time of homotopies from random weights to polished profiles, and their max regrets."""
    loaded = load_game(game)
    continuation = _prepared(loaded, epsilon).continuation(loaded)
    value = float(loaded.tree.payoffs.value)

    def polished(seed: int) -> Any:
        start = continuation.start(value, np.random.default_rng(seed))
        return continuation.polish(start, value)[0]

    polished(0)
    times, regrets = [], []
    for seed in range(starts):
        begin = time.process_time()
        behavior = polished(seed)
        times.append(time.process_time() - begin)
        regrets.append(float(_verified(loaded, behavior).max_regret))
    settings = {"game": game, "epsilon": epsilon, "starts": starts}
    return settings | {"cpu_s": times, "max_regrets": regrets}


def _verified(game: Any, behavior: Any) -> Any:
    return verify(game.tree, BehaviorProfile.of(game.tree, behavior))


def homotopies(game: str, epsilon: float, repetitions: int) -> dict[str, Any]:
    """Time of a homotopy and of polishing its end, and the verified regrets of both profiles."""
    loaded = load_game(game)
    _prepared(loaded, epsilon)
    homotopy, homotopy_s, polish_s = _inside("continuation"), [], []
    for _ in range(repetitions):
        system = _inside("regularization").RegularizedGame(loaded)
        begin = time.process_time()
        z = homotopy.descend(system, system.parameter, epsilon)
        homotopy_s.append(time.process_time() - begin)
        start = system.frequencies(z, epsilon).behavior
        begin = time.process_time()
        end = homotopy.polished_end(system, system.parameter, epsilon, z)
        polish_s.append(time.process_time() - begin)
    return {
        "game": game,
        "epsilon": epsilon,
        "homotopy_s": homotopy_s,
        "polish_s": polish_s,
        "factorizations": system.counts["factorizations"],
        "nash_conv_before": float(_verified(loaded, start).nash_conv),
        "max_regret_after": float(_verified(loaded, end.behavior).max_regret),
    }


def _inside(name: str) -> Any:
    """A module of the solver's package, which the solver's contract does not offer."""
    return importlib.import_module(f"eqbench.solvers.arclength.{name}")


# -- How many coexist ----------------------------------------------------------------------------


def coexisting(decks: Sequence[int], epsilons: Sequence[float], starts: int) -> dict[str, Any]:
    """Points of branches at one pot by the number of cards, and equilibria beside them.

    Looked at is the middle of the widest interval in which a branch has most points at one pot,
    and the pots in `POTS`; there `eqbench trace` polishes and verifies, and around each equilibrium
    the dimension of the set of equilibria is measured.
    """
    rows = [_traced(cards, epsilon, starts) for epsilon in epsilons for cards in decks]
    bounds = {"tolerance": TOLERANCE, "narrow": NARROW}
    return {**bounds, "paper": PAPER, "paper_most": PAPER_MOST, "rows": rows}


def _traced(cards: int, epsilon: float, starts: int) -> dict[str, Any]:
    """Follow a branch to count its points, then again to look at some pots."""
    game = load_game(kuhn(cards))
    with tempfile.TemporaryDirectory() as folder:
        counted = _trace(folder, cards, epsilon)
        values = read_points(game, Path(folder) / "points.csv").values
    counts = crossing_counts(values, TOLERANCE)
    fixed = [Fraction(pot) for deck, pot in POTS.items() if deck == cards]
    pots = dict.fromkeys([in_the_middle_of_most(counts), *fixed])
    with tempfile.TemporaryDirectory() as folder:
        reached = [pot for pot in pots if pot <= values.max()]
        summary = _trace(folder, cards, epsilon, at=tuple(reached), starts=starts)
        found = {at["parameter"]: _looked_at(game, at, Path(folder)) for at in summary["at"]}
    return {
        "cards": cards,
        "epsilon": epsilon,
        "points": counted["points"],
        "reached": counted["last"],
        "stalled": counted["reason"],
        "most": counts.most,
        "most_narrow": crossing_counts(values, NARROW).most,
        "intervals": counts.intervals(counts.most),
        "at": [found[float(pot)] for pot in reached],
    }


def _trace(folder: str, cards: int, epsilon: float, **asked: Any) -> dict[str, Any]:
    """Summary of `eqbench trace`, in whose folder the points and profiles are."""
    ends = {"first": Fraction(repr(first_pot(cards))), "last": Fraction(LAST_POT)}
    solver = f"arclength(epsilon={epsilon})"
    found = eqbench.trace(kuhn(cards), solver=solver, beyond=0.0, out=folder, **ends, **asked)
    return found.document


def _looked_at(game: Any, entry: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the equilibria at one pot, with the dimension around each."""
    there = game.at(pot=Fraction(repr(entry["parameter"])))
    equilibria = entry["equilibria"]
    texts = [(folder / each["profile"]).read_text(encoding="utf-8") for each in equilibria]
    profiles = [profile_from_json(there.tree, parse_profile(text)) for text in texts]
    sizes = [local_dimension(there, profile.probabilities) for profile in profiles]
    counts = ("parameter", "vertical", "crossings", "polished", "distinct_payoffs", "beside")
    return {name: entry[name] for name in counts} | {
        "dimensions": [None if size is None else size.on_path for size in sizes],
        "max_regrets": [each["max_regret"] for each in equilibria],
        "payoffs": [each["payoffs"] for each in equilibria],
    }


# -- Many cards ----------------------------------------------------------------------------------


def many_cards(decks: Sequence[int], pot: int, epsilon: float) -> dict[str, Any]:
    """Payoffs and strategies of three players with decks of N, 2N, … cards.

    Card k of N stands at (k - 1/2)/N. Compared are two cards of the larger deck and the card of
    the smaller one that has their quantiles. Shown is the equilibrium, polished and verified, to
    which the homotopy with uniform weights leads, one of several.
    """
    rows, aggression = [], []
    for cards in decks:
        game = load_game(kuhn(cards, pot))
        continuation = _prepared(game, epsilon).continuation(game)
        begin = time.process_time()
        behavior, _ = continuation.polish(continuation.start(float(pot)), float(pot))
        times = {"cpu_s": time.process_time() - begin}
        found = _verified(game, behavior)
        payoffs = [float(payoff) for payoff in found.payoffs]
        regret = {"max_regret": float(found.max_regret)}
        rows.append({"cards": cards, "payoffs": payoffs, **regret, **times})
        aggression.append(_aggression(game.tree, behavior))
    agreement = [
        {"cards": list(pair), "nodes": _agreement(*both)}
        for pair, both in zip(pairwise(decks), pairwise(aggression), strict=True)
    ]
    return {"three_players": rows, "agreement": agreement}


def _aggression(tree: Any, behavior: Any) -> Any:
    """Frequencies of betting or calling by node and card, times the share still held."""
    frequencies = KuhnNodes.of(tree).aggression(behavior)
    return (held(frequencies) * frequencies).reshape(len(NODES), -1)


def _agreement(small: Any, large: Any) -> list[dict[str, Any]]:
    """Shares of hands that bet or call at each node, and the mean difference at equal quantiles."""
    pairs = large.reshape(*small.shape, -1).mean(axis=2)
    difference = np.abs(pairs - small).mean(axis=1)
    return [
        {
            "node": row + 1,
            "shares": [float(small[row].mean()), float(large[row].mean())],
            "mean_difference": float(difference[row]),
        }
        for row in range(len(small))
    ]
