"""Make ``results/reference``: a run of the main job, its tables and its figure.

    python benchmarks/reference.py            # run everything anew; or: make reference
    python benchmarks/reference.py --report   # tables and figure of the run that is there

The job runs twice: first without compiled kernels, as in a fresh clone, only to see how long that
takes, then for the record. Both wall times go to ``benchmarks/results/reference.json``.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import use_one_thread, write_results
from reference_figure import draw

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = Path("results/reference")
RUN, FIGURE = REFERENCE / "kuhn3", REFERENCE / "nash_conv.svg"
COMMAND = ["eqbench", "run", "--game", "kuhn3", "--solver", "all"]
FORMATS = "terminal,md,csv,tex,html"
SHORTEST_HOST = 4


def run() -> None:
    """Replace the run, once a new one is complete, and note what it took, at first and then."""
    with tempfile.TemporaryDirectory() as folder:
        first, draft = (Path(folder) / name for name in ("first", "second"))
        kernels = {"NUMBA_CACHE_DIR": str(Path(folder) / "kernels")}
        walls = {"first_wall_s": _timed(first, kernels), "wall_s": _timed(draft, kernels)}
        refuse_private(draft)
        (draft / "claims").unlink()  # locks, without content
        shutil.rmtree(RUN, ignore_errors=True)
        shutil.copytree(draft, RUN)
    write_results("reference", {"command": " ".join(COMMAND), **walls})


def _timed(folder: Path, env: dict[str, str]) -> float:
    """Seconds that the job takes, with its results in a folder."""
    started = time.perf_counter()
    eqbench(*COMMAND[1:], "--out", str(folder), env=env)
    return time.perf_counter() - started


def report() -> None:
    """Write tables, page and figure of the run, and the README's table."""
    eqbench("report", str(RUN), "--format", FORMATS, "--out", str(REFERENCE))
    draw(RUN, FIGURE)
    refuse_private(REFERENCE)
    subprocess.run([sys.executable, "benchmarks/make_tables.py"], check=True)


def eqbench(*arguments: str, env: dict[str, str] | None = None) -> None:
    """Run the command line in a process of its own; CalledProcessError if it fails."""
    command = [sys.executable, "-m", "eqbench", *arguments]
    subprocess.run(command, check=True, env=os.environ | (env or {}))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="keep the run that is there")
    options = parser.parse_args()
    os.chdir(ROOT)  # so that all paths are relative to the checkout
    use_one_thread()
    if not options.report:
        run()
    report()


if __name__ == "__main__":
    main()
