"""A solver that naps before it hands over a profile that depends on its seed."""

import time
from dataclasses import dataclass

import numpy as np

import eqbench
from eqbench.solver import Termination


@eqbench.register_solver("naps")
@dataclass(frozen=True)
class Naps:
    seconds: float = 0.3

    def solve(self, game, monitor, rng):
        time.sleep(self.seconds)
        weights = rng.random(game.tree.n_actions)
        rows = game.tree.action_start
        sums = np.repeat(np.add.reduceat(weights, rows[:-1]), np.diff(rows))
        monitor.candidate(weights / sums, claim="iterate")
        return Termination("limit", "awake")
