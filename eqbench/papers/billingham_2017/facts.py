"""What our stored results say on the claims of the paper, beside those on complete lists."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from eqbench.papers.billingham_2017 import polynomials as terms
from eqbench.papers.billingham_2017.lists import (
    ISOLATED,
    NAMES,
    NEAREST,
    PLACES,
    ROUNDING,
    asked_for,
    borders,
    counted,
    equilibria,
    inside,
)
from eqbench.papers.checks import Finding
from eqbench.papers.formulas import Points, is_true
from eqbench.papers.stored import Stored

# the solution that the paper holds trajectories against, at the pots of section 4
SOLUTION_AT = {
    **{"2.5": "1", "3.1": "2", "3.35": "4", "3.75": "5", "4.15": "7", "4.65": "9", "5.5": "10"}
}
CHAOTIC, ABSORBED = "chaotic transient", "boundary absorption"
MOVES = 1e-3


def sizes(stored: Stored) -> dict[str, int]:
    """Frequencies that are free in the simplified game and in the standard one."""
    jobs = {"simplified": "game", "standard": "full_game"}
    documents = {name: stored[job].printed_json for name, job in jobs.items()}
    return {name: each["sizes"]["free frequencies"] for name, each in documents.items()}


def rules(stored: Stored) -> dict[str, Any]:
    """The game tree, and what the simplification rests on."""
    found = stored["rules"].summary
    below = found["below_two"].values()
    named = {place[1]: name for name, place in PLACES.items()}
    # of each information set the frequency that is free there, or 1 or 0
    choices = {
        infoset: named[infoset] if actions[1:] else str(int(actions[0] in ("bet", "call")))
        for infoset, actions in found["actions"].items()
    }

    def dominance(*names: str) -> list[float]:
        """What is lost at least by the worse alternatives, and at most by the least harmful."""
        lost = [[round(loss, 9) + 0.0 for loss in found["gains"][name]] for name in names]
        return [min(low for low, _ in lost), min(high for _, high in lost)]

    return {
        **{key: found[key] for key in ("deals", "decisions", "ends")},
        "with J": {" or ".join(a) for name, a in found["actions"].items() if name[0] == "1"},
        "below 2": {
            "pots left open": sum(not row["complete"] for row in below),
            "largest": max(max(row["largest"].values()) for row in below),
        },
        "A beside K": [Fraction(aces, deals) for deals, aces in found["beside_k"]],
        "betting with K": {k: dominance(f"bet K, P{k}") for k in (1, 2, 3)},
        "calling": {k: dominance(f"overcall K, P{k}", f"overcall Q, P{k}") for k in (1, 2, 3)},
        "checking with A": dominance("check A, P3"),
        "nodes": {
            history or "first": [choices[f"{card}:{history}"] for card in "234"]
            for history in dict.fromkeys(name[2:] for name in choices)
        },
    }


def labels(stored: Stored) -> Finding:
    """The frequencies whose information set is a label of the drawn tree."""
    drawn = stored["tree"].printed
    return counted([name for name in NAMES if f">{PLACES[name][1]}<" in drawn])


def profits(stored: Stored) -> dict[str, Any]:
    """Derivatives of 24 E by a player's own frequencies, and what is left, at random points."""
    rng, summary = random.Random(0), stored["polynomials"].summary
    points = [
        {name: Fraction(rng.randrange(1000), 999) for name in NAMES}
        | {"P": 2 + Fraction(rng.randrange(5000), 997)}
        for _ in range(300)
    ]

    def tried(of: terms.Polynomial) -> Finding:
        return Finding(Points(points, [terms.value(of, n) for n in points]), terms.text(of))

    whole = {player: terms.polynomial(stored, player) for player in (1, 2, 3)}
    slopes = {name: terms.derivative(whole[int(name[1])], name) for name in NAMES}
    speeds = [n["a1"] * (1 - n["a1"]) * terms.value(slopes["a1"], n) for n in points]
    return {
        "times": {name: tried(of) for name, of in slopes.items()},
        "rest": {
            # what has none of the player's frequencies, whose names end in the player's number
            f"E{k}": tried({key: number for key, number in of.items() if str(k) not in key})
            for k, of in whole.items()
        },
        "c3 and d1 have slopes of their own": slopes["c3"] != slopes["d1"],
        "3 depends on": terms.letters(slopes["b1"]),
        "a1 is in 7, not in 3": "a1"
        in set(terms.letters(slopes["b2"])) - set(terms.letters(slopes["b1"])),
        "velocity of a1": Finding(Points(points, speeds), f"a1(1−a1) {terms.text(slopes['a1'])}"),
        "rounding": [summary["distance_to_integers"], summary["distance_elsewhere"]],
    }


def neighbors(stored: Stored) -> dict[str, Any]:
    """Shares of the neighbors of equilibria that have regret, or none, as conditions say."""
    found = stored["table_1"].summary
    counts, of_table = Counter(found["changed"]), Counter(found["changed_table"])
    met = of_table["meets, no regret"]
    return {
        "without": {name: _share(*cell["without"][::-1]) for name, cell in found["cells"].items()},
        "conditions": _share(counts["meets, no regret"] + counts["fails, regret"], counts.total()),
        "table": _share(met, met + of_table["meets, regret"]),
    }


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


