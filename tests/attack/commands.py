"""Commands with inputs that no limit foresaw, in surroundings that nobody has."""

from __future__ import annotations

import os
import signal
import time
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from . import readers
from .sandbox import Ended, Job, Result, Sandbox

KIND = "command line and environment"
TABLE = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))
DEADLINE_S = 60
AT_ONCE = 10
RAISES = """
import eqbench
@eqbench.register_solver("raises_on_import")
class Solver:
    pass
"""


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
    """Commands that differ by their words alone share a process that has imported everything."""
    own = {name: entry for name, entry in entries.items() if {"shell", "environment"} & set(entry)}
    found = [Result(KIND, name, tuple(_alone(entry))) for name, entry in own.items()]
    with Sandbox() as sandbox:
        others = {name: entry for name, entry in entries.items() if name not in own}
        words = {name: _words(entry, sandbox) for name, entry in others.items()}
        ended = readers.carried_out(sandbox, words) if words else {}
        left = sandbox.left_behind()
    for name, how in ended.items():
        found.append(Result(KIND, name, tuple(_complaints(others.get(name, {}), how) + left)))
    return found


def _alone(entry: dict[str, Any]) -> list[str]:
    """Complaints about a command in surroundings of its own."""
    with Sandbox() as sandbox:
        ended = sandbox.command(
            *_words(entry, sandbox),
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


def _words(entry: dict[str, Any], sandbox: Sandbox) -> list[str]:
    return [_filled(word, sandbox) for word in entry["args"]]


def _filled(word: str, sandbox: Sandbox) -> str:
    """A word of the table, with the file that it names made."""
    for name, make in FILLED.items():
        if f"{{{name}}}" in word:
            word = word.replace(f"{{{name}}}", str(make(sandbox)))
    return word


def _file(name: str, data: bytes) -> Callable[[Sandbox], Path]:
    def make(sandbox: Sandbox) -> Path:
        (sandbox.root / name).write_bytes(data)
        return sandbox.root / name

    return make


def _pipe(name: str) -> Callable[[Sandbox], Path]:
    def make(sandbox: Sandbox) -> Path:
        if not (sandbox.root / name).exists():
            os.mkfifo(sandbox.root / name)
        return sandbox.root / name

    return make


def _device(name: str) -> Callable[[Sandbox], Path]:
    def make(sandbox: Sandbox) -> Path:
        if not (sandbox.root / name).is_symlink():
            (sandbox.root / name).symlink_to("/dev/zero")
        return sandbox.root / name

    return make


def _sparse(name: str) -> Callable[[Sandbox], Path]:
    def make(sandbox: Sandbox) -> Path:
        path = _file(name, b"")(sandbox)
        os.truncate(path, 1_500_000_000)  # it takes no space
        return path

    return make


def _folder(sandbox: Sandbox) -> Path:
    """A run, which is made when a command needs one."""
    if not sandbox.run.exists():
        made = sandbox.command(
            *("run", "--game", "kuhn2", "--solver", "cfr", "--iterations", "5", "--out", "run")
        )
        assert made.code == 0, made.err
    return sandbox.run


FILLED: dict[str, Callable[[Sandbox], Any]] = {
    "DIGITS": lambda sandbox: "9" * 50_000,
    "LONG": lambda sandbox: "x" * 100_000,
    "NESTED": lambda sandbox: "(" * 20_000 + ")" * 20_000,
    "SPECS": lambda sandbox: ",".join(f"cfr(start={k})" for k in range(5000)),
    "GAMES": lambda sandbox: ",".join(f"kuhn(pot={k + 1})" for k in range(8000)),
    "FOLDER": _folder,
    "PIPE": _pipe("pipe"),
    "PIPE_GAME": _pipe("pipe.efg"),
    "DEVICE_GAME": _device("device.efg"),
    "SPARSE": _sparse("sparse"),
    "SPARSE_GAME": _sparse("sparse.efg"),
    "BINARY": _file("binary", bytes(range(256)) * 100),
    "BINARY_GAME": _file("binary.nfg", bytes(range(256)) * 100),
    "DEEP": _file("deep", b"[" * 200_000 + b"]" * 200_000),
    "DEEP_PYTHON": _file("deep.py", b"x = " + b"(" * 100_000 + b")" * 100_000),
    "LIST": _file("list", b"[1, 2]"),
    "BEYOND": _file("beyond", b'{"behavior": {"P1": {"1:": {"bet": 1e999, "check": NaN}}}}'),
    "POWER": _file("power", b'{"behavior": {"P1": {"1:": {"bet": 1e-999999999}}}}'),
    "GAME_INTEGER": _file("game", b'{"game": 5, "behavior": []}'),
    "RAISES": _file("raises.py", RAISES.encode() + b"raise ValueError('x\\x1b[2J' * 10**6)\n"),
    "EXITS": _file("exits.py", RAISES.encode() + b"import os; os._exit(5)\n"),
}


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
