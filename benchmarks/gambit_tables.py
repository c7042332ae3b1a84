"""The tables of Gambit's methods, and of logit equilibria."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import Any

from markdown_tables import milliseconds, table, where

LONGEST_REASON = 110


def gambit_methods(data: dict[str, Any]) -> str:
    """One row for each game and method, with the paper's figures for version 16.4."""
    rows = [
        [
            f"`{row['game']}`",
            f"`{row['solver']}`",
            row["status"],
            "–" if row["cpu_s"] is None else f"{row['cpu_s']:.3g}",
            "–" if row["max_regret"] is None else f"{row['max_regret']:.1e}",
            _short(row["reason"]),
            row["paper"] or "–",
        ]
        for row in data["rows"]
    ]
    header = ["game", "method", "status", "CPU s", "max regret", "what it says"]
    header += ["version 16.4 in Ganzfried 2025"]
    return table(header, rows, texts=(0, 1, 2, 5, 6)) + (
        f"\nAt most {data['timeout']:g} s each, one thread; pygambit {data['pygambit']}. "
        f"{where(data)}.\n"
    )


def gambit_logit(data: dict[str, Any]) -> str:
    """CPU time of Gambit's path, called directly and through eqbench."""
    rows = [
        [
            f"`{row['game']}`",
            milliseconds(row["directly_s"]),
            milliseconds(row["through_eqbench_s"]),
            f"{_ratio(row['through_eqbench_s'], row['directly_s']):.2f}×",
            f"{row['lambda']:,.0f}",
        ]
        for row in data["rows"]
    ]
    header = ["game", "directly ms", "through eqbench ms", "ratio", "lambda at the end"]
    return table(header, rows) + f"\npygambit {data['pygambit']}. {where(data)}.\n"


def gambit_stall(data: dict[str, Any]) -> str:
    """Where Gambit's tracer stops behind improbable chance moves, and where it was said to."""
    rows = [
        [
            f"2^{row['log2_q']}" if row["log2_q"] else "1",
            *(f"{row[name]:,.0f}" for name in ("last", "predicted", "refused")),
        ]
        for row in data["rows"]
    ]
    header = ["q", "Gambit's last point", "predicted from underflow", "first point refused"]
    sets = [
        [
            row["infoset"],
            f"{row['lambda']:,.0f}",
            f"{row['difference']:+.4f}",
            f"{row['uniform']:+.4f}",
        ]
        for row in sorted(data["sets"], key=lambda row: row["lambda"])
    ]
    headings = ["information set", "probability 0 from lambda on", "gain of the second action"]
    headings += ["with uniform beliefs"]
    return (
        table(header, rows)
        + "\n"
        + table(headings, sets)
        + f"\npygambit {data['pygambit']}, `max_accel={data['max_accel']}`. {where(data)}.\n"
    )


def gambit_catalog(data: dict[str, Any]) -> str:
    """What can be read of Gambit's catalog, and how its cells ended."""
    rows = []
    for row in data["rows"]:
        if "refused" in row:
            rows.append([row["game"], *["–"] * 4, "refused: imperfect recall"])
            continue
        cells = row.get("cells", [])
        ended = Counter(cell["status"] for cell in cells)
        wrong = [cell["solver"] for cell in cells if cell["status"] == "refuted"]
        rows.append(
            [
                row["game"],
                *(f"{row[name]:,}" for name in ("players", "nodes", "infosets")),
                f"{ended['ok']} of {len(cells)}" if cells else "not run",
                ", ".join(wrong) or "–",
            ]
        )
    header = ["game", "players", "nodes", "information sets", "cells ok", "refuted"]
    return table(header, rows) + f"\npygambit {data['pygambit']}. {where(data)}.\n"


def logit(data: dict[str, Any]) -> str:
    """Agreement and cost beside Gambit, then how far branches go."""
    beside = [
        [
            f"`{row['game']}`",
            milliseconds(row["ours_s"]),
            milliseconds(row["gambit_s"]),
            f"{_ratio(row['gambit_s'], row['ours_s']):.1f}×",
            milliseconds(row["first_s"]),
            f"{_ratio(row['gambit_s'], row['first_s']):.1f}×",
            *(f"{gap:.0e}" for gap in row["differences"]),
        ]
        for row in data["compared"]
    ]
    header = ["game", "eqbench ms to 1,000", "Gambit ms to 1,000", "ratio", "right after Gambit ms"]
    header += ["ratio"]
    header += [f"difference at {value:,g}" for value in data["compared"][0]["at"]]
    reached = [
        [
            f"`{row['game']}`",
            f"{row['lambda']:,.0f}",
            f"{row['points']:,}",
            f"{len(row['turns'])}",
            f"{row['max_regret']:.1e}",
            f"{row['equilibrium']['max_regret']:.1e}",
            f"{row['cpu_s']:.3g}",
        ]
        for row in data["reached"]
    ]
    headings = ["game", "lambda", "points", "turning points", "max regret there", "polished"]
    headings += ["CPU s"]
    drawn = data["random"]
    names = ", ".join(f"{name} {count}" for name, count in drawn["names"].items())
    slowest = max(row["cpu_s"] for row in drawn["branches"])
    median = statistics.median(row["cpu_s"] for row in drawn["branches"])
    return (
        table(header, beside)
        + "\n"
        + table(headings, reached)
        + f"\nRandom priors on `{drawn['game']}`, seeds 0 to {drawn['branches'][-1]['seed']}: "
        f"{drawn['arrived']} of {len(drawn['branches'])} reach lambda 1e6, {drawn['polished']} "
        f"become equilibria, with {drawn['distinct_payoffs']} distinct payoff vectors "
        f"({names}); {drawn['with_turns']} have turning points. CPU time with polishing: "
        f"median {1e3 * median:.1f} ms, longest {1e3 * slowest:.1f} ms.\n"
        f"\npygambit {data['pygambit']}. {where(data)}.\n"
    )


def _ratio(slower: list[float], faster: list[float]) -> float:
    return statistics.median(slower) / statistics.median(faster)


def _short(reason: str) -> str:
    """A reason that fits into a cell."""
    text = " ".join(reason.split()).replace("|", "/")
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"
