"""A solver that attacks when it is asked what it is, before any cell runs."""

import os
import sys
import time
from dataclasses import dataclass

from attack.hostile import ends, frame, job, strike, uniform, write

import eqbench
from eqbench.solver import Termination

SPEC = "describes(attack=honest_by_hand)"


@eqbench.register_solver("describes")
@dataclass(frozen=True)
class Describes:
    """Attacks when it is made."""

    attack: str = ""

    def __post_init__(self):
        strike(self.attack)
        if not self.attack.startswith("deterministic"):
            globals()[self.attack]()

    def deterministic(self):
        return self.attack.startswith("deterministic") and globals()[self.attack]()

    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("limit", "survived its attack")


def last(*message):
    write(frame(*message))
    os._exit(0)


# fmt: off
@ends("limit")
def honest_by_hand():  # no attack: it shows that answers by hand arrive
    if job()["do"] == "describe":
        form = {"frozen": True, "undocumented": []}
        last("described", {"spec": SPEC, "deterministic": False, **form})
@ends("crashed", quick=True)
def described_empty(): last("described", {})
@ends("crashed")
def described_spec_integer(): last("described", {"spec": 5, "deterministic": True})
@ends("crashed")
def described_deterministic_text(): last("described", {"spec": "describes", "deterministic": "so"})
@ends("crashed")
def error_empty(): last("error", {})
@ends("crashed")
def error_of_lists(): last("error", {"unavailable": [1], "type": [1], "message": [1]})
@ends("crashed")
def done_instead(): last("done", {})
@ends("crashed")
def refused_instead(): last("refused", {"status": "unsupported", "reason": "x"})
@ends("crashed")
def built_instead(): last("built", {"spec": "kuhn2", "expected_nodes": None})
@ends("crashed")
def garbage(): write(b"garbage" * 100); os._exit(0)
@ends("crashed")
def exits(): os._exit(0)
@ends("crashed")
def killed(): os.kill(os.getpid(), 9)
@ends("timeout")
def hangs(): time.sleep(300)
@ends("crashed", "unavailable")
def raises_two_megabytes(): raise ArithmeticError("x" * 2_000_000)
@ends("crashed", "unavailable")
def raises_controls(): raise ArithmeticError("\x1b[2J\x9b\u202e[/nothing]")
@ends("limit", "crashed")
def prints_megabytes(): sys.stdout.write("\x1b[2J" * 10**6)
@ends("crashed", "limit")
def deterministic_text(): return "\x1b[2J"
@ends("crashed")
def deterministic_raises(): raise RuntimeError("who knows")
@ends("crashed")
def deterministic_not_clear():
    import numpy as np
    return np.zeros(3)
# fmt: on
