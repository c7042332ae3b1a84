"""The numbers in the prose of the README and of the documentation, from raw results.

A number stands between ``<!-- fact: NAME -->`` and ``<!-- /fact -->``, which no reader sees;
`make_tables.py` fills it in. Each function here turns one file of raw results into its facts by
name, as they are printed. Comments do not work inside code, so numbers do not belong there.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable
from typing import Any

from facts_of_branches import arclength_cost, coexisting
from facts_of_gambit import gambit_catalog, gambit_logit, gambit_methods, gambit_stall, logit
from facts_of_programs import ganzfried_2025_table_1, ncp, ranges
from facts_rounding import at_most, power_at_most
from markdown_tables import rounded
from measuring import read_results

Facts = dict[str, str]
MEBIBYTE = 2**20


def reference(data: dict[str, Any]) -> Facts:
    """Wall time of the main job, and the memory of Python with compiled code."""
    from reference_tables import stored_run

    solved = [cell for cell in stored_run().cells if cell.elapsed_s is not None]
    least = min(cell.peak_memory_bytes for cell in solved if cell.peak_memory_bytes)
    return {
        "reference_wall_s": f"{data['wall_s']:.0f}",
        "reference_first_s": f"{data['first_wall_s']:.0f}",
        "reference_cores": f"{data['environment']['cores']}",
        "python_mib": f"{round(least / MEBIBYTE, -1):.0f}",
    }


def cfr_vs_openspiel(data: dict[str, Any]) -> Facts:
    """How many times as fast an iteration of CFR+ is, over the games."""
    ratios = [
        statistics.median(row["theirs_us"]) / statistics.median(row["ours_us"])
        for row in data["rows"]
    ]
    return {"cfr_ratio_least": f"{min(ratios):.0f}", "cfr_ratio_most": f"{max(ratios):.0f}"}


def leduc_accuracy(data: dict[str, Any]) -> Facts:
    """CPU time to a NashConv of 1e-6 with players in turn, and how much longer together."""
    cpu = {row["solver"].partition("(")[0]: statistics.median(row["cpu_s"]) for row in data["rows"]}
    in_turn = cpu["pcfr_plus_alternating"]
    return {
        "leduc_in_turn_s": f"{in_turn:.2f}",
        "leduc_together_ratio": f"{cpu['pcfr_plus'] / in_turn:.0f}",
    }


def random_starts(data: dict[str, Any]) -> Facts:
    """How many random starts converge."""
    reached = {
        row["alternating"]: sum(start["max_regret"] <= data["target"] for start in row["starts"])
        for row in data["rows"]
    }
    return {
        "random_starts": f"{data['starts']}",
        "random_starts_together": f"{reached[False]}",
        "random_starts_in_turn": f"{reached[True]}",
    }


def large_games(data: dict[str, Any]) -> Facts:
    """Time and memory of a game that is put together node by node."""
    (row,) = [row for row in data["rows"] if row["imported"]]
    return {
        "node_by_node_nodes": f"{row['nodes']:,}",
        "node_by_node_s": rounded(row["build_s"]),
        "node_by_node_mib": f"{(row['peak_bytes'] - row['python_bytes']) / MEBIBYTE:.0f}",
    }


def identification(data: dict[str, Any]) -> Facts:
    """Milliseconds to identify a profile, medians by kind of profile."""
    medians = [statistics.median(row["elapsed_ms"]) for row in data["rows"]]
    return {
        "identification_least_ms": f"{min(medians):.0f}",
        "identification_most_ms": f"{max(medians):.0f}",
    }


def case_enumeration(data: dict[str, Any]) -> Facts:
    """Nodes and CPU time over the pots."""
    nodes = [row["nodes"] for row in data["rows"]]
    cpu_s = [statistics.median(row["cpu_s"]) for row in data["rows"]]
    return {
        "cases_least_nodes": f"{min(nodes)}",
        "cases_most_nodes": f"{max(nodes)}",
        "cases_least_s": f"{min(cpu_s):.2f}",
        "cases_most_s": at_most(max(cpu_s)),
        "cases_pots": f"{len(nodes)}",
    }


def payoff_models(data: dict[str, Any]) -> Facts:
    """How much faster derivatives by sums over ranks are with 26 cards."""
    (row,) = [row for row in data["rows"] if row["cards"] == 26]
    us = {name: statistics.median(times) for name, times in row["us"]["linearize"].items()}
    return {"rank_sums_ratio": f"{us['generic'] / us['ranks']:.0f}"}


def best_of_starts(data: dict[str, Any]) -> Facts:
    """Starts on random games that get below a thousandth of the range, and games with one."""
    facts: Facts = {"best_of_starts": f"{data['starts']}"}
    rows = data["groups"][1]["rows"]
    for solver in dict.fromkeys(row["solver"] for row in rows):
        games = [row["max_regrets"] for row in rows if row["solver"] == solver]
        below = [sum(regret <= 1e-3 for regret in regrets) for regrets in games]
        share = sum(below) / sum(map(len, games))
        name = solver.partition("(")[0]
        facts[f"best_{name}_share"] = f"{share:.0%}".replace("%", " %")
        facts[f"best_{name}_games"] = f"{sum(map(bool, below))}"
        facts["best_games"] = f"{len(games)}"
    return facts


def who_finds_what(data: dict[str, Any]) -> Facts:
    """How the starts were made, and where their ends lie."""
    starts = [start for row in data["rows"] for start in row["starts"]]
    inside = [start for start in starts if _on_path(start) and "<c11<" in start["identity"]["name"]]
    from_half = [
        0.5 - start["identity"]["parameters"]["c11"]
        for start in starts
        if not _on_path(start) and "<c11<" in start["identity"]["name"]
    ]
    third = [start["payoffs"][2] for start in starts if _on_path(start)]
    return {
        "finds_starts": f"{data['seeds']}",
        "finds_iterations": f"{data['iterations']:,}",
        "finds_more": f"{max(third) / min(third) - 1:.0%}".replace("%", " %"),
        "finds_inside": f"{len(inside)}",
        "finds_from_half": power_at_most(max(from_half)),
    }


def reproduction(data: dict[str, Any]) -> Facts:
    """How much alike the play with different numbers of cards is."""
    claims = [
        claim
        for source in data["full"]["sources"]
        for part in source["parts"]
        for claim in part["claims"]
    ]
    (large,) = [claim["ours"] for claim in claims if claim["row"] == "full street, large N"]
    return {"shares_agree": large}


def _on_path(start: dict[str, Any]) -> bool:
    return bool(start["identity"]) and start["identity"]["on_path"]


SOURCES: tuple[Callable[[dict[str, Any]], Facts], ...] = (
    *(reference, cfr_vs_openspiel, leduc_accuracy, random_starts, large_games, identification),
    *(case_enumeration, payoff_models, best_of_starts, who_finds_what),
    *(arclength_cost, coexisting, reproduction),
    *(gambit_methods, gambit_logit, gambit_catalog, gambit_stall, logit),
    *(ncp, ganzfried_2025_table_1, ranges),
)


def all_facts() -> Facts:
    """Every fact as printed, by name.

    Raises
    ------
    ValueError
        If two functions give the same name.
    """
    facts = [fact for source in SOURCES for fact in source(read_results(source.__name__)).items()]
    if twice := [name for name, count in Counter(name for name, _ in facts).items() if count > 1]:
        raise ValueError(f"facts of the same name: {', '.join(twice)}")
    return dict(facts)
