"""All processes that belong to a child: its process group and whatever it started."""

from __future__ import annotations

import contextlib
import os
import signal

import psutil

from eqbench.harness.keeper import ControlGroup


class Family:
    """The processes below a leader and those of its group, as far as they were ever seen."""

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self._seen: set[psutil.Process] = set()

    def resident_bytes(self) -> int:
        """Summed resident memory of those alive now, without the leader, which only waits."""
        total = 0
        for process in self.look():
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
        return total

    def kill(self) -> None:
        """Kill the group and every other process that was seen; call it before reaping."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, signal.SIGKILL)
        for process in self._seen:  # psutil does not confuse them with successors of the number
            with contextlib.suppress(psutil.Error):
                process.kill()
        group = ControlGroup(self.leader)  # of a keeper that somebody has killed
        group.kill()
        group.remove()

    def look(self) -> set[psutil.Process]:
        """Processes that are there now; all that were ever seen are remembered."""
        found = set()
        with contextlib.suppress(psutil.Error):
            found |= set(psutil.Process(self.leader).children(recursive=True))
        for number in psutil.pids():
            with contextlib.suppress(psutil.Error, ProcessLookupError, PermissionError):
                if os.getpgid(number) == self.leader and number != self.leader:
                    found.add(psutil.Process(number))
        self._seen |= found
        return found | {process for process in self._seen if process.is_running()}
