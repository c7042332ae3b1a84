"""How many nodes and how long case enumeration takes for all equilibria of SKP at fixed pots.

    python benchmarks/case_enumeration.py     # needs python-flint: pip install -e '.[exact]'

Every repetition is one whole `solve` in this process on one thread, from the tree to the list.
Beside it stand the figures of Billingham 2017, §3, for the same game: its 11 conditions were
reduced by hand to 4,374 combinations, which a computer algebra system simplified in about 25
minutes. That covered all pots at once, with the pot as a symbol; here every pot is solved for
itself. So the times are not like for like.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version
from typing import Any

from measuring import use_one_thread, write_results

# The pots of the four special continua, and one from each combination of coexisting solutions.
POTS = ("2", "5/2", "3", "16/5", "3.35", "3.45", "7/2", "3.95", "4.2", "4.36", "4.7", "5", "6")
PAPER = {"cases": 4374, "minutes": 25, "pot": "symbolic"}
TIME_S = 60.0


def main() -> None:
    """Measure, print one line per pot, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    use_one_thread()
    rows = [measure(f"skp(pot={pot})", repetitions) for pot in POTS]
    data = {"python_flint": version("python-flint"), "paper": PAPER, "rows": rows}
    write_results("case_enumeration", data)


def measure(game: str, repetitions: int) -> dict[str, Any]:
    """Nodes, pieces and CPU seconds of every repetition, and the verified regret."""
    import eqbench

    loaded, budget = eqbench.load_game(game), eqbench.Budget(time_s=TIME_S)
    eqbench.solve(loaded, "case_enumeration", eqbench.Budget(iterations=1))  # imports
    cells = [eqbench.solve(loaded, "case_enumeration", budget) for _ in range(repetitions)]
    figures = cells[0].statistics
    print(game, figures, [f"{cell.cpu_s:.2f} s" for cell in cells])
    return {
        "game": game,
        "status": [cell.status for cell in cells],
        "claims": sorted({found.claim for found in cells[0].equilibria}),
        "points": len(cells[0].equilibria),
        "max_regret": max(found.max_regret for found in cells[0].equilibria),
        "cpu_s": [cell.cpu_s for cell in cells],
        **figures,
    }


if __name__ == "__main__":
    main()
