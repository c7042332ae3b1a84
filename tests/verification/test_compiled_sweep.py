"""The compiled sweep tells what its oracle tells, and the comparison notices what breaks it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.made_games import SPECS, random_tree
from helpers.walks import KINDS, draw_behavior

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.registry import default_registry
from eqbench.verification import compiled_sweep, verifier, verify
from eqbench.verification.compiled_sweep import CompiledSweep
from eqbench.verification.sweep import Numbers, TreeSweep

Sweep = Callable[[GameTree], Any]
ROUNDING = 1e-13  # of the largest payoff
SEEDS = range(60)
GAMES = [entry.name for entry in default_registry().games() if entry.builtin]


def difference(tree: GameTree, kind: str = "random", sweep: Sweep = CompiledSweep) -> float:
    """Largest difference of payoffs and best-response values from the oracle's.

    In shares of the largest payoff.
    """
    behavior = draw_behavior(tree, np.random.default_rng(tree.n_nodes), kind)
    ours = sweep(tree).evaluate(behavior)
    numbers = Numbers(behavior, tree.chance_probability, tree.payoffs.table)
    theirs = TreeSweep(tree).evaluate(numbers)
    return float(np.abs(np.subtract(ours, theirs)).max() / tree.largest_payoff)


@pytest.mark.parametrize("spec", GAMES)
def test_built_in_games_are_measured_as_by_the_oracle(spec: str) -> None:
    tree = eqbench.load_game(SPECS.get(spec, spec)).tree
    assert max(difference(tree, kind) for kind in KINDS) <= ROUNDING


@pytest.mark.parametrize("kind", KINDS)
def test_trees_without_regularity_are_measured_as_by_the_oracle(kind: str) -> None:
    for seed in SEEDS:
        assert difference(random_tree(seed, depth=9), kind) <= ROUNDING, seed


def test_games_in_floats_are_measured_as_by_the_oracle() -> None:
    builder = TreeBuilder(["P1", "P2", "P3"])  # the last one never moves
    root = builder.chance(None, [0.1] * 10)
    for outcome in range(10):
        node = builder.decision((root, outcome), outcome % 2, f"{outcome}", ["a", "b", "c"])
        for action in range(3):
            builder.terminal((node, action), [outcome / 7, action / 3, outcome * action / 11])
    assert difference(builder.tree()) <= ROUNDING


def test_game_without_any_move_pays_what_it_pays() -> None:
    builder = TreeBuilder(["P1", "P2"])
    builder.terminal(None, [3, -1])
    payoffs, best = CompiledSweep(builder.tree()).evaluate(np.empty(0))
    assert payoffs.tolist() == best.tolist() == [3, -1]


def test_long_paths_need_no_recursion() -> None:
    builder, place = TreeBuilder(["P1", "P2"]), None
    for depth in range(3000):
        node = builder.decision(place, depth % 2, f"{depth}", ["stop", "go on"])
        builder.terminal((node, 0), [depth % 3, depth % 5])
        place = (node, 1)
    builder.terminal(place, [7, 7])
    assert difference(builder.tree()) <= ROUNDING


@pytest.mark.parametrize("shape", [(11,), (13,), (12, 1), ()])
def test_other_numbers_of_frequencies_are_refused(shape: tuple[int, ...]) -> None:
    sweep = CompiledSweep(eqbench.load_game("kuhn2").tree)
    with pytest.raises(ValueError, match="frequencies"):
        sweep.evaluate(np.full(shape, 0.5))


def test_profiles_and_trees_are_left_as_they_are() -> None:
    tree = eqbench.load_game("kuhn3").tree
    behavior = draw_behavior(tree, np.random.default_rng(0), "random")
    before, sweep = behavior.copy(), CompiledSweep(tree)
    first, second = sweep.evaluate(behavior), sweep.evaluate(behavior)
    assert np.array_equal(first, second)
    assert np.array_equal(behavior, before)


# -- who measures -------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "measuring"), [(601, "compiled"), (602, "plain")])
def test_games_from_a_number_of_nodes_on_are_measured_by_it(
    least: int, measuring: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[str] = []
    for name, sweep in (("compiled", CompiledSweep), ("plain", TreeSweep)):
        evaluate = sweep.evaluate

        def spy(self: Any, numbers: Any, name: str = name, evaluate: Any = evaluate) -> Any:
            used.append(name)
            return evaluate(self, numbers)

        monkeypatch.setattr(sweep, "evaluate", spy)
    monkeypatch.setattr(verifier, "COMPILED_FROM", least)
    tree = eqbench.load_game("kuhn3").tree
    assert verify(tree, BehaviorProfile.uniform(tree)).max_regret > 0
    assert used == [measuring]


def test_small_games_are_measured_without_loading_a_compiler() -> None:
    program = (
        "import eqbench, sys; game = eqbench.load_game('kuhn3');"
        "eqbench.verify(game, eqbench.BehaviorProfile.uniform(game));"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# -- does the comparison notice? ----------------------------------------------------------


def plain(old: str = "", new: str = "") -> Sweep:
    """The sweep as plain Python, with one change of its source."""
    text = Path(compiled_sweep.__file__).read_text(encoding="utf-8")
    assert text.count("@kernel\n") == 2
    assert old in text
    names: dict[str, Any] = {"__name__": "changed"}
    exec(text.replace("@kernel\n", "").replace(old, new, 1), names)
    return names["CompiledSweep"]


def worst(sweep: Sweep) -> float:
    trees = [random_tree(seed) for seed in range(12)]
    return max(difference(tree, sweep=sweep) for tree in trees)


def test_the_source_without_a_compiler_agrees_with_the_oracle() -> None:
    assert worst(plain()) <= ROUNDING


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chance[child] / denominator", "1.0"),
        ("(1.0 if p == who else part)", "part"),
        ("(1.0 if p == who else part)", "1.0"),
        ("mean[depth, p] += part * payoffs", "mean[depth, p] += payoffs"),
        ("value[last] += reach[depth, p] * payoffs", "value[last] += payoffs"),
        ("value[last] += reach[depth, p] * bare[below, p]", "pass"),
        ("bare[depth, p] += part * bare", "bare[depth, p] += bare"),
        ("mean[below, p] = bare[below, p] = 0.0", "mean[below, p] = 0.0"),
        ("row[below] = z + _ONE", "pass"),
        ("action[depth] = last + _ONE", "action[depth] = max(last, _ONE)"),
        (".max()", ".min()"),
        ("len(infoset_player) - 1 - back", "back"),
        ("value[infoset_parent[i]] += highest", "pass"),
    ],
)
def test_a_broken_sweep_is_noticed(old: str, new: str) -> None:
    assert worst(plain(old, new)) > 1e-3
