"""Payoffs and first actions over all equilibria of three-player Kuhn poker, with proved bounds.

    python benchmarks/ranges.py

What is open at the time limit is kept as open.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from measuring import THREAD_VARIABLES, write_results

TABLES = {"kuhn3": ["--payoffs"], "kuhn3_reduced": ["--payoffs", "--first-actions"]}


def measure(game: str, timeout_s: float) -> dict[str, Any]:
    """The summary of `eqbench ranges` of one game, without the folder where it ran."""
    command = [sys.executable, "-m", "eqbench", "ranges", "--game", game, *TABLES[game]]
    command += ["--timeout", str(timeout_s), "--json", "--quiet"]
    one_thread = dict.fromkeys(THREAD_VARIABLES, "1")
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, text=True, env=os.environ | one_thread
    )
    summary = json.loads(done.stdout)
    return {name: value for name, value in summary.items() if name != "run"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=float, default=60.0)
    options = parser.parse_args()
    games = {game: measure(game, options.timeout) for game in TABLES}
    write_results("ranges", {"timeout_s": options.timeout, "games": games})


if __name__ == "__main__":
    main()
