"""Descendants of a process, the memory that they take, their end, and how busy the cores are."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

LINUX = sys.platform == "linux"
KILL_S = 10.0  # until a killed worker is gone; a server is busy while it loads modules
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# a file of the kernel; without it the whole process table has to be read
_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def children(number: int) -> list[int]:
    """Return the numbers of the processes whose parent is the process `number`.

    A daemon counts where its ancestor is a subreaper.
    """
    if not _LISTS_CHILDREN:
        import psutil

        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(number).children()]
        return []
    found: list[int] = []
    with contextlib.suppress(OSError):  # a thread or the process has ended
        for thread in os.listdir(f"/proc/{number}/task"):
            with open(f"/proc/{number}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def family_memory_bytes(number: int) -> int:
    """Return the summed memory of a process and its descendants."""
    total, left, seen = 0, [number], set[int]()
    while left:
        process = left.pop()
        if process not in seen:
            seen.add(process)
            total += memory_bytes(process)
            left += children(process)
    return total


def kill_with_descendants(number: int) -> None:
    """Kill a process and what it has started, as far as its ancestors live; without a server."""
    import psutil

    with contextlib.suppress(psutil.Error):
        process = psutil.Process(number)
        for each in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                each.kill()


def peak_memory_bytes() -> int:
    """Return the largest resident memory that this process has had."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    else:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def busy_cores() -> float:
    """Return how many cores are busy: over the last minute, on Windows at the moment."""
    if sys.platform != "win32":
        return os.getloadavg()[0]
    else:
        import psutil

        return float(psutil.cpu_percent(0.1)) / 100 * (os.cpu_count() or 1)


def memory_bytes(number: int) -> int:
    """Return the memory that a process has written to and that is resident; 0 if it has ended.

    On Linux this leaves out what belongs to files and can be dropped at any time: the code of
    libraries, mapped arrays. Of these a forked process has only what it has looked at itself, so
    that they would count by how it was started. Elsewhere all that is resident counts.
    """
    if not LINUX:
        import psutil

        with contextlib.suppress(psutil.Error):
            return int(psutil.Process(number).memory_info().rss)
        return 0
    kib = {b"RssAnon": 0, b"RssShmem": 0}
    with contextlib.suppress(OSError), open(f"/proc/{number}/status", "rb") as lines:
        for line in lines:
            name, _, value = line.partition(b":")
            if name in kib:
                kib[name] = int(value.split()[0])
    return 1024 * sum(kib.values())
