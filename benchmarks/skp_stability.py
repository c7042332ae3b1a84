"""Stability of all solutions of SKP under replicator dynamics, over their whole ranges of the pot.

    python benchmarks/skp_stability.py

At each pot one member inside each published set, its corners and random members are looked at.
Pots are evenly spread over each range, and close to both ends; an end that is irrational cannot be
met, so 1e-12 inside it stands for it. Written down are the counts of eigenvalues over all of
these and every pot where a verdict differs from the paper's (Billingham 2017, section 4.1), and for
the seven pots of section 4.2 how many rest points that are no equilibria are unstable. Nothing is
timed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from measuring import use_one_thread, write_results

UNSTABLE = "unstable"
PAPER: dict[str, int | str] = {
    **{"1": 2, "2": UNSTABLE, "3": UNSTABLE, "4": 4, "5": 4},
    **{"6": UNSTABLE, "7": UNSTABLE, "8": UNSTABLE, "9": 6, "10": 6},
}
P3, P4 = (3 + math.sqrt(97)) / 4, (3 + math.sqrt(15)) / 2
P6, P8, P9 = (3 + math.sqrt(23)) / 2, (7 + math.sqrt(105)) / 4, (7 + math.sqrt(113)) / 4
FAR = 100  # where the range of Solution 10 is cut off
RANGES: dict[str, tuple[float, float]] = {
    **{"1a": (2, 2), "1": (2, 3), "2a": (3, 3), "2": (3, P4), "3": (P3, P4), "4": (P3, 3.5)},
    **{"5a": (3.5, 3.5), "5": (3.5, 4), "6": (P6, 4), "7": (P6, P9), "8": (P8, P9)},
    **{"9": (P8, 5), "10a": (5, 5), "10": (5, FAR)},
}
FROM_ENDS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
AT_AN_END = Fraction(1, 10**12)
CASES = (2.5, 3.1, 3.35, 3.75, 4.15, 4.65, 5.5)


def main() -> None:
    """Look at all solutions, print one line for each, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pots", type=int, default=50, help="evenly spread over each range")
    parser.add_argument("--samples", type=int, default=16, help="random members of each set")
    parser.add_argument("--draws", type=int, default=1000, help="faces searched at each pot")
    options = parser.parse_args()
    use_one_thread()
    solutions = [
        measure(name, pots(*ends, options.pots), options.samples) for name, ends in RANGES.items()
    ]
    for row in solutions:
        found = [f"{p['pot']:.9g}: {p['verdicts']}" for p in row["deviating"]]
        print(f"{row['solution']}: {row['verdicts']}, counts {row['counts']}, {found}")
    resting = [rest(pot, options.draws) for pot in CASES]
    for row in resting:
        print(row)
    write_results("skp_stability", vars(options) | {"solutions": solutions, "rest_points": resting})


def pots(low: float, high: float, count: int) -> list[tuple[Fraction, bool]]:
    """Pots of a range in ascending order, and whether each stands for an end."""
    if low == high:
        return [(Fraction(low), True)]
    ends = [
        Fraction(end) if end == round(end, 1) else Fraction(end) + sign * AT_AN_END
        for end, sign in ((low, 1), (high, -1))
    ]
    inside = {Fraction(low + (k + 0.5) * (high - low) / count) for k in range(count)}
    for distance in FROM_ENDS:
        inside |= {ends[0] + Fraction(distance), ends[1] - Fraction(distance)}
    marked = [*((pot, False) for pot in inside), (ends[0], True), (ends[1], high < FAR)]
    return sorted(marked)


def measure(name: str, values: Sequence[tuple[Fraction, bool]], samples: int) -> dict[str, Any]:
    """What a solution is over its range, and where it is not what the paper says."""
    from eqbench.registry import load_game, load_solver
    from eqbench.studies.flow.rest_points import COUNTS, verdicts

    skp, replicator = load_game("skp"), load_solver("replicator")
    looked: list[dict[str, Any]] = []
    for pot, is_end in values:
        game = skp.at(pot=pot)
        (found,) = [
            verdict
            for verdict in verdicts(game, replicator.flow(game), samples=samples)
            if verdict.name == f"skp:{name}"
        ]
        entry = found.to_json()
        largest = max(pair[0] for pair in entry["eigenvalues"])
        looked.append(
            {"pot": float(pot), "is_end": is_end, "largest_real_part": largest}
            | {"max_regret": max(each.max_regret for each in found.looked)}
            | entry["members"]
        )
    inside = [each for each in looked if not each["is_end"]] or looked
    expected = expected_verdict(name)
    return {
        "solution": name,
        "range": RANGES[name],
        "paper": expected,
        "pots": len(looked),
        "members": sum(each["examined"] for each in looked),
        "refuted": sum(each["refuted"] for each in looked),
        "max_regret": max(each["max_regret"] for each in looked),
        "verdicts": total(inside),
        "counts": {
            key: [min(e[key][0] for e in inside), max(e[key][1] for e in inside)] for key in COUNTS
        },
        "least_growth": min(each["largest_real_part"] for each in inside),
        "deviating": [
            {key: each[key] for key in ("pot", "is_end", "verdicts", *COUNTS)}
            for each in looked
            if set(each["verdicts"]) != {expected or most_frequent(inside)}
        ],
    }


def expected_verdict(name: str) -> str | None:
    """The verdict of the paper; None for solutions of which it says nothing."""
    paper = PAPER.get(name)
    return f"centre manifold of oscillatory dimension {paper}" if isinstance(paper, int) else paper


def total(looked: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many members have each verdict."""
    found: dict[str, int] = {}
    for each in looked:
        for verdict, count in each["verdicts"].items():
            found[verdict] = found.get(verdict, 0) + count
    return found


def most_frequent(looked: Sequence[dict[str, Any]]) -> str:
    """The verdict of most members."""
    found = total(looked)
    return max(found, key=lambda verdict: found[verdict])


def rest(pot: float, draws: int) -> dict[str, Any]:
    """Figures of the search for rest points that are no equilibria."""
    from eqbench.registry import load_game, load_solver
    from eqbench.studies.flow.rest_points import rest_points

    game = load_game("skp").at(pot=pot)
    return {"pot": pot} | rest_points(game, load_solver("replicator").flow(game), draws, 0)[1]


if __name__ == "__main__":
    main()
