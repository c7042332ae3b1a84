"""What commands cost as a run grows: a run of many cells is made of the lines of a small one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring import ONE_THREAD, in_child

GAMES = ("kuhn2", "rock_paper_scissors")
SOLVERS = (
    "cfr(start=random)",
    "cfr_plus(start=random)",
    "pcfr_plus(start=random)",
    "fictitious_play(start=random)",
    "mccfr",
)
LIMITS = {"iterations": 400, "timeout_s": 60.0}
_EQBENCH = ("-m", "eqbench")


def growth(cells: Sequence[int]) -> dict[str, Any]:
    """CPU seconds and peak memory of commands that read runs of so many cells."""
    return {"rows": [_row(count) for count in cells]}


def _row(cells: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        run = f"{place}/run"
        # in a process of its own: what it takes would count as that of the commands
        row = in_child("growth:write_run", folder=run, cells=cells)
        page, here = f"{place}/page.html", Path(run)
        commands = {
            "report": (*_EQBENCH, "report", run),
            "page": (*_EQBENCH, "report", run, "--format", "html", "--out", page),
            "load_results": ("-c", f"import eqbench; eqbench.load_results({run!r})"),
            "load_equilibria": ("-c", f"import eqbench; eqbench.load_equilibria({run!r})"),
            "dry_run": (*_EQBENCH, "run", "--resume", run, "--dry-run"),
            "resume": (*_EQBENCH, "run", "--resume", run, "-q"),
        }
        for name, words in commands.items():
            row[name] = _cost(words, Path(place))
        row["page_bytes"] = os.path.getsize(page)
        ran = (here / "runs.jsonl").read_bytes().count(b"\n") - row["cells"]
        assert ran == 0, (
            f"{ran} cells were run, so their resumption is not what it costs to do none"
        )
    return row


def _cost(words: Sequence[str], place: Path) -> dict[str, float]:
    """CPU seconds and largest resident memory of a Python process; what it prints goes to a file.

    The memory of a process that starts another one counts as that of the latter, so it must be
    small here.
    """
    with (place / "output").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *words], stdout=output, stderr=output, env=os.environ | ONE_THREAD
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)}: {(place / 'output').read_text()[-2000:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_bytes": used.ru_maxrss * unit}


def write_run(folder: str, cells: int) -> dict[str, Any]:
    """Write a finished run of so many cells, whose keys are those that are planned for it.

    A cell has the line of that with the same game and solver in a run with one seed, which is
    carried out, and its profiles and curve; only key and seed are its own.
    """
    from eqbench.harness.experiment import Experiment, Request
    from eqbench.harness.plan import manifest
    from eqbench.harness.run import ActiveRun, carry_out
    from eqbench.store.run_folder import RunFolder

    run, seeds = Path(folder), cells // (len(GAMES) * len(SOLVERS))
    small = carry_out(Experiment((Request(GAMES, SOLVERS, **LIMITS),)), run)
    lines = {}
    for cell in small.cells:  # files named by no key, which records of all seeds share
        for name in cell.files:
            (run / name).rename(run / name.replace(cell.key, "shared"))
        text = json.dumps(cell.to_json()).replace(cell.key, "shared")
        lines[cell.game, cell.solver] = json.loads(text)
    (run / "manifest.json").unlink()
    with ActiveRun(Experiment((Request(GAMES, SOLVERS, seeds=seeds, **LIMITS),))) as job:
        RunFolder.create(run, manifest(job.experiment, job.cells), begun=True)
        with (run / "runs.jsonl").open("w", encoding="utf-8") as file:
            for cell in job.cells:
                line = lines[cell.game.typed, cell.solver.typed]
                file.write(json.dumps(line | {"key": cell.key, "seed": cell.seed}) + "\n")
    return {"cells": len(job.cells), "lines_bytes": (run / "runs.jsonl").stat().st_size}
