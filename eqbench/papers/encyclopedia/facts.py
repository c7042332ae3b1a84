"""Values for the claims of the article, from our stored results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from eqbench.papers.checks import Finding, Interval
from eqbench.papers.encyclopedia.compute import Hand
from eqbench.papers.formulas import Points
from eqbench.papers.records import Table, restored
from eqbench.papers.stored import Stored

_BETTING = r"(check ){0,2}bet( (call|fold)){2}|check check check"  # of three players


def _hands(stored: Stored, game: str) -> list[Hand]:
    return [Hand(tuple(h[0]), h[1], h[2]) for h in stored["rules"].summary["hands"][game]]


def deck(stored: Stored) -> dict[str, list[int]]:
    """Cards and deals of each game."""
    found = {}
    for name, game in (("two players", "kuhn2"), ("three players", "kuhn3")):
        deals = {hand.cards for hand in _hands(stored, game)}
        found[name] = [len(set().union(*deals)), len(deals)]
    return found


def pays(stored: Stored) -> dict[str, Table]:
    """Payoffs with the higher card and with the lower one, pot and what is won, by history.

    Before the pot stands who takes it if the other folds.
    """
    found, hands = dict[str, Table](), _hands(stored, "kuhn2")
    for history in dict.fromkeys(hand.history for hand in hands):
        own = [hand for hand in hands if hand.history == history]
        paid = {(h.cards[0] < h.cards[1], "/".join(map(str, h.payoffs))) for h in own}
        taker = [1 + len(history.split()) % 2] if "fold" in history else []
        won = [*taker, sum(_chips(own[0])), max(map(int, own[0].payoffs))]
        found[history] = {"payoffs": [text for _, text in sorted(paid)], "pot, won": won}
    return found


def pure(stored: Stored) -> float:
    """The smallest max regret of all profiles in pure strategies."""
    return float(stored["rules"].summary["pure"])


def value(stored: Stored) -> dict[str, set[Fraction]]:
    """Payoffs of each player over all equilibria found: exactly, and rounded to 12 digits."""
    cells = stored["two_player_equilibria"].cells
    exact = [e.exact["payoffs"] for cell in cells for e in cell.equilibria if e.exact]
    found = [[Fraction(payoff) for payoff in own] for own in exact]
    floats = [cell.payoffs for cell in cells if cell.payoffs]
    found += [[Fraction(payoff).limit_denominator(10**6) for payoff in own] for own in floats]
    return {f"player {p + 1}": {own[p] for own in found} for p in (0, 1)}


def listed(stored: Stored) -> Table:
    """The complete list of equilibria: its points, and how frequencies follow from α."""
    job = stored["two_player_equilibria"]
    cell = next(cell for cell in job.cells if cell.solver == "case_enumeration")
    found = (_aggressive(job.json(item.profile)) for item in cell.equilibria if item.profile)
    profiles = sorted(found, key=lambda play: play["P1|1:"])
    values = {place: [play[place] for play in profiles] for place in profiles[0]}
    alphas, rows = values["P1|1:"], np.array([*values.values()], dtype=float)
    second = {tuple(v for at, v in play.items() if at.startswith("P2")) for play in profiles}
    # more than two different points, whose differences are multiples of one another
    segment = len(set(alphas)) > 2 and np.linalg.matrix_rank(rows - rows[:, :1]) == 1
    points = [{"α": alpha} for alpha in alphas]
    return {
        "one segment": Finding(bool(segment), {"α": alphas}),
        "α": alphas,
        "values": {place: set(own) for place, own in values.items()},
        "by α": {
            place: Finding(Points(points, own), dict(zip(alphas, own, strict=True)))
            for place, own in values.items()
        },
        "strategies of player 2": len(second),
    }


def alpha(stored: Stored) -> Table:
    """The range of α, and the largest regret of the family at values in it."""
    alphas, members = listed(stored)["α"], stored["two_player_family"].summary["members"]
    regret = max(Fraction(member["max_regret"]) for member in members)
    ends = [min(alphas), max(alphas)]
    return {"listed": alphas, "ends": ends, "largest regret of the family": regret}


def _aggressive(document: Mapping[str, Any]) -> dict[str, Fraction]:
    """Frequencies of bets and calls, by ``player|information set``."""
    return {
        f"{player}|{infoset}": Fraction(row.get("bet", row.get("call", 0)))
        for player, rows in document["behavior"].items()
        for infoset, row in rows.items()
    }


def tree(stored: Stored) -> Table:
    """Edges of the drawn tree, and the probabilities of its profile."""
    idle = stored["two_player_family"].summary["idle_edges"]
    dotted = stored["two_player_tree"].printed.count('stroke-dasharray="0.1 4"')
    play = _aggressive(stored["two_player_family"].json("drawn.json"))
    places = [("P1", ""), ("P1", "KB"), ("P2", "K"), ("P2", "B")]
    return {
        "dotted": Finding({dotted, *idle.values()}, {"dotted edges": dotted, "by play": idle}),
        "frequencies": [play[f"{who}|{card}:{seen}"] for who, seen in places for card in "123"],
    }


def rules_of_three(stored: Stored) -> Table:
    """Share of hands that go and pay by the rules, and the number of ways to bet."""
    hands = _hands(stored, "kuhn3")
    bet = [bool(re.fullmatch(_BETTING, hand.history)) for hand in hands]
    paid = [_due(hand) == [*map(Fraction, hand.payoffs)] for hand in hands]
    return {
        "betting": [Fraction(sum(bet), len(bet)), len({hand.history for hand in hands})],
        "showdown": Fraction(sum(paid), len(paid)),
    }


def _due(hand: Hand) -> list[int]:
    """Profits by the rules: the pot less own chips of one player, minus own chips of the others."""
    chips = _chips(hand)
    stays = [player for player, own in enumerate(chips) if own == max(chips)]
    winner = max(stays, key=lambda player: hand.cards[player])
    return [sum(chips) * (player == winner) - own for player, own in enumerate(chips)]


def _chips(hand: Hand) -> list[int]:
    """Chips of each player in the pot by the rules: one, and one more with a bet or call."""
    players = len(hand.cards)
    last = {place % players: move for place, move in enumerate(hand.history.split())}
    return [1 + (last[player] in ("bet", "call")) for player in range(players)]


def parameters(stored: Stored) -> list[int]:
    """Least and largest number of parameters of a part."""
    counts = stored["three_player_family"].summary["parameters"]
    return [min(counts), max(counts)]


def members(stored: Stored) -> Table:
    """Figures that members of the family of three players have in common, exactly."""
    summary = restored(stored["three_player_family"].summary)
    found, betas = summary["members"], [one["beta"] for one in summary["members"]]
    first, second, third = zip(*(one["payoffs"] for one in found), strict=True)
    strategies = {tuple(one["player_1"]) for one in found}
    gaps = [u1 - u2 for u1, u2 in zip(first, second, strict=True)]
    is_stable = [one["max_regret"] == 0 for one in found]
    equal = [stable for stable, gap in zip(is_stable, gaps, strict=True) if gap == 0]
    sums = {u1 + u3 for u1, u3 in zip(first, third, strict=True)}
    shifts = all(is_stable) and len(sums) == len(set(second)) == 1 and len(set(first)) > 1
    points = [{"β": beta} for beta in betas]
    return {
        # actions stand in pairs, check before bet; the four openings come first
        "player 1": Finding(
            [len(strategies), all(own[:8:2] == (1,) * 4 for own in strategies)],
            {"strategies": len(strategies), "members": len(found)},
        ),
        "u1": Finding(Points(points, first), Interval(min(first), max(first))),
        "u2": set(second),
        "u3": Finding(Points(points, third), Interval(min(third), max(third))),
        "u1 − u2": gaps,
        "equal payoffs without regret": bool(equal) and all(equal),
        "shift": Finding(shifts, {"u1 + u3": sums, "u2": set(second)}),
        "β": [min(betas), max(betas)],
        "no regret up to the largest β, regret beyond": (
            all(is_stable) and summary["beyond"]["max_regret"] > 0
        ),
    }
