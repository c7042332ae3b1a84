"""A folder of its own for a trial, and what is wrong with how a command in it ended."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Folders of the packages `helpers` and `attack`.
IMPORTED = [str(Path(__file__).resolve().parents[2] / name) for name in ("tests", "tools")]
MARK = "EQBENCH_ATTACK"  # in the environment of every process of a trial
MOST_OUTPUT = 20_000
MOST_MESSAGE = 2_500
MOST_READ = 64 * 2**20
DEADLINE_S = 60.0
LAST_BREATH_S = 5.0
# No trial may fill the disk, or the memory, for example by reading a device to its end.
LIMITS = {
    resource.RLIMIT_FSIZE: 2 * 2**30,
    resource.RLIMIT_AS: 8 * 2**30,
    resource.RLIMIT_CORE: 0,
}
# what moves a cursor, hides or turns text; a terminal's own colors are not asked for
_CONTROL = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True)
class Result:
    """One trial: what was tried, and what did not hold."""

    kind: str
    name: str
    complaints: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        return not self.complaints


@dataclass(frozen=True)
class Job:
    """Trials that run together; `quick` ones are for the tests."""

    kind: str
    name: str
    run: Callable[[], list[Result]]
    quick: bool = False


@dataclass(frozen=True)
class Ended:
    """How a command ended; `code` is None if it had to be killed."""

    code: int | None
    out: str
    err: str

    def complaints(
        self, codes: Sequence[int] = (0,), *, most_output: int = MOST_OUTPUT
    ) -> list[str]:
        """What no command may do, and exit codes other than these."""
        if self.code is None:
            return ["hung"]
        found = []
        if self.code not in codes:
            found.append(f"exit {self.code} instead of {' or '.join(map(str, codes))}{self.last}")
        for name, text in (("output", self.out), ("messages", self.err)):
            if "Traceback (most recent call last)" in text:
                found.append(f"a traceback among its {name}{self.last}")
            if controls := sorted(set(_CONTROL.findall(text))):
                found.append(f"control characters in its {name}: {''.join(controls)[:20]!a}")
        if len(self.out) > most_output:
            found.append(f"prints {len(self.out):,} characters")
        if len(self.err) > MOST_OUTPUT:
            found.append(f"{len(self.err):,} characters of messages")
        return found

    @property
    def last(self) -> str:
        lines = [line for line in self.err.splitlines() if line.strip()]
        return f": {ascii(lines[-1][:160])[1:-1]}" if lines else ""

    def refusal(self, codes: Sequence[int] = (2,)) -> list[str]:
        """Complaints unless the command ended with one line that says what is wrong."""
        found = self.complaints(codes)
        if self.code not in codes:
            return found
        lines = [line for line in self.err.splitlines() if line.strip()]
        if not lines:
            found.append("ended without a word")
        if len(self.err) > MOST_MESSAGE:
            found.append(f"a message of {len(self.err):,} characters")
        return found


@dataclass
class Sandbox:
    """A temporary folder in which commands run; every process that they start is marked by it."""

    root: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="eqbench-attack-")))

    def __post_init__(self) -> None:
        for folder in (self.root, self.marks, self.scratch, self.home):
            folder.mkdir(exist_ok=True)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill_survivors()
        shutil.rmtree(self.root, ignore_errors=True)

    @property
    def marks(self) -> Path:
        """Folder in which attacks leave a file of their name when they strike."""
        return self.root / "marks"

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def run(self) -> Path:
        """Folder of the run, known to solvers as well."""
        return self.root / "run"

    def environment(self, **more: str | None) -> dict[str, str]:
        """Environment of a command; None removes a variable."""
        chosen: dict[str, str | None] = {
            **os.environ,
            MARK: str(self.marks),
            "PYTHONPATH": os.pathsep.join(filter(None, (*IMPORTED, os.environ.get("PYTHONPATH")))),
            "TMPDIR": str(self.scratch),
            "COLUMNS": "120",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        chosen |= more
        return {name: value for name, value in chosen.items() if value is not None}

    def start(self, arguments: Sequence[str], **more: object) -> subprocess.Popen[bytes]:
        """Process in a session of its own, so that its signals stay in it."""
        options: dict = {"cwd": self.root, "env": self.environment(), "start_new_session": True}
        process = subprocess.Popen(arguments, **(options | more))
        for kind, most in LIMITS.items():
            with contextlib.suppress(
                ProcessLookupError, PermissionError
            ):  # ended, or limits itself
                resource.prlimit(process.pid, kind, (most, most))
        return process

    def command(
        self,
        *arguments: str | Path | bytes,
        program: Sequence[str] = ("-m", "eqbench"),
        deadline_s: float = DEADLINE_S,
        environment: dict[str, str | None] | None = None,
        wrapper: Sequence[str] = (),
        **streams: object,
    ) -> Ended:
        """Run a command to its end, or kill it after the deadline.

        Parameters
        ----------
        wrapper : a shell command before it, for limits and closed streams
        streams : as `subprocess.Popen` takes them
        """
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = self.start(
                [*wrapper, sys.executable, *program, *map(_argument, arguments)],
                env=self.environment(**(environment or {})),
                **({"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err} | streams),
            )
            code: int | None
            try:
                code = process.wait(deadline_s)
            except subprocess.TimeoutExpired:
                code = None
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            return Ended(code, _text(out), _text(err))

    def survivors(self) -> list[tuple[int, str]]:
        """Processes that any command here has started and that are still there."""
        wanted, found = str(self.marks).encode(), []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes()
                if wanted in (entry / "environ").read_bytes() or wanted in command:
                    shown = command.replace(b"\0", b" ").decode(errors="replace")
                    found.append((int(entry.name), shown[-120:]))
        return found

    def left_behind(self) -> list[str]:
        """Complaints about processes that outlive what started them, after a moment's grace."""
        limit = time.monotonic() + LAST_BREATH_S
        while (found := self.survivors()) and time.monotonic() < limit:
            time.sleep(0.05)
        self.kill_survivors()
        return [f"left a process running: {ascii(command)[1:-1]}" for _, command in found]

    def kill_survivors(self) -> None:
        """Kill what is left, by number, until nothing new appears."""
        for _ in range(50):
            found = self.survivors()
            if not found:
                return
            for number, _ in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(number, signal.SIGKILL)
            time.sleep(0.02)


def _argument(value: str | Path | bytes) -> str | bytes:
    return value if isinstance(value, bytes) else str(value)


def _text(file: object) -> str:
    file.seek(0)  # type: ignore[attr-defined]
    data = file.read(MOST_READ)  # type: ignore[attr-defined]
    return data.decode("utf-8", errors="backslashreplace")
