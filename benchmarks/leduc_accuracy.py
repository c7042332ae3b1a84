"""How long the CFR presets take to a NashConv of 1e-6 on two-player Leduc poker.

    python benchmarks/leduc_accuracy.py

Every repetition is one whole `solve` in this process on one thread; NashConv is that of the
profile handed over, by the verifier. Snapshots stand about 41 % apart, so a solver may do
that many more iterations than it needs.
"""

from __future__ import annotations

import argparse
from typing import Any

from measuring import use_one_thread, write_results

GAME, NASH_CONV, TIME_S = "leduc", 1e-6, 10.0
SOLVERS = ("cfr_plus", "dcfr", "pcfr_plus", "pcfr_plus_alternating")


def main() -> None:
    """Measure, print one line per solver, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    use_one_thread()
    rows = [measure(solver, repetitions) for solver in SOLVERS]
    write_results("leduc_accuracy", {"game": GAME, "nash_conv": NASH_CONV, "rows": rows})


def measure(solver: str, repetitions: int) -> dict[str, Any]:
    """Iterations, CPU seconds and verified NashConv of every repetition."""
    import eqbench

    # the target bounds the largest regret; the sum of two is at most twice that
    budget = eqbench.Budget(time_s=TIME_S, target=NASH_CONV / 2)
    eqbench.solve(GAME, solver, eqbench.Budget(iterations=1))  # compiles
    cells = [eqbench.solve(GAME, solver, budget) for _ in range(repetitions)]
    print(solver, [f"{cell.nash_conv:.1e} after {cell.cpu_s:.2f} s" for cell in cells])
    return {
        "solver": cells[0].solver_spec,
        "status": [cell.status for cell in cells],
        "iterations": [cell.iterations for cell in cells],
        "cpu_s": [cell.cpu_s for cell in cells],
        "nash_conv": [cell.nash_conv for cell in cells],
    }


if __name__ == "__main__":
    main()
