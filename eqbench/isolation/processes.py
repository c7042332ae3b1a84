"""The processes of this machine: who is whose child, what each has in memory, and how to end it.

All cells of a run share one look at the process table, which costs some 6 µs a process. Linux is
read from ``/proc``; elsewhere psutil asks the system.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple

LINUX = sys.platform == "linux"
FRESH_S = 0.025
SHARE = 20  # looking through all processes must stay a small share of a core


class Process(NamedTuple):
    """A process; when it `started` tells it from another that has its number later."""

    number: int
    parent: int
    group: int
    started: float

    def kill(self) -> None:
        """Kill it, unless it has ended or belongs to somebody else."""
        now = process_of(self.number)
        if now is not None and now.started == self.started:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.number, signal.SIGKILL)


def process_of(number: int) -> Process | None:
    """The process of a number, None if there is none or we may not look."""
    if not LINUX:
        import psutil

        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(number)
            return Process(number, process.ppid(), os.getpgid(number), process.create_time())
        return None
    try:
        descriptor = os.open(f"/proc/{number}/stat", os.O_RDONLY)
        try:
            stat = os.read(descriptor, 4096)
        finally:
            os.close(descriptor)
        # the name before it may hold spaces and brackets
        fields = stat[stat.rindex(b")") :].split()
        return Process(number, int(fields[2]), int(fields[3]), float(fields[20]))
    except (OSError, ValueError, IndexError):
        return None


def all_processes() -> list[Process]:
    """All processes that we may look at."""
    if LINUX:
        numbers = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    else:
        import psutil

        numbers = psutil.pids()
    return [process for number in numbers if (process := process_of(number)) is not None]


class Table:
    """The processes of a moment, by parents and by groups."""

    def __init__(self, processes: Iterable[Process]) -> None:
        self._processes = {process.number: process for process in processes}
        self._children: dict[int, list[Process]] = {}
        self._groups: dict[int, list[Process]] = {}
        for process in self._processes.values():
            self._children.setdefault(process.parent, []).append(process)
            self._groups.setdefault(process.group, []).append(process)

    def family(self, leader: int, known: Iterable[Process] = ()) -> list[Process]:
        """Those of a leader's group, known ones that are there still, and all below; not itself."""
        still = [
            now
            for old in known
            if (now := self._processes.get(old.number)) and now.started == old.started
        ]
        found: dict[int, Process] = {}
        left = [*self._groups.get(leader, ()), *self._children.get(leader, ()), *still]
        while left:
            process = left.pop()
            if process.number not in (leader, *found):
                found[process.number] = process
                left += self._children.get(process.number, ())
        return list(found.values())


class Sampler:
    """Looks through all processes, for all threads that ask; not more often than it may."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table, self._until = Table(()), 0.0

    def newest(self) -> Table:
        """A table that is not older than 25 ms, or than 20 times what it takes to make it."""
        with self._lock:
            begin, spent_s = time.monotonic(), time.thread_time()
            if begin >= self._until:
                self._table = Table(all_processes())
                self._until = begin + max(FRESH_S, SHARE * (time.thread_time() - spent_s))
            return self._table


def memory_bytes(number: int | str) -> int:
    """Memory that a process of this number has written to and that is resident; 0 if it has ended.

    On Linux, where it may also be ``self``, this leaves out what belongs to files and can be
    dropped at any time: the code of libraries, mapped arrays. Of these a forked process has only
    what it has looked at itself, so that they would count by how it was started. Elsewhere all that
    is resident counts.
    """
    if not LINUX:
        import psutil

        with contextlib.suppress(psutil.Error):
            return int(psutil.Process(None if number == "self" else int(number)).memory_info().rss)
        return 0
    kib = {b"RssAnon": 0, b"RssShmem": 0}
    with contextlib.suppress(OSError), open(f"/proc/{number}/status", "rb") as lines:
        for line in lines:
            name, _, value = line.partition(b":")
            if name in kib:
                kib[name] = int(value.split()[0])
    return 1024 * sum(kib.values())
