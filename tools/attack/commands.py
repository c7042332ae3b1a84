"""Commands with inputs that no limit foresaw, in surroundings that nobody has."""

from __future__ import annotations

import signal
import time
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .sandbox import Ended, Job, Result, Sandbox

KIND = "command line and environment"
TABLE = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))
DEADLINE_S = 60
AT_ONCE = 10


def jobs(*, quick: bool) -> Iterator[Job]:
    """Ten commands a job, and the interrupts."""
    for group, table in TABLE.items():
        names = [name for name, entry in table.items() if entry.get("quick") or not quick]
        for start in range(0, len(names), AT_ONCE):
            some = {name: table[name] for name in names[start : start + AT_ONCE]}
            yield Job(KIND, f"{group} {start}", partial(_trials, some))
    if not quick:
        yield Job(KIND, "interrupts", _interrupts)


def _trials(entries: dict[str, dict[str, Any]]) -> list[Result]:
    """Commands that differ by their words alone are in the table of the command line."""
    return [Result(KIND, name, tuple(_alone(entry))) for name, entry in entries.items()]


def _alone(entry: dict[str, Any]) -> list[str]:
    """Complaints about a command in surroundings of its own."""
    with Sandbox() as sandbox:
        ended = sandbox.command(
            *[word.replace("{FOLDER}", str(_folder(sandbox))) for word in entry["args"]],
            deadline_s=DEADLINE_S,
            environment=entry.get("environment"),
            wrapper=("bash", "-c", entry["shell"] + '; exec "$@"', "-") if "shell" in entry else (),
        )
        return _complaints(entry, ended) + sandbox.left_behind()


def _complaints(entry: dict[str, Any], ended: Ended) -> list[str]:
    codes = tuple(entry.get("codes", (2,)))
    if ended.code == 0 or entry.get("silent"):
        return ended.complaints(codes)
    return ended.refusal(codes)


def _folder(sandbox: Sandbox) -> Path:
    """A run, which is made when a command needs one."""
    if not sandbox.run.exists():
        made = sandbox.command(
            *("run", "--game", "kuhn2", "--solver", "cfr", "--iterations", "5", "--out", "run")
        )
        assert made.code == 0, made.err
    return sandbox.run


def _interrupts() -> list[Result]:
    """SIGINT at moments from the first milliseconds on; then --resume, if a run was begun."""
    found = []
    for milliseconds in (10, 50, 100, 150, 200, 300, 500, 800, 1200):
        with Sandbox() as sandbox:
            ended = _interrupted(sandbox, milliseconds / 1000)
            codes = (130, 0, -signal.SIGINT)
            if "KeyboardInterrupt" in ended.err and "eqbench/cli" not in ended.err:
                ended = Ended(-signal.SIGINT, ended.out, "")  # Python itself had not yet started
            complaints = ended.complaints(codes) + sandbox.left_behind()
            if (sandbox.run / "manifest.json").exists():
                again = sandbox.command("run", "--resume", "run", "-q")
                complaints += again.complaints() + sandbox.left_behind()
            found.append(Result(KIND, f"SIGINT after {milliseconds} ms", tuple(complaints)))
    return found


def _interrupted(sandbox: Sandbox, wait_s: float) -> Ended:
    import subprocess
    import sys

    words = ("run", "--game", "kuhn2", "--solver", "cfr,cfr_plus", "--iterations", "5")
    process = sandbox.start(
        [sys.executable, "-m", "eqbench", *words, "--out", "run"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(wait_s)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE_S)
    return Ended(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))
