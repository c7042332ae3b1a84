"""The process that starts the workers of a run, ends them, and cleans up when the run is gone.

Loading Python, NumPy, SciPy, Numba and the machine code of the kernels costs most of a second; a
fork of a process that has done so costs milliseconds. Only our own core is loaded in the server:
plugins and native solvers are imported in the worker. Where a fork would not be what a new
interpreter is (another system than Linux, variables that are read when a process starts, more than
one thread), and with ``--isolation spawn``, the fork executes a new interpreter. Windows has
nothing of this; there :mod:`eqbench.isolation.spawned` takes its place.

The server has a channel to the run for each worker. It sends there the process number of the
worker, and its exit code as soon as nothing is left of it. When the run closes its end, which even
SIGKILL cannot prevent, the worker is killed. A channel may also stand for a scratch folder, which
is removed when the channel is closed and no worker is left.

On Linux workers are subreapers: a daemon that a solver starts becomes a child of its worker, and
when the worker ends a child of the server. So a child that the server has not started is left
behind by a worker that has ended, and is killed. Elsewhere there are process groups only.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from eqbench.isolation import worker
from eqbench.isolation.processes import KILL_S, LINUX, THREAD_VARIABLES, children

assert sys.platform != "win32"  # where nothing below is there to be checked

CLEAN_UP_S = 5.0  # for processes that SIGKILL does not end at once
END_S = 2.0
# beginnings of names of variables that are read when a process starts or loads a library
_READ_ONCE = (
    *("PYTHON", "LD_", "LC_", "LANG", "TZ", "MALLOC_", "GLIBC_"),
    *("NPY_", "NUMBA", "OMP_", "OPENBLAS_", "MKL_", "NUMEXPR_", "VECLIB_"),
)
_PDEATHSIG, _CHILD_SUBREAPER = 1, 36  # of prctl(2)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NUMBER = struct.Struct("<i")


# -- the run's side --------------------------------------------------------------------------------


class Worker:
    """A worker, as the run sees it.

    Parameters
    ----------
    threads : that its numerical libraries may start
    fork : whether it may be a fork of the server; else it is a new interpreter
    solves : whether it will need the kernels
    files : descriptors of its standard input, of its output and of its messages

    Attributes
    ----------
    number : its process number, also that of its session and process group; None before it is
        known, and 0 if it could not be started
    exit_code : negative number of the signal that ended it; None before it has ended with all that
        it has started
    """

    def __init__(self, *, threads: int, fork: bool, solves: bool, files: Sequence[int]) -> None:
        self.number: int | None = None
        self.exit_code: int | None = None
        environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
        request = {"environment": environment, "folder": os.getcwd(), "fork": fork}
        self._channel = _open_channel(request | {"solves": solves}, files)

    def fileno(self) -> int:
        """Return the descriptor that is readable when :meth:`wait` learns something."""
        return self._channel.fileno()

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended, at most so long; return whether it has."""
        limit = time.monotonic() + seconds
        while self.exit_code is None:
            if not _readable(self._channel, limit - time.monotonic()):
                return False
            data = self._channel.recv(_NUMBER.size)
            if not data:  # the server has ended, and on Linux its workers with it
                self.exit_code = -signal.SIGKILL
                self._kill_group()
            elif self.number is None:
                (self.number,) = _NUMBER.unpack(data)
            else:
                (self.exit_code,) = _NUMBER.unpack(data)
        return True

    def close(self) -> None:
        """Have it killed with all that it has started, unless it has ended, and wait for that."""
        with self._channel, contextlib.suppress(OSError):  # the server may have ended
            self._channel.shutdown(socket.SHUT_WR)
            # one that is not started yet will be killed as soon as it is
            if not self.wait(0.0) and self.number is not None and not self.wait(KILL_S):
                self._kill_group()

    def _kill_group(self) -> None:
        if self.number:
            _kill_group(self.number)


class Inbox:
    """The messages of a worker as they come through a pipe, which this closes."""

    def __init__(self, pipe: int, worker: Worker) -> None:
        self._pipe, self._worker = pipe, worker
        self._poll = select.poll()
        for descriptor in (pipe, worker.fileno()):
            self._poll.register(descriptor, select.POLLIN)

    def read(self, wait_s: float) -> bytes:
        """Return what has come, if anything; wait at most so long for it, or for the worker."""
        readable = {descriptor for descriptor, _ in self._poll.poll(max(1000 * wait_s, 0))}
        if self._worker.fileno() in readable and self._worker.wait(0.0):
            self._poll.unregister(self._worker.fileno())
        if self._pipe not in readable:
            return b""
        data = os.read(self._pipe, 1 << 20)
        if not data:
            self._poll.unregister(self._pipe)
        return data

    def leave_worker(self) -> None:
        """Look at the pipe alone from now on."""
        self._poll = select.poll()
        self._poll.register(self._pipe, select.POLLIN)

    def close(self) -> None:
        """Close the pipe."""
        os.close(self._pipe)


