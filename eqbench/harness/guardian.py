"""Cleans up after a run that is gone, however it ended: kills its process groups, then removes
its scratch folder.

Started as a script by the run, with the folder as its argument. It learns of groups by lines
on standard input, ``+ID`` and ``-ID``; when the other end closes, which even SIGKILL cannot
prevent, it kills and removes what is left.
It imports nothing of eqbench so that it costs a few milliseconds.
"""

import contextlib
import os
import shutil
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
    for folder in sys.argv[1:]:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
