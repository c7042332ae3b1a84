"""Numbers in prose about Gambit and logit equilibria, from raw results; see `facts.py`."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import Any

from facts_rounding import at_most
from markdown_tables import power, rounded


def gambit_methods(data: dict[str, Any]) -> dict[str, str]:
    """How long Gambit's path takes on Kuhn poker, where it stops, and what the rest does."""
    rows = {(row["game"], row["solver"]): row for row in data["rows"]}
    full = [row for row in data["rows"] if row["game"] == "kuhn3"]
    exact = [rows["kuhn2", name]["elapsed_s"] for name in ("gambit_lp", "gambit_lcp")]
    path = rows["kuhn3", "gambit_logit_path"]
    return {
        "gambit_timeout_s": f"{data['timeout']:g}",
        "gambit_path_reduced_s": rounded(rows["kuhn3_reduced", "gambit_logit_path"]["elapsed_s"]),
        "gambit_path_full_s": rounded(path["elapsed_s"]),
        "gambit_path_regret": f"{path['max_regret']:.1e}",
        "gambit_logit_regret": f"{rows['kuhn3_reduced', 'gambit_logit']['max_regret']:.1e}",
        "gambit_refused_size": f"{sum('strategic form' in row['reason'] for row in full)}",
        "gambit_refused_players": f"{sum('two-player' in row['reason'] for row in full)}",
        "gambit_linear_s": at_most(max(exact)),
    }


def gambit_logit(data: dict[str, Any]) -> dict[str, str]:
    """What it costs to call Gambit's path through eqbench."""
    (row,) = [row for row in data["rows"] if row["game"] == "kuhn3"]
    times = [statistics.median(row[name]) for name in ("through_eqbench_s", "directly_s")]
    return {
        "gambit_overhead": f"{times[0] / times[1]:.1f}",
        "gambit_lambda": f"{row['lambda']:,.0f}",
    }


def gambit_catalog(data: dict[str, Any]) -> dict[str, str]:
    """What of the catalog is read and solved."""
    solved = [row["cells"] for row in data["rows"] if row.get("cells")]
    statuses = Counter(cell["status"] for cells in solved for cell in cells)
    refused = sum("refused" in row for row in data["rows"])
    return {
        "catalog_games": f"{len(data['rows'])}",
        "catalog_read": f"{len(data['rows']) - refused}",
        "catalog_refused": f"{refused}",
        "catalog_solved": f"{len(solved)}",
        "catalog_cells": f"{statistics.mode(map(len, solved))}",
        "catalog_refuted": f"{statuses['refuted']}",
    }


def gambit_stall(data: dict[str, Any]) -> dict[str, str]:
    """Where probabilities underflow, and where Gambit's tracer stops."""
    sets = {row["infoset"]: row["lambda"] for row in data["sets"]}
    shares = [row["log2_q"] for row in data["rows"]]
    between = [row["last"] < row["predicted"] < row["refused"] for row in data["rows"]]
    ours = data["ours"]
    return {
        "underflow_harmful": f"{sets['P3 3:BC']:,.0f}",
        "underflow_harmless": f"{sets['P3 4:BC']:,.0f}",
        "underflow_last": f"{data['rows'][-1]['predicted']:,.0f}",
        "underflow_shares": f"{len(shares)}",
        "underflow_between": f"{sum(between)}",
        "logit_regret": f"{ours['max_regret']:.1e}",
        "logit_regret_lambda": f"{ours['max_regret'] * ours['lambda']:.3f}",
    }


def logit(data: dict[str, Any]) -> dict[str, str]:
    """Cost beside Gambit, and how far branches go."""
    compared = {
        row["game"]: {
            name: 1e3 * statistics.median(row[name]) for name in ("ours_s", "first_s", "gambit_s")
        }
        for row in data["compared"]
    }
    full, small = compared["kuhn3"], compared["kuhn2"]
    reached = {row["game"]: row for row in data["reached"]}
    (beside,) = [row for row in data["compared"] if row["game"] == "kuhn3"]
    drawn, leduc = data["random"], reached["leduc"]
    return {
        "logit_difference": power(beside["differences"][beside["at"].index(10_000)]),
        "logit_ms": f"{full['ours_s']:.1f}",
        "logit_gambit_ms": f"{full['gambit_s']:.0f}",
        "logit_ratio": f"{full['gambit_s'] / full['ours_s']:.0f}",
        "logit_first_ms": f"{full['first_s']:.1f}",
        "logit_first_ratio": f"{full['gambit_s'] / full['first_s']:.0f}",
        "logit_kuhn2_ratio": f"{small['gambit_s'] / small['ours_s']:.0f}",
        "logit_polished_ms": f"{1e3 * reached['kuhn3']['cpu_s']:.0f}",
        "priors": f"{len(drawn['branches'])}",
        "priors_arrived": f"{drawn['arrived']}",
        "priors_polished": f"{drawn['polished']}",
        "priors_payoffs": f"{drawn['distinct_payoffs']}",
        "priors_c11_0": f"{drawn['names']['szafron:c11=0']}",
        "priors_c11_half": f"{drawn['names']['szafron:c11=1/2']}",
        "priors_ms": f"{1e3 * statistics.median(row['cpu_s'] for row in drawn['branches']):.0f}",
        "logit_leduc_points": f"{leduc['points']}",
        "logit_leduc_regret": power(leduc["equilibrium"]["max_regret"]),
        "logit_leduc_s": rounded(leduc["cpu_s"]),
    }
