"""Measurements of the model: building, verifying, payoff models, memory, identification."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from measuring import calls_of, cpu_s, in_child, peak_bytes, solved

import eqbench
from eqbench.equilibria import Identifier, known_corners
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.rank_sums import RankSums
from eqbench.model.tree import CHANCE, TERMINAL
from eqbench.registry import default_registry, load_game, load_solver
from eqbench.verification import Verifier
from eqbench.verification.compiled_sweep import CompiledSweep
from eqbench.verification.sweep import Numbers, TreeSweep

# Iterations of CFR+ a repetition; about a tenth of a second. The last game is put together node by
# node with a TreeBuilder, as an imported game would be.
LARGE = {
    "leduc3": 30,
    "leduc(players=3,ranks=6)": 5,
    "liars_dice": 200,
    "kuhn(players=3,cards=52)": 30,
    "random_tree(depth=17)": 200,
}
IMPORTED = "random_tree(depth=17)"
KINDS = ("strict member", "off the path", "near", "random")
NEAR = 1e-5  # how far frequencies are moved


# -- Large games ---------------------------------------------------------------------------------


def large_games(repetitions: int, games: Sequence[str] = tuple(LARGE)) -> dict[str, Any]:
    """Cost of large games, each in a process of its own; nothing comes from the cache of games."""
    rows = [in_child("model:large_game", name=name, repetitions=repetitions) for name in games]
    return {"rows": rows}


def large_game(name: str, repetitions: int) -> dict[str, Any]:
    """CPU seconds and memory in bytes of one game in this process."""
    for small in ("kuhn2", "kuhn3"):  # loads and compiles everything
        eqbench.solve(small, "cfr_plus", eqbench.Limits(iterations=10))
    before = peak_bytes()
    instance, spec, _ = default_registry().describe_game(name)
    start = time.process_time()
    tree = instance.build()
    build_s = time.process_time() - start
    if name == IMPORTED:
        build_s, tree = _put_together(tree)
    game = Game(spec, tree)
    compile_s = cpu_s(lambda: game.sequence_form.arrays)
    solver = load_solver("cfr_plus")
    iterations = LARGE[name]
    # without monitoring; the clock of a monitor never stops, so it is read at once
    iteration_s = [
        solved(solver, game, iterations=iterations).monitor.cpu_s / iterations
        for _ in range(repetitions)
    ]
    return {
        "game": name,
        "nodes": tree.n_nodes,
        "terminals": game.tree.n_terminals,
        "infosets": tree.n_infosets,
        "imported": name == IMPORTED,
        "build_s": build_s,
        "compile_s": compile_s,
        "iteration_s": iteration_s,
        "python_bytes": before,
        "peak_bytes": peak_bytes(),
    }


def _put_together(tree: Any) -> tuple[float, Any]:
    """CPU seconds that a TreeBuilder takes for the nodes of a tree, and the tree that it makes."""
    places = [None, *zip(tree.parent.tolist()[1:], tree.move.tolist()[1:], strict=True)]
    player, infoset, chance = tree.player.tolist(), tree.infoset.tolist(), tree.chance.tolist()
    payoffs = iter(tree.payoffs.base.tolist())
    child = np.searchsorted(tree.parent, np.arange(tree.n_nodes + 1)).tolist()
    start = time.process_time()
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
    return time.process_time() - start, again


def large_verifier(repetitions: int, games: Sequence[str]) -> dict[str, Any]:
    """CPU time of measuring one profile of large games, each in a process of its own."""
    rows = [in_child("model:measured_game", name=name, repetitions=repetitions) for name in games]
    return {"rows": rows}


def measured_game(name: str, repetitions: int) -> dict[str, Any]:
    """Nanoseconds a node of three ways to measure a random profile, in turns.

    Both ways of the verifier, and the regrets of the solvers' kernels. `first_s` is what the
    compiled way takes the first time, with the machine code loaded from the cache.
    """
    instance, spec, _ = default_registry().describe_game(name)
    tree = instance.build()
    behavior = random_profile(tree, np.random.default_rng(0))
    CompiledSweep(tree).evaluate(behavior)  # now it is in the cache
    first_s = in_child("measuring:first_measurement", players=tree.n_players)
    plain, compiled = TreeSweep(tree), CompiledSweep(tree)
    model = SequenceFormModel(Game(spec, tree).sequence_form)
    numbers = Numbers(behavior, tree.chance_probability, tree.payoffs.table)
    ways: dict[str, Callable[[], Any]] = {
        "NumPy": lambda: np.subtract(*plain.evaluate(numbers)),
        "compiled": lambda: np.subtract(*compiled.evaluate(behavior)),
        "kernels": lambda: -model.regrets(behavior),
    }
    regrets = {way: measure() for way, measure in ways.items()}
    ns: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(repetitions):
        for way, measure in ways.items():
            ns[way].append(1e9 * cpu_s(measure) / tree.n_nodes)
    return {
        "game": name,
        "nodes": tree.n_nodes,
        "ns": ns,
        "first_s": first_s,
        "largest_difference": max(
            float(np.ptp(each)) for each in zip(*regrets.values(), strict=True)
        ),
    }


# -- Identification ------------------------------------------------------------------------------


def payoff_models(decks: Sequence[int], repetitions: int) -> dict[str, Any]:
    """Microseconds of values and derivatives: sums over ranks beside the generic kernels.

    Both are called with the same random profile, in turns. With 52 cards there are 1.7 million
    terminals, and the generic kernels are left out.
    """
    return {"rows": [_payoff_model(cards, repetitions) for cards in decks]}


def _payoff_model(cards: int, repetitions: int) -> dict[str, Any]:
    game = load_game(f"kuhn(players=3,cards={cards},reduce=billingham)")
    behavior = random_profile(game.tree, np.random.default_rng(0))
    models: dict[str, Any] = {"ranks": RankSums.of(game.tree)}
    if cards <= 26:
        models["generic"] = SequenceFormModel(game.sequence_form)
    times: dict[str, dict[str, list[float]]] = {}
    for method in ("counterfactual_values", "linearize"):
        works = {name: partial(getattr(model, method), behavior) for name, model in models.items()}
        counts = {name: calls_of(work) for name, work in works.items()}
        times[method] = {name: [] for name in works}
        for _ in range(repetitions):
            for name, work in works.items():
                times[method][name].append(1e6 * cpu_s(work, counts[name]) / counts[name])
    return {"cards": cards, "terminals": game.tree.n_terminals, "us": times}


def identification(game: str, count: int) -> dict[str, Any]:
    """Milliseconds and outcome of saying which equilibrium a profile is, by kind of profile.

    Members are the corners of the published sets. The regret is measured before, as in a run,
    where that is done anyway.
    """
    loaded = load_game(game)
    return {"rows": [_identified(loaded, kind, count) for kind in KINDS]}


def _identified(game: Any, kind: str, count: int) -> dict[str, Any]:
    verifier, identifier = Verifier(game.tree), Identifier(game)
    corners = [profile.probabilities for _, profile in known_corners(game)]
    rng = np.random.default_rng(0)
    elapsed_ms, names = [], []
    for number in range(count):
        behavior = _profile(kind, game.tree, corners[number % len(corners)], rng)
        profile = BehaviorProfile.of(game.tree, behavior)
        regret = float(verifier.verify(profile).max_regret)
        started = time.perf_counter()
        found = identifier.identify(profile, regret)
        elapsed_ms.append(1e3 * (time.perf_counter() - started))
        names.append(None if found is None else [found.name, found.on_path, found.strict])
    # the first one reads the published sets
    return {"kind": kind, "elapsed_ms": elapsed_ms[1:], "identities": names}


def _profile(kind: str, tree: Any, member: Any, rng: Any) -> Any:
    """A member, with random behavior where play does not lead, moved a little, or a random one."""
    if kind == "strict member":
        return member
    other = random_profile(tree, rng)
    if kind == "off the path":
        reached = np.repeat(infoset_reach(tree, member) > 0, np.diff(tree.action_start))
        return np.where(reached, member, other)
    return (1 - NEAR) * member + NEAR * other if kind == "near" else other
