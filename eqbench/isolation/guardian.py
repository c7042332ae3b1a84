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
import time

KEEPERS_S = 5.0


def is_there(group: int) -> bool:
    """Whether a process group has a process."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        number = int(line[1:])
        groups.add(number) if line[0] == "+" else groups.discard(number)
    # the keepers have noticed too, and know more of what they have to end
    limit = time.monotonic() + KEEPERS_S
    while (groups := {group for group in groups if is_there(group)}) and time.monotonic() < limit:
        time.sleep(0.02)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for folder in sys.argv[1:]:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
