"""Run the command line as users do: in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PLUGINS = Path(__file__).parent / "plugins"


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
        timeout=110,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr, cwd)
