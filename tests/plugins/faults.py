"""Solvers that misbehave in every way that the harness must survive."""

import collections
import itertools
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import eqbench
from eqbench.solver import Termination


def uniform(game):
    return eqbench.BehaviorProfile.uniform(game.tree)


@eqbench.register_solver("well_behaved")
@dataclass(frozen=True)
class WellBehaved:
    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("limit", "did its best")


@eqbench.register_solver("loops_in_native_code")
@dataclass(frozen=True)
class LoopsInNativeCode:
    """Never returns to the interpreter and holds its lock."""

    def solve(self, game, monitor, rng):
        monitor.snapshot(uniform(game).probabilities, work=7)
        collections.deque(itertools.repeat(0), maxlen=0)


@eqbench.register_solver("ignores_sigterm")
@dataclass(frozen=True)
class IgnoresSigterm:
    """Leaves its process numbers in `pids` so that a test can look for survivors."""

    pids: str = ""

    def solve(self, game, monitor, rng):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        monitor.snapshot(uniform(game).probabilities, work=7)
        grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        if self.pids:
            partial = Path(self.pids).with_suffix(".partial")
            partial.write_text(f"{os.getpid()} {grandchild.pid}")
            partial.rename(self.pids)
        while True:
            time.sleep(1)


@eqbench.register_solver("aborts")
@dataclass(frozen=True)
class Aborts:
    def solve(self, game, monitor, rng):
        monitor.snapshot(uniform(game).probabilities, work=7)
        os.abort()


@eqbench.register_solver("exhausts_memory")
@dataclass(frozen=True)
class ExhaustsMemory:
    def solve(self, game, monitor, rng):
        monitor.snapshot(uniform(game).probabilities, work=7)
        hoard = []
        while True:
            hoard.append(bytearray(b"x" * 2**24))
            time.sleep(0.005)


@eqbench.register_solver("raises")
@dataclass(frozen=True)
class Raises:
    def solve(self, game, monitor, rng):
        monitor.snapshot(uniform(game).probabilities, work=7)
        sys.stdout.write("about to fail\n")
        time.sleep(0.1)
        raise ArithmeticError("the matrix is singular")


@eqbench.register_solver("claims_wrong_equilibrium")
@dataclass(frozen=True)
class ClaimsWrongEquilibrium:
    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="equilibrium")
        return Termination("converged")


@eqbench.register_solver("lies_about_regret")
@dataclass(frozen=True)
class LiesAboutRegret:
    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="average", claimed_regret=1e-12)
        return Termination("converged")


@eqbench.register_solver("claims_too_little")
@dataclass(frozen=True)
class ClaimsTooLittle:
    """An equilibrium up to a regret that says nothing."""

    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="equilibrium", claimed_regret=1e9)
        return Termination("converged")


@eqbench.register_solver("meets_target_only_on_the_way")
@dataclass(frozen=True)
class MeetsTargetOnlyOnTheWay:
    def solve(self, game, monitor, rng):
        result = eqbench.solve(game, "cfr_plus", eqbench.Limits(iterations=100, target=0))
        monitor.snapshot(result.equilibria[0].profile.probabilities, work=1)
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("converged")


@eqbench.register_solver("ends_with_nonsense")
@dataclass(frozen=True)
class EndsWithNonsense:
    def solve(self, game, monitor, rng):
        return Termination("ok")


@eqbench.register_solver("returns_nothing")
@dataclass(frozen=True)
class ReturnsNothing:
    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="iterate")


@eqbench.register_solver("sends_what_is_no_profile")
@dataclass(frozen=True)
class SendsWhatIsNoProfile:
    """Floats of one profile with the rationals of another, which has too few."""

    def solve(self, game, monitor, rng):
        profile = uniform(game)
        lie = eqbench.BehaviorProfile(profile.probabilities, profile.exact[:-1])
        monitor.candidate(lie, claim="iterate")
        return Termination("limit")


@eqbench.register_solver("dies_of_a_nameless_signal")
@dataclass(frozen=True)
class DiesOfANamelessSignal:
    def solve(self, game, monitor, rng):
        os.kill(os.getpid(), 40)
        time.sleep(10)


@eqbench.register_solver("says_converged")
@dataclass(frozen=True)
class SaysConverged:
    """Claims convergence with nothing but an iterate far from equilibrium."""

    def solve(self, game, monitor, rng):
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("converged")


@eqbench.register_solver("hands_over_nothing")
@dataclass(frozen=True)
class HandsOverNothing:
    def solve(self, game, monitor, rng):
        return Termination("converged")


@eqbench.register_solver("hangs_in_prepare")
@dataclass(frozen=True)
class HangsInPrepare:
    def prepare(self, game):
        time.sleep(600)

    def solve(self, game, monitor, rng):
        return Termination("converged")


@eqbench.register_solver("floods")
@dataclass(frozen=True)
class Floods:
    calls: int = 20000

    def solve(self, game, monitor, rng):
        profile = uniform(game).probabilities
        for work in range(1, self.calls + 1):
            monitor.snapshot(profile, work=work)
        monitor.candidate(profile, claim="iterate")
        return Termination("limit", "flooded")


@eqbench.register_solver("needs_a_licence")
@dataclass(frozen=True)
class NeedsALicence:
    def availability(self):
        return eqbench.Availability("licence", "no licence file found")

    def solve(self, game, monitor, rng):
        raise AssertionError("must not be called")


@eqbench.register_solver("two_players_only")
@dataclass(frozen=True)
class TwoPlayersOnly(WellBehaved):
    def supports(self, game):
        return True if game.tree.n_players == 2 else "it is for two players"


@eqbench.register_solver("needs_a_larger_licence")
@dataclass(frozen=True)
class NeedsALargerLicence(TwoPlayersOnly):
    """Whether its licence admits a game depends on the number of its actions."""

    most: int = 3

    def availability_for(self, game):
        needed = game.tree.n_actions
        if needed <= self.most:
            return eqbench.Availability()
        return eqbench.Availability("licence_size", f"{needed} variables, {self.most} allowed")

    def prepare(self, game):
        if game.tree.n_actions > self.most:
            raise AssertionError("must not be called")
