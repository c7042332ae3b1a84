"""Numbers in prose about branches of equilibria, from raw results; see `facts.py`."""

from __future__ import annotations

import statistics
from typing import Any

from markdown_tables import power, rounded

MEBIBYTE = 2**20
NAMES = {
    "skp": "skp",
    "kuhn(players=3,cards=10,reduce=billingham)": "10_cards",
    "kuhn(players=3,cards=26,reduce=billingham)": "26_cards",
    "kuhn(players=3,cards=52,reduce=billingham)": "52_cards",
    "kuhn(players=4,cards=6)": "four_players",
}


def arclength_cost(data: dict[str, Any]) -> dict[str, str]:
    """CPU time, memory and folds of branches, and what Leduc poker takes."""
    facts = {}
    for row in data["branches"]:
        if name := NAMES.get(row["game"]):
            facts[f"branch_{name}_s"] = rounded(row["cpu_s"])
            facts[f"branch_{name}_mib"] = f"{row['peak_bytes'] / MEBIBYTE:.0f}"
            facts[f"branch_{name}_folds"] = f"{row['folds']}"
    leduc = data["leduc"]
    return facts | {
        "homotopy_leduc_s": rounded(statistics.median(leduc["homotopy_s"])),
        "homotopy_leduc_nash_conv": power(leduc["nash_conv_before"]),
        "homotopy_leduc_polished": power(leduc["max_regret_after"]),
    }


def coexisting(data: dict[str, Any]) -> dict[str, str]:
    """Points at one pot by the number of cards, dimensions, and where branches end early."""
    coarse, fine = (
        [row for row in data["rows"] if row["epsilon"] == epsilon] for epsilon in (1e-7, 1e-9)
    )
    by_cards = {row["cards"]: row for row in coarse}
    most = max(coarse, key=lambda row: row["most"])
    eight = by_cards[8]["at"][0]
    (stalled,) = [row for row in fine if row["stalled"]]
    dimensions = {
        cards: [value for at in row["at"] for value in at["dimensions"]]
        for cards, row in by_cards.items()
    }
    return {
        **{f"coexisting_{cards}": f"{by_cards[cards]['most']}" for cards in (4, 5, 10)},
        "coexisting_most": f"{most['most']}",
        "coexisting_most_cards": f"{most['cards']}",
        "coexisting_most_pot": f"{most['at'][0]['parameter']:g}",
        "coexisting_most_payoffs": f"{most['at'][0]['distinct_payoffs']}",
        "dimension_4": f"{max(dimensions[4])}",
        "dimension_13": f"{max(dimensions[13])}",
        "unpolished_8": f"{eight['crossings'] - eight['polished']}",
        "points_8": f"{eight['crossings']}",
        "pot_8": f"{eight['parameter']:g}",
        "branches_coarse": f"{sum(not row['stalled'] for row in coarse)}",
        "branches_decks": f"{len(coarse)}",
        "branches_fine": f"{sum(not row['stalled'] for row in fine)}",
        "stalled_cards": f"{stalled['cards']}",
        "stalled_pot": f"{stalled['reached']:.2f}",
    }
