"""The table of the stability of the solutions of SKP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markdown_tables import table, where

COUNTS = ("unstable", "centre_oscillatory", "zero", "stable")
HEADER = (
    *("solution", "pots", "members", "unstable", "oscillating", "zero", "stable"),
    *("the paper", "where another verdict holds"),
)


def skp_stability(data: dict[str, Any]) -> str:
    """One row for each solution, then one for each pot at which rest points were looked for."""
    rows = [
        [
            f"{row['solution']}: {row['range'][0]:.4g} to {row['range'][1]:.4g}",
            f"{row['pots']}",
            f"{row['members']:,}",
            *(_span(row["counts"][key]) for key in COUNTS),
            _short(row["paper"]) if row["paper"] else "–",
            "; ".join(map(_deviation, row["deviating"])) or "–",
        ]
        for row in data["solutions"]
    ]
    resting = []
    for row in data["rest_points"]:
        counts = [f"{row[key]:,}" for key in ("draws", "distinct", "unstable")]
        resting.append([f"{row['pot']}", *counts, f"{row['least_growth']:.2f}"])
    header = ["pot", "faces", "rest points, no equilibria", "unstable"]
    header += ["largest real part, least of them"]
    return f"{table(HEADER, rows, (0, 7, 8))}\n{table(header, resting)}\n{where(data)}.\n"


def _span(ends: list[int]) -> str:
    return f"{ends[0]}" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _short(verdict: str) -> str:
    return verdict.replace("centre manifold of oscillatory dimension", "centre,")


def _deviation(entry: Mapping[str, Any]) -> str:
    total = sum(entry["verdicts"].values())
    words = [
        _short(verdict) + ("" if count == total else f" ({count} of {total} members)")
        for verdict, count in entry["verdicts"].items()
    ]
    return f"pot {entry['pot']:.9g}: {' and '.join(words)}"
