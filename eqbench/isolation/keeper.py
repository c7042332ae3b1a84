"""The process between a run and the child that it starts: nothing of the child outlives it.

The child's first process splits in two. One goes on as the worker. The other, the keeper, waits;
when the worker has ended or the run is gone it kills every process that the worker has left, also
those that have made themselves independent, and ends as the worker did. Signals that a solver sends
to its parent end here.

On Linux the worker gets a control group of its own where that is allowed, and orphans become
children of the keeper in any case. Elsewhere there are process groups only, which the run kills.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from eqbench.isolation.processes import LINUX, all_processes

CLEAN_UP_S = 5.0
REMOVE_S = 1.0
LOOK_AGAIN_S = 0.002
_PDEATHSIG, _CHILD_SUBREAPER = 1, 36  # of prctl(2)
# What only the run may say goes over the control pipe.
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def split(control: int, not_kept: Iterable[int]) -> None:
    """Return in the worker; the keeper never returns.

    Parameters
    ----------
    control : descriptor of a pipe that the run holds open as long as the worker may live
    not_kept : descriptors of which only the worker may keep a copy
    """
    group = ControlGroup(os.getpid())
    group.make()
    _prctl(_CHILD_SUBREAPER, 1)
    wake = _wake_up_on_sigchld()
    worker = os.fork()
    if worker == 0:
        _become_worker(control, wake, group)
        return
    for descriptor in not_kept:
        os.close(descriptor)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    status = _wait(worker, control, wake[0])
    group.kill()
    _kill_children([worker] if status is None else [])
    group.remove()
    _end_as(status)


class ControlGroup:
    """A control group (v2) below that of this process; without effect where none is allowed."""

    def __init__(self, leader: int) -> None:
        self._folder = _own_group()
        if self._folder is not None:
            self._folder /= f"eqbench-{leader}"

    def make(self) -> None:
        """Make the group; one that is there already belongs to somebody else."""
        if self._folder is not None:
            try:
                self._folder.mkdir()
            except OSError:
                self._folder = None

    def enter(self) -> None:
        """Move this process into the group."""
        if self._folder is not None:
            with contextlib.suppress(OSError):
                (self._folder / "cgroup.procs").write_text("0")

    def kill(self) -> None:
        """Kill all processes in the group, where the kernel can (from 5.14 on)."""
        if self._folder is not None:
            with contextlib.suppress(OSError):
                (self._folder / "cgroup.kill").write_text("1")

    def remove(self) -> None:
        """Remove the group with those below it, as soon as all their processes have died."""
        limit = time.monotonic() + REMOVE_S
        while self._folder is not None and self._folder.exists() and time.monotonic() < limit:
            for path, _, _ in os.walk(self._folder, topdown=False):
                with contextlib.suppress(OSError):  # it is busy until then
                    os.rmdir(path)
            time.sleep(LOOK_AGAIN_S)


def _own_group() -> Path | None:
    """Folder of this process's control group in the unified hierarchy, None if there is none."""
    for mounted in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        if (mounted / "cgroup.procs").exists():
            with contextlib.suppress(OSError):
                for line in Path("/proc/self/cgroup").read_text().splitlines():
                    if line.startswith("0::/"):
                        return mounted / line[4:]
    return None


def _become_worker(control: int, wake: tuple[int, int], group: ControlGroup) -> None:
    group.enter()
    _prctl(_PDEATHSIG, signal.SIGKILL)  # whoever kills the keeper ends with it
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # the run may have blocked signals in the thread that started us
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for descriptor in (control, *wake):
        os.close(descriptor)


def _wake_up_on_sigchld() -> tuple[int, int]:
    """Pipe that becomes readable when a child has ended."""
    wake = os.pipe()
    for descriptor in wake:
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wake[1], warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    return wake


def _wait(worker: int, control: int, wake: int) -> int | None:
    """Wait status of the worker; None if the run closed its end of the control pipe before."""
    poll = select.poll()  # unlike select() it takes descriptors beyond 1023
    for descriptor in (control, wake):
        poll.register(descriptor, select.POLLIN)
    while True:
        readable = {descriptor for descriptor, _ in poll.poll()}
        if wake in readable:
            os.read(wake, 4096)
            status = _reap(worker)
            if status is not None:
                return status
        if control in readable:
            return None


def _reap(worker: int | None = None) -> int | None:
    """Reap all that have ended; the status of the worker if it is among them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == worker:
                status = ended[1]
    return status


def _kill_children(known: list[int]) -> None:
    """Kill children until there are none; what they leave behind becomes ours and follows.

    `known` are children that are not reaped yet, for systems where they cannot be listed.
    """
    limit = time.monotonic() + CLEAN_UP_S
    while time.monotonic() < limit:
        try:
            while ended := os.waitpid(-1, os.WNOHANG)[0]:
                known = [child for child in known if child != ended]
        except ChildProcessError:
            return
        for child in {*known, *_children()}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(LOOK_AGAIN_S)


def _children() -> list[int]:
    """Numbers of the processes whose parent is this one; none where there is no /proc."""
    own = os.getpid()
    return [each.number for each in all_processes() if each.parent == own] if LINUX else []


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process; without effect outside Linux."""
    if LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end_as(status: int | None) -> None:
    """End this process with the status of another."""
    if status is None:
        os._exit(1)
    if not os.WIFSIGNALED(status):
        os._exit(os.waitstatus_to_exitcode(status))
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    number = os.WTERMSIG(status)
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(1)
