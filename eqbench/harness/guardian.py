"""Kills the process groups of a run when the run itself is gone, however it ended.

Started as a script by the run. It learns of groups by lines on standard input, ``+ID`` and
``-ID``; when the other end closes, which even SIGKILL cannot prevent, it kills what is left.
It imports nothing of eqbench so that it costs a few milliseconds.
"""

import contextlib
import os
import signal
import sys


def main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        number = int(line[1:])
        groups.add(number) if line[0] == "+" else groups.discard(number)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
