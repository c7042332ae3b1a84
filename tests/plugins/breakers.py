"""Solvers and games that each break one promise of the contract suites."""

import itertools
from dataclasses import dataclass

import numpy as np

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Termination

COUNTER = itertools.count()


def uniform(game):
    return BehaviorProfile.uniform(game.tree).probabilities


def random(game, rng):
    draws = rng.random(game.tree.n_actions)
    row = np.repeat(np.arange(game.tree.n_infosets), np.diff(game.tree.action_start))
    return draws / np.bincount(row, draws)[row]


class Uniform:
    """Hands over the uniform profile, as all that break a promise elsewhere do."""

    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("limit")


@eqbench.register_solver("is_not_frozen")
@dataclass
class IsNotFrozen(Uniform):
    pass


@eqbench.register_solver("documents_nothing")
@dataclass(frozen=True)
class DocumentsNothing(Uniform):
    step: float = 0.5


@eqbench.register_solver("changes_its_options")
@dataclass(frozen=True)
class ChangesItsOptions(Uniform):
    """Doubles what it is given.

    Parameters
    ----------
    step : of the method
    """

    step: int = 1

    def __post_init__(self):
        object.__setattr__(self, "step", 2 * self.step)


@eqbench.register_solver("raises_on_three_players")
@dataclass(frozen=True)
class RaisesOnThreePlayers(Uniform):
    def solve(self, game, monitor, rng):
        if game.tree.n_players > 2:
            raise IndexError("player 2 of 2")
        return super().solve(game, monitor, rng)


@eqbench.register_solver("reports_nothing")
@dataclass(frozen=True)
class ReportsNothing:
    def solve(self, game, monitor, rng):
        return Termination("limit")


@eqbench.register_solver("claims_everything")
@dataclass(frozen=True)
class ClaimsEverything:
    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="equilibrium")
        return Termination("limit")


@eqbench.register_solver("calls_anything_converged")
@dataclass(frozen=True)
class CallsAnythingConverged:
    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("converged")


@eqbench.register_solver("draws_elsewhere")
@dataclass(frozen=True)
class DrawsElsewhere:
    def solve(self, game, monitor, rng):
        monitor.candidate(random(game, np.random.default_rng()), claim="iterate")
        return Termination("limit")


@eqbench.register_solver("denies_its_randomness")
@dataclass(frozen=True)
class DeniesItsRandomness:
    deterministic = True

    def solve(self, game, monitor, rng):
        monitor.candidate(random(game, rng), claim="iterate")
        return Termination("limit")


@eqbench.register_solver("ignores_iterations")
@dataclass(frozen=True)
class IgnoresIterations:
    def solve(self, game, monitor, rng):
        for k in range(100):
            monitor.snapshot(uniform(game), work=k)
        return Termination("limit")


@eqbench.register_solver("ignores_time")
@dataclass(frozen=True)
class IgnoresTime:
    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="iterate")
        while monitor.budget.iterations is None and monitor.cpu_s < 1.7:
            pass
        return Termination("limit")


@eqbench.register_solver("writes_into_the_game")
@dataclass(frozen=True)
class WritesIntoTheGame(Uniform):
    def solve(self, game, monitor, rng):
        folder = game.folder
        payoffs = np.load(folder / "base.npy")
        payoffs[0, 0] += 1
        np.save(folder / "base.npy", payoffs)
        return super().solve(game, monitor, rng)


def coin(payoff=1):
    builder = eqbench.TreeBuilder(["P1"])
    root = builder.decision(None, 0, "", ["heads", "tails"])
    builder.terminal((root, 0), [payoff])
    builder.terminal((root, 1), [0])
    return builder.tree()


@eqbench.register_game("is_no_game")
@dataclass(frozen=True)
class IsNoGame:
    def build(self):
        builder = eqbench.TreeBuilder(["P1"])
        builder.chance(None, [0.3, 0.3])
        builder.terminal((0, 0), [1])
        builder.terminal((0, 1), [0])
        return builder.tree()


@eqbench.register_game("is_not_frozen_game")
@dataclass
class IsNotFrozenGame:
    def build(self):
        return coin()


@eqbench.register_game("changes_every_time")
@dataclass(frozen=True)
class ChangesEveryTime:
    def build(self):
        return coin(next(COUNTER))


@eqbench.register_game("announces_too_little")
@dataclass(frozen=True)
class AnnouncesTooLittle:
    def expected_nodes(self):
        return 2

    def build(self):
        return coin()
