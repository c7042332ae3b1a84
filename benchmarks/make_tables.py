"""Write the tables of ``benchmarks/README.md`` from the raw results.

    python benchmarks/make_tables.py

A table stands between the lines ``<!-- table: NAME -->`` and ``<!-- end -->``, where NAME is
that of its file of raw results; whatever stood there is replaced. A further benchmark needs a
function in `TABLES` and such a pair of lines.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from measuring import read_results

README = Path(__file__).resolve().parent / "README.md"
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def cfr_vs_openspiel(data: dict[str, Any]) -> str:
    """CPU time per CFR+ iteration, and NashConv after equally many iterations."""
    rows = []
    for row in data["rows"]:
        ours, theirs = statistics.median(row["ours_us"]), statistics.median(row["theirs_us"])
        gap = row["nash_conv"]
        rows.append(
            [
                row["game"],
                f"{ours:.2f}",
                f"{theirs:,.1f}",
                f"{theirs / ours:.0f}×",
                f"{gap['iterations']}",
                f"{gap['ours']:.6e}",
                f"{gap['theirs']:.6e}",
            ]
        )
    header = ["game", "eqbench µs", "OpenSpiel µs", "ratio"]
    header += ["compared after", "NashConv eqbench", "NashConv OpenSpiel"]
    return table(header, rows) + f"\n{where(data)}, OpenSpiel {data['open_spiel']}.\n"


def random_starts(data: dict[str, Any]) -> str:
    """Share of the random starts that reach the target, and medians over these."""
    rows = []
    for row in data["rows"]:
        starts = row["starts"]
        reached = [start for start in starts if start["max_regret"] <= data["target"]]
        stayed = sum(start["final_max_regret"] <= data["target"] for start in starts)
        rows.append(
            [
                "alternating" if row["alternating"] else "simultaneous",
                f"{len(reached)} of {len(starts)}",
                f"{statistics.median(start['iterations'] for start in reached):g}",
                milliseconds([start["elapsed_s"] for start in reached]),
                f"{stayed} of {len(starts)}",
            ]
        )
    header = ["updates", f"max regret ≤ {data['target']:g}", "median iterations", "median ms"]
    header += [f"after {data['iterations']:,} iterations"]
    return table(header, rows) + f"\nGame {data['game']}. {where(data)}.\n"


def bulk_games(data: dict[str, Any]) -> str:
    """Seconds to build and to verify large games."""
    rows = [
        [f"`{row['game']}`", f"{row['nodes']:,}"]
        + [seconds(row[name]) for name in ("build_s", "verify_s", "exact_s")]
        for row in data["rows"]
    ]
    header = ["game", "nodes", "build s", "verify s", "exact s"]
    return table(header, rows) + f"\n{where(data)}.\n"


def best_of_starts(data: dict[str, Any]) -> str:
    """Max regret to be expected of the best of k starts, a share of the payoff range."""
    from best_of_starts import SOLVERS, counts_of, curve

    counts = counts_of(data["starts"])
    rows = [
        [f"{group['title']}, `{solver}`"]
        + [f"{regret:.1e}" for regret in curve(group, solver, counts)]
        for group in data["groups"]
        for solver in SOLVERS
    ]
    header = ["games, solver", *(f"k = {count}" for count in counts)]
    return table(header, rows) + f"\n{where(data)}.\n"


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "cfr_vs_openspiel": cfr_vs_openspiel,
    "random_starts": random_starts,
    "bulk_games": bulk_games,
    "best_of_starts": best_of_starts,
}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown table whose first column is text and whose others are numbers."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [header, rule, *rows])


def seconds(repetitions: list[float] | None) -> str:
    """Median in seconds, or a dash where nothing was measured."""
    return "–" if not repetitions else f"{statistics.median(repetitions):.3g}"


def milliseconds(repetitions: list[float]) -> str:
    """Median in milliseconds of times in seconds."""
    return f"{1e3 * statistics.median(repetitions):.2f}"


def where(data: dict[str, Any]) -> str:
    """The environment in a few words."""
    environment = data["environment"]
    packages = environment["packages"]
    return (
        f"{environment['processor']}, {environment['platform']}, Python {environment['python']}, "
        f"Numba {packages['numba']}, NumPy {packages['numpy']}"
    )


def main() -> None:
    """Replace every marked table."""
    text = README.read_text(encoding="utf-8")
    README.write_text(
        MARKED.sub(lambda m: f"{m[1]}{TABLES[m[2]](read_results(m[2]))}{m[3]}", text),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
