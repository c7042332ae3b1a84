"""A process that has our own modules loaded and forks the children of a run.

Loading Python, NumPy, SciPy, Numba and the machine code of the kernels costs most of a second; a
fork of a process that has done so costs milliseconds. Only our own core is loaded in the server:
plugins and native solvers are imported in the child, and no parallel kernel ever runs here, since
GNU OpenMP does not survive a fork. A server with more than one thread does not fork at all.

Linux only: elsewhere, and wherever something stands in the way, children are started as new
interpreters.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from typing import Any

ANSWER_S = 10.0  # for what takes a moment
END_S = 2.0
_MOST_BYTES = 1 << 16  # of a message
# beginnings of names of variables that are read when a process starts or loads a library
_STARTED_ONCE = (
    *("PYTHON", "LD_", "LC_", "LANG", "TZ", "MALLOC_", "GLIBC_"),
    *("NPY_", "NUMBA", "OMP_", "OPENBLAS_", "MKL_", "NUMEXPR_", "VECLIB_"),
)

# what every child needs, and what only those need that solve
_LIGHT = ("numpy", "eqbench.isolation.worker", "eqbench.isolation.messages", "eqbench.registry")
_HEAVY = (
    "ast",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "eqbench.harness.environment",
    "eqbench.harness.solve",
    "eqbench.model.game_cache",
    "eqbench.model.payoff_model",
)
_WARM = ("rock_paper_scissors", "kuhn2", "kuhn3")  # machine code differs by number of players


class ForkServerError(Exception):
    """The server cannot fork, or is gone; a new interpreter can be started instead."""


class ForkedProcess:
    """A child of the server, with what :class:`subprocess.Popen` offers of it.

    Attributes
    ----------
    pid : its number, also that of its session and process group; not reaped before `wait`
    returncode : negative number of the signal that ended it; None before `wait`, and 1 if the
        server was gone before it could tell
    stdin : its standard input
    """

    def __init__(self, server: ForkServer, pid: int, stdin: int) -> None:
        self.pid, self._server = pid, server
        self.returncode: int | None = None
        try:
            self._handle = os.pidfd_open(pid)
        except BaseException:
            os.close(stdin)
            raise
        self.stdin = os.fdopen(stdin, "wb")

    def has_ended(self) -> bool:
        """Whether it has; its number stays taken."""
        return self.returncode is not None or self._ended(0)

    def wait(self) -> int:
        """Wait until it has ended, and have it reaped."""
        if self.returncode is None:
            self._ended(None)
            try:
                status = self._server.ask({"reap": self.pid}, ANSWER_S)["status"]
                self.returncode = os.waitstatus_to_exitcode(status)
            except ForkServerError:
                self.returncode = 1
            os.close(self._handle)
        return self.returncode

    def _ended(self, wait_ms: int | None) -> bool:
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(wait_ms))


class ForkServer:
    """The runner's side.

    Raises
    ------
    ForkServerError
        If it cannot be started.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self._loaded = False
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,  # Ctrl-C is for the run
                    env=environment,
                )
            except OSError as error:
                ours.close()
                raise ForkServerError(str(error)) from None
        self._socket = ours

    def serves(self, environment: dict[str, str]) -> bool:
        """Whether its children can have this environment; some of it is read at the start only."""
        mine = self.environment.items()
        different = {name for name, _ in mine ^ environment.items()}
        return self._process.poll() is None and not any(
            name.startswith(_STARTED_ONCE) for name in different
        )

    def start(
        self,
        environment: dict[str, str],
        log: int,
        kept: tuple[int, int],
        *,
        solves: bool,
        patience_s: float,
    ) -> ForkedProcess:
        """Fork a worker.

        Parameters
        ----------
        log : descriptor that becomes its standard output and error
        kept : descriptors of its frames and of its control pipe
        solves : whether it will need the kernels
        patience_s : for loading, which takes long when the kernels have to be compiled; later on
            an answer takes 10 s at most, so that a server that somebody has stopped costs no cell

        Raises
        ------
        ForkServerError
            If the server cannot.
        """
        mine = self.environment
        request = {
            "set": {k: v for k, v in environment.items() if mine.get(k) != v},
            "unset": [name for name in mine if name not in environment],
            "solves": solves,
        }
        with contextlib.ExitStack() as opened:
            place = os.open(".", os.O_PATH)  # it need not be readable
            opened.callback(os.close, place)
            reading, writing = os.pipe()
            opened.callback(os.close, reading)
            try:
                most_s = min(patience_s, ANSWER_S) if self._loaded else patience_s
                answer = self.ask(request, most_s, (place, reading, log, *kept))
                self._loaded |= solves
                return ForkedProcess(self, answer["pid"], writing)
            except OSError as error:
                raise ForkServerError(str(error)) from None
            except ForkServerError:
                os.close(writing)
                raise

    def ask(
        self, request: dict[str, Any], patience_s: float, descriptors: tuple[int, ...] = ()
    ) -> dict[str, Any]:
        """The server's answer.

        Raises
        ------
        ForkServerError
            If there is none, or it says that something is in the way.
        """
        with self._lock:
            try:
                self._socket.settimeout(patience_s)
                socket.send_fds(self._socket, [json.dumps(request).encode()], descriptors)
                answer = self._socket.recv(_MOST_BYTES)
            except BaseException as error:
                self._process.kill()  # an answer that came later would be taken for the next one
                if isinstance(error, OSError):
                    raise ForkServerError(str(error)) from None
                raise
        if not answer:
            raise ForkServerError("it is gone")
        document: dict[str, Any] = json.loads(answer)
        if "problem" in document:
            raise ForkServerError(document["problem"])
        return document

    def close(self) -> None:
        """Let it end; what it has forked goes on."""
        self.leave()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:  # something has stopped it
            self._process.kill()
            self._process.wait()

    def leave(self) -> None:
        """Give up this process's connection; the server ends when nobody has one."""
        self._socket.close()


