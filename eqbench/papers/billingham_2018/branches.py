"""What can be read off the points of traced branches: counts, ranges of payoffs, strategies.

Symbols in shapes: K points, E examined points, N cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.compute import SMALL_DECKS, kuhn
from eqbench.papers.records import Table
from eqbench.registry import load_game
from eqbench.studies.branch import VERTICAL, Branch, crossing_counts, read_points, turning_points
from eqbench.studies.kuhn_ranges import (
    N_OPENINGS,
    TOLERANCE,
    KuhnNodes,
    Range,
    held,
    kinds_of,
    strategy_ranges,
)

COUNTED = (4, 5, 10, 13)
_EXAMINED, _POTS = 1500, 600
# Pots that all of the branches pass whose ranges of payoffs are compared.
_WINDOW = (0.5, 9.9)
# Two-way bets with few cards are rarer than what counts elsewhere.
_FEW_CARDS, _RARE = 7, 1e-3
_LARGE = {"n9": 9, "n13": 13, "n13_1e_6": 13, "n13_1e_4": 13, "n26": 26, "n52": 52}


@dataclass(frozen=True, eq=False)
class Deck:
    """A branch and how it is played at its nodes."""

    branch: Branch

    @cached_property
    def played(self) -> FloatArray:
        """Frequencies of bets and calls, (K, 12, N)."""
        nodes, points = KuhnNodes.of(self.branch.game.tree), range(len(self.branch.values))
        return np.array([nodes.aggression(self.branch.behavior(k)) for k in points])

    @cached_property
    def examined(self) -> NDArray[np.int64]:
        """Points whose strategies are looked at, (E,)."""
        last = len(self.branch.values) - 1
        return np.unique(np.linspace(0, last, _EXAMINED).astype(int))

    @cached_property
    def kinds(self) -> NDArray[np.int8]:
        """Ranges of bets and calls, and then of checks, at the examined points, (E, 2, 12, N)."""
        return kinds_of(self.played[self.examined])

    def cards(self, kind: Range) -> dict[int, list[int]]:
        """Cards that are in a range somewhere, by node."""
        seen = (self.kinds == kind).any(axis=(0, 1))
        found = {row + 1: np.flatnonzero(cards) + 1 for row, cards in enumerate(seen)}
        return {node: cards.tolist() for node, cards in found.items() if cards.size}


def load_branch(jobs: Path, cards: int, job: str = "") -> Branch:
    """The branch of a deck as its job left it."""
    return read_points(load_game(kuhn(cards)), jobs / (job or f"n{cards}") / "points.csv")


def by_deck(values: Mapping[int, Any]) -> Table:
    """Values by the names of decks."""
    return {f"N = {cards}": value for cards, value in values.items()}


def branches(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Facts about the branches of 4 to 13 cards."""
    decks = {cards: Deck(load_branch(jobs, cards)) for cards in SMALL_DECKS}
    kinds = tuple(Range)[1:]
    # the longest step over the 1 % shortest
    steps = [own[own > 0] for own in (np.diff(deck.branch.arclength) for deck in decks.values())]
    return {
        "counts": {n: counts(deck.branch.values) for n, deck in decks.items()},
        "steps": [own.max() / np.quantile(own, 0.01) for own in steps],
        "cards": {n: {kind.label: decks[n].cards(kind) for kind in kinds} for n in (4, 5)},
        "ranges": _ranges(decks),
        "five cards": _five_cards(decks[4], decks[5]),
        "two-way": _two_way(decks),
        "figure 10": figure_10(decks[13].branch.values, decks[13].played),
    }


