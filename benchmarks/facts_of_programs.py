"""Numbers in prose about complementarity programs, from raw results; see `facts.py`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from facts_rounding import at_most, power_at_least, power_at_most
from ncp_tables import SOLVED

# Solvers on both forms of three-player Kuhn poker, by their names in facts.
SOLVERS = {
    "gurobi": "ncp(backend=gurobi)",
    "scip": "ncp(backend=scip)",
    "exact_gurobi": "ncp(exact=true,backend=gurobi)",
    "exact_scip": "ncp(exact=true,backend=scip)",
    "elimination": "ncp(formulation=elimination,backend=gurobi)",
    "paper": "ncp(formulation=paper,backend=scip)",
}


def ncp(data: dict[str, Any]) -> dict[str, str]:
    """Times, regrets and sizes of `ncp` on Kuhn poker and Leduc poker."""

    def rows(game: str, *solvers: str) -> list[dict[str, Any]]:
        return [row for row in data["rows"] if row["game"] == game and row["solver"] in solvers]

    facts = {"ncp_seeds": f"{data['seeds']}"}
    for short, game in (("reduced", "kuhn3_reduced"), ("full", "kuhn3")):
        for name, solver in SOLVERS.items():
            found = rows(game, solver)
            facts[f"ncp_{short}_{name}_s"] = f"{_median_s(found):.2f}"
            facts[f"ncp_{short}_{name}_solved"] = f"{_solved(found)}"
    reduced = rows("kuhn3_reduced", SOLVERS["gurobi"], SOLVERS["scip"])
    raw = [row["raw_max_regret"] for row in reduced]
    everywhere = [
        row["raw_max_regret"]
        for row in data["rows"]
        if row["game"] in ("kuhn3_reduced", "kuhn3") and row["raw_max_regret"] is not None
    ]
    hard = rows("kuhn3_reduced", "ncp(formulation=aggregated,backend=gurobi)")
    larger = {
        name: rows("kuhn4", f"ncp(backend=scip{option})")[0]["columns"]
        for name, option in (("all", ""), ("left", ",dominated=remove"))
    }
    return facts | {
        "ncp_reduced_regret": power_at_most(max(row["max_regret"] for row in reduced)),
        "ncp_reduced_raw_least": power_at_least(min(raw)),
        "ncp_reduced_raw_most": power_at_most(max(raw)),
        "ncp_raw_least": power_at_least(min(everywhere)),
        "ncp_raw_most": power_at_most(max(everywhere)),
        "ncp_full_gurobi_longest_s": at_most(_longest_s(rows("kuhn3", SOLVERS["gurobi"]))),
        "ncp_aggregated_nodes": f"{statistics.median(row['nodes'] for row in hard):,.0f}",
        "ncp_aggregated_s": f"{_median_s(hard):.0f}",
        "semismooth_ms": f"{1e3 * _median_s(rows('kuhn3', 'semismooth')):.0f}",
        "semismooth_solved": f"{_solved(rows('kuhn3', 'semismooth'))}",
        "ncp_leduc_s": f"{_median_s(rows('leduc', 'ncp')):.2f}",
        "leduc_lp_s": f"{_median_s(rows('leduc', 'sequence_lp')):.2f}",
        "ncp_kuhn4_variables": f"{larger['all']:,}",
        "ncp_kuhn4_variables_left": f"{larger['left']:,}",
    }


def ganzfried_2025_table_1(data: dict[str, Any]) -> dict[str, str]:
    """How many results of either program have a small regret, at the paper's tolerances."""
    facts = {"suite_games": f"{data['games']}", "suite_timeout_s": f"{data['timeout_s']:g}"}
    for place, name in enumerate(("ncp", "mip")):
        shares = [size["solvers"][place]["precise_share"] for size in data["sizes"]]
        facts[f"precise_{name}_least"] = f"{100 * min(shares):.0f}"
        facts[f"precise_{name}_most"] = f"{100 * max(shares):.0f}"
    return facts


def ranges(data: dict[str, Any]) -> dict[str, str]:
    """How many optima over all equilibria close, and what they take."""
    facts = {"ranges_timeout_s": f"{data['timeout_s']:g}"}
    for short, game in (("full", "kuhn3"), ("reduced", "kuhn3_reduced")):
        rows = data["games"][game]["quantities"]
        ends = [row[sense] for row in rows for sense in ("min", "max")]
        facts[f"ranges_{short}_closed"] = f"{sum(end['closed'] for end in ends)}"
        facts[f"ranges_{short}_optima"] = f"{len(ends)}"
        facts[f"ranges_{short}_least_s"] = f"{min(end['elapsed_s'] for end in ends):.1f}"
        facts[f"ranges_{short}_most_s"] = f"{max(end['elapsed_s'] for end in ends):.0f}"
        facts[f"ranges_{short}_wider"] = f"{sum(row['verdict'] == 'wider' for row in rows)}"
    return facts


def _solved(rows: Sequence[dict[str, Any]]) -> int:
    regrets = [row["max_regret"] for row in rows]
    return sum(regret is not None and regret <= SOLVED for regret in regrets)


def _median_s(rows: Sequence[dict[str, Any]]) -> float:
    return statistics.median(row["elapsed_s"] for row in rows if row["elapsed_s"] is not None)


def _longest_s(rows: Sequence[dict[str, Any]]) -> float:
    return max(row["elapsed_s"] for row in rows if row["elapsed_s"] is not None)
