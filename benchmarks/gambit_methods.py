"""All methods of Gambit on Kuhn poker, beside the figures of Ganzfried 2025 for version 16.4.

    python benchmarks/gambit_methods.py

Runs `eqbench run`, so that everything is verified. Needs the extra gambit; takes up to the time
limit for every method that does not end, and there are about ten of these.
"""

from __future__ import annotations

import argparse
from importlib import metadata
from typing import Any

from measuring import run_cells, write_results

GAMES = ("kuhn2", "kuhn3_reduced", "kuhn3")
SOLVERS = ("gambit_all", "logit")
# Ganzfried 2025, section 4: version 16.4, seconds, or what was said where there are none.
PAPER = {
    "gambit_logit": {
        "kuhn3_reduced": "43 s (window), 49 s (command line); max regret 1.667e-5 to four digits",
        "kuhn3": "hung 10 minutes (window), 154 s (command line)",
    },
    "gambit_liap": {"kuhn3_reduced": "nothing in 10 minutes"},
    "gambit_gnm": {"kuhn3_reduced": "stopped after 10 minutes"},
    "gambit_ipa": {"kuhn3_reduced": "stopped after 10 minutes"},
    "gambit_simpdiv": {"kuhn3_reduced": "crashed; stopped after 10 minutes"},
    "gambit_enumpoly": {"kuhn3_reduced": "crashed"},
    **{
        name: {"kuhn3_reduced": "two players only"}
        for name in ("gambit_lp", "gambit_lcp", "gambit_enummixed")
    },
}


def main() -> None:
    """Run all cells, print what came of each, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each cell")
    options = parser.parse_args()
    rows = []
    for game in GAMES:
        for cell in run_cells([game], SOLVERS, timeout_s=options.timeout, seeds=1):
            rows.append(kept(cell) | {"paper": PAPER.get(cell["solver"], {}).get(game, "")})
            print(*(f"{value}" for value in rows[-1].values()), flush=True)
    versions = {"pygambit": metadata.version("pygambit")}
    write_results("gambit_methods", vars(options) | versions | {"rows": rows})


def kept(cell: dict[str, Any]) -> dict[str, Any]:
    """The figures of a cell that the table shows."""
    names = ("game", "solver", "status", "reason", "elapsed_s", "cpu_s", "max_regret", "payoffs")
    claims = [item["claim"] for item in cell["equilibria"]]
    return {name: cell[name] for name in names} | {"profiles": len(claims), "claims": claims[:1]}


if __name__ == "__main__":
    main()
