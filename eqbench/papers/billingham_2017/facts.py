"""What our stored results say on the claims of the paper, except those on complete lists."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from eqbench.papers.billingham_2017 import lists
from eqbench.papers.billingham_2017.lists import CENTERS, counted, layout
from eqbench.papers.checks import Finding
from eqbench.papers.formulas import Points, is_true, value_at
from eqbench.papers.records import Record, Table
from eqbench.papers.stored import Stored, summary_of

CHAOTIC, ABSORBED = "chaotic transient", "boundary absorption"


def sizes(stored: Stored) -> dict[str, int]:
    """Frequencies that are free in the standard game and in the simplified one."""
    jobs = {"standard": "full_game", "simplified": "game"}
    return {of: stored[job].printed_json["sizes"]["free frequencies"] for of, job in jobs.items()}


rules, neighbors, beyond_bounds = map(summary_of, ("rules", "table_1", "bounds"))
equations, motion = map(summary_of, ("equations", "motion"))


def labels(stored: Stored) -> Finding:
    """The frequencies whose information set is a label of the drawn tree."""
    drawn, places = stored["tree"].printed, zip(layout().variables, layout().places, strict=True)
    return counted([name for name, place in places if f">{place.split('|')[1]}<" in drawn])


def profits(stored: Stored) -> Table:
    """Derivatives of 24 E by a player's own frequencies, and what is left, at random points."""
    rng, found = random.Random(0), stored["polynomials"].summary
    points = [
        {name: Fraction(rng.randrange(1000), 999) for name in layout().variables}
        | {"P": 2 + Fraction(rng.randrange(5000), 997)}
        for _ in range(300)
    ]

    def tried(formula: str) -> Finding:
        return Finding(Points(points, [value_at(formula, at) for at in points]), formula)

    return {
        "times": {name: tried(formula) for name, formula in found["times"].items()},
        "rest": {player: tried(formula) for player, formula in found["rest"].items()},
        "depends on": {name: lists.letters(formula) for name, formula in found["times"].items()},
        "velocity of a1": tried(f"a1 (1 − a1) ({found['times']['a1']})"),
        "shape": {key: found[key] for key in ("degree", "distance")},
    }


def two_players(stored: Stored) -> Finding:
    """How many vectors of profits the equilibria of two-player Kuhn poker have."""
    (cell,) = stored["two_players"].cells
    return counted(sorted({", ".join(e.exact["payoffs"]) for e in cell.equilibria if e.exact}))


def stability(stored: Stored) -> Table:
    """What eigenvalues say of the solutions; borders of ranges have claims of their own."""
    entries = [e | {"name": e["name"][4:]} for e in stored["stability"].summary["equilibria"]]
    found = lists.equilibria(stored)
    known = lists.borders(found)
    apart = [
        e for e in entries if min(abs(e["value"] - at) for at in known.values()) > lists.NEAREST
    ]
    solutions = dict[str, dict[str, str]]()
    for name in lists.SOLUTIONS:
        own = [e for e in entries if e["name"] == name]
        solutions[name] = {
            "inside its range": _verdict([e for e in own if e in apart]),
            "lower end": _verdict(own[:1]),
            "upper end": _verdict(own[-1:]),
        }
    ranges = {
        where: [e for e in apart if is_true(where, known | {"P": e["value"]})]
        for where in lists.claimed_keys("stability/not unstable")
    }
    bluffs = {
        e.solutions[0]: (e.names["b1"] > 0) + (e.names["b2"] > 0) for e in lists.inside(found)
    }
    return {
        "solutions": solutions,
        "attracting": sum("asymptotically stable" in e["members"]["verdicts"] for e in entries),
        "at rest": [
            max(e["speed"] for e in entries),
            sum(e["members"]["refuted"] for e in entries),
        ],
        "all": {where: _verdict(group) for where, group in ranges.items()},
        "not unstable": {
            where: sorted({e["name"] for e in group if e["verdict"] != "unstable"}) or "none"
            for where, group in ranges.items()
        },
        "dimension less 2 for each bluff": {
            name: {e["centre_oscillatory"] - 2 * bluffs[name] for e in apart if e["name"] == name}
            for name in ("1", "4", "5", "9", "10")
        },
        "eigenvalues of 9": {
            (e["centre_oscillatory"], e["zero"]) for e in apart if e["name"] == "9"
        },
    }


def _verdict(entries: Sequence[Table]) -> str:
    """The verdicts on all members, in the words of the paper."""
    found = {verdict for entry in entries for verdict in entry["members"]["verdicts"]}
    words = "; ".join(sorted(found)) or "not looked at"
    return words.replace("centre manifold of oscillatory dimension", "center manifold, dimension")


def rest_points(stored: Stored) -> dict[str, list[int]]:
    """Counts of rest points of the equations that are not equilibria, by pot."""
    found = stored["rest_points"].summary["rest_points"]
    return {
        "found": [row["distinct"] for row in found],
        "not unstable": [row["distinct"] - row["unstable"] for row in found],
        "do not grow across": [row["distinct"] - row["unstable_across"] for row in found],
    }


