"""The table of complementarity programs beside other methods."""

from __future__ import annotations

import re
import statistics
from typing import Any

from markdown_tables import table, where

SOLVED = 1e-12  # max regret in payoff units
HEADER = (
    "game",
    "solver",
    "solved",
    "median s",
    "longest s",
    "raw max regret, largest",
    "variables",
    "nodes, median",
)


def ncp(data: dict[str, Any]) -> str:
    """One row for each game, or family of random games, and solver."""
    families: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in data["rows"]:
        family = re.sub(r",seed=\d+", "", row["game"])
        families.setdefault((family, row["solver"]), []).append(row)
    rows = [
        [f"`{game}`", f"`{solver}`", *_cells(found)] for (game, solver), found in families.items()
    ]
    threads = "thread" if data["threads"] == 1 else "threads"
    return table(HEADER, rows) + f"\n{data['threads']} {threads} each; {where(data)}.\n"


def _cells(rows: list[dict[str, Any]]) -> list[str]:
    statuses = {row["status"] for row in rows}
    if statuses <= {"unavailable", "unsupported"}:
        return ["/".join(sorted(statuses)), *["–"] * 5]
    ran = [row for row in rows if row["elapsed_s"] is not None]
    solved = sum(row["max_regret"] is not None and row["max_regret"] <= SOLVED for row in rows)
    exact = sum(bool(row["exact_regrets"]) and set(row["exact_regrets"]) == {"0"} for row in rows)
    times = [row["elapsed_s"] for row in ran]
    raw = [row["raw_max_regret"] for row in ran if row["raw_max_regret"] is not None]
    nodes = [row["nodes"] for row in ran if row["nodes"] is not None]
    sizes = sorted({row["columns"] for row in ran if row["columns"]})
    return [
        f"{solved} of {len(rows)}" + (f", {exact} exactly" if exact else ""),
        f"{statistics.median(times):.3g}",
        f"{max(times):.3g}",
        f"{max(raw):.1e}" if raw else "–",
        "–" if not sizes else "–".join(str(size) for size in sorted({sizes[0], sizes[-1]})),
        f"{statistics.median(nodes):g}" if nodes else "–",
    ]
