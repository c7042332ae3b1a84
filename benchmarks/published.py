"""Our own published runs: the reference run, and the verdicts on published claims."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import REFERENCE, ROOT

import eqbench

RUN = REFERENCE / "kuhn3"
PAGES = REFERENCE / "reproduction"
MAIN_JOB = ("run", "--game", "kuhn3", "--solver")
# Of a claim, what the tables of a page show.
SHOWN = ("row", "column", "theirs", "ours", "verdict", "detail", "jobs", "cause")
EXTENTS: dict[str, list[str]] = {"quick": [], "full": ["--full"]}
SHORTEST_HOST = 4


def _eqbench(*arguments: str, env: Mapping[str, str] | None = None) -> float:
    """Seconds of a command in a process of its own; CalledProcessError if it fails."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "eqbench", *arguments]
    subprocess.run(command, check=True, env=os.environ | dict(env or {}))
    return time.perf_counter() - started


def refuse_private(folder: Path) -> None:
    """Exit if a file of what is to be published names a place on this machine.

    Such names come into a run with plugins, with game files and with the logs of what crashed.
    """
    places = {str(ROOT), str(Path.home()), sys.prefix, tempfile.gettempdir()}
    host = platform.node()
    words = [*places, *([host] if len(host) >= SHORTEST_HOST else [])]
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}\b" for word in words))
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if found := pattern.search(file.read_text(encoding="utf-8", errors="replace")):
            sys.exit(f"{file} names {found[0]!r}, which shall not be published")


# -- The reference run ---------------------------------------------------------------------------


def reference(solvers: str = "all", *, keep: bool = True) -> dict[str, Any]:
    """Replace the run, once a new one is complete; what it took, at first and then.

    The job runs twice: first without compiled kernels, as in a fresh clone, only to see how long
    that takes, then for the record.
    """
    with tempfile.TemporaryDirectory() as folder:
        first, draft, kernels = (f"{folder}/{name}" for name in ("first", "second", "kernels"))
        job, fresh = (*MAIN_JOB, solvers, "--out"), {"NUMBA_CACHE_DIR": kernels}
        walls = {"first_wall_s": _eqbench(*job, first, env=fresh)}
        walls["wall_s"] = _eqbench(*job, draft, env=fresh)
        refuse_private(Path(draft))
        if keep:
            Path(draft, "claims").unlink()  # locks, without content
            shutil.rmtree(RUN, ignore_errors=True)
            shutil.copytree(draft, RUN)
    return {"command": " ".join(("eqbench", *MAIN_JOB, solvers)), **walls}


def reference_report(data: Mapping[str, Any]) -> None:
    """Write tables and figures of the run that is there."""
    from figures import FOLDER, nash_conv

    formats = ("--format", "terminal,md,csv,tex")
    run, place = (str(path.relative_to(ROOT)) for path in (RUN, REFERENCE))
    _eqbench("report", run, *formats, "--out", place)
    nash_conv(RUN, REFERENCE / "nash_conv.svg")
    eqbench.load_run(RUN).figure("answer").save(FOLDER / "answer.svg")
    refuse_private(REFERENCE)


# -- Published claims ----------------------------------------------------------------------------


def reproduction(
    folder: str,
    sources: Sequence[str] = (),
    extents: Sequence[str] = tuple(EXTENTS),
    *,
    run: bool = True,
    keep: bool = True,
) -> dict[str, Any]:
    """Verdicts, jobs and time on the clock of each extent, one after the other.

    What is in `folder` stays there and is not run again with ``run=false``; the page of ``--full``
    goes to ``results/reference/reproduction``.
    """
    place = Path(folder or tempfile.mkdtemp())
    found: dict[str, Any] = {"command": "eqbench reproduce"}
    for name in extents:
        out, seconds = place / name, place / f"{name}.seconds"
        if run:
            wall_s = _eqbench("reproduce", *sources, *EXTENTS[name], "--out", str(out))
            seconds.write_text(f"{wall_s:.1f}\n", encoding="utf-8")
        document = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        wall_s = float(seconds.read_text(encoding="utf-8"))
        kept = [{key: each[key] for key in ("name", "counts")} for each in document["sources"]]
        if name == "full":  # tables show its claims, of the other only the counts
            for each, source in zip(kept, document["sources"], strict=True):
                each["parts"] = [
                    {
                        "title": part["title"],
                        "claims": [{key: claim[key] for key in SHOWN} for claim in part["claims"]],
                    }
                    for part in source["parts"]
                ]
        found[name] = {"wall_s": wall_s, "sources": kept}
    if keep:
        PAGES.mkdir(parents=True, exist_ok=True)
        for page in ("report.md", "claims.csv"):
            shutil.copy(place / "full" / page, PAGES / page)
        refuse_private(PAGES)
    return found
