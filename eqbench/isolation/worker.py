"""The process of one job: ``python -m eqbench.isolation.worker [FRAMES]``.

Reads the job as JSON on standard input, and answers with messages on the descriptor FRAMES. Windows
hands no further descriptors over: without FRAMES it is what was standard output, which from then on
is standard error.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import sys
from typing import NoReturn

JOBS = "eqbench.harness.solve"  # by its name, since it is above; its `perform` does a job
# Of the garbage collector. Loading packages makes so many objects that looking through them
# again and again would take a seventh of the time.
COLLECT_AFTER = (50_000, 10, 10)


def main(frames: int) -> NoReturn:
    """Do the job, and end the process with code 0, whatever the result."""
    gc.set_threshold(*COLLECT_AFTER)
    job = json.loads(sys.stdin.buffer.read())
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.set_inheritable(frames, False)
    jobs = importlib.import_module(JOBS)
    from eqbench.isolation.messages import write_frame

    try:
        jobs.perform(job, lambda frame: write_frame(frames, frame), in_worker=True)
    finally:  # the reason why a process ends comes after what it has printed
        _flush()
    leave(0)


def leave(code: int) -> NoReturn:
    """End this process at once; taking down Numba and the interpreter takes long."""
    _flush()
    os._exit(code)


def _flush() -> None:
    """Write what Python and native code have printed."""
    import ctypes

    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a solver may have closed or replaced them
            stream.flush()
    # on Windows None names no library
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)


if __name__ == "__main__":
    descriptor = int(sys.argv[1]) if len(sys.argv) > 1 else os.dup(1)
    os.dup2(2, 1)  # with FRAMES they lead to the same already
    main(descriptor)
