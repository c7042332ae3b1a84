"""What the tests of several solvers share: small games, and a way to run a solver."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import Payoffs
from eqbench.solver import Limits, Monitor, MonitorReport, Termination
from eqbench.verification import verify
from helpers.made_games import random_tree


@dataclasses.dataclass
class Result:
    """A run of `solve`, not judged by anybody."""

    game: Game
    monitor: Monitor
    reports: list[MonitorReport]
    termination: Termination

    @property
    def candidates(self) -> list[Any]:
        return [report.candidate for report in self.reports if report.kind == "candidate"]

    @property
    def snapshots(self) -> list[Any]:
        return [report.candidate for report in self.reports if report.kind == "snapshot"]

    @property
    def behavior(self) -> np.ndarray:
        """Frequencies (A,) of the only candidate."""
        (candidate,) = self.candidates
        return candidate.profile.probabilities

    @property
    def average(self) -> np.ndarray:
        """Frequencies (A,) of the candidate that is an average."""
        return self.claimed("average")

    @property
    def last(self) -> np.ndarray:
        """Frequencies (A,) of the candidate that is an iterate."""
        return self.claimed("iterate")

    def claimed(self, claim: str) -> np.ndarray:
        """Frequencies (A,) of the only candidate with this claim."""
        (found,) = [each for each in self.candidates if each.claim == claim]
        return found.profile.probabilities

    @property
    def regrets(self) -> list[float]:
        """Max regret of each candidate, measured on the tree."""
        return [float(verify(self.game.tree, each.profile).max_regret) for each in self.candidates]

    @property
    def max_regret(self) -> float:
        """Max regret of the only candidate, measured on the tree."""
        (regret,) = self.regrets
        return regret


def run(solver: Any, game: str | Game, seed: int = 0, **budget: Any) -> Result:
    """Run a solver or a spec, by default for ten minutes and whatever regret it reaches."""
    game = eqbench.load_game(game) if isinstance(game, str) else game
    reports: list[MonitorReport] = []
    monitor = Monitor(game, Limits(**{"timeout_s": 600, "target": 0.0} | budget), reports.append)
    instance = eqbench.load_solver(solver) if isinstance(solver, str) else solver
    termination = instance.solve(game, monitor, np.random.default_rng(seed))
    return Result(game, monitor, reports, termination)


def max_regret(game: Game, behavior: np.ndarray) -> float:
    """Max regret of frequencies (A,), measured on the tree."""
    return float(verify(game.tree, BehaviorProfile.of(game.tree, behavior)).max_regret)


def plans_of(game: Game, behavior: np.ndarray) -> np.ndarray:
    """Plans (S,) that play like a behavior profile (A,)."""
    return RealizationPlan.of(game.sequence_form, behavior).weights


def numerical_jacobian(
    function: Callable[[np.ndarray], np.ndarray], point: np.ndarray, step: float
) -> np.ndarray:
    """Derivatives of a function (rows) at a point, by central differences of fourth order."""
    columns = []
    for unit in step * np.eye(len(point)):
        near, far = (function(point + k * unit) - function(point - k * unit) for k in (1, 2))
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=1)


@cache
def solved(spec: str) -> tuple[Game, np.ndarray]:
    """A game, and plans (S,) of an equilibrium."""
    game = eqbench.load_game(spec)
    found = run(
        "arclength(starts=0,branch=false,offpath=keep)", game, iterations=20_000, target=1e-12
    )
    behavior = found.candidates[0].profile.probabilities
    assert max_regret(game, behavior) <= 1e-12
    return game, plans_of(game, behavior)


def bimatrix(rows: Any, columns: Any) -> Game:
    """Two-player game in strategic form, from both payoff matrices."""
    builder = TreeBuilder(["P1", "P2"])
    height, width = np.shape(rows)
    root = builder.decision(None, 0, "", [f"r{i}" for i in range(height)])
    for i in range(height):
        node = builder.decision((root, i), 1, "", [f"c{j}" for j in range(width)])
        for j in range(width):
            builder.terminal((node, j), [rows[i][j], columns[i][j]])
    return Game(f"bimatrix {height}x{width}", builder.tree())


def random_two_player_game(seed: int, *, depth: int = 6) -> Game:
    """Random tree of two players with perfect recall and any payoffs."""
    return Game(f"random {seed}", random_tree(1 + 4 * seed, depth=depth))


def with_payoffs(game: Game, payoffs: Sequence[Any], denominator: int = 1) -> Game:
    """The same tree with the integer or float payoffs (Z, N) over one denominator."""
    tree = dataclasses.replace(game.tree, payoffs=Payoffs(np.array(payoffs), denominator))
    return Game(f"{game.spec}, other payoffs", tree)


def constant_sum(game: Game, total: int = 0) -> Game:
    """The same tree with the first player's payoffs, and the second getting the rest."""
    payoffs = game.tree.payoffs
    first = payoffs.base[:, 0]
    both = np.stack((first, total * payoffs.denominator - first), axis=1)
    return with_payoffs(game, both, payoffs.denominator)


def odd_games() -> dict[str, Game]:
    """Legal two-player games without one thing or another that most games have."""
    nobody = TreeBuilder(["P1", "P2"])
    coin = nobody.chance(None, [Fraction(1, 3), Fraction(2, 3)])
    nobody.terminal((coin, 0), [3, -3])
    nobody.terminal((coin, 1), [0, 0])

    alone = TreeBuilder(["P1", "P2"])
    start = alone.decision(None, 1, "only P2 moves", ["bad", "good", "worse"])
    for move, payoff in enumerate((1, -2, 3)):
        alone.terminal((start, move), [payoff, -payoff])

    forced = TreeBuilder(["P1", "P2"])
    first = forced.decision(None, 0, "no choice", ["go"])
    second = forced.decision((first, 0), 1, "a choice", ["left", "right"])
    third = forced.decision((second, 0), 0, "again none", ["go"])
    forced.terminal((third, 0), [1, -1])
    forced.terminal((second, 1), [2, -2])

    return {
        "no information sets": Game("nobody", nobody.tree()),
        "a player without information sets": Game("alone", alone.tree()),
        "information sets with one action": Game("forced", forced.tree()),
        "all payoffs zero": bimatrix(np.zeros((2, 3), int), np.zeros((2, 3), int)),
        "all payoffs equal": bimatrix(np.full((2, 2), 7), np.full((2, 2), -5)),
    }


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
