"""What our stored results say on the claims of the paper."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from pathlib import Path

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.branches import COUNTED, by_deck
from eqbench.papers.billingham_2018.compute import SMALL_DECKS
from eqbench.papers.billingham_2018.skp import exact_curves, places
from eqbench.papers.checks import Missing
from eqbench.papers.records import Table
from eqbench.papers.stored import Stored, summary_of

_PAYOFFS = ("u:P1", "u:P2", "u:P3")
_SAME, _SLACK, _WORSE = 1e-6, 1e-3, 1e-8
_EXACT = 1e-12  # what rounding leaves of a regret


rules, threats, four_cards, half_street, memory, skp_exact, limits, branches = map(
    summary_of,
    ["rules", "threats", "four_cards", "many_cards", "memory", "skp_exact", "limits", "branches"],
)


def sizes(stored: Stored) -> dict[str, int]:
    """Free frequencies, by job."""
    decks = [f"info_{cards}{kind}" for cards in COUNTED for kind in ("", "_reduced")]
    jobs = [*decks, "info_4_dominated25", "info_skp"]
    return {job: stored[job].printed_json["sizes"]["free frequencies"] for job in jobs}


def borders(stored: Stored) -> Table:
    """The smallest pot with a profit, and payoffs of equilibria just below and above it."""
    return {cards: _border(stored, cards) for cards in SMALL_DECKS}


def _border(stored: Stored, cards: int) -> Table:
    """The pot of the nearest vertical piece; the largest payoff and regret on both sides of it."""
    summary, border = stored[f"n{cards}"].summary, 2 / (cards - 3)
    pots = [piece["parameter"] for piece in summary["vertical"]]
    sides = dict(zip(("below", "above"), map(_measured, summary["at"]), strict=False))
    return {"P_min": min(pots, key=lambda pot: abs(pot - border), default=inf), **sides}


def _measured(entry: Table) -> Table:
    """The largest payoff and the largest regret among the equilibria at one pot."""
    found = entry["equilibria"]
    return {
        "payoff": max((abs(u) for item in found for u in item["payoffs"]), default=inf),
        "regret": max((abs(item["max_regret"]) for item in found), default=inf),
        "pot": entry["parameter"],
    }


def _at(stored: Stored, job: str, pot: float) -> Table:
    """What a trace found at one pot."""
    return {entry["parameter"]: entry for entry in stored[job].summary["at"]}[pot]


def _columns(stored: Stored, job: str, *names: str) -> FloatArray:
    """Pots and further columns along a branch, a row each."""
    rows = stored[job].rows()
    return np.array([[float(row[name]) for row in rows] for name in ("parameter", *names)])


def coexisting(stored: Stored) -> Table:
    """How often branches cross a pot, how many verified equilibria there are at one, and folds."""
    counts = stored["branches"].summary["counts"]
    at = {n: stored[f"n{n}"].summary["at"] for n in counts}
    verified = {n: max(entry["distinct_payoffs"] for entry in entries) for n, entries in at.items()}
    return {
        "N": {n: [count["most"], verified[n]] for n, count in counts.items()},
        "verified": by_deck(verified),
        "folds": {n: c["folds"] / counts["4"]["folds"] for n, c in counts.items() if n != "4"},
    }


def traced(stored: Stored) -> Table:
    """How the branches of 4 to 13 cards were followed."""
    summaries = {n: stored[f"n{n}"].summary for n in SMALL_DECKS}
    arrived = {n: s for n, s in summaries.items() if s["outcome"] == "arrived"}
    points = {n: s["points"] for n, s in arrived.items()}
    connected = [n for n, s in arrived.items() if not s["branch_points"]]
    counts = [(s["refused_steps"], s["steps"]) for s in summaries.values()]
    return {
        "arrived": {"decks": list(arrived), "points": sum(points.values())},
        "connected": {"decks": connected, **by_deck(points)},
        "steps": {
            "ratio": stored["branches"].summary["steps"],
            "refused": [refused / (refused + made) for refused, made in counts],
        },
        "ms per point": by_deck({n: 1e3 * s["cpu_s"] / s["points"] for n, s in summaries.items()}),
        "folds": [len(stored[job].summary["folds"]) for job in ("n4", "skp", "n5")],
    }


def skp_curve(stored: Stored) -> Table:
    """Published solutions on the branch of simplified Kuhn poker, its folds, its multiplicity."""
    summary, (cell,) = stored["skp"].summary, stored["skp_all"].cells
    items = [item for entry in summary["at"] for item in entry["equilibria"]]
    known = [item["identity"] for item in items if abs(item["max_regret"]) <= _EXACT]
    names = {identity["name"].removeprefix("skp:") if identity else "none" for identity in known}
    at = {item["identity"]["name"] for item in _at(stored, "skp", 3.35)["equilibria"]}
    return {
        "solutions": sorted(names, key=lambda name: (len(name), name)),
        "several": {f"pot {e['parameter']:g}": e["distinct_payoffs"] for e in summary["at"]},
        "folds": dict(enumerate([fold["parameter"] for fold in summary["folds"]] + [inf] * 6, 1)),
        "all": [cell.status, cell.statistics["unresolved"], cell.statistics["pieces"], len(at)],
    }


def skp_pieces(stored: Stored) -> Table:
    """Ranges of expectations at three pots next to the published ones, and gaps between points."""
    pots, *payoffs = _columns(stored, "skp", *_PAYOFFS)
    exact, found = stored["skp_exact"].summary["exact"], {}
    for pot, name in ((3, "skp:2a"), (3.5, "skp:5a"), (5, "skp:10a")):
        wanted = np.array([np.ptp(exact[name][u]) for u in ("u1", "u2", "u3")])
        near = np.array(payoffs)[:, np.abs(pots - pot) <= 1e-3]
        widths = np.ptp(near, axis=1)
        found[pot] = {
            "ranges": widths.tolist(),
            "off": float(np.abs(widths - wanted).max()),
            "largest gap": float(np.abs(np.diff(near)).max() / wanted.max()),
        }
    return found


def skp_distances(stored: Stored) -> Table:
    """How far regularized curves are from the exact ones at most, as a share of the axes.

    Each point of a branch is compared with the nearest point of the exact curves, pots over 4
    and figures over the range of the exact ones, as one sees it in a figure.
    """
    from scipy.spatial import KDTree

    exact, found = stored["skp_exact"].summary["exact"], defaultdict[str, dict[str, float]](dict)
    titles = {"u1": (2.02, 5.98), "u1 close-up": (3.8, 4.45), "a1": (2.02, 5.98)}
    for title, (left, right) in titles.items():
        name = title.partition(" ")[0]
        curves = list(exact_curves(exact, name))
        scale = np.array([4.0, np.ptp(np.concatenate(curves)[:, 1])])
        dense = [np.linspace(c[:-1], c[1:], 20).reshape(-1, 2) / scale for c in curves]
        nearest = KDTree(np.concatenate(dense))
        for eps in ("1e-2", "1e-3", "1e-4", "1e-6"):
            points = _columns(stored, f"skp_{eps.replace('-', '_')}", places()[name]).T
            inside = (points[:, 0] > left) & (points[:, 0] < right)
            found[title][eps] = float(np.max(nearest.query(points[inside] / scale)[0]))
    return found


def skp_sum(stored: Stored) -> Table:
    """Calls with K of which only the sum is published: how they keep to its bounds."""
    sets = stored["skp_exact"].summary["exact"]
    pots, known = sets["skp:9"]["pots"], np.array([sets["skp:9"][name] for name in ("c1", "d2")])
    ours = _columns(stored, "skp_1e_6", places()["c1"], places()["d2"])
    # up to the end of Solution 8 the branch comes along other solutions too
    first, last = sets["skp:8"]["pots"][-1] + 0.01, pots[-1] - 0.01
    at, *calls = ours[:, (ours[0] > first) & (ours[0] < last)]
    low, high = (np.array([np.interp(at, pots, ends) for ends in known[:, :, k]]) for k in (0, 1))
    outside = ((calls < low - _SLACK) | (calls > high + _SLACK)).any(axis=0)
    return {
        "points": len(at),
        "outside": int(outside.sum()),
        "sum off by": float(np.abs(np.sum(calls, axis=0) - low[0] - high[1]).max()),
    }


def positions(stored: Stored) -> Table:
    """Who earns and who loses most along the branches that are followed further."""
    pots, *u = np.hstack([_columns(stored, job, *_PAYOFFS) for job in ("n10", "n10_wide")])
    wrong = np.diff(u, axis=0).min(axis=0) < -_SAME
    four = np.hstack([_columns(stored, job, *_PAYOFFS) for job in ("n4", "n4_wide")])
    return {
        "in order up to": float(pots[wrong].min(initial=pots.max())),
        4: float((four[2] - four[1]).min()),
        **{n: _losers(_columns(stored, f"n{n}_wide", *_PAYOFFS)) for n in (5, 6, 10)},
    }


def _losers(columns: FloatArray) -> Table:
    """Who gets how much at the last pot, and since when it is so."""
    pots, first, second, third = columns
    loses = second < first - _WORSE
    profit = loses & (first > 0) & (third > 0)
    return {
        "at the last pot": [float(first[-1] - second[-1]), float(first[-1]), float(third[-1])],
        "player 2 loses most from": float(pots[loses].min(initial=inf)),
        "always above": float(pots[~loses].max(initial=pots.min())),
        "both others profit above": float(pots[~profit].max(initial=pots.min())),
    }


def at_one_pot(stored: Stored) -> Table:
    """Verified equilibria: along and off the branch of four cards, and where five coexist."""
    entry, off = _at(stored, "n4", 4.19), _at(stored, "n4_beside", 3.1)["beside"]
    apart = np.ptp([item["payoffs"] for item in entry["equilibria"]], axis=0).max()
    height = np.ptp(_columns(stored, "n4", *_PAYOFFS)[1:])
    return {
        "similar": {"equilibria": entry["distinct_payoffs"], "apart": float(apart / height)},
        "beside": {"others": off["not_on_branch"], "payoffs": off["payoff_ranges"]},
        "N = 5": _measured(_at(stored, "n5", 5.202))["regret"],
    }


def media(stored: Stored) -> Table:
    """Rows of the tables of solutions, points that are missing there, and animations."""
    found = {}
    for cards in COUNTED:
        job = stored[f"n{cards}"]
        rows = len(job.text("points.csv").splitlines()) - 1
        table = {"rows": rows, "missing": job.summary["points"] - rows}
        found[cards] = {"table": table, "video": _film(job.path / "figures" / "animation.gif")}
    return found


def _film(file: Path) -> Table | Missing:
    """Frames of an animation, and how many are shown in a second."""
    from PIL import Image, ImageSequence

    if not file.exists():
        return Missing("the video is made with --full")
    try:
        with Image.open(file) as film:
            durations = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
    except OSError as error:
        return Missing(f"{file.name} cannot be read ({type(error).__name__})")
    return {"frames": len(durations), "a second": {1000 / duration for duration in durations}}


def large(stored: Stored) -> Table:
    """Branches of many cards: ranges of payoffs next to smaller decks at equal eps, folds, ends."""
    found = stored["large_branches"].summary
    pairs = {"1e-7": ("n9", "n13"), "1e-6": ("n13_1e_6", "n26"), "1e-4": ("n13_1e_4", "n52")}
    widths = {f"eps = {eps}": [found["mean_range"][n] for n in of] for eps, of in pairs.items()}
    count = found["counts"]["n26"]
    ends = {cards: stored[f"n{cards}"].summary["outcome"] for cards in (26, 52)}
    return {
        "border": _border(stored, 26),
        "ranges": {**widths, "narrower by": [few - many for few, many in widths.values()]},
        "N = 26": {"folds": count["folds"], "points at a pot": count["most"]},
        "followed": max((n for n in ends if ends[n] == "arrived"), default=13),
    }


def followed(stored: Stored) -> Table:
    """How games with four players, and with a raise, were followed."""
    found = {}
    for job in ("four_players", "raises"):
        summary = stored[job].summary
        found[job] = {
            "to its end": summary["outcome"] == "arrived",
            "verified": sum(entry["polished"] for entry in summary["at"]),
            "points": summary["points"],
            "CPU s": summary["cpu_s"],
        }
    return found
