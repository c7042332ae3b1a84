"""Do locks in a folder hold, between two processes here and between two machines?"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.harness.environment import Check
from eqbench.store.json_lines import NO_LOCKS

_PREFIX = ".eqbench-lock-of-"
BEAT_S, LINGER_S = 1.0, 6.0
_TRY = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
        print("free")
    except (BlockingIOError, PermissionError):
        print("held")
"""


def lock_checks(
    folder: Path, wait_s: float, tell: Callable[[str], None], host: str = ""
) -> list[Check]:
    """Check whether runners may share a folder.

    A byte of a file is locked, and another process tries to lock it too. Then the lock is held for
    `wait_s` seconds, until the same check on another machine has tried.

    Parameters
    ----------
    wait_s : 0 to check this machine only
    tell : is told what to do meanwhile
    host : name of this machine; as the system says unless given

    Raises
    ------
    UsageError
        If the folder cannot be written.
    """
    own = folder / f"{_PREFIX}{host or socket.gethostname()}-{os.getpid()}"
    try:
        with own.open("x+b", buffering=0) as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
                found = [_between_processes(own)]
                if wait_s and found[0].state == "good":
                    tell(
                        f"holding a lock in {folder} for up to {wait_s:g} s: run the same command "
                        "on the other machine now"
                    )
                    found.append(_between_machines(own, file.fileno(), wait_s))
                return found
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                detail = f"{error.strerror}: only one runner at a time may work here"
                return [Check("locks", "broken", detail)]
            finally:
                own.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot check locks in {folder}: {error.strerror}; name a folder that can be written"
        ) from None


def _between_processes(own: Path) -> Check:
    command = [sys.executable, "-c", _TRY, str(own)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.stdout.strip() == "held":
        return Check("locks", "good", "processes of this machine may share the folder")
    why = "a process got a lock that another one holds" if done.stdout else done.stderr[-300:]
    return Check("locks", "broken", f"{why}: only one runner at a time may work here")


def _between_machines(own: Path, descriptor: int, wait_s: float) -> Check:
    """Try the locks of others for some seconds; they are alive as long as their files change."""
    name, found = "locks between machines", None
    seen: dict[Path, bytes] = {}
    free: set[Path] = set()
    until, beat = time.monotonic() + wait_s, 0
    while time.monotonic() < until:
        beat += 1
        os.pwrite(descriptor, b"%09d" % beat, 0)
        for other in set(own.parent.glob(f"{_PREFIX}*")) - {own}:
            with suppress(OSError):  # it may end at any moment
                text = read_file(other)
                if seen.setdefault(other, text) == text:
                    continue
                seen[other], machine = text, other.name.removeprefix(_PREFIX).rpartition("-")[0]
                if not _is_free(other):
                    found = found or Check(name, "good", f"{machine} may share the folder")
                elif other in free:  # it was alive after its lock had been free
                    why = f"the lock of {machine} does not hold here; runners there and here must"
                    found = Check(name, "broken", f"{why} not share the folder")
                else:
                    free.add(other)
        if found:  # the other one shall see ours
            until = min(until, time.monotonic() + LINGER_S)
        time.sleep(BEAT_S)
    detail = "no other machine took part; run the same command on two machines at the same time"
    return found or Check(name, "absent", detail)


def _is_free(other: Path) -> bool:
    with other.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
        except (BlockingIOError, PermissionError):
            return False
        return True
