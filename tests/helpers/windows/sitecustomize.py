"""The standard library as Windows has it, as far as modules of eqbench can see.

Python imports this as it starts wherever this folder is on PYTHONPATH, so in every child, too.
Other modules keep what they need of the real system.
"""

from __future__ import annotations

import builtins
import os
import select
import signal
import socket
import sys
import time
from types import ModuleType
from typing import Any

ABSENT_MODULES = {"fcntl", "grp", "posix", "pwd", "resource", "termios"}
ABSENT = {
    os: (
        *("O_CLOEXEC", "O_NONBLOCK", "SCHED_OTHER", "WNOHANG", "chown", "fork", "forkpty"),
        *("getloadavg", "getpgid", "getuid", "killpg", "mkfifo", "nice", "pread", "pwrite"),
        *("register_at_fork", "sched_getaffinity", "set_blocking", "setpgid", "setsid", "sysconf"),
        *("uname", "wait", "wait4"),
    ),
    select: ("poll", "epoll"),
    signal: (
        *("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1"),
        *("alarm", "pthread_sigmask", "setitimer"),
    ),
    socket: ("AF_UNIX", "recv_fds", "send_fds"),
    time: ("tzset",),
}


def _open(path: Any, *flags: Any, **more: Any) -> int:
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return os.open(path, *flags, **more)


def _kill(process: int, number: int) -> None:
    raise AssertionError(f"on Windows this ends the process {process}")


CHANGED: dict[ModuleType, dict[str, Any]] = {
    os: {"name": "nt", "open": _open, "kill": _kill},
    sys: {"platform": "win32"},
}


class _Seen(ModuleType):
    """A module with less in it."""

    def __init__(self, real: ModuleType) -> None:
        self.__dict__["_real"] = real
        self.__dict__.update(CHANGED.get(real, {}))

    def __getattr__(self, name: str) -> Any:
        if name in ABSENT.get(self._real, ()):
            raise AttributeError(f"module {self._real.__name__!r} has no attribute {name!r} here")
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, value)


_seen = {module.__name__: _Seen(module) for module in (*ABSENT, sys)}
_import = builtins.__import__


def _import_for_eqbench(name: str, globals: Any = None, *rest: Any, **more: Any) -> Any:
    spec = (globals or {}).get("__spec__")  # tells modules that are run from scripts
    if spec is not None and spec.name.partition(".")[0] == "eqbench":
        if name.partition(".")[0] in ABSENT_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r} here", name=name)
        if name in _seen:
            return _seen[name]
    return _import(name, globals, *rest, **more)


builtins.__import__ = _import_for_eqbench

# Windows neither replaces nor removes a file that is open or mapped; here only those of this
# process count.
_replace, _unlink = os.replace, os.unlink


def _refuse_open(path: Any) -> None:
    place = os.path.realpath(path)
    numbers = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    if any(os.path.realpath(f"/proc/self/fd/{number}") == place for number in numbers):
        raise PermissionError(13, "The file is open in this process", os.fspath(path))


def _replace_closed(source: Any, target: Any) -> None:
    _refuse_open(source)
    _refuse_open(target)
    _replace(source, target)


os.replace = _replace_closed  # type: ignore[assignment]
