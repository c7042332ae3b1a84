"""A solver that does by mistake what costs its own cell; one that asks which process it is in."""

import atexit
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import eqbench
from eqbench.model.trembles import Trembles
from eqbench.solver import Availability, Candidate, Termination

LONG = "word " * 400_000
CONTROLS = "\x1b[2J\x9b31m\u202e[/nothing]"


@eqbench.register_solver("accidents")
@dataclass(frozen=True)
class Accidents:
    """Do one of the functions of this module, then hand over the uniform profile."""

    kind: str

    def availability(self):
        return None if self.kind == "availability_none" else Availability()

    def solve(self, game, monitor, rng):
        answer = globals().get(self.kind, lambda *things: None)(game, monitor)
        if answer is not None:
            return answer
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("limit", "as usual")


def uniform(game):
    return eqbench.BehaviorProfile.uniform(game.tree)


# -- processes -------------------------------------------------------------------------------------

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]


def daemon(game, monitor, hang=False):
    """Leave a process with another parent and session, which keeps all pipes open."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execv(SLEEP[0], [*SLEEP, "daemon"])
    time.sleep(600 * hang)


def daemon_and_hang(game, monitor):
    daemon(game, monitor, hang=True)


def helpers(game, monitor):
    ignores = ["import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)", "helper"]
    for options in ({"start_new_session": True}, {"close_fds": False}):
        subprocess.Popen([*SLEEP[:-1], *ignores], **options)


def kills_itself(game, monitor):
    os.kill(os.getpid(), signal.SIGKILL)


def kills_its_group(game, monitor):
    os.killpg(0, signal.SIGTERM)


def stops_itself(game, monitor):
    os.kill(os.getpid(), signal.SIGSTOP)


def exits_at_once(game, monitor):
    os._exit(0)


def exits_in_a_thread(game, monitor):
    threading.Thread(target=lambda: os._exit(3)).start()
    time.sleep(60)


def segmentation_fault(game, monitor):
    ctypes.string_at(0)


def alarm_clock(game, monitor):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(60)


def thread_that_goes_on(game, monitor):
    threading.Thread(target=time.sleep, args=(600,)).start()


def hangs_at_exit(game, monitor):
    atexit.register(time.sleep, 600)


def closes_everything(game, monitor):
    os.closerange(0, 4096)


def writes_into_the_pipe(game, monitor):
    """As one does who closes a descriptor twice, and the second time that of another."""
    for number in range(3, 64):
        try:
            os.write(number, b"progress: 10 %\n")
        except OSError:
            continue


# -- words -----------------------------------------------------------------------------------------


def raises_two_megabytes(game, monitor):
    raise ValueError(LONG)


def raises_controls(game, monitor):
    raise ValueError(CONTROLS)


def raises_what_cannot_be_shown(game, monitor):
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    raise MuteError


def raises_without_end(game, monitor):
    return raises_without_end(game, monitor)


def raises_exit(game, monitor):
    raise SystemExit(0)


def raises_interrupt(game, monitor):
    raise KeyboardInterrupt


def raises_memory_error(game, monitor):
    raise MemoryError(LONG)


def detail_with_surrogates(game, monitor):
    monitor.candidate(uniform(game), claim="iterate")
    return Termination("limit", f"\ud800 {CONTROLS} {LONG}")


def returns_text(game, monitor):
    return "converged"


def prints_megabytes(game, monitor):
    for _ in range(50):
        sys.stdout.write(CONTROLS * 2**16)


# -- values ----------------------------------------------------------------------------------------


def reports(game, monitor, **fields):
    """Hand over a candidate some of whose fields are wrong, or its profile's in `profile_`."""
    profile = uniform(game)
    candidate = Candidate(profile, "iterate")
    for name, value in fields.items():
        part = profile if name.startswith("profile_") else candidate
        object.__setattr__(part, name.removeprefix("profile_"), value)
    monitor.candidate(candidate)
    return Termination("limit", "as usual")


def frequencies(game, monitor, values):
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


def frequencies_not_numbers(game, monitor):
    return frequencies(game, monitor, np.full(game.tree.n_actions, np.nan))


def frequencies_complex(game, monitor):
    return frequencies(game, monitor, uniform(game).probabilities.astype(complex))


def frequencies_too_few(game, monitor):
    return frequencies(game, monitor, np.ones(3))


def exact_of_another_size(game, monitor):
    return reports(game, monitor, profile_exact=(Fraction(1, 2),))


def exact_texts(game, monitor):
    return reports(game, monitor, profile_exact=("1e999999999",) * game.tree.n_actions)


def claim_unknown(game, monitor):
    return reports(game, monitor, claim="surely an equilibrium")


def claimed_regret_negative(game, monitor):
    return reports(game, monitor, claimed_regret=-1.0)


def trembles_of_too_few_actions(game, monitor):
    return reports(game, monitor, trembles=Trembles(np.ones(1, np.int64), np.ones(1)))


def statistics_text(game, monitor):
    monitor.statistics = "text"


def statistics_without_end(game, monitor):
    rings = []
    rings.append(rings)
    monitor.record(rings=rings)


def statistics_of_all_kinds(game, monitor):
    monitor.record(a=float("nan"), b=np.array([np.inf]), c=object(), d=b"\xff", e=1j, f="\ud800")


def work_not_a_number(game, monitor):
    monitor.work = float("nan")


def work_beyond_64_bits(game, monitor):
    monitor.snapshot(uniform(game), work=2**63)


# -- files -----------------------------------------------------------------------------------------


def overwrites_the_game(game, monitor):
    """Make all payoffs equal, in the files that the next cell would read."""
    file = game.folder / "base.npy"
    np.save(file, np.zeros_like(np.load(file)))
    monitor.candidate(uniform(game), claim="equilibrium")
    return Termination("converged")


def removes_the_game(game, monitor):
    for file in game.folder.glob("*.npy"):
        file.unlink()
