"""Run the command line as users do: in a process of its own; wait for what it does.

No test may fail because a machine is slow or busy: whatever is waited for has `PATIENCE_S`, which
is far beyond ten times what anything takes here, and only ends what hangs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PLUGINS = Path(__file__).parent / "plugins"
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


def wait_for(condition: Callable[[], Any]) -> bool:
    """Whether a condition comes true; it is asked again and again."""
    limit = time.monotonic() + PATIENCE_S
    while not (met := bool(condition())) and time.monotonic() < limit:
        time.sleep(0.02)
    return met
