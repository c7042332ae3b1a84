"""Write the tables and numbers of the README and of the documentation from raw results.

    python benchmarks/make_tables.py
    python benchmarks/make_tables.py --check   # change nothing; exit with 1 if a page is stale

A table stands between the lines ``<!-- table: NAME -->`` and ``<!-- end -->``, where NAME is
that of its file of raw results, or a key of `OF_RESULTS`; whatever stood there is replaced. A
further benchmark needs a function in `TABLES` and such a pair of lines. A number in prose stands
between ``<!-- fact: NAME -->`` and ``<!-- /fact -->``; see `facts.py`.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from branch_tables import arclength_cost, coexisting
from facts import all_facts
from gambit_tables import gambit_catalog, gambit_logit, gambit_methods, gambit_stall, logit
from markdown_tables import milliseconds, seconds, table, where
from measuring import read_results
from ncp_tables import (
    ganzfried_2025_table_1,
    ncp,
    ncp_further,
    ranges_kuhn3,
    ranges_kuhn3_reduced,
)
from reference_tables import reference, who_finds_what
from replicator_tables import replicator
from reproduction_tables import (
    reproduction,
    reproduction_differences,
    reproduction_errors,
    reproduction_open,
    reproduction_trajectories,
)

ROOT = Path(__file__).resolve().parents[1]
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
FACT = re.compile(r"(<!-- fact: (\w+) -->).*?(<!-- /fact -->)", re.DOTALL)


def cfr_vs_openspiel(data: dict[str, Any]) -> str:
    """CPU time per CFR+ iteration, and NashConv after equally many iterations."""
    rows = []
    for row in data["rows"]:
        gap = row["nash_conv"]
        rows.append(
            [
                row["game"],
                *beside(row["ours_us"], row["theirs_us"]),
                f"{gap['iterations']}",
                f"{gap['ours']:.6e}",
                f"{gap['theirs']:.6e}",
                *beside(row["nash_conv_us"]["ours"], row["nash_conv_us"]["theirs"]),
            ]
        )
    header = ["game", "eqbench µs", "OpenSpiel µs", "ratio"]
    header += ["compared after", "NashConv eqbench", "NashConv OpenSpiel"]
    header += ["one NashConv: eqbench µs", "OpenSpiel µs", "ratio"]
    return table(header, rows) + f"\n{where(data)}, OpenSpiel {data['open_spiel']}.\n"


def beside(ours: list[float], theirs: list[float]) -> list[str]:
    """Medians of two measurements, and how many times the second is of the first."""
    mine, other = statistics.median(ours), statistics.median(theirs)
    return [f"{mine:,.2f}", f"{other:,.0f}", f"{other / mine:,.0f}×"]


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


def large_games(data: dict[str, Any]) -> str:
    """Cost of large games; memory with and without Python itself."""
    rows = [
        [
            f"`{row['game']}`" + (" node by node" if row["imported"] else ""),
            f"{row['nodes']:,}",
            f"{row['terminals']:,}",
            f"{row['infosets']:,}",
            f"{row['build_s']:.2f}",
            f"{row['compile_s']:.2f}",
            milliseconds(row["iteration_s"]),
            f"{row['python_bytes'] / 2**20:,.0f}",
            f"{row['peak_bytes'] / 2**20:,.0f}",
        ]
        for row in data["rows"]
    ]
    header = ["game", "nodes", "terminals", "information sets", "build s", "compile s"]
    header += ["CFR+ ms an iteration", "MiB before", "MiB at most"]
    return table(header, rows) + f"\n{where(data)}.\n"


def leduc_accuracy(data: dict[str, Any]) -> str:
    """CPU time of the CFR presets to a given NashConv."""
    rows = [
        [
            f"`{row['solver'].partition('(')[0]}`",
            f"{sum(value <= data['nash_conv'] for value in row['nash_conv'])} "
            f"of {len(row['nash_conv'])}",
            f"{statistics.median(row['iterations']):,.0f}",
            f"{statistics.median(row['cpu_s']):.2f}",
            f"{statistics.median(row['nash_conv']):.1e}",
        ]
        for row in data["rows"]
    ]
    header = ["solver", f"NashConv ≤ {data['nash_conv']:g}", "iterations", "CPU s", "NashConv"]
    return table(header, rows) + f"\nGame {data['game']}. {where(data)}.\n"


def identification(data: dict[str, Any]) -> str:
    """Time of one identification by kind of profile, and what was recognized."""
    rows = []
    for row in data["rows"]:
        found = [identity for identity in row["identities"] if identity]
        times = row["elapsed_ms"]
        rows.append(
            [
                row["kind"],
                f"{statistics.median(times):.1f}",
                f"{max(times):.1f}",
                *(f"{sum(identity[i] for identity in found)}" for i in (2, 1)),
                f"{sum(not identity[1] for identity in found)}",
                f"{len(row['identities']) - len(found)}",
            ]
        )
    header = ["profiles", "median ms", "largest ms", "strict", "on the path", "near", "nothing"]
    return table(header, rows) + f"\nGame {data['game']}. {where(data)}.\n"


def case_enumeration(data: dict[str, Any]) -> str:
    """Nodes and CPU time per pot, beside the figures of the paper."""
    rows = [
        [
            f"`{row['game']}`",
            f"{row['cases']:,}",
            f"{row['nodes']:,}",
            f"{row['leaves']:,}",
            f"{row['unresolved']}",
            ", ".join(size for size, n in row["pieces_by_dimension"].items() for _ in range(n)),
            f"{statistics.median(row['cpu_s']):.2f}",
        ]
        for row in data["rows"]
    ]
    cases, duration_s = data["paper"]["cases"], 60 * data["paper"]["minutes"]
    rows.append(
        ["Billingham 2017, symbolic pot", f"{cases:,}", *("–" * 4), f"about {duration_s:,}"]
    )
    header = ["game", "cases", "nodes visited", "leaves", "open", "dimensions of the pieces"]
    header += ["CPU s"]
    return table(header, rows) + f"\n{where(data)}, python-flint {data['python_flint']}.\n"


def payoff_models(data: dict[str, Any]) -> str:
    """Time of one call of either payoff model by the number of cards."""
    rows = []
    for row in data["rows"]:
        cells = [f"{row['cards']}", f"{row['terminals']:,}", f"{row['free']}"]
        for us in row["us"].values():
            ranks = statistics.median(us["ranks"])
            beside_it = ["–", "–"]
            if "generic" in us:
                generic = statistics.median(us["generic"])
                beside_it = [f"{generic:,.1f}", f"{generic / ranks:.1f}×"]
            cells += [f"{ranks:.1f}", *beside_it]
        rows.append([*cells, f"{row['recognize_s']:.3f}"])
    header = ["cards", "terminals", "free frequencies", "values µs", "generic µs", "ratio"]
    header += ["linearization µs", "generic µs", "ratio", "recognized in s"]
    return table(header, rows) + f"\n{where(data)}.\n"


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "cfr_vs_openspiel": cfr_vs_openspiel,
    "random_starts": random_starts,
    "bulk_games": bulk_games,
    "best_of_starts": best_of_starts,
    "large_games": large_games,
    "leduc_accuracy": leduc_accuracy,
    "case_enumeration": case_enumeration,
    "identification": identification,
    "payoff_models": payoff_models,
    "arclength_cost": arclength_cost,
    "coexisting": coexisting,
    "ncp": ncp,
    "gambit_methods": gambit_methods,
    "gambit_catalog": gambit_catalog,
    "gambit_logit": gambit_logit,
    "gambit_stall": gambit_stall,
    "logit": logit,
    "replicator": replicator,
    "reference": reference,
    "who_finds_what": who_finds_what,
    "ganzfried_2025_table_1": ganzfried_2025_table_1,
    "ncp_further": ncp_further,
    "ranges_kuhn3": ranges_kuhn3,
    "ranges_kuhn3_reduced": ranges_kuhn3_reduced,
    "reproduction": reproduction,
    "reproduction_differences": reproduction_differences,
    "reproduction_errors": reproduction_errors,
    "reproduction_open": reproduction_open,
    "reproduction_trajectories": reproduction_trajectories,
}
# Tables that are not the only ones of their raw results.
OF_RESULTS = {
    "ncp_further": "ncp",
    "ranges_kuhn3": "ranges",
    "ranges_kuhn3_reduced": "ranges",
    "reproduction_differences": "reproduction",
    "reproduction_errors": "reproduction",
    "reproduction_open": "reproduction",
    "reproduction_trajectories": "reproduction",
}


def pages() -> list[Path]:
    """The pages in which tables and numbers may stand, but for what Sphinx makes."""
    docs = (ROOT / "docs").rglob("*.md")
    written = sorted(page for page in docs if "_build" not in page.parts)
    return [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *written]


def filled(text: str, facts: dict[str, str]) -> str:
    """A page with all its tables and numbers as the raw results have them.

    Raises
    ------
    KeyError
        If it asks for a table or a number of an unknown name.
    """
    text = TABLE.sub(lambda match: f"{match[1]}{_table(match[2])}{match[3]}", text)
    return FACT.sub(lambda match: f"{match[1]}{facts[match[2]]}{match[3]}", text)


def _table(name: str) -> str:
    return TABLES[name](read_results(OF_RESULTS.get(name, name)))


def main() -> None:
    """Fill every page, or only say which are stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args().check
    facts = all_facts()
    stale = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := filled(text, facts)) != text:
            stale.append(str(page.relative_to(ROOT)))
            if not check:
                page.write_text(new, encoding="utf-8")
    if stale:
        print("stale:" if check else "written:", *stale)
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