class ScratchFolder(tempfile.TemporaryDirectory[str]):
    """A temporary folder that is removed even if this process is killed."""

    def __init__(self) -> None:
        super().__init__(prefix="eqbench-")
        self._channel = _open_channel({"remove": self.name})

    def cleanup(self) -> None:
        """Remove the folder."""
        try:
            super().cleanup()
        except (OSError, RecursionError):  # of what a solver has left there
            pass
        finally:
            self._channel.close()


class _Server:
    """The connection to a new server."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                # -P: a file of the user's folder must not pass for a module of ours
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is for the run
                env=os.environ | dict.fromkeys(THREAD_VARIABLES, "1"),
            )

    def send(self, descriptors: Sequence[int]) -> None:
        """Send descriptors; raise OSError if the server has ended."""
        socket.send_fds(self._connection, [b"."], descriptors)

    def leave(self) -> None:
        """Close the connection; the server ends when no process has it open."""
        self._connection.close()

    def close(self) -> None:
        """Let the server end."""
        self.leave()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_servers: list[_Server] = []  # of this process; one at most
_starting = threading.Lock()


def _open_channel(request: dict[str, Any], files: Sequence[int] = ()) -> socket.socket:
    """Send a request with open files to the server, which is started if there is none.

    Return the channel for what comes of it.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            _send_to_server((theirs.fileno(), *files))
        with contextlib.suppress(OSError):  # what came of it is learned from the channel
            ours.sendall(json.dumps(request).encode() + b"\n")
    except BaseException:
        ours.close()
        raise
    return ours


def _send_to_server(descriptors: Sequence[int]) -> None:
    with _starting:
        if _servers:
            try:
                _servers[0].send(descriptors)
                return
            except OSError:  # it has ended, for example by the kernel for want of memory
                _servers.pop().close()
        _servers.append(_Server())
        _servers[0].send(descriptors)


@atexit.register
def close_server() -> None:
    """End the server of this process, with all its workers."""
    while _servers:
        _servers.pop().close()


def _leave_server() -> None:
    """Leave the server to the process that this one is a fork of."""
    while _servers:
        _servers.pop().leave()
    _starting.release()


os.register_at_fork(
    before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_leave_server
)


def _readable(channel: socket.socket, seconds: float) -> bool:
    poll = select.poll()  # unlike select() it takes descriptors beyond 1023
    poll.register(channel, select.POLLIN)
    return bool(poll.poll(max(0.0, 1000 * seconds)))


# -- the server's side -----------------------------------------------------------------------------


