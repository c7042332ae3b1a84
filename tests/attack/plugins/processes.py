"""A solver that plays with processes: its own, those it starts, and those of the run."""

import atexit
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from attack.hostile import ANY, Hostile, ends, marks

import eqbench

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(300)"]
BARE = {"PATH": "/usr/bin:/bin"}


@eqbench.register_solver("processes")
@dataclass(frozen=True)
class Processes(Hostile):
    """Attacks by signals and processes."""


def sleeper(**more):
    """A process that would sleep for minutes, known by its command line."""
    return subprocess.Popen([*SLEEP, str(marks())], **more)


def daemon(command, environment=None):
    """Start a command that has left its family: two forks, a session of its own."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in range(3, 256):
        with contextlib.suppress(OSError):
            os.close(number)
    os.execve(command[0], command, dict(os.environ) if environment is None else environment)


@ends("limit", quick=True)
def daemon_of_two_forks(game, monitor):
    daemon([*SLEEP, str(marks())])


@ends("limit")
def daemon_without_environment(game, monitor):
    daemon([*SLEEP, str(marks())], BARE)


@ends("limit")
def daemon_that_forks_on(game, monitor):
    code = (
        "import os, time\n"
        "for k in range(20):\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    os.setsid()\n"
        "    time.sleep(0.02)\n"
        "time.sleep(300)"
    )
    daemon([sys.executable, "-S", "-c", code, str(marks())])


@ends("limit")
def child_in_a_session_of_its_own(game, monitor):
    sleeper(start_new_session=True)


@ends("limit")
def child_that_ignores_signals(game, monitor):
    ignore = "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; "
    subprocess.Popen([sys.executable, "-S", "-c", f"{ignore} time.sleep(300)", str(marks())])


@ends("limit", "crashed")
def child_that_keeps_the_pipe(game, monitor):
    sleeper(start_new_session=True, close_fds=False)


@ends("limit")
def forty_children(game, monitor):
    for _ in range(40):
        sleeper(start_new_session=True)


@ends("crashed")
def stops_itself_for_good(game, monitor):
    os.kill(os.getpid(), signal.SIGKILL)


@ends("timeout")
def stops_itself(game, monitor):
    os.kill(os.getpid(), signal.SIGSTOP)


@ends("crashed")
def exits_at_once(game, monitor):
    os._exit(0)


@ends("crashed")
def exits_in_a_thread(game, monitor):
    threading.Thread(target=lambda: os._exit(3)).start()
    time.sleep(60)


@ends("crashed")
def segmentation_fault(game, monitor):
    ctypes.string_at(0)


@ends("limit")
def thread_that_goes_on(game, monitor):
    threading.Thread(target=time.sleep, args=(300,)).start()


@ends("limit")
def hangs_at_exit(game, monitor):
    atexit.register(time.sleep, 300)


@ends("limit", "crashed")
def exits_at_exit(game, monitor):
    atexit.register(os._exit, 7)


@ends("crashed")
def alarm_clock(game, monitor):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(60)


@ends("crashed", "limit")
def closes_everything(game, monitor):
    os.closerange(0, 4096)


@ends(*ANY)
def leaves_the_group(game, monitor):
    os.setsid() if os.getpid() != os.getsid(0) else os.setpgid(0, 0)


@ends("limit", "crashed")
def replaces_the_monitor(game, monitor):
    import eqbench.isolation.worker as worker
    import eqbench.solver as contract

    contract.Monitor.candidate = worker._solve = lambda *things, **more: None
    contract.CLAIMS = ("anything",)


@ends("limit", alone=True, codes=(0, 130))
def interrupts_its_parent(game, monitor):
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(0.5)


@ends("limit", alone=True, codes=(0, 130))
def interrupts_its_parent_without_end(game, monitor):
    for _ in range(30):
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(0.02)


@ends("limit", "crashed", alone=True, codes=(0, 1, 130))
def interrupts_the_group_of_its_parent(game, monitor):
    os.killpg(os.getpgid(os.getppid()), signal.SIGINT)
    time.sleep(0.5)


@ends("limit", alone=True, codes=(0, 130))
def terminates_its_parent(game, monitor):
    os.kill(os.getppid(), signal.SIGTERM)
    time.sleep(0.5)


@ends("limit", alone=True)
def hangs_up_on_its_parent(game, monitor):
    """Nothing can stand against SIGKILL; what is not caught otherwise, is like it."""
    os.kill(os.getppid(), signal.SIGWINCH)
    os.kill(os.getppid(), signal.SIGCHLD)
    os.kill(os.getppid(), signal.SIGCONT)


def parent_of(number):
    return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])


def the_run():
    """The run itself: the ancestor that was started as `eqbench run`."""
    number = os.getppid()
    while b"\0run\0" not in Path(f"/proc/{number}/cmdline").read_bytes():
        number = parent_of(number)
        if number <= 1:
            raise LookupError("no run among the ancestors")
    return number


def guardians():
    """Processes that clean up after this run, told by their parent and their script."""
    run, found = the_run(), []
    for entry in Path("/proc").iterdir():
        try:
            ours = b"guardian.py" in (entry / "cmdline").read_bytes()
            if ours and parent_of(entry.name) == run:
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    if not found:
        raise LookupError("no guardian")
    return found


@ends("crashed", "limit", alone=True, codes=(0, 1))
def kills_its_parent(game, monitor):
    if os.getppid() == the_run():
        raise LookupError("that would be the run itself")
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.5)


@ends("limit", alone=True)
def kills_the_guardian(game, monitor):
    for number in guardians():
        os.kill(number, signal.SIGKILL)
    daemon([*SLEEP, str(marks())])


@ends("limit", alone=True)
def stops_the_guardian(game, monitor):
    for number in guardians():
        os.kill(number, signal.SIGSTOP)
