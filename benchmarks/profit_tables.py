"""The table of profits in the replicator dynamics of SKP."""

from __future__ import annotations

import statistics
from typing import Any

from markdown_tables import table, where

CLOSE = 0.01


def skp_profits(data: dict[str, Any]) -> str:
    """One row for each pot: how far profits are from those of the paper's solution, and when."""
    header = ["pot", "solution", "its payoffs"]
    header += [f"gap over the first {end:g}" for end in _ends(data)]
    header += ["last half", f"windows within {CLOSE:.0%}", "nearest in the last half"]
    rows = []
    for row in data["rows"]:
        starts = len(row["window_shares"])
        last = [shares[-1] for shares in row["window_shares"]]
        nearest = sum(names[-1] == row["solution"] for names in row["nearest"])
        rows.append(
            [
                f"{row['pot']:g}",
                row["solution"].removeprefix("skp:"),
                ", ".join(f"{payoff:+.4f}" for payoff in row["payoffs"]),
                *(
                    _median([shares[row["times"].index(end) - 1] for shares in row["whole_shares"]])
                    for end in _ends(data)
                ),
                f"{_median(last)}, at most {max(last):.2%}",
                _close(row),
                f"{nearest} of {starts}",
            ]
        )
    text = f"{data['seeds']} starts each, to t = {data['time']:,g}; medians. {where(data)}.\n"
    return f"{table(header, rows, texts=(1, 2, 6))}\n{text}"


def _ends(data: dict[str, Any]) -> list[float]:
    """A sixteenth of the time, and all of it."""
    return [data["time"] / 16, data["time"]]


def _median(shares: list[float]) -> str:
    return f"{statistics.median(shares):.2%}"


def _close(row: dict[str, Any]) -> str:
    """The windows over which every start is close, or how many starts are where not all are."""
    counts = [
        sum(share <= CLOSE for share in window)
        for window in zip(*row["window_shares"], strict=True)
    ]
    starts = len(row["window_shares"])
    whole = [k for k, count in enumerate(counts) if count == starts]
    if whole and whole == list(range(whole[0], len(counts))):
        return f"all from t = {row['times'][whole[0]]:.3g} on"
    best = max(range(len(counts)), key=lambda k: counts[k])
    first, last = row["times"][best : best + 2]
    return (
        f"{counts[best]} of {starts} starts, {first:.4g} to {last:.4g}" if counts[best] else "never"
    )
