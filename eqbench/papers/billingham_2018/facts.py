"""What our stored results say on the claims of the paper."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import inf
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

Facts = dict[Any, Any]

_COUNTED = (4, 5, 10, 13)
_PAYOFFS = ("u:P1", "u:P2", "u:P3")
_PIECE = 1e-3  # range of a payoff on a vertical piece that is seen in a figure
_SAME, _SLACK, _WORSE = 1e-6, 1e-3, 1e-8
_EXACT = 1e-12  # what rounding leaves of a regret
_FULL, _DOMINATED = "kuhn(players=3,cards=4)", "kuhn(players=3,cards=4,reduce=dominated25)"
_THREAT_POTS = (3, 5, 8)


def rules(stored: Stored) -> Facts:
    """Nodes, payoffs, deals and dominated actions."""
    found = stored["rules"].summary

    def least(node: int, *, caught: bool) -> float:
        cases = [c for c in found["second_best"] if (c["node"], c["caught"]) == (node, caught)]
        return min(round(case["advantage"], 12) for case in cases)

    return {
        "nodes": [found["nodes"], *found["nodes_of_players"]],
        "sum of payoffs": found["largest_sum_of_payoffs"],
        "bend": found["multilinear"]["bend"],
        "unit differences": found["multilinear"]["unit_difference_error"],
        "dominated": {
            f"N = {case['cards']}, pot {case['pot']}": [case["deleted"], case["dominated"]]
            for case in found["fixed"]
        },
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
    jobs = [f"info_{cards}{kind}" for cards in _COUNTED for kind in ("", "_reduced")]
    return {
        job: stored[job].printed_json["sizes"]["free frequencies"]
        for job in (*jobs, "info_4_dominated25", "info_skp")
    }


def borders(stored: Stored) -> Facts:
    """The smallest pot with a profit, and payoffs of equilibria just below and above it."""
    return {cards: _border(stored, cards) for cards in SMALL_DECKS}


def border_of_26(stored: Stored) -> Facts:
    """The same for 26 cards."""
    return _border(stored, 26)


def _border(stored: Stored, cards: int) -> Facts:
    """The pot of the nearest vertical piece; the largest payoff and regret on both sides."""
    summary, border = stored[f"n{cards}"].summary, 2 / (cards - 3)
    pots = [piece["parameter"] for piece in summary["vertical"]]
    found: Facts = {"P_min": min(pots, key=lambda pot: abs(pot - border), default=inf)}
    for side, entry in zip(("below", "above"), summary["at"], strict=False):
        found[side] = {
            "payoff": max(abs(u) for item in entry["equilibria"] for u in item["payoffs"]),
            "regret": _regret(entry),
            "pot": entry["parameter"],
        }
    if "above" not in found or not found["below"]["pot"] < border < found["above"]["pot"]:
        raise NotStoredError(f"the branch of n{cards} was not looked at on both sides of P_min")
    return found


def _regret(entry: Facts) -> float:
    """The largest regret among the equilibria at one pot."""
    return max((abs(item["max_regret"]) for item in entry["equilibria"]), default=inf)


def _at(stored: Stored, job: str, pot: float) -> Facts:
    """What a trace found at one pot."""
    for entry in stored[job].summary["at"]:
        if entry["parameter"] == pot:
            return dict(entry)
    raise NotStoredError(f"the branch of {job} did not come to a pot of {pot:g}")


def _columns(stored: Stored, job: str, *names: str) -> FloatArray:
    """Pots and further columns along a branch, a row each."""
    rows = stored[job].rows()
    return np.array([[float(row[name]) for row in rows] for name in ("parameter", *names)])


def _decks(stored: Stored) -> dict[int, Facts]:
    return {entry["cards"]: entry for entry in stored["branches"].summary["decks"]}


def ranges(stored: Stored) -> Facts:
    """Which cards are value bets, bluffs, bluff-catchers and sandbags."""
    decks = _decks(stored)
    nodes = {cards: deck["cards_in_ranges"] for cards, deck in decks.items()}
    catch = {
        n: {c for row in kinds["bluff-catch"].values() for c in row} for n, kinds in nodes.items()
    }
    sandbags = [(n, kinds["sandbag"].get(row, [0])) for n, kinds in nodes.items() for row in "12"]
    points = sum(deck["examined"] for deck in decks.values())
    return {
        "complete": {f"N = {n}": deck["value_and_bluffs_from"] for n, deck in decks.items()},
        "in order": {
            "share": Fraction(sum(d["bluffs_below_value"] for d in decks.values()), points),
            "points": points,
        },
        "bluff-catchers": {
            "cards above": {n - max(cards) for n, cards in catch.items()},
            "cards below": {min(cards) - 1 for cards in catch.values()},
        },
        "above sandbags": {n - max(cards) for n, cards in sandbags},
        "N = 4": {kind: {tuple(row) for row in rows.values()} for kind, rows in nodes[4].items()},
        "N = 5": {tuple(nodes[5]["value bet"][row]) for row in "123"},
        "value bets": {f"N = {n}": max(map(len, nodes[n]["value bet"].values())) for n in _COUNTED},
    }


def five_cards(stored: Stored) -> Facts:
    """The branch with five cards beside that with four."""
    four, five = (_decks(stored)[cards] for cards in (4, 5))
    widest = {f"N = {deck['cards']}": max(deck["largest_range"]) for deck in (four, five)}
    turns = {f"N = {deck['cards']}": deck["turns_of_top_at_node_1"] for deck in (four, five)}
    return {
        "ranges with several": [deck["ranges_with_several"] for deck in (four, five)],
        "widest": {**widest, "ratio": widest["N = 5"] / widest["N = 4"]},
        "overlaps": {
            "two-way bets": len(five["two_way"]),
            "points with bluffs above value bets": five["examined"] - five["bluffs_below_value"],
        },
        "turns": {**turns, "ratio": turns["N = 5"] / max(turns["N = 4"], 1)},
    }


def five_cards_verified(stored: Stored) -> float:
    """The largest regret where five equilibria coexist."""
    return _regret(_at(stored, "n5", 5.202))


def coexisting(stored: Stored) -> Facts:
    """How often branches cross a pot, how many verified equilibria there are at one, and folds."""
    decks = _decks(stored)
    verified = {
        n: max(entry["distinct_payoffs"] for entry in stored[f"n{n}"].summary["at"]) for n in decks
    }
    folds = {f"N = {n}": deck["folds"] for n, deck in decks.items()}
    more = min(deck["folds"] for n, deck in decks.items() if n > 4) / max(decks[4]["folds"], 1)
    return {
        **{
            n: {
                "points": deck["most"],
                "verified": verified[n],
                "points, folds 1e-6 apart": deck["most_narrow"],
            }
            for n, deck in decks.items()
        },
        "verified": {"most": max(verified.values())} | {f"N = {n}": k for n, k in verified.items()},
        "folds": {**folds, "least ratio": more},
    }


def limits(stored: Stored) -> Facts:
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


def threats(stored: Stored) -> Facts:
    """How many solutions have noncredible threats, and whether payoffs depend on the measure."""
    cases = {
        (case["game"], case["derivative"], case["pot"]): case
        for case in stored["threats"].summary["cases"]
    }
    started = [case for case in cases.values() if case["derivative"] == "counterfactual"]
    arrived, starts = (sum(case[key] for case in started) for key in ("found", "starts"))

    def counted(game: str, derivative: str, *pots: int) -> Facts:
        chosen = [cases[game, derivative, pot] for pot in pots or _THREAT_POTS]
        return {"threats": [c["with_threats"] for c in chosen], "of": [c["found"] for c in chosen]}

    return {
        "arrived": {"share": Fraction(arrived, starts), "starts": starts},
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


def _agreement(cases: Facts) -> Facts:
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


def traced(stored: Stored) -> Facts:
    """How the branches of 4 to 13 cards were followed."""
    summaries = {cards: stored[f"n{cards}"].summary for cards in SMALL_DECKS}
    arrived = {n: s for n, s in summaries.items() if s["outcome"] == "arrived"}
    points = {f"N = {n}": summary["points"] for n, summary in arrived.items()}
    return {
        "arrived": {"decks": list(arrived), "points": sum(points.values())},
        "connected": {"decks": [n for n, s in arrived.items() if not s["branch_points"]], **points},
        "ms per point": {
            f"N = {n}": 1e3 * summaries[n]["cpu_s"] / summaries[n]["points"] for n in (4, 10, 13)
        },
    }


def folds(stored: Stored) -> dict[str, int]:
    """Number of folds."""
    jobs = {"N = 4": "n4", "SKP": "skp", "N = 5": "n5"}
    return {name: len(stored[job].summary["folds"]) for name, job in jobs.items()}


def steps(stored: Stored) -> Facts:
    """The longest step over one that only 1 % are shorter than, and the share of refused ones."""
    decks = _decks(stored)
    made = {n: stored[f"n{n}"].summary for n in _COUNTED}
    return {
        "ratio": [decks[n]["steps"][2] / decks[n]["steps"][0] for n in _COUNTED],
        "refused": [s["refused_steps"] / (s["steps"] + s["refused_steps"]) for s in made.values()],
    }


def skp_curve(stored: Stored) -> Facts:
    """Published solutions on the branch of simplified Kuhn poker, its folds, its multiplicity."""
    summary = stored["skp"].summary
    items = [item for entry in summary["at"] for item in entry["equilibria"]]
    known = [item["identity"] for item in items if abs(item["max_regret"]) <= _EXACT]
    names = {identity["name"].removeprefix("skp:") if identity else "none" for identity in known}
    several = {f"pot {entry['parameter']:g}": entry["distinct_payoffs"] for entry in summary["at"]}
    return {
        "solutions": sorted(names, key=lambda name: (len(name), name)),
        "several": {"most": max(several.values()), **several},
        "folds": dict(enumerate([fold["parameter"] for fold in summary["folds"]] + [inf] * 6, 1)),
    }


def skp_all(stored: Stored) -> Facts:
    """All sets of equilibria at a pot of 3.35, and those of them on the branch."""
    (cell,) = stored["skp_all"].cells
    found = _at(stored, "skp", 3.35)["equilibria"]
    return {
        "status": cell.status,
        "unresolved": cell.statistics["unresolved"],
        "sets": cell.statistics["pieces"],
        "on the curve": len({item["identity"]["name"] for item in found}),
    }


def skp_pieces(stored: Stored) -> Facts:
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


def skp_distances(stored: Stored) -> Facts:
    """How far regularized curves are from the exact ones at most, as a share of the axes.

    Each point of a branch is compared with the nearest point of the exact curves, pots over 4
    and figures over the range of the exact ones, as one sees it in a figure.
    """
    exact, found = stored["skp_exact"].summary["exact"], {}
    asked = {"u1": (2.02, 5.98), "u1 close-up": (3.8, 4.45), "a1": (2.02, 5.98)}
    share = np.linspace(0, 1, 20)[:, None, None]
    for title, (left, right) in asked.items():
        name = title.partition(" ")[0]
        curves = [np.column_stack(curve) for curve in exact_curves(exact, name)]
        scale = np.array([4.0, np.ptp(np.concatenate(curves)[:, 1])])
        dense = np.concatenate(
            [((1 - share) * c[:-1] + share * c[1:]).reshape(-1, 2) / scale for c in curves]
        )
        found[title] = {}
        for eps in ("1e-2", "1e-3", "1e-4", "1e-6"):
            points = _columns(stored, f"skp_{eps.replace('-', '_')}", places()[name]).T
            inside = points[(points[:, 0] > left) & (points[:, 0] < right)] / scale
            gaps = [float(np.hypot(*(dense - point).T).min()) for point in inside]
            found[title][eps] = max(gaps)
    return found


def skp_orders(stored: Stored) -> Facts:
    """With which power of eps errors of expectations fall, by function g and pot."""
    orders: dict[str, dict[str, float]] = defaultdict(dict)
    for row in stored["skp_exact"].summary["errors"]:
        orders[row["kind"]][f"pot {row['pot']:g}"] = row["order"]
    return {"all": dict(orders), **orders}


def skp_sum(stored: Stored) -> Facts:
    """Calls with K of which only the sum is published: how they keep to its bounds."""
    sets = {entry["name"]: entry for entry in stored["skp_exact"].summary["exact"]}
    known, pots = sets["skp:9"], np.array(sets["skp:9"]["pots"])
    columns = (places()["c1"], places()["d2"])
    ours = _columns(stored, "skp_1e_6", *columns)
    # up to the end of Solution 8 the branch comes along other solutions too
    first, last = sets["skp:8"]["pots"][-1] + 0.01, pots[-1] - 0.01
    at, *calls = ours[:, (ours[0] > first) & (ours[0] < last)]
    low, high = (
        np.array([np.interp(at, pots, np.array(known[end])[:, column]) for column in chosen])
        for chosen in [[known["variables"].index(name) for name in ("c1", "d2")]]
        for end in ("low", "high")
    )
    outside = ((calls < low - _SLACK) | (calls > high + _SLACK)).any(axis=0)
    return {
        "points": len(at),
        "outside": int(outside.sum()),
        "sum off by": float(np.abs(np.sum(calls, axis=0) - low[0] - high[1]).max()),
        "may vary by": float((high - low).max()),
    }


def beside(stored: Stored) -> Facts:
    """Verified payoff vectors of four cards that are not on the branch, at a pot of 3.1."""
    found = _at(stored, "n4_beside", 3.1)["beside"]
    return {"others": found["not_on_branch"], "payoffs": found["payoff_ranges"]}


def positions(stored: Stored) -> Facts:
    """Who earns and who loses most along the branches that are followed further."""
    pots, *u = np.hstack([_columns(stored, job, *_PAYOFFS) for job in ("n10", "n10_wide")])
    wrong = np.diff(u, axis=0).min(axis=0) < -_SAME
    four = np.hstack([_columns(stored, job, *_PAYOFFS) for job in ("n4", "n4_wide")])
    return {
        "in order": {
            "up to": float(pots[wrong].min(initial=pots.max())),
            "not at some up to": float(pots[wrong].max(initial=0)),
        },
        4: float((four[2] - four[1]).min()),
        **{n: _losers(_columns(stored, f"n{n}_wide", *_PAYOFFS)) for n in (5, 6, 10)},
    }


def _losers(columns: FloatArray) -> Facts:
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


def four_cards(stored: Stored) -> Facts:
    """Exact equilibria along the branch with four cards."""
    found = stored["four_cards"].summary
    wide = [piece for piece in found["pieces"] if max(piece["ranges"]) > _PIECE]
    family, third = found["family"], found["third_card"]
    first, second = (entry["first"] for entry in found["bets_from"])
    calls, losses = (
        found["before_three"]["calls_with_card_3"],
        found["crossed"]["largest_shortfall"],
    )
    return found | {
        "pieces": {
            "count": len(wide),
            "pots": [piece["pot"] for piece in wide],
            "ranges below 1e-4 at": [p["pot"] for p in found["pieces"] if p not in wide],
        },
        "piece": {
            place: {
                "pot": piece["pot"],
                "players": sum(width > _PIECE for width in piece["ranges"]),
                "least": min(piece["ranges"]),
                "ranges": piece["ranges"],
            }
            for place, piece in enumerate([*wide, *[{"pot": inf, "ranges": [inf]}] * 4], start=1)
        },
        "family": {**family, "members": Fraction(family["on_path"], family["points"])},
        "calls before 3": {"most": max(calls), "at nodes 4, 5, 6": calls},
        "bets from": {"player 2": second, "player 1": first, "later by": first - second},
        "bets": {
            f"node {node}": [card for card, most in bets.items() if most > _SAME]
            for node, bets in enumerate(found["openings"], start=1)
        }
        | {"card 3 at": third["points"], "least bet of card 4 before": third["top_bet_before"]},
        "calls": {f"card {k}": max(calls[k] for calls in found["callers"]) for k in ("2", "3")},
        "shortfalls": {"most": max(losses), "by player": losses},
    }


def four_cards_apart(stored: Stored) -> Facts:
    """Equilibria at a pot of 4.19: how many, and how far apart as a share of all payoffs."""
    entry = _at(stored, "n4", 4.19)
    vectors = np.array([item["payoffs"] for item in entry["equilibria"]])
    whole = _columns(stored, "n4", *_PAYOFFS)[1:]
    apart = float(np.ptp(vectors, axis=0).max() / np.ptp(whole))
    return {"equilibria": entry["distinct_payoffs"], "apart": apart}


def two_way(stored: Stored) -> Facts:
    """Two-way bets: with how many cards, and who makes them with the fewest."""
    decks = _decks(stored)
    bets = {n: deck["rare_two_way"] if n < 8 else deck["two_way"] for n, deck in decks.items()}
    share = {n: sum(bet["points"] for bet in bets[n]) / decks[n]["points"] for n in (6, 7)}
    return {
        "decks": [cards for cards, found in bets.items() if found],
        "share": {"N = 6": share[6], "N = 7": share[7], "ratio": share[6] / (share[7] or inf)},
        "N = 6": {
            "players": sorted({bet["node"] for bet in bets[6]}),
            **{f"player {bet['node']}, card {bet['card']}, pots": bet["pots"] for bet in bets[6]},
        },
    }


def figure_10(stored: Stored) -> Facts:
    """At how many points of the branch with 13 cards the features of Figure 10 are there."""
    found = _decks(stored)[13]["figure_10"]
    both = {f"two-way {n}": found[f"node 3 bets {n} two-way"]["points"] for n in (5, 6)}
    return found | {"both two-way": {"least frequency": found["most_of_both_two_way"], **both}}


def videos(stored: Stored) -> Facts:
    """Frames of the animations, and how many are shown in a second."""
    return {cards: _frames(stored, cards) for cards in _COUNTED}


def _frames(stored: Stored, cards: int) -> Facts | Missing:
    from PIL import Image, ImageSequence

    file = stored[f"n{cards}"].path / "figures" / "animation.gif"
    if not file.exists():
        return Missing("the video is made with --full")
    try:
        with Image.open(file) as film:
            durations = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
    except OSError as error:
        return Missing(f"{file.name} of the job n{cards} cannot be read: {error}")
    return {"frames": len(durations), "a second": {1000 / duration for duration in durations}}


def points(stored: Stored) -> Facts:
    """Rows of the tables of solutions, and points of the branches."""
    jobs = {cards: stored[f"n{cards}"] for cards in _COUNTED}
    rows = {cards: len(job.text("points.csv").splitlines()) - 1 for cards, job in jobs.items()}
    return {
        cards: {"rows": rows[cards], "missing": job.summary["points"] - rows[cards]}
        for cards, job in jobs.items()
    }


def large(stored: Stored) -> Facts:
    """Ranges of payoffs of smaller and larger decks at equal eps, and the branch of 26 cards."""
    found = stored["large_branches"].summary
    pairs = {"1e-7": ("n9", "n13"), "1e-6": ("n13_1e_6", "n26"), "1e-4": ("n13_1e_4", "n52")}
    widths = {
        f"eps = {eps}": [found["mean_range"][job] for job in jobs] for eps, jobs in pairs.items()
    }
    deck = next(entry for entry in found["decks"] if entry["cards"] == 26)
    return {
        "ranges": {**widths, "narrower by": [few - many for few, many in widths.values()]},
        "N = 26": {"folds": deck["folds"], "points at a pot": deck["most"]},
    }


def largest(stored: Stored) -> Facts:
    """The most cards with which a branch was followed to its end."""
    decks = {cards: stored[f"n{cards}"].summary for cards in (26, 52)}
    arrived = {n: summary for n, summary in decks.items() if summary["outcome"] == "arrived"}
    return {"cards": max(arrived, default=13), "pots up to": [s["last"] for s in arrived.values()]}


def memory(stored: Stored) -> float:
    """Peak memory with 26 cards in GB."""
    return float(stored["memory"].summary["peak_bytes"] / 1e9)


def four_players(stored: Stored) -> Facts:
    """How four players and six cards were followed."""
    return _followed(stored, "four_players")


def raises(stored: Stored) -> Facts:
    """How a game with a raise was followed."""
    return _followed(stored, "raises")


def _followed(stored: Stored, job: str) -> Facts:
    summary = stored[job].summary
    return {
        "to its end": summary["outcome"] == "arrived",
        "verified": sum(entry["polished"] for entry in summary["at"]),
        "points": summary["points"],
        "CPU s": summary["cpu_s"],
    }


def half_street(stored: Stored) -> Facts:
    """How far decks of two players are from the continuous game; thresholds in cards."""
    rows = [row for row in stored["many_cards"].summary["half_street"] if row["pot"] == 5]
    names = ("calls_above", "bets_above", "bluffs_below")
    edges = [max(abs(row[name] - row["limit"][name]) for name in names) for row in rows]
    return {
        "N": [row["cards"] for row in rows],
        "gain off by": [abs(row["gain"] - row["limit"]["gain"]) for row in rows],
        "thresholds off by": [row["cards"] * edge for row, edge in zip(rows, edges, strict=True)],
    }
