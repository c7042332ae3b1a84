"""Run the command line as users do, in a process of its own or in this one; wait for what it does.

No test may fail because a machine is slow or busy: whatever is waited for has `PATIENCE_S`, which
is far beyond ten times what anything takes here, and only ends what hangs.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

PLUGINS = Path(__file__).parents[1] / "plugins"
PATIENCE_S = 600


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def cell(self, solver: str) -> dict[str, Any]:
        """The only cell of a solver."""
        (cell,) = [cell for cell in self.json["cells"] if cell["solver"] == solver]
        return cell


def eqbench(*arguments: str | Path, cwd: Path, stdin: str | None = None) -> Ended:
    done = subprocess.run(
        [sys.executable, "-m", "eqbench", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr, cwd)


def started(*arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
    """A command in a process of its own that is not waited for."""
    return subprocess.Popen(
        [sys.executable, "-m", "eqbench", *map(str, arguments)],
        **{"cwd": cwd, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True},
    )


def eqbench_here(*arguments: str | Path, cwd: Path, stdin: str | None = None) -> Ended:
    """Run the command within this process, which takes a hundredth of the time to start.

    For tests of what commands print, refuse and store; not of signals, streams and imports.
    """
    from eqbench.cli import main

    printed, said = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(stream, "utf-8", newline="") for stream in (printed, said))
    given = io.TextIOWrapper(io.BytesIO((stdin or "").encode()), "utf-8")
    words = ["eqbench", *map(str, arguments)]
    with (
        patch.multiple(sys, argv=words, stdin=given),
        _process_as_before(),
        chdir(cwd),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    out.flush()
    err.flush()
    # a pipe that is read as text has these line ends too
    texts = [stream.getvalue().decode().replace("\r\n", "\n") for stream in (printed, said)]
    return Ended(int(code or 0), *texts, cwd)


def accepted(*arguments: str | Path, cwd: Path, stdin: str | None = None) -> Ended:
    """A command of this process that ends well."""
    done = eqbench_here(*arguments, cwd=cwd, stdin=stdin)
    assert done.code == 0, done.err
    return done


def refused(*arguments: str | Path, words: str, cwd: Path, stdin: str | None = None) -> Ended:
    """A command of this process that says these words as a usage error, without a traceback."""
    done = eqbench_here(*arguments, cwd=cwd, stdin=stdin)
    assert done.code == 2, done.err
    assert words in done.err
    assert "Traceback" not in done.err
    return done


@contextmanager
def _process_as_before() -> Iterator[None]:
    """Undo what a command changes in its process; warnings are not errors, as for a user."""
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        with patch.dict(os.environ), plugins_apart(), warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.signal(signal.SIGINT, interrupt)


@contextmanager
def plugins_apart() -> Iterator[None]:
    """Know no plugins that others have registered, and leave them none."""
    from eqbench import plugins, registry

    held = _taken_out(plugins.MODULE_PREFIX)
    try:
        with patch.dict(registry._registered, clear=True):
            yield
    finally:
        _taken_out(plugins.MODULE_PREFIX)
        sys.modules.update(held)


def _taken_out(prefix: str) -> dict[str, ModuleType]:
    """Loaded modules whose names begin like this, after they were taken out."""
    return {name: sys.modules.pop(name) for name in [*sys.modules] if name.startswith(prefix)}


def install(folder: Path, name: str, **groups: str) -> None:
    """Put what an installer leaves of a distribution with these entry points into `folder`."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[eqbench.{group}]\n{points}\n" for group, points in groups.items()]
    (info / "entry_points.txt").write_text("".join(lines))


def wait_for(condition: Callable[[], Any]) -> bool:
    """Whether a condition comes true; it is asked again and again."""
    limit = time.monotonic() + PATIENCE_S
    while not (met := bool(condition())) and time.monotonic() < limit:
        time.sleep(0.02)
    return met
