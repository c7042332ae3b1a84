"""What the tests of the CFR family share: the presets, small games, and a way to run them."""

from __future__ import annotations

import importlib
from fractions import Fraction
from typing import Any

import numpy as np
import solver_cases
from solver_cases import Result

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game

cfr = importlib.import_module("eqbench.solvers.cfr")
PLUS = {"regrets": "clipped", "averaging": "linear"}
FULL_WIDTH = {
    name: eqbench.load_solver(name)
    for name in ("cfr", "cfr_plus", "cfr_linear", "dcfr", "pcfr_plus")
}
ALL = FULL_WIDTH | {"mccfr": eqbench.load_solver("mccfr")}


def kuhn(players: int) -> Game:
    return eqbench.load_game(f"kuhn(players={players})")


def matrix(name: str) -> Game:
    return eqbench.load_game(name)


def lottery() -> Game:
    """One player, alone with chance: a sure 1, or 6 and -1 with chances 1/3 and 2/3."""
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["go on"])
    choice = builder.decision((root, 0), 0, "then", ["sure", "lottery", "nothing"])
    builder.terminal((choice, 0), [1])
    prize = builder.chance((choice, 1), [Fraction(1, 3), Fraction(2, 3)])
    builder.terminal((prize, 0), [6])
    builder.terminal((prize, 1), [-1])
    builder.terminal((choice, 2), [0])
    return Game("lottery", builder.tree())


def tie() -> Game:
    """Both actions are worth 9/10, but in floating point 0.2 + 0.7 is less than 0.9."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "", ["three outcomes", "two outcomes"])
    for action, chances in enumerate([(2, 7, 1), (9, 1)]):
        place = builder.chance((root, action), [Fraction(tenths, 10) for tenths in chances])
        for outcome in range(len(chances)):
            builder.terminal((place, outcome), [int(outcome < len(chances) - 1), 0])
    game = Game("tie", builder.tree())
    values = game.payoff_model().counterfactual_values(np.array([0.5, 0.5]))
    assert values[0] < values[1]
    return game


def run(solver: Any, game: Game, iterations: int, seed: int = 0, target: float = 0.0) -> Result:
    return solver_cases.run(solver, game, seed, iterations=iterations, target=target)


def max_regret(game: Game, frequencies: np.ndarray) -> float:
    return float(game.payoff_model().regrets(frequencies).max())
