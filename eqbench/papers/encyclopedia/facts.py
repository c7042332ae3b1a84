"""What our stored results say on the claims of the article."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np

from eqbench.papers.checks import Finding, Interval
from eqbench.papers.formulas import Points
from eqbench.papers.stored import Stored

Play = dict[str, dict[str, Fraction]]  # how often each player is aggressive, by information set

_BETTING = r"(check ){0,2}bet( (call|fold)){2}|check check check"  # of three players


def _hands(stored: Stored, game: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stored["rules"].summary["hands"][game]
    return found


def deck(stored: Stored) -> dict[str, list[int]]:
    """Cards and deals of each game."""
    found = {}
    for name, game in (("two players", "kuhn2"), ("three players", "kuhn3")):
        deals = {tuple(hand["cards"]) for hand in _hands(stored, game)}
        found[name] = [len(set().union(*deals)), len(deals)]
    return found


def pays(stored: Stored) -> dict[str, list[str]]:
    """Payoffs of both players with the higher card and with the lower one, by history."""
    found: dict[str, set[tuple[bool, str]]] = {}
    for hand in _hands(stored, "kuhn2"):
        lower = hand["cards"][0] < hand["cards"][1]
        found.setdefault(hand["history"], set()).add((lower, "/".join(hand["payoffs"])))
    return {history: [payoffs for _, payoffs in sorted(kinds)] for history, kinds in found.items()}


def pure(stored: Stored) -> float:
    """The smallest max regret of all profiles in which nobody mixes."""
    return float(stored["rules"].summary["pure"])


def value(stored: Stored) -> dict[str, set[Fraction]]:
    """Payoffs of each player over all equilibria found: exactly, and rounded to 12 digits."""
    cells = stored["two_player_equilibria"].cells
    found = [e.exact["payoffs"] for cell in cells for e in cell.equilibria if e.exact]
    near = [cell.payoffs for cell in cells if cell.payoffs]
    return {
        f"player {p + 1}": {
            *(Fraction(payoffs[p]) for payoffs in found),
            *(Fraction(payoffs[p]).limit_denominator(10**6) for payoffs in near),
        }
        for p in (0, 1)
    }


def listed(stored: Stored) -> dict[str, Any]:
    """The complete list of equilibria: its points, and how frequencies follow from α."""
    job = stored["two_player_equilibria"]
    cell = next(cell for cell in job.cells if cell.solver == "case_enumeration")
    found = (_aggressive(job.json(item.profile)) for item in cell.equilibria if item.profile)
    profiles = sorted(found, key=lambda play: play["P1"]["1:"])
    rows = [[float(v) for own in play.values() for v in own.values()] for play in profiles]
    alphas = [play["P1"]["1:"] for play in profiles]
    by_infoset = {
        player: {infoset: [play[player][infoset] for play in profiles] for infoset in own}
        for player, own in profiles[0].items()
    }

    def follows(infoset: str) -> Finding:
        values = by_infoset["P1"][infoset]
        shown = dict(zip(alphas, values, strict=True))
        return Finding(Points([{"α": alpha} for alpha in alphas], values), shown)

    # more than two different points, whose differences are multiples of one another
    segment = len(set(alphas)) > 2 and np.linalg.matrix_rank(np.subtract(rows, rows[0])) == 1
    return {
        "one segment": Finding(bool(segment), {"α": alphas}),
        "α": alphas,
        "player 1": {infoset: set(values) for infoset, values in by_infoset["P1"].items()},
        "player 2": {infoset: set(values) for infoset, values in by_infoset["P2"].items()},
        "by α": {infoset: follows(infoset) for infoset in by_infoset["P1"]},
        "strategies of player 2": len({tuple(play["P2"].items()) for play in profiles}),
    }


def alpha(stored: Stored) -> Finding:
    """The range of α, and the largest regret of the family at values in it."""
    alphas = listed(stored)["α"]
    members = stored["two_player_family"].summary["members"]
    regret = max(Fraction(member["max_regret"]) for member in members)
    shown = {"listed": alphas, "largest regret of the family": regret}
    return Finding([min(alphas), max(alphas), regret], shown)


def _aggressive(document: dict[str, Any]) -> Play:
    return {
        player: {
            infoset: Fraction(row.get("bet", row.get("call", 0))) for infoset, row in rows.items()
        }
        for player, rows in document["behavior"].items()
    }


def tree(stored: Stored) -> dict[str, Any]:
    """Edges of the drawn tree, and the probabilities of its profile."""
    idle = stored["two_player_family"].summary["idle_edges"]
    dotted = stored["two_player_tree"].printed.count('stroke-dasharray="0.1 4"')
    play = _aggressive(stored["two_player_family"].json("drawn.json"))
    places = {"P1": "1: 2: 3: 1:KB 2:KB 3:KB", "P2": "1:K 2:K 3:K 1:B 2:B 3:B"}
    return {
        "dotted": Finding({dotted, *idle.values()}, {"dotted edges": dotted, "by play": idle}),
        "frequencies": [play[player][at] for player, own in places.items() for at in own.split()],
    }


def rules_of_three(stored: Stored) -> dict[str, Any]:
    """Share of hands that go and pay by the rules, and the number of ways to bet."""
    hands = _hands(stored, "kuhn3")
    bet = [bool(re.fullmatch(_BETTING, hand["history"])) for hand in hands]
    paid = [_due(hand) == [*map(Fraction, hand["payoffs"])] for hand in hands]
    ways = len({hand["history"] for hand in hands})
    return {
        "betting": [Fraction(sum(bet), len(bet)), ways],
        "showdown": Fraction(sum(paid), len(paid)),
    }


def _due(hand: dict[str, Any]) -> list[int]:
    """What each of three players wins by the rules: the pot less own chips, or minus own chips."""
    moves, cards = hand["history"].split(), hand["cards"]
    last = {place % 3: move for place, move in enumerate(moves)}
    chips = [1 + (last[player] in ("bet", "call")) for player in range(3)]
    stays = [player for player in range(3) if chips[player] == max(chips)]
    winner = max(stays, key=lambda player: cards[player])
    return [(sum(chips) if player == winner else 0) - chips[player] for player in range(3)]


def parameters(stored: Stored) -> dict[str, list[int]]:
    """Least and largest number of parameters of a part, all and without those that are idle."""
    counts = stored["three_player_family"].summary["parameters"]
    free, matter = [count for count, _ in counts], [count - idle for count, idle in counts]
    return {"all": [min(free), max(free)], "not idle": [min(matter), max(matter)]}


def members(stored: Stored) -> dict[str, Any]:
    """What members of the family of three players have in common, exactly."""
    summary = stored["three_player_family"].summary
    found, betas = summary["members"], [Fraction(one["beta"]) for one in summary["members"]]
    payoffs = [[Fraction(value) for value in one["payoffs"]] for one in found]
    first, second, third = (list(own) for own in zip(*payoffs, strict=True))
    strategies = {tuple(one["player_1"]) for one in found}
    gaps = [u1 - u2 for u1, u2 in zip(first, second, strict=True)]
    is_stable = [one["max_regret"] == "0" for one in found]
    equal = [stable for stable, gap in zip(is_stable, gaps, strict=True) if gap == 0]
    sums = {u1 + u3 for u1, u3 in zip(first, third, strict=True)}
    shifts = all(is_stable) and len(sums) == len(set(second)) == 1 and len(set(first)) > 1

    def by_beta(own: list[Fraction]) -> Finding:
        points = Points([{"β": beta} for beta in betas], own)
        return Finding(points, Interval(min(own), max(own)))

    return {
        # actions stand in pairs, check before bet; the four openings come first
        "player 1": Finding(
            [len(strategies), all(own[:8:2] == ("1",) * 4 for own in strategies)],
            {"strategies": len(strategies), "members": len(found)},
        ),
        "u1": by_beta(first),
        "u2": set(second),
        "u3": by_beta(third),
        "u1 − u2": gaps,
        "equal payoffs without regret": bool(equal) and all(equal),
        "shift": Finding(shifts, {"u1 + u3": sums, "u2": set(second)}),
        "β": [min(betas), max(betas)],
        "no regret up to the largest β, regret beyond": (
            all(is_stable) and Fraction(summary["beyond"]["max_regret"]) > 0
        ),
    }
