"""What our stored results say on the claims of the paper."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria.known import some_member
from eqbench.equilibria.reference import published_sets
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.compute import SMALL_DECKS, kuhn
from eqbench.papers.billingham_2018.skp import exact_curves, places
from eqbench.papers.checks import Missing
from eqbench.papers.stored import NotStoredError, Stored
from eqbench.registry import load_game

Nested = dict[Any, Any]  # values by name, nested

_COUNTED = (4, 5, 10, 13)
_PAYOFFS = ("u:P1", "u:P2", "u:P3")
_PIECE = 1e-3  # range of a payoff on a vertical piece that is seen in a figure
_SAME, _SLACK, _WORSE = 1e-6, 1e-3, 1e-8
_EXACT = 1e-12  # what rounding leaves of a regret
_FULL, _DOMINATED = "kuhn(players=3,cards=4)", "kuhn(players=3,cards=4,reduce=dominated25)"
_THREAT_POTS = (3, 5, 8)


def rules(stored: Stored) -> Nested:
    """Nodes, payoffs, deals and dominated actions."""
    found = stored["rules"].summary

    def least(node: int, *, caught: bool) -> float:
        cases = [c for c in found["second_best"] if (c["node"], c["caught"]) == (node, caught)]
        return min(round(case["advantage"], 12) for case in cases)

    return found | {
        "tree": {"nodes": found["nodes"], "by player": found["nodes_of_players"]},
        "dominated": [[case["deleted"], case["dominated"]] for case in found["fixed"]],
        "second best": {
            "advantage": [least(node, caught=True) for node in (1, 2, 3)],
            "if nobody calls with card 2": [least(node, caught=False) for node in (1, 2, 3)],
        },
        "deals": {
            f"N = {deal['cards']}": Fraction(deal["lowest"], deal["without_highest"]) - 1
            for deal in found["deals"]
        },
    }


def sizes(stored: Stored) -> dict[str, int]:
    """Free frequencies, by job."""
    decks = [f"info_{cards}{kind}" for cards in _COUNTED for kind in ("", "_reduced")]
    jobs = [*decks, "info_4_dominated25", "info_skp"]
    return {job: stored[job].printed_json["sizes"]["free frequencies"] for job in jobs}


def borders(stored: Stored) -> Nested:
    """The smallest pot with a profit, and payoffs of equilibria just below and above it."""
    return {cards: _border(stored, cards) for cards in SMALL_DECKS}


def _border(stored: Stored, cards: int) -> Nested:
    """The pot of the nearest vertical piece; the largest payoff and regret on both sides of it."""
    summary, border = stored[f"n{cards}"].summary, 2 / (cards - 3)
    pots = [piece["parameter"] for piece in summary["vertical"]]
    found: Nested = {"P_min": min(pots, key=lambda pot: abs(pot - border), default=inf)}
    for side, entry in zip(("below", "above"), summary["at"], strict=False):
        found[side] = {
            "payoff": max(abs(u) for item in entry["equilibria"] for u in item["payoffs"]),
            "regret": _regret(entry),
            "pot": entry["parameter"],
        }
    if "above" not in found or not found["below"]["pot"] < border < found["above"]["pot"]:
        raise NotStoredError(f"the branch of n{cards} was not looked at on both sides of P_min")
    return found


def _regret(entry: Nested) -> float:
    """The largest regret among the equilibria at one pot."""
    return max((abs(item["max_regret"]) for item in entry["equilibria"]), default=inf)


def _at(stored: Stored, job: str, pot: float) -> Nested:
    """What a trace found at one pot."""
    for entry in stored[job].summary["at"]:
        if entry["parameter"] == pot:
            return dict(entry)
    raise NotStoredError(f"the branch of {job} did not come to a pot of {pot:g}")


def _columns(stored: Stored, job: str, *names: str) -> FloatArray:
    """Pots and further columns along a branch, a row each."""
    rows = stored[job].rows()
    return np.array([[float(row[name]) for row in rows] for name in ("parameter", *names)])


def decks(stored: Stored) -> dict[int, Nested]:
    """What was read off the points of the branches of 4 to 13 cards."""
    return {entry["cards"]: entry for entry in stored["branches"].summary["decks"]}


def ranges(stored: Stored) -> Nested:
    """Which cards are value bets, bluffs, bluff-catchers and sandbags."""
    found = decks(stored)
    nodes = {n: deck["cards_in_ranges"] for n, deck in found.items()}
    catch = {
        n: [c for row in kinds["bluff-catch"].values() for c in row] for n, kinds in nodes.items()
    }
    sandbags = [(n, kinds["sandbag"].get(row, [0])) for n, kinds in nodes.items() for row in "12"]
    return {
        "complete": {f"N = {n}": deck["value_and_bluffs_from"] for n, deck in found.items()},
        "out of order": [1 - d["bluffs_below_value"] / d["examined"] for d in found.values()],
        "bluff-catchers": {
            "cards above": {n - max(cards) for n, cards in catch.items()},
            "cards below": {min(cards) - 1 for cards in catch.values()},
        },
        "above sandbags": {n - max(cards) for n, cards in sandbags},
        "value bets": {f"N = {n}": max(map(len, nodes[n]["value bet"].values())) for n in _COUNTED},
    }


def five_cards(stored: Stored) -> Nested:
    """The branch with five cards beside that with four."""
    found = decks(stored)
    widest = {f"N = {n}": max(found[n]["largest_range"]) for n in (4, 5)}
    turns = {f"N = {n}": found[n]["turns_of_top_at_node_1"] for n in (4, 5)}
    return {
        "ranges with several": [found[n]["ranges_with_several"] for n in (4, 5)],
        "widest": {**widest, "ratio": widest["N = 5"] / widest["N = 4"]},
        "overlaps": [
            len(found[5]["two_way"]),
            found[5]["examined"] - found[5]["bluffs_below_value"],
        ],
        "turns": {**turns, "ratio": turns["N = 5"] / max(turns["N = 4"], 1)},
    }


def coexisting(stored: Stored) -> Nested:
    """How often branches cross a pot, how many verified equilibria there are at one, and folds."""
    found = decks(stored)
    at = {n: stored[f"n{n}"].summary["at"] for n in found}
    verified = {n: max(entry["distinct_payoffs"] for entry in entries) for n, entries in at.items()}
    return {
        "N": {n: [deck["most"], verified[n]] for n, deck in found.items()},
        "verified": {f"N = {n}": count for n, count in verified.items()},
        "folds": {n: deck["folds"] / found[4]["folds"] for n, deck in found.items() if n > 4},
    }


def limits(stored: Stored) -> Nested:
    """The regularized system of simplified Kuhn poker at solutions, as eps goes to 0."""
    found = stored["limits"].summary
    selected, game = found["selected"], load_game("skp")
    off: dict[str, list[float]] = defaultdict(list)
    for entry in selected:
        (known,) = published_sets(game.at(pot=Fraction(repr(entry["pot"]))))
        values = known.frequencies(some_member(known)).tolist()
        published = dict(zip(known.layout.variables, values, strict=True))
        for name in ("c1", "d2"):
            off[name].append(abs(entry[name] - published[name]))
    return {
        "g": {
            "least rise": [entry["falls"] for entry in found["responses"]],
            "ends": [[min(entry["b"]), max(entry["b"])] for entry in found["responses"]],
        },
        "tails": {entry["kind"]: [entry["least"], entry["greatest"]] for entry in found["tails"]},
        "guesses": {f"{c['epsilon']:g}": [c["hybr"], c["newton"]] for c in found["guesses"]},
        "first corrections": found["first_order"]["error"] / found["first_order"]["size"],
        "ways": {f"pot {e['pot']:g}, {e['kind']}": e["apart"] for e in selected},
        "Solution 1": off,
    }


def threats(stored: Stored) -> Nested:
    """How many solutions have noncredible threats, and whether payoffs depend on the measure."""
    found = stored["threats"].summary["cases"]
    cases = {(case["game"], case["derivative"], case["pot"]): case for case in found}
    started = [case for case in found if case["derivative"] == "counterfactual"]

    def counted(game: str, derivative: str, *pots: int) -> Nested:
        chosen = [cases[game, derivative, pot] for pot in pots or _THREAT_POTS]
        return {"threats": [c["with_threats"] for c in chosen], "of": [c["found"] for c in chosen]}

    return {
        "arrived": {key: sum(case[key] for case in started) for key in ("starts", "found")},
        "neither": counted(_FULL, "raw"),
        "differentiation only": counted(_FULL, "counterfactual"),
        "removal only": counted(kuhn(4), "raw"),
        "both": counted(kuhn(4), "counterfactual"),
        "pot 20": {
            **counted(kuhn(4), "raw", 20),
            "threats with 25 removed": counted(_DOMINATED, "raw", 20)["threats"],
        },
        "either alone": _agreement(cases),
    }


def _agreement(cases: Nested) -> Nested:
    """How far payoffs that all starts with both measures share are from those with either."""
    apart, missed = [0.0], 0
    for pot in _THREAT_POTS:
        payoffs = np.array(cases[kuhn(4), "counterfactual", pot]["payoffs"])
        fixed = np.ptp(payoffs, axis=0) < _SAME
        for case in (cases[kuhn(4), "raw", pot], cases[_FULL, "counterfactual", pot]):
            missed += case["found"] - case["equilibria"]
            gaps = np.abs(np.array(case["payoffs"])[:, fixed] - payoffs[0, fixed])
            apart += gaps.ravel().tolist()
    return {"payoffs apart": max(apart), "no equilibria": missed}


def traced(stored: Stored) -> Nested:
    """How the branches of 4 to 13 cards were followed."""
    lengths = {n: deck["steps"] for n, deck in decks(stored).items()}
    summaries = {n: stored[f"n{n}"].summary for n in lengths}
    arrived = {n: s for n, s in summaries.items() if s["outcome"] == "arrived"}
    points = {f"N = {n}": s["points"] for n, s in arrived.items()}
    counts = [(s["refused_steps"], s["steps"]) for s in summaries.values()]
    return {
        "arrived": {"decks": list(arrived), "points": sum(points.values())},
        "connected": {"decks": [n for n, s in arrived.items() if not s["branch_points"]], **points},
        "steps": {
            "ratio": [most / least for least, _, most in lengths.values()],
            "refused": [refused / (refused + made) for refused, made in counts],
        },
        "ms per point": {f"N = {n}": 1e3 * s["cpu_s"] / s["points"] for n, s in summaries.items()},
        "folds": [len(stored[job].summary["folds"]) for job in ("n4", "skp", "n5")],
    }


def skp_curve(stored: Stored) -> Nested:
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


def skp_pieces(stored: Stored) -> Nested:
    """Ranges of expectations at three pots beside the published ones, and gaps between points."""
    pots, *payoffs = _columns(stored, "skp", *_PAYOFFS)
    exact, found = stored["skp_exact"].summary["exact"], {}
    for pot in (3, 3.5, 5):
        # the pieces of one set share its name
        known = next(entry for entry in exact if set(entry["pots"]) == {pot})
        wanted = (np.max(known["high"], axis=0) - np.min(known["low"], axis=0))[:3]
        near = np.array(payoffs)[:, np.abs(pots - pot) <= 1e-3]
        widths = np.ptp(near, axis=1)
        found[pot] = {
            "ranges": widths.tolist(),
            "off": float(np.abs(widths - wanted).max()),
            "largest gap": float(np.abs(np.diff(near)).max() / wanted.max()),
        }
    return found


def skp_distances(stored: Stored) -> Nested:
    """How far regularized curves are from the exact ones at most, as a share of the axes.

    Each point of a branch is compared with the nearest point of the exact curves, pots over 4
    and figures over the range of the exact ones, as one sees it in a figure.
    """
    exact, found = stored["skp_exact"].summary["exact"], defaultdict[str, Nested](dict)
    asked = {"u1": (2.02, 5.98), "u1 close-up": (3.8, 4.45), "a1": (2.02, 5.98)}
    share = np.linspace(0, 1, 20)[:, None, None]
    for title, (left, right) in asked.items():
        name = title.partition(" ")[0]
        curves = [np.column_stack(curve) for curve in exact_curves(exact, name)]
        scale = np.array([4.0, np.ptp(np.concatenate(curves)[:, 1])])
        dense = np.concatenate(
            [((1 - share) * c[:-1] + share * c[1:]).reshape(-1, 2) / scale for c in curves]
        )
        for eps in ("1e-2", "1e-3", "1e-4", "1e-6"):
            points = _columns(stored, f"skp_{eps.replace('-', '_')}", places()[name]).T
            inside = points[(points[:, 0] > left) & (points[:, 0] < right)] / scale
            gaps = [float(np.hypot(*(dense - point).T).min()) for point in inside]
            found[title][eps] = max(gaps)
    return found


def skp_orders(stored: Stored) -> Nested:
    """With which power of eps errors of expectations fall."""
    errors = stored["skp_exact"].summary["errors"]
    plain = {f"pot {row['pot']:g}": row["order"] for row in errors if row["kind"] == "log"}
    return {"log": plain, "all": [row["order"] for row in errors]}


def skp_sum(stored: Stored) -> Nested:
    """Calls with K of which only the sum is published: how they keep to its bounds."""
    sets = {entry["name"]: entry for entry in stored["skp_exact"].summary["exact"]}
    known, pots = sets["skp:9"], np.array(sets["skp:9"]["pots"])
    ours = _columns(stored, "skp_1e_6", places()["c1"], places()["d2"])
    # up to the end of Solution 8 the branch comes along other solutions too
    first, last = sets["skp:8"]["pots"][-1] + 0.01, pots[-1] - 0.01
    at, *calls = ours[:, (ours[0] > first) & (ours[0] < last)]
    chosen = [known["variables"].index(name) for name in ("c1", "d2")]
    low, high = (
        np.array([np.interp(at, pots, column) for column in np.array(known[end]).T[chosen]])
        for end in ("low", "high")
    )
    outside = ((calls < low - _SLACK) | (calls > high + _SLACK)).any(axis=0)
    return {
        "points": len(at),
        "outside": int(outside.sum()),
        "sum off by": float(np.abs(np.sum(calls, axis=0) - low[0] - high[1]).max()),
    }


def positions(stored: Stored) -> Nested:
    """Who earns and who loses most along the branches that are followed further."""
    pots, *u = np.hstack([_columns(stored, job, *_PAYOFFS) for job in ("n10", "n10_wide")])
    wrong = np.diff(u, axis=0).min(axis=0) < -_SAME
    four = np.hstack([_columns(stored, job, *_PAYOFFS) for job in ("n4", "n4_wide")])
    return {
        "in order up to": float(pots[wrong].min(initial=pots.max())),
        4: float((four[2] - four[1]).min()),
        **{n: _losers(_columns(stored, f"n{n}_wide", *_PAYOFFS)) for n in (5, 6, 10)},
    }


def _losers(columns: FloatArray) -> Nested:
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


def four_cards(stored: Stored) -> Nested:
    """Exact equilibria along the branch with four cards."""
    found = stored["four_cards"].summary
    wide = [piece for piece in found["pieces"] if max(piece["ranges"]) > _PIECE]
    family, third = found["family"], found["third_card"]
    first, second = (entry["first"] for entry in found["bets_from"])
    openings = {
        f"node {node}": [card for card, most in bets.items() if most > _SAME]
        for node, bets in enumerate(found["openings"], start=1)
    }
    return found | {
        "pieces": [piece["pot"] for piece in wide],
        "piece": {
            place: {**piece, "players": sum(width > _PIECE for width in piece["ranges"])}
            for place, piece in enumerate([*wide, *[{"pot": inf, "ranges": [inf]}] * 4], start=1)
        },
        "family": {**family, "members": Fraction(family["on_path"], family["points"])},
        "bets from": {"player 2": second, "player 1": first},
        "bets": openings | {f"node 3, card 3, {name}": value for name, value in third.items()},
        "calls": {f"card {k}": max(calls[k] for calls in found["callers"]) for k in ("2", "3")},
    }


def at_one_pot(stored: Stored) -> Nested:
    """Verified equilibria: along and beside the branch of four cards, and where five coexist."""
    entry, beside = _at(stored, "n4", 4.19), _at(stored, "n4_beside", 3.1)["beside"]
    apart = np.ptp([item["payoffs"] for item in entry["equilibria"]], axis=0).max()
    height = np.ptp(_columns(stored, "n4", *_PAYOFFS)[1:])
    return {
        "similar": {"equilibria": entry["distinct_payoffs"], "apart": float(apart / height)},
        "beside": {"others": beside["not_on_branch"], "payoffs": beside["payoff_ranges"]},
        "N = 5": _regret(_at(stored, "n5", 5.202)),
    }


def two_way(stored: Stored) -> Nested:
    """Two-way bets: with how many cards, and who makes them with the fewest."""
    found = decks(stored)
    bets = {n: deck["rare_two_way"] if n < 8 else deck["two_way"] for n, deck in found.items()}
    share = {n: sum(bet["points"] for bet in bets[n]) / found[n]["points"] for n in (6, 7)}
    return {
        "decks": [n for n, made in bets.items() if made],
        "share": {"N = 6": share[6], "N = 7": share[7], "ratio": share[6] / (share[7] or inf)},
        "N = 6": {
            "players": sorted({bet["node"] for bet in bets[6]}),
            **{f"player {bet['node']}, card {bet['card']}, pots": bet["pots"] for bet in bets[6]},
        },
    }


def media(stored: Stored) -> Nested:
    """Rows of the tables of solutions, points that are missing there, and animations."""
    found = {}
    for cards in _COUNTED:
        job = stored[f"n{cards}"]
        rows = len(job.text("points.csv").splitlines()) - 1
        table = {"rows": rows, "missing": job.summary["points"] - rows}
        found[cards] = {"table": table, "video": _film(job.path / "figures" / "animation.gif")}
    return found


def _film(file: Path) -> Nested | Missing:
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


def large(stored: Stored) -> Nested:
    """Branches of many cards: ranges of payoffs beside smaller decks at equal eps, folds, ends."""
    found = stored["large_branches"].summary
    pairs = {"1e-7": ("n9", "n13"), "1e-6": ("n13_1e_6", "n26"), "1e-4": ("n13_1e_4", "n52")}
    widths = {
        f"eps = {eps}": [found["mean_range"][job] for job in jobs] for eps, jobs in pairs.items()
    }
    deck = next(entry for entry in found["decks"] if entry["cards"] == 26)
    ends = {cards: stored[f"n{cards}"].summary["outcome"] for cards in (26, 52)}
    return {
        "border": _border(stored, 26),
        "ranges": {**widths, "narrower by": [few - many for few, many in widths.values()]},
        "N = 26": {"folds": deck["folds"], "points at a pot": deck["most"]},
        "followed": max((n for n in ends if ends[n] == "arrived"), default=13),
    }


def memory(stored: Stored) -> float:
    """Peak memory with 26 cards in GB."""
    return float(stored["memory"].summary["peak_bytes"] / 1e9)


def followed(stored: Stored) -> Nested:
    """How games with four players, and with a raise, were followed."""
    summaries = {job: stored[job].summary for job in ("four_players", "raises")}
    return {
        job: {
            "to its end": summary["outcome"] == "arrived",
            "verified": sum(entry["polished"] for entry in summary["at"]),
            "points": summary["points"],
            "CPU s": summary["cpu_s"],
        }
        for job, summary in summaries.items()
    }


def half_street(stored: Stored) -> Nested:
    """How far decks of two players are from the continuous game; thresholds in cards."""
    rows = [row for row in stored["many_cards"].summary["half_street"] if row["pot"] == 5]
    names = ("calls_above", "bets_above", "bluffs_below")
    edges = [max(abs(row[name] - row["limit"][name]) for name in names) for row in rows]
    return {
        "N": [row["cards"] for row in rows],
        "gain off by": [abs(row["gain"] - row["limit"]["gain"]) for row in rows],
        "thresholds off by": [row["cards"] * edge for row, edge in zip(rows, edges, strict=True)],
    }