_servers: list[ForkServer] = []  # one at most
_starting = threading.Lock()


def server_for(environment: dict[str, str], threads: int) -> ForkServer:
    """The server of this process for such children; started where there is none yet.

    Raises
    ------
    ForkServerError
        If this system has none, or numerical libraries would start several threads in it.
    """
    if threads > 1:
        raise ForkServerError("threads do not survive a fork")
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        raise ForkServerError("only Linux from 5.3 on can look after children of others") from None
    with _starting:
        if _servers and not _servers[0].serves(environment):
            _servers.pop().close()
        if not _servers:
            _servers.append(ForkServer(environment))
        return _servers[0]


@atexit.register
def close_servers() -> None:
    """End all servers of this process."""
    while _servers:
        _servers.pop().close()


def _leave_servers() -> None:
    """Leave the servers to the process that this one is a fork of."""
    while _servers:
        _servers.pop().leave()
    _starting.release()


os.register_at_fork(
    before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_leave_servers
)


# -- the server's side -----------------------------------------------------------------------------


def serve(channel: socket.socket) -> None:
    """Answer requests until the run is gone."""
    # where the run ignores it, no child would wait until it is reaped
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _load(_LIGHT)
    loaded = False
    while True:
        data, descriptors, *_ = socket.recv_fds(channel, _MOST_BYTES, 8)
        if not data:
            return
        request = json.loads(data)
        try:
            answer: dict[str, Any]
            if "reap" in request:
                answer = {"status": os.waitpid(request["reap"], 0)[1]}
            else:
                if request["solves"] and not loaded:
                    loaded = True
                    _load(_HEAVY)
                    _warm_up()
                answer = {"pid": _fork(request, descriptors, channel)}
        except Exception as error:
            answer = {"problem": f"{type(error).__name__}: {error}"}
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(json.dumps(answer).encode())


def _load(modules: tuple[str, ...]) -> None:
    for name in modules:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # or the children's collections would copy every page


def _warm_up() -> None:
    """Load the machine code that every solver's monitor needs, and what names solvers."""
    from eqbench.registry import default_registry
    from eqbench.solver import warm_up

    registry = default_registry()
    registry.solvers()
    for name in _WARM:
        warm_up(registry.load_game(name))


def _fork(request: dict[str, Any], descriptors: list[int], channel: socket.socket) -> int:
    """Number of a new child, which goes on as a worker and never returns.

    Raises
    ------
    RuntimeError
        If there are other threads, whose locks a child could wait for in vain.
    """
    tasks = len(os.listdir("/proc/self/task"))
    if tasks > 1:
        raise RuntimeError(f"the server has {tasks} threads")
    child = os.fork()
    if child == 0:
        channel.close()
        _work(request, descriptors)
    return child


def _work(request: dict[str, Any], descriptors: list[int]) -> None:
    """Become what a new interpreter would be, do the job, and end the process."""
    from eqbench.harness import worker

    try:
        os.setsid()
        place, stdin, log, frames, control = descriptors
        for descriptor, wanted in ((stdin, 0), (log, 1), (log, 2)):
            os.dup2(descriptor, wanted)
        os.fchdir(place)
        for descriptor in (place, stdin, log):
            os.close(descriptor)
        for name in request["unset"]:
            os.environ.pop(name, None)
        os.environ.update(request["set"])
        import numpy as np

        np.random.seed()  # noqa: NPY002 – the state of a fork is that of its siblings
        sys.argv = [worker.__file__, str(frames), str(control)]
        code = worker.main()
    except Exception:  # the interpreter ends as usual after an interrupt or a call of exit
        traceback.print_exc()
        code = 1
    worker.leave(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    os._exit(0)
