"""Measurements of the model: building, verifying, payoff models, memory, identification."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from measuring import calls_of, cpu_s, in_child, peak_bytes, solved

EXACT_UP_TO = GENERIC_UP_TO = 26  # cards
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
METHODS = ("counterfactual_values", "linearize")
KINDS = ("strict member", "off the path", "near", "random")
NEAR = 1e-5  # how far frequencies are moved


# -- Building and verifying ----------------------------------------------------------------------


def bulk_games(decks: Sequence[int], repetitions: int) -> dict[str, Any]:
    """Seconds to build and to verify three-player Kuhn poker, in floats and in rationals."""
    return {"rows": [_bulk_game(cards, repetitions) for cards in decks]}


def _bulk_game(cards: int, repetitions: int) -> dict[str, Any]:
    import numpy as np

    import eqbench
    from eqbench.model.profile import random_profile
    from eqbench.registry import default_registry
    from eqbench.verification import verify_exactly

    def seconds(work: Callable[[], Any]) -> list[float]:
        return [_elapsed_s(work) for _ in range(repetitions)]

    rng, spec = np.random.default_rng(0), f"kuhn(players=3,cards={cards})"
    # not by load_game, which would read large games from the cache
    build_s = seconds(default_registry().describe_game(spec)[0].build)
    game = eqbench.load_game(spec)
    profile = eqbench.BehaviorProfile.of(game.tree, random_profile(game.tree, rng))
    verify_s, exact_s = seconds(lambda: eqbench.verify(game, profile)), None
    if cards <= EXACT_UP_TO:  # thousandths; every information set has two actions
        high = [Fraction(int(part), 1000) for part in rng.integers(0, 1001, game.tree.n_infosets)]
        parts = [part for bets in high for part in (1 - bets, bets)]
        exact = eqbench.BehaviorProfile.of_exact(game.tree, parts)
        exact_s = seconds(lambda: verify_exactly(game.tree, exact))
    times = {"build_s": build_s, "verify_s": verify_s, "exact_s": exact_s}
    return {"game": spec, "nodes": game.tree.n_nodes, **times}


def _elapsed_s(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# -- Large games ---------------------------------------------------------------------------------


def large_games(repetitions: int, games: Sequence[str] = tuple(LARGE)) -> dict[str, Any]:
    """Cost of large games, each in a process of its own; nothing comes from the cache of games."""
    rows = [in_child("model:large_game", name=name, repetitions=repetitions) for name in games]
    return {"rows": rows}


def large_game(name: str, repetitions: int) -> dict[str, Any]:
    """CPU seconds and memory in bytes of one game in this process."""
    import eqbench
    from eqbench.model.game import Game
    from eqbench.registry import default_registry, load_solver

    for small in ("kuhn2", "kuhn3"):  # loads and compiles everything
        eqbench.solve(small, "cfr_plus", eqbench.Budget(iterations=10))
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
        "terminals": tree.n_terminals,
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
    import numpy as np

    from eqbench.model.builder import TreeBuilder
    from eqbench.model.tree import CHANCE, TERMINAL

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
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.model.payoff_model import SequenceFormModel
    from eqbench.model.profile import random_profile
    from eqbench.registry import default_registry
    from eqbench.verification.compiled_sweep import CompiledSweep
    from eqbench.verification.sweep import Numbers, TreeSweep

    instance, spec, _ = default_registry().describe_game(name)
    tree = instance.build()
    behavior = random_profile(tree, np.random.default_rng(0))
    CompiledSweep(tree).evaluate(behavior)  # now it is in the cache
    first_s = in_child("model:first_measurement", players=tree.n_players)
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


def first_measurement(players: int) -> float:
    """CPU seconds of the compiled way in a process that has loaded neither it nor Numba."""
    import numpy as np

    from eqbench.registry import load_game

    tree = load_game(f"kuhn{players}").tree

    def measure() -> None:
        from eqbench.verification.compiled_sweep import CompiledSweep

        CompiledSweep(tree).evaluate(np.ones(tree.n_actions))

    return cpu_s(measure)


# -- Payoff models -------------------------------------------------------------------------------


def payoff_models(decks: Sequence[int], repetitions: int) -> dict[str, Any]:
    """Microseconds of values and derivatives: sums over ranks beside the generic kernels.

    Both are asked about the same random profile, in turns. With 52 cards there are 1.7 million
    terminals, and the generic kernels are left out.
    """
    return {"rows": [_payoff_model(cards, repetitions) for cards in decks]}


def _payoff_model(cards: int, repetitions: int) -> dict[str, Any]:
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
    times: dict[str, dict[str, list[float]]] = {}
    for method in METHODS:
        works = {name: _call(getattr(model, method), behavior) for name, model in models.items()}
        counts = {name: calls_of(work) for name, work in works.items()}
        times[method] = {name: [] for name in works}
        for _ in range(repetitions):
            for name, work in works.items():
                times[method][name].append(1e6 * cpu_s(work, counts[name]) / counts[name])
    return {
        "cards": cards,
        "terminals": game.tree.n_terminals,
        "free": len(models["ranks"].linearize(behavior).gains),
        "recognize_s": recognize_s,
        "us": times,
        "largest_difference": _difference(list(models.values()), behavior),
    }


def _call(method: Callable[[Any], Any], behavior: Any) -> Callable[[], Any]:
    method(behavior)  # compiles
    return lambda: method(behavior)


def _difference(models: list[Any], behavior: Any) -> float | None:
    """Largest difference of values and derivatives, None if there is one model only."""
    import numpy as np

    if len(models) == 1:
        return None
    ours, theirs = (
        [model.counterfactual_values(behavior), *model.linearize(behavior)] for model in models
    )
    return max(float(np.abs(x - y).max()) for x, y in zip(ours, theirs, strict=True))


# -- Identification ------------------------------------------------------------------------------


def identification(game: str, count: int) -> dict[str, Any]:
    """Milliseconds and outcome of saying which equilibrium a profile is, by kind of profile.

    Members are the corners of the published sets. The regret is measured before, as in a run,
    where that is done anyway.
    """
    from eqbench.registry import load_game

    loaded = load_game(game)
    return {"rows": [_identified(loaded, kind, count) for kind in KINDS]}


def _identified(game: Any, kind: str, count: int) -> dict[str, Any]:
    import numpy as np

    from eqbench.equilibria import Identifier, known_corners
    from eqbench.model.profile import BehaviorProfile
    from eqbench.verification import Verifier

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
    import numpy as np

    from eqbench.model.inspection import infoset_reach
    from eqbench.model.profile import random_profile

    if kind == "strict member":
        return member
    other = random_profile(tree, rng)
    if kind == "off the path":
        reached = np.repeat(infoset_reach(tree, member) > 0, np.diff(tree.action_start))
        return np.where(reached, member, other)
    return (1 - NEAR) * member + NEAR * other if kind == "near" else other
