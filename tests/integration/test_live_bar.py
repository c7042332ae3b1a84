"""What a person sees in a terminal while a run is at work; data stays clean beside it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

RUN = ("run", "--game", "kuhn2", "--solver", "mccfr", "--timeout", "4", "--target", "0", "--json")


def in_terminal(*arguments: str, cwd: Path) -> tuple[str, str]:
    """Standard output, which is a pipe, and what a terminal got of standard error."""
    ours, theirs = pty.openpty()
    seen = bytearray()

    def look() -> None:
        try:
            while data := os.read(ours, 4096):
                seen.extend(data)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=look)
    reader.start()
    done = subprocess.run(
        [sys.executable, "-m", "eqbench", *arguments],
        **{"cwd": cwd, "stdout": subprocess.PIPE, "stderr": theirs, "text": True},
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": "1"},
        check=True,
    )
    os.close(theirs)
    reader.join()
    os.close(ours)
    return done.stdout, seen.decode()


def test_bar_says_what_runs_and_how_well_and_leaves_no_trace(tmp_path: Path) -> None:
    printed, shown = in_terminal(*RUN, cwd=tmp_path)
    (cell,) = json.loads(printed)["cells"]
    assert "0 of 1 cells done" in shown
    assert re.search(r"\d+%  0:00:0\d, up to 0:00:0\d left", shown)
    regrets = re.findall(r"mccfr on kuhn2, seed 0: \d s, max regret (\S+)", shown)
    assert float(regrets[0]) >= float(regrets[-1]) > 0.1 * cell["max_regret"]
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") > 0, "the cursor is back"


def test_quiet_is_quiet(tmp_path: Path) -> None:
    printed, shown = in_terminal(*RUN, "--iterations", "10", "-q", cwd=tmp_path)
    assert (len(json.loads(printed)["cells"]), shown) == (1, "")
