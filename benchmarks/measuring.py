"""What the benchmark scripts share: one thread, `eqbench run`, and files of raw results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def use_one_thread() -> None:
    """Hold numerical libraries to one thread; call it before they are imported."""
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))


def run_cells(
    games: Iterable[str],
    solvers: Iterable[str],
    *,
    timeout_s: float,
    seeds: int,
    threads: int = 1,
    iterations: int | None = None,
) -> list[dict[str, Any]]:
    """Cells of `eqbench run`, as its ``--json`` prints them; their results are kept in results/."""
    command = [sys.executable, "-m", "eqbench", "run", "--json"]
    for game in games:
        command += ["--game", game]
    command += ["--solver", ",".join(solvers), "--seeds", str(seeds)]
    command += ["--timeout", str(timeout_s), "--threads", str(threads)]
    command += [] if iterations is None else ["--iterations", str(iterations)]
    one_thread = dict.fromkeys(THREAD_VARIABLES, "1")
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=False, text=True, env=os.environ | one_thread
    )
    return json.loads(done.stdout)["cells"]


def write_results(name: str, data: dict[str, Any]) -> None:
    """Write ``results/<name>.json``: the environment and `data`."""
    from eqbench.harness.environment import environment

    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"environment": environment()} | data, indent=1, allow_nan=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def read_results(name: str) -> dict[str, Any]:
    """Raw results of a benchmark; FileNotFoundError if it has not been run."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