class _Serving:
    """The loop of the server: requests, closed channels, ended processes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._channels: dict[int, socket.socket] = {}  # of workers, by process number
        self._ended: list[tuple[socket.socket, int]] = []  # with exit codes
        self._folders: dict[socket.socket, str] = {}
        self._removed: list[str] = []  # as soon as no worker is left
        self._clean_until = float("inf")
        self._environment = dict(os.environ)
        self._prepared = False
        self._selector = selectors.PollSelector()
        self._wake, self._wakes = os.pipe()
        for descriptor in (self._wake, self._wakes):
            os.set_blocking(descriptor, False)

    def serve(self) -> None:
        """Serve until the run is gone and everything is cleaned up."""
        for number in _SIGNALS:  # the run decides
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._wakes, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        _prctl(_CHILD_SUBREAPER, 1)
        self._on(self._wake, self._sweep)
        self._on(self._connection, self._accept)
        while self._connection.fileno() >= 0 or self._channels or self._ended:
            events = self._selector.select(CLEAN_UP_S if self._ended else None)
            for key, _ in events:
                if key in self._selector.get_map().values():  # else another event has closed it
                    key.data()
            if not events:
                self._sweep()
            while self._removed and not (self._channels or self._ended):
                shutil.rmtree(self._removed.pop(), ignore_errors=True)

    def _on(self, readable: Any, call: Callable[[], None]) -> None:
        self._selector.register(readable, selectors.EVENT_READ, call)

    def _off(self, channel: socket.socket) -> None:
        with contextlib.suppress(KeyError):  # it is off already
            self._selector.unregister(channel)

    def _accept(self) -> None:
        """Take a request; without one the run is gone."""
        data, descriptors, *_ = socket.recv_fds(self._connection, 1, 4)
        if not data:
            self._selector.unregister(self._connection)
            self._connection.close()
            for number in list(self._channels):
                self._kill(number)
            for folder in list(self._folders):
                self._let_go(folder)
            return
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        channel, *files = descriptors
        self._carry_out(socket.socket(fileno=channel), files)

    def _carry_out(self, channel: socket.socket, files: list[int]) -> None:
        with channel.makefile("rb") as lines:
            line = lines.readline()
        if not line:  # the run was killed meanwhile
            channel.close()
            return
        request = json.loads(line)
        if "remove" in request:
            self._folders[channel] = request["remove"]
            self._on(channel, lambda: self._let_go(channel))
            return
        try:
            number = self._start(request, channel, files)
        except Exception:
            with contextlib.suppress(OSError):  # the disk is full
                os.write(files[1], traceback.format_exc().encode())
            number = 0
            self._ended.append((channel, 1))
            os.write(self._wakes, b".")  # to report it
        else:
            self._channels[number] = channel
            self._on(channel, lambda: self._kill(number))
        for descriptor in files:
            os.close(descriptor)
        _send(channel, number)

    def _let_go(self, channel: socket.socket) -> None:
        """Plan to remove a folder."""
        self._off(channel)
        self._removed.append(self._folders.pop(channel))
        channel.close()

    def _kill(self, number: int) -> None:
        """Kill a worker; what it leaves behind follows when it has ended."""
        self._off(self._channels[number])
        os.kill(number, signal.SIGKILL)
        _kill_group(number)

    def _sweep(self) -> None:
        """Reap what has ended, kill what workers have left behind, and report on them."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                number, status = ended
                channel = self._channels.pop(number, None)
                if channel is not None:
                    self._off(channel)
                    _kill_group(number)
                    self._ended.append((channel, os.waitstatus_to_exitcode(status)))
                    self._clean_until = time.monotonic() + CLEAN_UP_S
        own = children(os.getpid()) if LINUX else []  # orphans are among them
        left = [number for number in own if number not in self._channels]
        for number in left:  # what they leave behind becomes ours, and wakes us when they end
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        if not left or time.monotonic() > self._clean_until:
            while self._ended:
                channel, code = self._ended.pop()
                _send(channel, code)
                channel.close()

    def _start(self, request: dict[str, Any], channel: socket.socket, files: list[int]) -> int:
        """Start a worker; return its process number."""
        forked = request["fork"] and LINUX and not self._read_other(request["environment"])
        if forked:
            self._load(solves=request["solves"])
            forked = len(os.listdir("/proc/self/task")) == 1
        number = os.fork()
        if number == 0:
            for other in (self._connection, channel, *self._channels.values(), *self._folders):
                other.close()
            signal.set_wakeup_fd(-1)
            for descriptor in (self._wake, self._wakes):
                os.close(descriptor)
            for name in self._environment.keys() - request["environment"].keys():
                os.environ.pop(name, None)
            os.environ.update(request["environment"])
            _become_worker(request["folder"], *files, forked=forked)
        return number

    def _read_other(self, environment: dict[str, str]) -> bool:
        """Return whether we have read another value of a variable that is read only once."""
        different = {name for name, _ in environment.items() ^ self._environment.items()}
        return any(name.startswith(_READ_ONCE) for name in different)

    def _load(self, *, solves: bool) -> None:
        """Load what workers need, once."""
        modules = len(sys.modules)
        jobs = importlib.import_module(worker.JOBS)
        if solves and not self._prepared:
            jobs.prepare_to_solve()
            self._prepared = True
        if len(sys.modules) > modules:
            gc.collect()
            gc.freeze()  # or the workers' collections would copy every page


def _become_worker(folder: str, job: int, log: int, frames: int, *, forked: bool) -> NoReturn:
    """Become what a new interpreter would be, or one, and do the job."""
    try:
        os.setsid()
        _prctl(_PDEATHSIG, signal.SIGKILL)  # nothing else would end it with the server
        _prctl(_CHILD_SUBREAPER, 1)
        for number in (*_SIGNALS, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor, wanted in ((job, 0), (log, 1), (log, 2)):
            os.dup2(descriptor, wanted)
        for descriptor in (job, log):
            os.close(descriptor)
        os.chdir(folder)
        if not forked:
            os.set_inheritable(frames, True)
            command = [sys.executable, "-P", "-m", worker.__name__, str(frames)]
            os.execv(command[0], command)
        import numpy as np

        np.random.seed()  # noqa: NPY002 – the state of a fork is that of its siblings
        worker.main(frames)
    except Exception:  # the interpreter ends as usual after an interrupt or a call of exit
        traceback.print_exc()
        worker.leave(1)


def _send(channel: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # the run is gone
        channel.sendall(_NUMBER.pack(number))


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process; without effect outside Linux."""
    if LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    _Serving(socket.socket(fileno=int(sys.argv[1]))).serve()
    os._exit(0)
