"""The tables of complementarity programs: beside other methods, published ones, and ranges."""

from __future__ import annotations

import re
import statistics
from fractions import Fraction
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


def ganzfried_2025_table_1(data: dict[str, Any]) -> str:
    """Seconds of both programs by size, beside the paper's means."""
    rows = []
    for size in data["sizes"]:
        ratio, published = size["ratio"], size["published"]
        seconds = [_seconds(solver) for solver in size["solvers"]]
        rows.append(
            [
                size["size"].replace("x", " × "),
                *(text for pair in seconds for text in pair),
                *(_digits(ratio[name]["value"]) for name in ("of_medians", "of_means")),
                *(f"{mean:.3f}" for mean in published["mean_s"]),
                f"{published['ratio_of_means']:.1f}",
            ]
        )
    header = ["players × actions", "NCP median", "NCP mean", "MIP median", "MIP mean"]
    header += ["ratio of medians", "ratio of means", "paper: NCP", "MIP", "ratio of means"]
    return table(header, rows)


def _seconds(solver: dict[str, Any]) -> tuple[str, str]:
    count = solver["timeouts"]
    late = f" ({count} time-out{'s' if count > 1 else ''})" if count else ""
    return _digits(solver["median_s"]), _digits(solver["mean_with_timeouts_s"]) + late


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:#.2g}".rstrip(".")


# The columns of the table of further games, and its rows: how games begin, and what they are.
_FURTHER = {
    "`ncp` on Gurobi": "ncp(backend=gurobi)",
    "`ncp` on SCIP": "ncp(backend=scip)",
    "SCIP, `dominated=remove`": "ncp(backend=scip,dominated=remove)",
    "`semismooth`": "semismooth",
    "`arclength`": "arclength(branch=false,starts=0)",
}
_GAMES = {
    "kuhn(players=3,cards=6)": "three players, 6 cards",
    "kuhn(players=3,cards=8)": "three players, 8 cards",
    "kuhn4": "four players, 5 cards",
    "random_tree(players=3,depth=5": "random general-sum trees, three players, depth 5",
    "random_tree(players=3,depth=6": "the same, depth 6",
    "random(players=3,actions=4": "random strategic forms, three players, 4 actions",
}


def ncp_further(data: dict[str, Any]) -> str:
    """Median seconds on further games, and how many runs were solved."""
    rows = []
    for start, title in _GAMES.items():
        cells = []
        for solver in _FURTHER.values():
            found = [
                row
                for row in data["rows"]
                if row["game"].startswith(start) and row["solver"] == solver
            ]
            solved, median, *_ = _cells(found) if found else ("", "–")
            cells.append(median if median == "–" else f"{median} [{solved}]")
        rows.append([title, *cells])
    return table(["game", *_FURTHER], rows)


def ranges_kuhn3(data: dict[str, Any]) -> str:
    """Payoffs over all equilibria of the full game, with the bounds."""
    rows = []
    for row in data["games"]["kuhn3"]["quantities"]:
        low, high = row["min"], row["max"]
        rows.append(
            [
                row["quantity"].replace("P", "u"),
                *(_bound(low), _fraction(low["found"]), _fraction(high["found"]), _bound(high)),
                _range(row["published"]["low"], row["published"]["high"]),
            ]
        )
    header = ["payoff", "at least", "smallest found", "largest found", "at most", "Szafron family"]
    return table(header, rows)


def ranges_kuhn3_reduced(data: dict[str, Any]) -> str:
    """Payoffs and first actions over all equilibria of the reduced game."""
    rows = [
        [
            "`" + row["quantity"].replace("|", r"\|") + "`",
            _range(row["min"]["found"], row["max"]["found"]),
            _range(row["published"]["low"], row["published"]["high"]),
            row["verdict"],
        ]
        for row in data["games"]["kuhn3_reduced"]["quantities"]
    ]
    header = ["quantity", "over all equilibria", "Szafron family", "verdict"]
    return table(header, rows, texts=range(4))


def _bound(end: dict[str, Any]) -> str:
    text = f"{end['bound']:z.6f}".replace("-", "−")
    return text if end["closed"] else f"{text}, open after {end['elapsed_s']:.0f} s"


def _range(low: float, high: float) -> str:
    ends = dict.fromkeys(map(_fraction, (low, high)))
    return " to ".join(ends)


def _fraction(value: float) -> str:
    """A simple fraction if the number is one to rounding of the backend."""
    near = Fraction(value).limit_denominator(100)
    text = f"{near}" if abs(near - value) <= 1e-6 else f"{value:.4f}"
    return text.replace("-", "−")
