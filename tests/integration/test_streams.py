"""Standard streams that are closed, full, narrow or gone never cost results or a traceback.

In a terminal a bar says what runs, and data stays clean beside it.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.runs import cell, write_run

ENDED_BY_PIPE = 141


def shell(line: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    command = line.replace("eqbench", f"{sys.executable} -m eqbench", 1)
    return subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=cwd,
        env=os.environ | variables,
        capture_output=True,
        timeout=600,
        check=False,
    )


RUN = "eqbench run -v --game kuhn2 --solver cfr,cfr_plus --iterations 10 --out r"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"{RUN} 2> /dev/full", 0),
        (f"{RUN} 2>&1 | true; exit ${{PIPESTATUS[0]}}", ENDED_BY_PIPE),
        (f"{RUN} >&- 2>&- <&-", 0),
    ],
    ids=["full", "reader gone", "closed"],
)
def test_run_stores_all_cells_whatever_its_streams_lead_to(
    tmp_path: Path, line: str, code: int
) -> None:
    done = shell(line, tmp_path)
    assert done.returncode == code
    assert len((tmp_path / "r" / "runs.jsonl").read_text().splitlines()) == 2
    assert done.stderr == b""


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    write_run(tmp_path / "r", cell("01", reason="é – α", status="failed"))
    return tmp_path


@pytest.mark.parametrize("form", ["terminal", "html"])
def test_narrow_encoding_gets_something_that_can_be_read(stored: Path, form: str) -> None:
    done = shell(f"eqbench report r --format {form} --out -", stored, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    text = done.stdout.decode("latin-1")
    assert {char for char in text if not char.isprintable()} <= {"\n", "\u00a0"}
    assert ("é - alpha" if form == "terminal" else "&#233; &#8211; &#945;") in text


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("eqbench report r --format html --out - >&- <&-", 0, b""),
        ("eqbench report r > /dev/full", 1, b"No space left"),
        ("eqbench verify --game kuhn2 --profile - <&-", 2, b"standard input"),
    ],
)
def test_stream_that_is_closed_or_full_is_no_traceback(
    stored: Path, line: str, code: int, said: bytes
) -> None:
    done = shell(line, stored)
    assert done.returncode == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 1


def test_interrupt_during_imports_is_quiet(tmp_path: Path) -> None:
    """The first import of `main` sends the signal."""
    code = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from eqbench.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=600, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


# -- a terminal ------------------------------------------------------------------------------------


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


def test_bar_shows_what_runs_and_leaves_no_trace(tmp_path: Path) -> None:
    printed, shown = in_terminal(*RUN, cwd=tmp_path)
    assert len(json.loads(printed)["cells"]) == 1
    assert "0 of 1" in shown
    assert re.search(r"mccfr on kuhn2, seed 0: \d s", shown)
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") > 0, "the cursor is back"


def test_quiet_is_quiet(tmp_path: Path) -> None:
    printed, shown = in_terminal(*RUN, "--iterations", "10", "-q", cwd=tmp_path)
    assert (len(json.loads(printed)["cells"]), shown) == (1, "")
