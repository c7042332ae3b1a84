"""Regimes of the replicator dynamics of SKP at many pots (Billingham 2017, section 4.2).

    python benchmarks/skp_regimes.py paper          # five minutes each
    python benchmarks/skp_regimes.py calibration
    python benchmarks/skp_regimes.py long           # a few starts for ten times as long
    python benchmarks/skp_regimes.py paper --table  # only shows the raw results as a table

All thresholds of the classifier were fixed by looking at the calibration pots, from starts with
seeds from 1000 on, and then left alone; the paper's pots are followed from starts with seeds
from 0 on. Every second start is wide: its log-odds are normal with deviation 3 instead of 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from measuring import read_results, use_one_thread, write_results
from regime_tables import skp_regimes

use_one_thread()

import numpy as np  # noqa: E402

import eqbench  # noqa: E402
from eqbench.dynamics import Flow, Trajectory  # noqa: E402
from eqbench.studies.flow.regimes import classify  # noqa: E402
from eqbench.studies.requests import HORIZON, SPACING  # noqa: E402

# Where all frequencies are 0 or 1 in double precision, a series in time tells nothing of the next
# switch, and a long step goes past it; the stages of a Runge-Kutta step see it.
SOLVER = "replicator(integrator=dop853)"
# Steps of the grid of which one is compared with the velocities in it.
COMPARED = 8
DEVIATIONS = (1.0, 3.0)
FATES = ("to_zero", "to_one", "at_zero", "at_one")

# Pots, seeds and horizon of each part. Some transients outlast the horizon, so at some pots a few
# starts are followed ten times as long.
PARTS = {
    "paper": ((2.5, 3.1, 3.35, 3.75, 4.15, 4.65, 5.5), range(20), HORIZON),
    "calibration": (
        (2.2, 2.8, 3.05, 3.15, 3.3, 3.45, 3.6, 3.9, 4.05, 4.25, 4.4, 4.9, 5.2, 6.0),
        range(1000, 1010),
        HORIZON,
    ),
    "long": ((3.1, 4.15), range(5), 10 * HORIZON),
}

# What the paper says of its examples: frequencies that go to 0 and to 1, and behavior.
PAPER = {
    2.5: ("a1 a2 c1", "", "periodic"),
    3.1: ("a1 b1 c3", "", "chaotic transient, then boundary"),
    3.35: ("c3 d2", "c1", "close to periodic"),
    3.75: ("c3", "a2 c1", "periodic"),
    4.15: ("c3", "a2 c1", "chaotic transient, then boundary"),
    4.65: ("", "", "periodic and close to periodic, then boundary"),
    5.5: ("", "", "like 4.65"),
}

# The paper's letters: which decision, and its history for players 1, 2 and 3.
LETTERS = {
    "a": ("4", ("", "K", None)),
    "b": ("2", ("", "K", "KK")),
    "c": ("3", ("KKB", "B", "KB")),
    "d": ("3", ("KBF", "KKBF", "BF")),
}


def letters(game: Any) -> dict[int, str]:
    """The paper's names of the free actions of SKP, by their global indices."""
    tree = game.tree
    return {
        int(tree.action_start[tree.infoset_of(player, f"{card}:{history}")]) + 1: (
            f"{letter}{player + 1}"
        )
        for letter, (card, histories) in LETTERS.items()
        for player, history in enumerate(histories)
        if history is not None
    }


