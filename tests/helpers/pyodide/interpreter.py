"""What Pyodide 314 lacks, as far as CPython can: modules, threads, processes, machine code.

Usage: python interpreter.py FOLDER, with one JSON array ``[name, request]`` per line of the input.
"""

import json
import os
import sys
import threading
import time
from typing import Any

ABSENT = {"numba", "pandas", "psutil", "resource", "pwd", "grp", "_multiprocessing", "flint"}


class Without:
    """A finder that does not find some modules."""

    def __init__(self, finder: Any) -> None:
        self.finder = finder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """None for absent modules, else as the finder has it."""
        if name.partition(".")[0] in ABSENT:
            return None
        return self.finder.find_spec(name, path, target)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.finder, name)


def refuse(*_: Any) -> Any:
    """As threads and processes there."""
    raise RuntimeError("not in a browser")


# these know their real system
import msgspec  # noqa: E402, F401
import numpy as np  # noqa: E402, F401
import scipy.optimize  # noqa: E402
import scipy.sparse.linalg  # noqa: E402, F401

sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
sys.platform = "emscripten"
threading.Thread.start = os.fork = os.posix_spawn = refuse  # type: ignore[assignment]
del os.sched_getaffinity, time.thread_time
sys.path.insert(0, sys.argv[1])
import answers  # noqa: E402

assert answers.eqbench.__file__.startswith(sys.argv[1])
for line in sys.stdin:
    sys.stdout.write(f"{answers.call(*json.loads(line))}\n")
    sys.stdout.flush()
