"""A solver that does by mistake what costs its own cell, with what must come of it."""

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
SLEEP = "import time; time.sleep(600)"
IGNORES = f"import signal; signal.signal(15, signal.SIG_IGN); {SLEEP}"


def uniform(game):
    return eqbench.BehaviorProfile.uniform(game.tree)


def daemon(hang=False):
    """Leave a process with another parent and session, which keeps all pipes open."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execv(sys.executable, [sys.executable, "-S", "-c", SLEEP])
    time.sleep(600 * hang)


def helpers():
    for options in ({"start_new_session": True}, {"close_fds": False}):
        subprocess.Popen([sys.executable, "-S", "-c", IGNORES], **options)


def sleeps_after(action):
    action()
    time.sleep(60)


def writes_into_the_pipe():
    """As one does who closes a descriptor twice, and the second time that of another."""
    for number in range(3, 64):
        try:
            os.write(number, b"progress: 10 %\n")
        except OSError:
            continue


def prints():
    sys.stdout.write(CONTROLS * 2**21)


def raises(error):
    raise error


def raises_without_end():
    return raises_without_end()


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


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


def detail(game, monitor, text):
    monitor.candidate(uniform(game), claim="iterate")
    return Termination("limit", text)


def rings():
    ring = []
    ring.append(ring)
    return ring


def overwrites(game, monitor):
    """Make all payoffs equal, in the files that the next cell would read."""
    file = game.folder / "base.npy"
    np.save(file, np.zeros_like(np.load(file)))
    monitor.candidate(uniform(game), claim="equilibrium")
    return Termination("converged")


# Name, status, a part of the reason, and what is done with the game and the monitor; who returns
# nothing then hands over the uniform profile.
TABLE = (
    # processes
    ("daemon", "limit", "as usual", lambda g, m: daemon()),
    ("daemon_and_hang", "timeout", "killed 1 s after", lambda g, m: daemon(hang=True)),
    ("helpers", "limit", "as usual", lambda g, m: helpers()),
    ("kills_itself", "crashed", "SIGKILL", lambda g, m: os.kill(os.getpid(), 9)),
    ("kills_its_group", "crashed", "SIGTERM", lambda g, m: os.killpg(0, signal.SIGTERM)),
    ("stops", "timeout", "killed 1 s", lambda g, m: os.kill(os.getpid(), signal.SIGSTOP)),
    ("exits_at_once", "crashed", "exit code 0", lambda g, m: os._exit(0)),
    (
        *("exits_in_a_thread", "crashed", "exit code 3"),
        lambda g, m: sleeps_after(threading.Thread(target=os._exit, args=(3,)).start),
    ),
    ("segmentation_fault", "crashed", "SIGSEGV", lambda g, m: ctypes.string_at(0)),
    ("alarm", "crashed", "SIGALRM", lambda g, m: sleeps_after(lambda: signal.alarm(1))),
    (
        *("thread_that_stays", "limit", "as usual"),
        lambda g, m: threading.Thread(target=time.sleep, args=(600,)).start(),
    ),
    ("hangs_at_exit", "limit", "as usual", lambda g, m: atexit.register(time.sleep, 600) and None),
    ("closes_everything", "crashed", "exit code 1", lambda g, m: os.closerange(0, 4096)),
    ("writes_into_the_pipe", "crashed", "does not fit", lambda g, m: writes_into_the_pipe()),
    ("prints_megabytes", "limit", "as usual", lambda g, m: prints()),
    # words
    ("raises_megabytes", "crashed", "ValueError: word word", lambda g, m: raises(ValueError(LONG))),
    ("raises_controls", "crashed", r"\x1b[2J\x9b31m\u20", lambda g, m: raises(OSError(CONTROLS))),
    ("raises_mutely", "crashed", "MuteError", lambda g, m: raises(MuteError())),
    ("raises_without_end", "crashed", "RecursionError", lambda g, m: raises_without_end()),
    ("raises_exit", "crashed", "exit code 0", lambda g, m: raises(SystemExit(0))),
    ("raises_interrupt", "crashed", "SIGINT", lambda g, m: raises(KeyboardInterrupt())),
    ("raises_memory", "memory", "ran out of memory", lambda g, m: raises(MemoryError(LONG))),
    ("surrogates", "limit", r"\ud800 \x1b[2J", lambda g, m: detail(g, m, f"\ud800 {CONTROLS}")),
    ("returns_text", "crashed", "must return a Termination", lambda g, m: "converged"),
    ("no_availability", "crashed", "NoneType", None),
    # values
    (
        *("frequencies_nan", "crashed", "is nan"),
        lambda g, m: frequencies(g, m, np.full(g.tree.n_actions, np.nan)),
    ),
    (
        *("frequencies_complex", "crashed", "complex"),
        lambda g, m: frequencies(g, m, uniform(g).probabilities.astype(complex)),
    ),
    (
        "frequencies_few",
        "crashed",
        "24 frequencies; got 3",
        lambda g, m: frequencies(g, m, np.ones(3)),
    ),
    ("exact_few", "crashed", "got 1", lambda g, m: reports(g, m, profile_exact=(Fraction(1),))),
    ("exact_texts", "crashed", "exact", lambda g, m: reports(g, m, profile_exact=("1e9",) * 24)),
    ("claim_unknown", "crashed", "surely", lambda g, m: reports(g, m, claim="surely so")),
    ("claims_less", "crashed", "claimed_regret", lambda g, m: reports(g, m, claimed_regret=-1.0)),
    (
        *("trembles_few", "crashed", "trembles"),
        lambda g, m: reports(g, m, trembles=Trembles(np.ones(1, np.int64), np.ones(1))),
    ),
    ("statistics_text", "crashed", "statistics", lambda g, m: setattr(m, "statistics", "text")),
    ("statistics_rings", "crashed", "RecursionError", lambda g, m: m.record(rings=rings())),
    (
        *("statistics_of_all_kinds", "limit", "as usual"),
        lambda g, m: m.record(a=np.nan, b=np.array([np.inf]), c=object(), d=b"\xff", e=1j),
    ),
    ("work_nan", "crashed", "NaN", lambda g, m: setattr(m, "work", float("nan"))),
    ("work_huge", "crashed", "work", lambda g, m: m.snapshot(uniform(g), work=2**63)),
    # files
    ("overwrites_the_game", "refuted", "claimed an equilibrium", overwrites),
    (
        *("removes_the_game", "limit", "as usual"),
        lambda g, m: [file.unlink() for file in g.folder.glob("*.npy")] and None,
    ),
)
ACTIONS = {name: action for name, _, _, action in TABLE}


@eqbench.register_solver("accidents")
@dataclass(frozen=True)
class Accidents:
    kind: str

    def availability(self):
        return None if self.kind == "no_availability" else Availability()

    def solve(self, game, monitor, rng):
        answer = ACTIONS[self.kind](game, monitor)
        if answer is not None:
            return answer
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("limit", "as usual")