def large_branches(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Counts of the branches of 26 and 52 cards, and ranges of payoffs at equal strengths."""
    traced = {name: load_branch(jobs, cards, name) for name, cards in _LARGE.items()}
    window = np.linspace(*_WINDOW, _POTS)
    return {
        "counts": {name: counts(traced[name].values) for name in ("n26", "n52")},
        "mean_range": {
            name: _payoff_ranges(branch, window).max(axis=1).mean()
            for name, branch in traced.items()
        },
    }


def counts(values: FloatArray) -> dict[str, int]:
    """Points at one pot, pots with several, and folds; for the first two, near ones are one."""
    found = crossing_counts(values, VERTICAL)
    several = np.append(False, found.counts > 1)
    return {
        "most": found.most,
        "ranges with several": int(np.sum(several[1:] & ~several[:-1])),
        "folds": len(turning_points(values)),
    }


def _payoff_ranges(branch: Branch, pots: FloatArray) -> FloatArray:
    """How far the payoffs of each player range at each of the pots (P,): (P, players)."""
    return np.array([np.ptp(payoffs_at(branch, pot), axis=0) for pot in pots])


def payoffs_at(branch: Branch, value: float) -> FloatArray:
    """Payoffs (crossings, players) wherever the polyline of a branch has this value."""
    before, after = branch.values[:-1], branch.values[1:]
    rows = np.flatnonzero((before - value) * (after - value) <= 0)
    gap = after[rows] - before[rows]
    moved = np.divide(value - before[rows], gap, out=np.zeros(len(rows)), where=gap != 0)
    share = moved[:, None]
    return np.asarray((1 - share) * branch.payoffs[rows] + share * branch.payoffs[rows + 1])


def _ranges(decks: Mapping[int, Deck]) -> Table:
    """Which cards are value bets, bluffs, bluff-catchers and sandbags."""
    catch = {n: deck.cards(Range.BLUFF_CATCH).values() for n, deck in decks.items()}
    sandbags = {n: deck.cards(Range.SANDBAG) for n, deck in decks.items()}
    value_bets = {n: decks[n].cards(Range.VALUE_BET).values() for n in COUNTED}
    return {
        "complete": by_deck({n: _complete_from(deck) for n, deck in decks.items()}),
        "out of order": [_out_of_order(deck).mean() for deck in decks.values()],
        "bluff-catchers": {
            "cards above": {n - max(map(max, nodes)) for n, nodes in catch.items()},
            "cards below": {min(map(min, nodes)) - 1 for nodes in catch.values()},
        },
        "above sandbags": {
            n - max(by_node.get(k, [0])) for n, by_node in sandbags.items() for k in (1, 2)
        },
        "value bets": by_deck({n: max(map(len, cards)) for n, cards in value_bets.items()}),
    }


def _complete_from(deck: Deck) -> float:
    """The pot from which on all openings have value bets and bluffs."""
    openings = deck.kinds[:, 0, :N_OPENINGS]
    kinds = [(openings == kind).any(axis=2).all(axis=1) for kind in (Range.VALUE_BET, Range.BLUFF)]
    missing = deck.branch.values[deck.examined][~(kinds[0] & kinds[1])]
    return float(missing.max(initial=0.0))


def _out_of_order(deck: Deck) -> NDArray[np.bool_]:
    """Where an opening has a bluff with a higher card than a value bet, (E,)."""
    openings = deck.kinds[:, 0, :N_OPENINGS]
    above = np.logical_or.accumulate(openings == Range.VALUE_BET, axis=2)
    return np.asarray((above & (openings == Range.BLUFF)).any(axis=(1, 2)))


def _five_cards(four: Deck, five: Deck) -> Table:
    """The branch with five cards next to that with four."""
    several, widest, turns = [], dict[str, float](), dict[str, float]()
    for name, deck in (("N = 4", four), ("N = 5", five)):
        values = deck.branch.values
        pots = np.linspace(values.min(), values.max(), _POTS + 2)[1:-1]
        several.append(counts(values)["ranges with several"])
        widest[name] = _payoff_ranges(deck.branch, pots).max()
        turns[name] = len(turning_points(np.round(deck.played[deck.examined, 0, -1], 2)))
    return {
        "ranges with several": several,
        "widest": widest | {"ratio": widest["N = 5"] / widest["N = 4"]},
        "overlaps": [len(five.cards(Range.TWO_WAY_BET)), _out_of_order(five).sum()],
        "turns": turns | {"ratio": turns["N = 5"] / max(turns["N = 4"], 1)},
    }


def _two_way(decks: Mapping[int, Deck]) -> Table:
    """Two-way bets: with how many cards, and who makes them with the fewest.

    With few cards they are looked for at all points, and rare ones count.
    """
    bets = dict[int, dict[tuple[int, int], list[float]]]()
    for n, deck in decks.items():
        rare, own = n <= _FEW_CARDS, bets.setdefault(n, {})
        kinds = kinds_of(deck.played, _RARE) if rare else deck.kinds
        values = deck.branch.values if rare else deck.branch.values[deck.examined]
        for k, row, card in np.argwhere(kinds[:, 0] == Range.TWO_WAY_BET).tolist():
            own.setdefault((row + 1, card + 1), []).append(values[k])
    six, seven = (sum(map(len, bets[n].values())) / len(decks[n].branch.values) for n in (6, 7))
    return {
        "decks": [n for n, made in bets.items() if made],
        "share": {"N = 6": six, "N = 7": seven, "ratio": six / (seven or inf)},
        "N = 6": {
            "players": {player for player, _ in bets[6]},
            **{
                f"player {player}, card {card}, pots": [min(pots), max(pots)]
                for (player, card), pots in sorted(bets[6].items())
            },
        },
    }


def figure_10(values: FloatArray, played: FloatArray) -> Table:
    """At which points the features of the published equilibrium occur, one by one and all at once.

    The feature that is left out of all at once is that node 2 always bets 5, 6 and 7.
    """
    bets, always = played > TOLERANCE, played > 1 - TOLERANCE
    best_seven = bets[:, 1, 6:].all(axis=1)
    low, cards_5_6, high = np.split(bets[:, 2], (4, 6), axis=1)
    both = cards_5_6.all(axis=1)
    apart = low.any(axis=1) & ~low[:, -1] & high.any(axis=1) & ~high[:, 0]
    found = {
        "node 2 bets the best seven cards": best_seven,
        "node 2 bets card 2 and none of 3 to 6 beside the best seven": best_seven
        & ~bets[:, 1, 2:6].any(axis=1)
        & bets[:, 1, 1],
        "node 5 always calls with the best three cards": always[:, 4, 10:].all(axis=1),
        "node 3 bets 5 and 6": both,
        "node 3 bets 5 and 6 apart from other ranges": both & apart,
        "node 3 bets 5 and 6, two-way both": both & two_way_at_node_3(played).all(axis=1),
    }
    found["all"] = np.logical_and.reduce(list(found.values()))
    found["node 2 always bets 5, 6 and 7"] = always[:, 1, 4:7].all(axis=1)
    least = played[found["node 3 bets 5 and 6, two-way both"], 2, 4:6].min(axis=1)
    where = {name: values[chosen] for name, chosen in found.items()}
    return {
        "most_of_both_two_way": float(least.max(initial=0.0)),
        **{
            name: {"points": len(pots), "pots": [pots.min(), pots.max()] if len(pots) else []}
            for name, pots in where.items()
        },
    }


def two_way_at_node_3(played: FloatArray) -> NDArray[np.bool_]:
    """Whether cards 5 and 6 are two-way bets of player 3 that player 1 pays, (K, 2).

    A two-way bet is for value against one opponent only, who then calls it with worse.
    """
    found = np.zeros((len(played), 2), dtype=bool)
    for k in np.flatnonzero((played[:, 2, 4:6] > TOLERANCE).any(axis=1)):
        two_way = strategy_ranges(played[k]).aggressive[2, 4:6] == Range.TWO_WAY_BET
        calls = (played[k, 3] > TOLERANCE) & (held(played[k])[3] > TOLERANCE)
        found[k] = two_way & [calls[:4].any(), calls[:5].any()]
    return found
