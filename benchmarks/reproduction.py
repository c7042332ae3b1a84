"""Reproduce every source, without ``--full`` and with it, and keep the verdicts.

    python benchmarks/reproduction.py --out DIR              # about half an hour
    python benchmarks/reproduction.py --out DIR --publish    # what is in the folder already

The folders of the jobs are in DIR and stay there. Verdicts, jobs and the time on the clock go to
``benchmarks/results/reproduction.json``, and the page of ``--full`` as Markdown and CSV to
``results/reference/reproduction``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from measuring import use_one_thread, write_results
from reference import refuse_private

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "results" / "reference" / "reproduction"
PUBLISHED = ("report.md", "claims.csv")
EXTENTS: dict[str, list[str]] = {"quick": [], "full": ["--full"]}


def run(folder: Path) -> None:
    """Run both extents one after the other, and note how long each took."""
    for name, options in EXTENTS.items():
        begun = time.monotonic()
        command = [sys.executable, "-m", "eqbench", "reproduce", *options]
        subprocess.run([*command, "--out", str(folder / name)], check=True)
        _clock(folder, name).write_text(f"{time.monotonic() - begun:.1f}\n", encoding="utf-8")


def publish(folder: Path) -> None:
    """Write the raw results and the page."""
    extents = {name: _extent(folder, name) for name in EXTENTS}
    write_results("reproduction", {"command": "eqbench reproduce", **extents})
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in PUBLISHED:
        shutil.copy(folder / "full" / name, PAGES / name)
    refuse_private(PAGES)


def _extent(folder: Path, name: str) -> dict[str, Any]:
    document = json.loads((folder / name / "summary.json").read_text(encoding="utf-8"))
    wall_s = float(_clock(folder, name).read_text(encoding="utf-8"))
    return {"wall_s": wall_s, "sources": document["sources"]}


def _clock(folder: Path, name: str) -> Path:
    return folder / f"{name}.seconds"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--publish", action="store_true", help="run nothing")
    options = parser.parse_args()
    folder = options.out.absolute()
    os.chdir(ROOT)
    use_one_thread()
    if not options.publish:
        run(folder)
    publish(folder)


if __name__ == "__main__":
    main()
