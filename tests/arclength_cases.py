"""Systems, paths and traced branches of the arclength solver, for its tests."""

from __future__ import annotations

import importlib
import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import eqbench
from eqbench.continuation import BranchPoint
from eqbench.model.game import Game

# What rounding may leave of a regret, in payoff units.
EXACT = 1e-12


def module(name: str) -> Any:
    """A module of the solver's package, or one that it shares with others."""
    return importlib.import_module(f"eqbench.solvers.{name}")


@cache
def game(spec: str) -> Game:
    return eqbench.load_game(spec)


def reduced_kuhn(cards: int) -> str:
    """Three-player Kuhn poker as in Billingham 2018, dominated actions deleted."""
    return f"kuhn(players=3,cards={cards},reduce=billingham)"


def system(of: str | Game, kind: str = "log", derivative: str = "counterfactual") -> Any:
    loaded = game(of) if isinstance(of, str) else of
    return module("arclength.regularization").RegularizedGame(
        loaded, kind=kind, derivative=derivative
    )


def log_normal(made: Any, seed: int, spread: float = 1.0) -> Any:
    """The same system with random weights of its information sets."""
    normal = np.random.default_rng(seed).normal(size=len(made.choices.infoset))
    return made.weighted(np.exp(spread * normal))


def descend(made: Any, epsilon: float) -> tuple[np.ndarray, Any]:
    """The end of the path from the center to a small eps: its frequencies, and polished."""
    paths = module("arclength.continuation")
    z = paths.descend(made, made.parameter, epsilon)
    assert z is not None
    polished = paths.polished_end(made, made.parameter, epsilon, z)
    return made.frequencies(z, epsilon).behavior, polished


@dataclass(frozen=True, eq=False)
class Trace:
    """A branch that was followed along the pot."""

    continuation: Any
    points: list[BranchPoint]

    def at(self, value: float) -> list[BranchPoint]:
        """All points of the branch with this value of the pot."""
        pairs = itertools.pairwise(self.points)
        return [point for pair in pairs for point in self.continuation.crossings(*pair, value)]


@cache
def trace(spec: str, first: float, last: float, epsilon: float) -> Trace:
    """The branch from one pot until another is passed, whichever way it goes."""
    solver = eqbench.load_solver(f"arclength(epsilon={epsilon})")
    continuation = solver.continuation(game(spec))
    points = [continuation.start(first)]
    for point in continuation.follow(points[0], increasing=last > first):
        points.append(point)
        if not min(first, last) <= point.value <= max(first, last):
            break
    return Trace(continuation, points)
