"""A game with three isolated equilibria that nobody has published, and a solver that knows them."""

from dataclasses import dataclass

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Termination

EQUILIBRIA = {"north": [1, 0, 1, 0], "south": [0, 1, 0, 1], "mixed": [0.75, 0.25, 0.25, 0.75]}


@eqbench.register_game("meeting", summary="two who want to meet, each rather at their own place")
@dataclass(frozen=True)
class Meeting:
    def build(self):
        tree = eqbench.TreeBuilder(["P1", "P2"])
        root = tree.decision(None, 0, "first", ["north", "south"])
        for move in (0, 1):
            node = tree.decision((root, move), 1, "second", ["north", "south"])
            for other in (0, 1):
                payoffs = [3, 1] if move == 0 else [1, 3]
                tree.terminal((node, other), payoffs if move == other else [0, 0])
        return tree.tree()


@eqbench.register_solver("meets", summary="hands over the equilibria it is told to")
@dataclass(frozen=True)
class Meets:
    deterministic = True

    at: str = "north"

    def solve(self, game, monitor, rng):
        for name in self.at.split("+"):
            monitor.candidate(BehaviorProfile.of(game.tree, EQUILIBRIA[name]), claim="equilibrium")
        return Termination("converged")