def _regime(run: Table) -> str:
    """The regime of a trajectory in plain words."""
    return str(run["regime"]).replace("quasi_", "quasi-").replace("_", " ")


def _runs(stored: Stored, job: str = "regimes") -> dict[str, list[Table]]:
    """Trajectories by pot."""
    runs: dict[str, list[Table]] = {}
    for run in stored[job].summary["runs"]:
        runs.setdefault(f"{run['parameter']:g}", []).append(run)
    return runs


def _tally(words: Sequence[Any]) -> Finding:
    """Words on trajectories, shown with how often they occur."""
    return Finding(words, Counter(words))


@dataclass(frozen=True)
class Trajectories(Record):
    """What trajectories from random starts at one pot do, and when they came to the boundary."""

    regimes: Finding
    types: Finding  # a chaotic transient and the boundary after it are one
    limits: dict[str, Finding]
    moving: Finding
    growth: list[float]  # in regular motion in proportion to the time at most
    over_at: list[float]


def trajectories(stored: Stored) -> Table:
    """What trajectories from random starts do, at each pot of section 4 and at all."""
    found, named = _runs(stored), stored["regimes"].summary["names"]
    runs = [run for of in found.values() for run in of]
    return {pot: _trajectories(of, named) for pot, of in found.items()} | {
        "regimes": {_regime(run) for run in runs},
        "least regret": min(run["profiles"]["final"]["max_regret"] for run in runs),
    }


def _trajectories(runs: Sequence[Table], named: Mapping[str, str]) -> Trajectories:
    """`named` has the paper's names of frequencies."""
    regimes, limits, moving = [_regime(run) for run in runs], list[dict[str, int]](), list[str]()
    for run in runs:
        ones, zeros = run["to_one"] + run["at_one"], run["to_zero"] + run["at_zero"]
        limits.append({named[at]: int(at in ones) for at in zeros + ones})
        parts = (named[at] for part in run["components"] for at in part["actions"])
        moving.append(" ".join(sorted(parts)))
    return Trajectories(
        regimes=_tally(regimes),
        types=Finding(
            len({ABSORBED if regime == CHAOTIC else regime for regime in regimes}),
            Counter(regimes),
        ),
        limits={
            name: _tally([own.get(name, "none") for own in limits]) for name in layout().variables
        },
        moving=_tally(moving),
        growth=[
            run["lyapunov_windows"][-1]["mean"] * run["time"]
            if regime in (CHAOTIC, ABSORBED)
            else 0.0
            for run, regime in zip(runs, regimes, strict=True)
        ],
        over_at=[
            run["transient"] if regime == ABSORBED else math.inf
            for run, regime in zip(runs, regimes, strict=True)
        ],
    )


def last_regimes(stored: Stored) -> dict[str, Finding]:
    """Regimes at the end of the longest trajectories that are stored."""
    runs = _runs(stored) | (_runs(stored, "regimes_long") if stored.full else {})
    return {pot: _tally(list(map(_regime, of))) for pot, of in runs.items()}


def regimes(stored: Stored) -> dict[str, Finding]:
    """Regimes of trajectories in the ranges of Figure 7."""
    known = lists.borders(lists.equilibria(stored))
    runs = _runs(stored, "regimes_along_the_pot" if stored.full else "regimes")
    found = [(known | {"P": float(pot)}, _regime(run)) for pot, of in runs.items() for run in of]
    return {
        where: _tally([regime for names, regime in found if is_true(where, names)])
        for where in lists.claimed_keys("regimes")
    }


def earnings(stored: Stored) -> Table:
    """Largest distance of average profits from a solution's, as a share of its largest."""
    found = stored["regimes"].summary
    shares = {(pot := f"{at['parameter']:g}"): _shares(found, pot) for at in found["values"]}
    return shares | {
        "whole time": {pot: max(row["whole time"]) for pot, row in shares.items()},
        "Figure 15": _shares(stored["orbits_3_1"].summary, "3.1")["whole time"],
    }


def _shares(summary: Table, pot: str) -> dict[str, list[float]]:
    (known,) = (
        np.transpose(row["payoffs"])
        for at in summary["values"]
        for row in at["solutions"]
        if at["parameter"] == float(pot) and row["name"] == f"skp:{CENTERS[pot]}"
    )

    def share(payoffs: Sequence[float]) -> float:
        apart = np.maximum(known[0] - payoffs, payoffs - known[1])
        return float(apart.max().clip(0) / np.abs(known).max())

    runs = [run for run in summary["runs"] if run["parameter"] == float(pot)]
    return {
        "whole time": [share(run["whole"]["payoffs"]) for run in runs],
        "last half": [share(run["payoffs"]) for run in runs],
    }