def beyond_bounds(stored: Stored) -> dict[str, list[float]]:
    """What a1 = 1 gains above the upper bound of c2 + d3, and b1 = 1 below the lower one.

    Nothing, where something else gains more.
    """
    found, wanted = stored["bounds"].summary, {"above": "a1 = 1", "below": "b1 = 1"}
    return {
        side: [row["max_gain"] if row["best"] == best else 0.0 for row in found[side]]
        for side, best in wanted.items()
    }


def two_players(stored: Stored) -> Finding:
    """How many vectors of profits the equilibria of two-player Kuhn poker have."""
    (cell,) = stored["two_players"].cells
    return counted(sorted({", ".join(e.exact["payoffs"]) for e in cell.equilibria if e.exact}))


def stability(stored: Stored) -> dict[str, Any]:
    """What eigenvalues say of the solutions; borders of ranges have claims of their own."""
    entries = stored["stability"].summary["equilibria"]
    found = equilibria(stored)
    known = borders(found)
    apart = [e for e in entries if min(abs(e["value"] - at) for at in known.values()) > NEAREST]
    solutions: dict[str, Any] = {}
    for name in ISOLATED:
        own = [e for e in entries if e["name"] == f"skp:{name}"]
        pots = [e["value"] for e in own]
        solutions[name] = {
            "inside its range": _verdict(e for e in own if e in apart),
            "lower end": _verdict(e for e in own if e["value"] == min(pots)),
            "upper end": _verdict(e for e in own if e["value"] == max(pots)),
        }
    ranges = {
        where: [e for e in apart if is_true(where, known | {"P": e["value"]})]
        for where in asked_for("stability/not unstable")
    }
    bluffs = {e.solutions[0]: (e.values["b1"] > 0) + (e.values["b2"] > 0) for e in inside(found)}
    dimensions = [(e["name"][4:], e["centre_oscillatory"]) for e in apart]
    return {
        "solutions": solutions,
        "attracting": sum("asymptotically stable" in e["members"]["verdicts"] for e in entries),
        "at rest": [
            max(e["speed"] for e in entries),
            sum(e["members"]["refuted"] for e in entries),
        ],
        "all": {where: _verdict(group) for where, group in ranges.items()},
        "not unstable": {
            where: ", ".join(sorted({e["name"][4:] for e in group if e["verdict"] != "unstable"}))
            or "none"
            for where, group in ranges.items()
        },
        "dimension less 2 for each bluff": {
            name: {size - 2 * bluffs[name] for own, size in dimensions if own == name}
            for name in ("1", "4", "5", "9", "10")
        },
        "eigenvalues of 9": {
            (e["centre_oscillatory"], e["zero"]) for e in apart if e["name"] == "skp:9"
        },
    }


def _verdict(entries: Iterable[Mapping[str, Any]]) -> str:
    """The verdicts on all members, in the words of the paper."""
    found = {verdict for entry in entries for verdict in entry["members"]["verdicts"]}
    words = "; ".join(sorted(found)) or "not looked at"
    return words.replace("centre manifold of oscillatory dimension", "center manifold, dimension")


def rest_points(stored: Stored) -> dict[str, Any]:
    """Counts of rest points of the equations that are no equilibria, by pot."""
    found = stored["rest_points"].summary["rest_points"]
    return {
        "found": [row["distinct"] for row in found],
        "not unstable": [row["distinct"] - row["unstable"] for row in found],
        "do not grow across": [row["distinct"] - row["unstable_across"] for row in found],
    }


def equations(stored: Stored) -> dict[str, Any]:
    """How far our flow is from the printed equations, and our integrator from others."""
    found = stored["equations"].summary
    still = found["faces"] / found["beside_faces"] if found["beside_faces"] else math.inf
    return {
        **{key: found[key] for key in ("frequencies", "log_odds", "integrators")},
        "velocity at 0 or 1": still,
        "each of 11 stays at 0 and 1": sizes(stored)["simplified"] == 11 and still <= ROUNDING,
    }


def _runs(stored: Stored, job: str = "regimes") -> dict[str, list[dict[str, Any]]]:
    """Trajectories by pot, with the paper's names of frequencies and regimes in plain words."""
    summary = stored[job].summary
    runs: dict[str, list[dict[str, Any]]] = {}
    for run in summary["runs"]:
        moving = [summary["names"][at] for part in run["components"] for at in part["actions"]]
        zeros, ones = run["to_zero"] + run["at_zero"], run["to_one"] + run["at_one"]
        named = {
            "regime": run["regime"].replace("quasi_", "quasi-").replace("_", " "),
            "ends": {summary["names"][at]: int(at in ones) for at in zeros + ones},
            "moving": " ".join(sorted(moving)),
        }
        runs.setdefault(f"{run['parameter']:g}", []).append(run | named)
    return runs


