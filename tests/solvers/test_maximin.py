"""Maximin plans, the joint player against whom they are computed, and sequence_lp."""

from __future__ import annotations

import importlib
import types
from typing import Any

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.solver_cases import lottery, run
from scipy.optimize import linprog

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.tree import CHANCE, TERMINAL, GameTree

maximin = importlib.import_module("eqbench.solvers.maximin")
THREE_PLAYERS = [f"random {seed}" for seed in range(8)] + ["skp", "jordan"]


def load(name: str) -> Game:
    """A game, or a random tree with three players."""
    if name.startswith("random"):
        return Game(name, random_tree(2 + 4 * int(name.split()[1]), depth=5))
    return eqbench.load_game(name)


def merged(tree: GameTree, player: int) -> Game:
    """The two-player zero-sum game of a player against all others acting as one.

    Built node by node: the others' information set is the list of all information sets that
    they moved in on the way, with their moves, and the one that the mover is in.
    """
    builder = TreeBuilder(["alone", "all others"])

    def grow(node: int, place: Any, others: tuple) -> None:
        children = np.flatnonzero(tree.parent == node)
        children = children[children > 0]
        mover, infoset = int(tree.player[node]), int(tree.infoset[node])
        if mover == TERMINAL:
            row = int(np.searchsorted(tree.terminals, node))
            payoff = float(tree.payoffs.table[row, player])
            builder.terminal(place, [payoff, -payoff])
            return
        if mover == CHANCE:
            here = builder.chance(place, [float(tree.chance_probability[c]) for c in children])
        else:
            label = str(infoset) if mover == player else str((others, infoset))
            here = builder.decision(
                place, int(mover != player), label, tree.infoset_actions[infoset]
            )
        for move, child in enumerate(children):
            known = others
            if mover not in (CHANCE, player):
                known = (*others, (infoset, move))
            grow(int(child), (here, move), known)

    grow(0, None, ())
    return Game("merged", builder.tree())


# -- values -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THREE_PLAYERS)
def test_value_is_that_of_the_zero_sum_game_against_all_others(name: str) -> None:
    game = load(name)
    for player in range(3):
        solution = maximin.MaximinProgram.of(game.tree, player).solve(60)
        against = merged(game.tree, player)
        assert run("sequence_lp", against).max_regret <= 1e-12
        value = against.payoff_model().expected_payoffs(run("sequence_lp", against).behavior)[0]
        assert solution.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", THREE_PLAYERS)
def test_plans_make_sure_of_the_values_against_any_profile_of_the_others(name: str) -> None:
    game = load(name)
    result = run("fictitious_play(start=maximin)", game, iterations=0)
    values = np.array(result.monitor.statistics["maximin_values"])
    owner = game.sequence_form.infoset_player[game.sequence_form.sequence_infoset[3:]]
    rng = np.random.default_rng(1)
    for _ in range(20):
        others = random_profile(game.tree, rng)
        for player in range(3):
            profile = np.where(owner == player, result.behavior, others)
            payoff = game.payoff_model().expected_payoffs(profile)[player]
            assert payoff >= values[player] - 1e-12


def test_player_alone_with_chance_is_sure_of_the_best_expectation() -> None:
    result = run("fictitious_play(start=maximin)", lottery(), iterations=0)
    assert result.monitor.statistics["maximin_values"] == pytest.approx([4 / 3])
    np.testing.assert_array_equal(result.behavior, [1, 0, 1, 0])


# -- the solver of one program ------------------------------------------------------------


BROKEN = types.SimpleNamespace(status=4, message="numerical difficulties", nit=5)


def tampered(*args: Any, **options: Any) -> Any:
    solution = linprog(*args, **options)
    solution.x[1] += 1e-6
    return solution


@pytest.mark.parametrize(
    ("replacement", "words"),
    [(lambda *args, **options: BROKEN, "numerical difficulties"), (tampered, "no realization")],
)
def test_failure_of_the_backend_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, replacement: Any, words: str
) -> None:
    monkeypatch.setattr(maximin, "linprog", replacement)
    result = run("sequence_lp", "kuhn2")
    assert result.termination.reason == "failed"
    assert words in result.termination.detail
    assert result.candidates == []
