"""Numbers in prose about replicator dynamics, from raw results; see `facts.py`."""

from __future__ import annotations

import statistics
from typing import Any

from markdown_tables import rounded
from profit_tables import CLOSE

CENTERS = ("skp:1", "skp:4", "skp:5", "skp:9", "skp:10")
CALM = "chaotic on average over the last half of the time; since"


def skp_regimes_paper(data: dict[str, Any]) -> dict[str, str]:
    """Words, limits and transients of starts at the paper's pots."""
    rows = {row["pot"]: row for row in data["rows"]}
    facts = {"regime_starts": f"{rows[3.1]['starts']}"}
    for pot, row in rows.items():
        for word, count in row["word"].items():
            facts[f"regime_{_name(pot)}_{word}"] = f"{count}"
    for pot in (3.1, 4.15):
        first, _, last = rows[pot]["transient"]
        facts[f"boundary_{_name(pot)}_first"] = f"{float(f'{first:.2g}'):,.0f}"
        facts[f"boundary_{_name(pot)}_last"] = f"{float(f'{last:.2g}'):,.0f}"
    for name in ("a1", "b1", "c3"):
        count = sum(rows[3.1][fate].get(name, 0) for fate in ("to_zero_each", "at_zero_each"))
        facts[f"regime_3_1_{name}_at_0"] = f"{count}"
    calm = [start for start in data["starts"] if start["pot"] == 3.1 and CALM in start["reason"]]
    return facts | {
        "regime_3_1_calm": f"{len(calm)}",
        "lyapunov_3_35": rounded(rows[3.35]["lyapunov"][-1], 1),
    }


def skp_regimes_long(data: dict[str, Any]) -> dict[str, str]:
    """When the longer trajectories at a pot of 3.1 are at the boundary."""
    (row,) = [row for row in data["rows"] if row["pot"] == 3.1]
    first, _, last = row["transient"]
    return {
        "long_starts": f"{row['starts']}",
        "long_boundary": f"{row['word']['boundary_absorption']}",
        "long_first": f"{float(f'{first:.2g}'):,.0f}",
        "long_last": f"{float(f'{last:.2g}'):,.0f}",
    }


def skp_profits(data: dict[str, Any]) -> dict[str, str]:
    """How near average payoffs come to those of the solutions."""
    rows = {row["solution"]: row for row in data["rows"]}
    last = [share for name in CENTERS for share in _last(rows[name], "window_shares")]
    facts = {
        "profits_from": f"{max(_close_from(rows[name]) for name in CENTERS):g}",
        "profits_tenth": f"{sum(share <= CLOSE / 10 for share in last)}",
        "profits_starts": f"{len(last)}",
    }
    for name in ("skp:2", "skp:7"):
        number = name.removeprefix("skp:")
        for title, key in (("whole", "whole_shares"), ("half", "window_shares")):
            facts[f"profits_{number}_{title}"] = f"{statistics.median(_last(rows[name], key)):.0%}"
    return {name: text.replace("%", " %") for name, text in facts.items()}


def _name(pot: float) -> str:
    return f"{pot:g}".replace(".", "_")


def _last(row: dict[str, Any], key: str) -> list[float]:
    return [shares[-1] for shares in row[key]]


def _close_from(row: dict[str, Any]) -> float:
    """Beginning of the first window from which on all starts are close."""
    largest = [max(window) for window in zip(*row["window_shares"], strict=True)]
    late = [k for k, share in enumerate(largest) if share > CLOSE]
    return row["times"][late[-1] + 1 if late else 0]
