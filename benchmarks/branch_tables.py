"""Tables about branches of equilibria: what they cost, how many coexist."""

from __future__ import annotations

import statistics
from typing import Any

from arclength_cost import POLISHED, factorization_us, shares
from markdown_tables import table, where

MEBIBYTE = 2**20


def arclength_cost(data: dict[str, Any]) -> str:
    """Cost of branches, parts of a factorization, random starts, and Leduc poker."""
    starts, leduc = data["starts"], data["leduc"]
    start_ms = 1e3 * statistics.median(starts["cpu_s"])
    polished = sum(regret <= POLISHED for regret in starts["max_regrets"])
    sentences = (
        f"`{starts['game']}` from {starts['starts']} random weights of the barrier, down to "
        f"eps = {starts['epsilon']:g} and polished: {polished} profiles with max regret ≤ "
        f"{POLISHED:g}, median {start_ms:.1f} ms. `{leduc['game']}` "
        f"down to eps = {leduc['epsilon']:g} in {statistics.median(leduc['homotopy_s']):.1f} s and "
        f"{leduc['factorizations']} factorizations: NashConv {leduc['nash_conv_before']:.1e}; "
        f"polished in {statistics.median(leduc['polish_s']):.2f} s: max regret "
        f"{leduc['max_regret_after']:.1e}.\n"
    )
    tables = (_costs(data), _parts(data), sentences, f"{where(data)}.\n")
    return "\n".join(tables)


def _costs(data: dict[str, Any]) -> str:
    rows = []
    for row in data["branches"]:
        goals, first_to_last = row["goals"], "{:.3g} to {:g}".format(*row["range"])
        folds = row["exact_fold_s"]
        rows.append(
            [
                f"`{row['game']}`",
                first_to_last,
                f"{row['epsilon']:g}",
                f"{row['free']:,}",
                f"{row['cpu_s']:.2f}",
                f"{goals['cpu_s']:g}" if "cpu_s" in goals else "–",
                f"{row['steps']:,}",
                f"{row['refused_steps']:,}",
                f"{row['factorizations']:,}",
                f"{row['folds']:,}",
                f"{1e3 * statistics.median(folds):,.0f}" if folds else "–",
                f"{row['peak_bytes'] / MEBIBYTE:,.0f}",
                f"{goals['peak_MiB']:g}" if "peak_MiB" in goals else "–",
            ]
        )
    header = ["game", "pot", "eps", "free frequencies", "CPU s", "goal s", "steps", "refused"]
    header += ["factorizations", "folds", "ms to make a fold exact", "MiB at most", "goal MiB"]
    return table(header, rows)


def _parts(data: dict[str, Any]) -> str:
    rows = []
    for row in data["branches"]:
        parts = [f"{100 * share:.0f} %" for share in shares(row).values()]
        rows.append([f"`{row['game']}`", f"{factorization_us(row):,.0f}", *parts])
    names = list(shares(data["branches"][0]))
    return table(["game", "µs a factorization", *names], rows)


def coexisting(data: dict[str, Any]) -> str:
    """Points and equilibria of branches at one pot, beside those of random starts."""
    rows = []
    for row in data["rows"]:
        for place, entry in enumerate(row["at"]):
            beside = entry["beside"]
            first_payoffs = [payoffs[0] for payoffs in entry["payoffs"]]
            most = [f"{row['most']}", f"{row['most_narrow']}", _interval(row)]
            rows.append(
                [
                    f"{row['cards']}",
                    f"{row['epsilon']:g}",
                    f"{row['reached']:g}",
                    *(most if place == 0 else ["", "", ""]),
                    f"{entry['parameter']:g}",
                    f"{entry['crossings']}",
                    f"{entry['polished']}",
                    f"{entry['distinct_payoffs']}",
                    _dimensions(entry),
                    f"{min(first_payoffs):.5f} to {max(first_payoffs):.5f}",
                    f"{beside['polished']}",
                    f"{beside['not_on_branch']}",
                    "{:.5f} to {:.5f}".format(*beside["payoff_ranges"][0]),
                ]
            )
    header = ["cards", "eps", "followed to", "points at most", "vertical pieces too"]
    header += ["widest interval", "looked at", "points", "polished", "different payoffs"]
    header += [
        "dimension",
        "payoff of P1",
        f"of {data['starts']} starts polished",
        "not on the branch",
    ]
    header += ["payoff of P1"]
    return table(header, rows) + f"\n{where(data)}.\n"


def _interval(row: dict[str, Any]) -> str:
    low, high = max(row["intervals"], key=lambda ends: ends[1] - ends[0])
    return f"{low:.5f} to {high:.5f}"


def _dimensions(entry: dict[str, Any]) -> str:
    """Of the sets around those that are equilibria, the least and the greatest."""
    pairs = zip(entry["dimensions"], entry["max_regrets"], strict=True)
    found = [size for size, regret in pairs if regret <= POLISHED]
    low, high = min(found), max(found)
    return f"{low}" if low == high else f"{low} to {high}"