def measure(pot: float, seeds: Iterable[int], horizon: float) -> list[dict[str, Any]]:
    """One row for each start."""
    game = eqbench.load_game(f"skp(pot={pot:g})")
    flow: Flow = eqbench.load_solver(SOLVER).flow(game)
    names = letters(game)
    times = np.arange(round(horizon / SPACING) + 1) * SPACING
    rows = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        deviation = DEVIATIONS[seed % 2]
        start = rng.normal(scale=deviation, size=flow.choices.size)
        tangent = rng.normal(size=flow.choices.size)
        clock = time.perf_counter()
        trajectory = flow.integrate(start, times, tangent=tangent / np.linalg.norm(tangent))
        followed = time.perf_counter()
        regime = classify(flow, trajectory)
        classified = time.perf_counter()

        def name(actions: Sequence[int]) -> str:
            return " ".join(sorted(names[action] for action in actions))

        rows.append(
            {
                "pot": pot,
                "seed": seed,
                "deviation": deviation,
                "horizon": float(trajectory.times[-1]),
                "integrator": flow.integrator,
                "word": regime.word,
                "reason": regime.reason,
                "to_zero": name(regime.to_zero),
                "to_one": name(regime.to_one),
                "at_zero": name(regime.at_zero),
                "at_one": name(regime.at_one),
                "frozen": name(regime.frozen),
                "components": [name(part) for part in regime.components],
                "periods": [fact.period for fact in regime.facts],
                "mismatches": [fact.mismatch for fact in regime.facts],
                "line_shares": [fact.line_share for fact in regime.facts],
                "lyapunov": regime.lyapunov,
                "lyapunov_windows": [window.mean for window in regime.lyapunov_windows],
                "near_face_fraction": regime.near_face_fraction,
                "near_face_windows": [window.mean for window in regime.near_face_windows],
                "transient": regime.transient,
                "defect": defect(flow, trajectory),
                "followed_s": followed - clock,
                "classified_s": classified - followed,
            }
        )
    print(pot, Counter(row["word"] for row in rows), file=sys.stderr, flush=True)
    return rows


def defect(flow: Flow, trajectory: Trajectory) -> float:
    """Largest difference between a mean velocity on the grid and Simpson's rule for it."""
    worst = 0.0
    for first in range(0, len(trajectory.times) - 1, COMPARED):
        before, after = trajectory.states[first : first + 2]
        mean = (after - before) / SPACING
        middle = flow.velocity((before + after) / 2)
        rule = (flow.velocity(before) + 4 * middle + flow.velocity(after)) / 6
        worst = max(worst, float(np.abs(mean - rule).max()))
    return worst


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the rows of one pot say together."""
    transients = [row["transient"] for row in rows if row["transient"] is not None]
    counted = ("word", "to_zero", "to_one")
    return {
        "pot": rows[0]["pot"],
        "horizon": rows[0]["horizon"],
        "starts": len(rows),
        "paper": PAPER.get(rows[0]["pot"]),
        **{name: dict(Counter(row[name] for row in rows).most_common()) for name in counted},
        **{f"{fate}_each": _each(rows, fate) for fate in FATES},
        "components": dict(Counter("; ".join(row["components"]) for row in rows).most_common()),
        "lyapunov": _range([row["lyapunov"] for row in rows]),
        "near_face_fraction": _range([row["near_face_fraction"] for row in rows]),
        "transient": _range(transients),
        "defect": max(row["defect"] for row in rows),
        "transients_over": len(transients),
    }


def _each(rows: list[dict[str, Any]], fate: str) -> dict[str, int]:
    """How many of the rows have each frequency among those with this fate."""
    return dict(sorted(Counter(name for row in rows for name in row[fate].split()).items()))


def _range(values: list[float]) -> list[float] | None:
    """Smallest, median and largest."""
    return [min(values), statistics.median(values), max(values)] if values else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--table", action="store_true", help="show what was measured before")
    arguments = parser.parse_args()
    name = f"skp_regimes_{arguments.part}"
    if not arguments.table:
        pots, seeds, horizon = PARTS[arguments.part]
        groups = [measure(pot, seeds, horizon) for pot in pots]
        document = {
            "spacing": SPACING,
            "rows": [summary(rows) for rows in groups],
            "starts": [row for rows in groups for row in rows],
        }
        write_results(name, document)
    print(skp_regimes(read_results(name)), end="")


if __name__ == "__main__":
    main()
