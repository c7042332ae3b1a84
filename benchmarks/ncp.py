"""Complementarity programs, semismooth Newton and continuation side by side.

    python benchmarks/ncp.py

Runs `eqbench run` for each group of games, so that everything is verified, and keeps status,
times, regrets and the backend's figures of every cell. Random trees have a group of their own:
one cell for each of several games. Needs the extras gurobi and scip; what is missing is kept
as unavailable.
"""

from __future__ import annotations

import argparse
from typing import Any

from measuring import run_cells, write_results

PAPER_TIME_S = 2.47  # Ganzfried 2025, section 4: the reduced game on eight threads
BOTH = ("gurobi", "scip")
KUHN = (
    *(f"ncp(backend={backend})" for backend in BOTH),
    *(f"ncp(formulation=elimination,backend={backend})" for backend in BOTH),
    *(f"ncp(formulation=aggregated,backend={backend})" for backend in BOTH),
    *(f"ncp(formulation=paper,backend={backend})" for backend in BOTH),
    *(f"ncp(exact=true,backend={backend})" for backend in BOTH),
    "semismooth",
    "arclength(branch=false,starts=0)",
)
LARGER = (
    "ncp(backend=scip)",
    "ncp(backend=scip,dominated=remove)",
    "semismooth",
    "arclength(branch=false,starts=0)",
)
GENERAL = (
    *(f"ncp(backend={backend})" for backend in BOTH),
    *(f"ncp(formulation=aggregated,backend={backend})" for backend in BOTH),
    "semismooth",
    "arclength(branch=false,starts=0)",
)
ZERO_SUM = ("ncp", "sequence_lp")


def groups(trees: int) -> list[dict[str, Any]]:
    """Games, solvers, number of seeds and time limit in seconds of each group."""
    random = [
        f"random_tree(players=3,depth={depth},seed={seed})"
        for depth in (5, 6)
        for seed in range(trees)
    ]
    strategic = [f"random(players=3,actions=4,seed={seed})" for seed in range(trees)]
    return [
        {"name": "Kuhn", "games": ["kuhn3_reduced", "kuhn3"], "solvers": KUHN, "limit_s": 30},
        {
            "name": "larger",
            "games": ["kuhn(players=3,cards=6)", "kuhn(players=3,cards=8)", "kuhn4"],
            "solvers": LARGER,
            "seeds": 3,
            "limit_s": 60,
        },
        {"name": "trees", "games": random, "solvers": GENERAL, "seeds": 1, "limit_s": 10},
        {"name": "strategic", "games": strategic, "solvers": GENERAL, "seeds": 1, "limit_s": 10},
        {
            "name": "zero sum",
            "games": ["kuhn2", "leduc"],
            "solvers": ZERO_SUM,
            "seeds": 3,
            "limit_s": 30,
        },
    ]


def main() -> None:
    """Measure all groups, print what came of each cell, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10, help="of solvers on the Kuhn games")
    parser.add_argument("--trees", type=int, default=20, help="random games of each size")
    parser.add_argument("--threads", type=int, default=1, help="of each solver")
    options = parser.parse_args()
    rows = []
    for group in groups(options.trees):
        for cell in run(group | {"seeds": group.get("seeds", options.seeds)}, options.threads):
            rows.append({"group": group["name"]} | cell)
            print(*(f"{value}" for value in rows[-1].values()), flush=True)
    write_results("ncp", vars(options) | {"paper_s": PAPER_TIME_S, "rows": rows})


def run(group: dict[str, Any], threads: int) -> list[dict[str, Any]]:
    """What `eqbench run` says about the cells of a group."""
    cells = run_cells(
        group["games"],
        group["solvers"],
        timeout_s=group["limit_s"],
        seeds=group["seeds"],
        threads=threads,
    )
    return list(map(cell_of, cells))


def cell_of(cell: dict[str, Any]) -> dict[str, Any]:
    """The figures of a cell that are kept."""
    statistics = cell["statistics"]
    kept = ("formulation", "backend", "rows", "columns", "nonzeros", "quadratic_constraints")
    exact = [item["exact"] for item in cell["equilibria"] if item.get("exact")]
    return {
        "game": cell["game"],
        "solver": cell["solver"],
        "seed": cell["seed"],
        "status": cell["status"],
        "elapsed_s": cell["elapsed_s"],
        "max_regret": cell["max_regret"],
        "raw_max_regret": statistics.get("raw_max_regret"),
        "exact_regrets": exact[0]["regrets"] if exact else None,
        "payoffs": cell["payoffs"],
        "nodes": statistics.get("nodes"),
        "reason": cell["reason"],
    } | {name: statistics.get(name) for name in kept}


if __name__ == "__main__":
    main()
