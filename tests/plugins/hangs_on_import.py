"""A plugin whose import never ends."""

import time
from dataclasses import dataclass

import eqbench

time.sleep(600)


@eqbench.register_solver("hangs_on_import")
@dataclass(frozen=True)
class HangsOnImport:
    def solve(self, game, monitor, rng):
        raise AssertionError("must not be called")