def _tally(words: Sequence[Any]) -> Finding:
    """Words on trajectories, shown with how often they occur."""
    return Finding(words, Counter(words))


def trajectories(stored: Stored) -> dict[str, Any]:
    """What trajectories from random starts do, at each pot of section 4 and at all."""
    found = _runs(stored)
    runs = [run for of in found.values() for run in of]
    return {pot: _trajectories(of) for pot, of in found.items()} | {
        "regimes": {run["regime"] for run in runs},
        "least regret": min(run["profiles"]["final"]["max_regret"] for run in runs),
    }


def _trajectories(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    regimes = [run["regime"] for run in runs]
    # a chaotic transient and the boundary after it are one type
    types = {ABSORBED if regime == CHAOTIC else regime for regime in regimes}
    return {
        "regimes": _tally(regimes),
        "types": Finding(len(types), Counter(regimes)),
        "limits": {name: _tally([run["ends"].get(name, "none") for run in runs]) for name in NAMES},
        "moving": _tally([run["moving"] for run in runs]),
        "growth": [
            # in regular motion a displacement grows in proportion to the time at most
            run["lyapunov_windows"][-1]["mean"] * run["time"]
            if run["regime"] in (CHAOTIC, ABSORBED)
            else 0.0
            for run in runs
        ],
        "over at": [run["transient"] if run["regime"] == ABSORBED else math.inf for run in runs],
    }


def last_regimes(stored: Stored) -> dict[str, Any]:
    """Regimes at the end of the longest trajectories that are stored."""
    runs = _runs(stored) | (_runs(stored, "regimes_long") if stored.full else {})
    return {pot: _tally([run["regime"] for run in of]) for pot, of in runs.items()}


def regimes(stored: Stored) -> dict[str, Any]:
    """Regimes of trajectories in the ranges of Figure 7."""
    known = borders(equilibria(stored))
    runs = _runs(stored, "regimes_along_the_pot" if stored.full else "regimes")
    found = [(known | {"P": float(pot)}, run["regime"]) for pot, of in runs.items() for run in of]
    return {
        where: _tally([regime for names, regime in found if is_true(where, names)])
        for where in asked_for("regimes")
    }


def motion(stored: Stored) -> dict[str, Any]:
    """How frequencies move in the last half of trajectories."""
    summary, around = stored["motion"].summary, stored["starts"].summary
    slope = terms.letters(terms.derivative(terms.polynomial(stored, 3), "b3"))
    found: dict[str, Any] = {"orbits": _misses(summary["orbits"]["2.5"])}
    for pot, runs in summary["regimes"].items():
        swings = {n: [np.ptp(run["frequencies"][n]) for run in runs] for n in NAMES}
        center = around[SOLUTION_AT[pot]]
        member = {n: center["member"][n] for n in center["determined"]}
        found[pot] = {
            "orbits": _misses(runs),
            "moving in all": [name for name in NAMES if min(swings[name]) >= MOVES],
            "moves b3": [name for name in slope if max(swings[name]) >= MOVES],
            "swings of b3": float(np.ptp(swings["b3"])),
            "from the center": {
                name: max(abs(run["means"][name] - value) for run in runs)
                for name, value in member.items()
                if 0 < value < 1
            },
        }
    return found


def _misses(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """By how much orbits of pairs miss where they were, as a share of the swing or the period."""
    found: dict[str, float] = {}
    for pair, row in ((pair, row) for run in runs for pair, row in run["pairs"].items()):
        misses = [math.inf if row[key] is None else row[key] for key in ("spread", "period_spread")]
        found[pair] = max(found.get(pair, 0.0), *misses)
    return found


def beside(stored: Stored) -> dict[str, Any]:
    """How far trajectories from beside a solution are from it, at most and late."""
    rows = stored["motion"].summary["beside"]
    return {name: {key: row[key] for key in ("farthest", "late")} for name, row in rows.items()}


def earnings(stored: Stored) -> dict[str, Any]:
    """Largest distance of average profits from a solution's, as a share of its largest."""
    shares = {pot: _shares(stored["regimes"].summary, pot) for pot in SOLUTION_AT}
    return shares | {
        "whole time": {pot: max(row["whole time"]) for pot, row in shares.items()},
        "Figure 15": _shares(stored["orbits_3_1"].summary, "3.1")["whole time"],
    }


def _shares(summary: Mapping[str, Any], pot: str) -> dict[str, list[float]]:
    (known,) = (
        np.transpose(row["payoffs"])
        for at in summary["values"]
        for row in at["solutions"]
        if at["parameter"] == float(pot) and row["name"] == f"skp:{SOLUTION_AT[pot]}"
    )

    def share(payoffs: Sequence[float]) -> float:
        apart = np.maximum(known[0] - payoffs, payoffs - known[1])
        return float(apart.max().clip(0) / np.abs(known).max())

    runs = [run for run in summary["runs"] if run["parameter"] == float(pot)]
    return {
        "whole time": [share(run["whole"]["payoffs"]) for run in runs],
        "last half": [share(run["payoffs"]) for run in runs],
    }
