"""A solver that only ends when another one runs at the same time."""

import time
from dataclasses import dataclass
from pathlib import Path

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Termination


@eqbench.register_solver("waits_for_partner")
@dataclass(frozen=True)
class WaitsForPartner:
    folder: str = ""
    me: str = "a"
    partner: str = "b"

    def solve(self, game, monitor, rng):
        monitor.candidate(BehaviorProfile.uniform(game.tree), claim="iterate")
        Path(self.folder, self.me).touch()
        while not Path(self.folder, self.partner).exists():
            if monitor.remaining_s < 0:
                return Termination("limit", "alone")
            time.sleep(0.01)
        return Termination("limit", "met")
