"""Which equilibria of three-player Kuhn poker do iterative methods find from random starts?

    python benchmarks/who_finds_what.py

Every start has the same number of iterations, so the results depend on no clock.
"""

from __future__ import annotations

import argparse
from typing import Any

from measuring import run_cells, write_results

GAME = "kuhn3"
SOLVERS = ("pcfr_plus", "pcfr_plus_alternating", "cfr_plus", "dcfr", "cfr_linear")
AMPLE_S = 600.0


def measure(solver: str, *, seeds: int, iterations: int) -> dict[str, Any]:
    """What each start of one solver ends at: regret, and the equilibrium with its parameters."""
    spec = f"{solver}(start=random)"
    cells = run_cells([GAME], [spec], timeout_s=AMPLE_S, seeds=seeds, iterations=iterations)
    return {"solver": solver, "starts": [_start(cell) for cell in cells]}


def _start(cell: dict[str, Any]) -> dict[str, Any]:
    identity = cell["equilibria"][0]["identity"]
    kept = ("name", "on_path", "strict", "parameters")
    return {
        **{name: cell[name] for name in ("seed", "status", "iterations", "max_regret", "payoffs")},
        "identity": identity and {name: identity[name] for name in kept},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=4_000_000)
    options = parser.parse_args()
    rows = [measure(solver, **vars(options)) for solver in SOLVERS]
    write_results("who_finds_what", {"game": GAME, **vars(options), "rows": rows})


if __name__ == "__main__":
    main()
