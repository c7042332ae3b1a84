"""What can be read off the points of traced branches: counts, ranges of payoffs, strategies.

Symbols in shapes: K points, N players.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.kuhn_ranges import (
    TOLERANCE,
    KuhnNodes,
    Range,
    Ranges,
    held,
    strategy_ranges,
)
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.compute import SMALL_DECKS, kuhn
from eqbench.registry import load_game
from eqbench.studies.branch import VERTICAL, Branch, crossing_counts, read_points, turning_points

_EXAMINED, _POTS = 1500, 600
# Pots that all of the branches pass whose ranges of payoffs are compared.
_WINDOW = (0.5, 9.9)
# Two-way bets with few cards are rarer than what counts elsewhere.
_FEW_CARDS, _RARE = 7, 1e-3
_LARGE = {"n9": 9, "n13": 13, "n13_1e_6": 13, "n13_1e_4": 13, "n26": 26, "n52": 52}


def branches(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Facts about the branches of 4 to 13 cards."""
    return {"decks": [_described(load_branch(jobs, cards)) for cards in SMALL_DECKS]}


def large_branches(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Facts about the branches of 26 and 52 cards, and ranges of payoffs at equal strengths."""
    traced = {name: load_branch(jobs, cards, name) for name, cards in _LARGE.items()}
    window = np.linspace(*_WINDOW, _POTS)
    return {
        "decks": [_described(traced[name]) for name in ("n26", "n52")],
        "mean_range": {
            name: float(_ranges(branch, window).max(axis=1).mean())
            for name, branch in traced.items()
        },
    }


def load_branch(jobs: Path, cards: int, job: str = "") -> Branch:
    """The branch of a deck as its job left it."""
    return read_points(load_game(kuhn(cards)), jobs / (job or f"n{cards}") / "points.csv")


def _described(branch: Branch) -> dict[str, Any]:
    nodes, values = KuhnNodes.of(branch.game.tree), branch.values
    rows = np.unique(np.linspace(0, len(values) - 1, _EXAMINED).astype(int))
    played = np.array([nodes.aggression(branch.behavior(k)) for k in range(len(values))])
    pots = np.linspace(values.min(), values.max(), _POTS + 2)[1:-1]
    steps = np.diff(branch.arclength)
    few = played if nodes.cards <= _FEW_CARDS else played[:0]
    return {
        "cards": nodes.cards,
        "points": len(values),
        "ends": [float(values.min()), float(values.max())],
        "folds": len(turning_points(values)),
        **_counts(values),
        "largest_range": _ranges(branch, pots).max(axis=0).tolist(),
        "steps": np.quantile(steps[steps > 0], [0.01, 0.5, 1.0]).tolist(),
        **_strategies(values[rows], played[rows]),
        "turns_of_top_at_node_1": len(turning_points(np.round(played[rows, 0, -1], 2))),
        "figure_10": _figure_10(values, played) if nodes.cards == 13 else None,
        "rare_two_way": _two_way_bets(values[: len(few)], [strategy_ranges(a, _RARE) for a in few]),
    }


def _counts(values: FloatArray) -> dict[str, int]:
    """How many points there are at one pot, folds closer than 1e-4 counted as one."""
    counts = crossing_counts(values, VERTICAL)[1]
    several = counts > 1
    return {
        "most": int(counts.max()),
        "ranges_with_several": int(np.sum(several & ~np.r_[False, several[:-1]])),
    }


def _ranges(branch: Branch, pots: FloatArray) -> FloatArray:
    """How far the payoffs of each player range at each of the pots (P,): (P, N)."""
    return np.array([np.ptp(at_pot(branch, pot), axis=0) for pot in pots])


def at_pot(branch: Branch, pot: float) -> FloatArray:
    """Payoffs (crossings, N) where the polyline of the branch crosses a pot."""
    before, after = branch.values[:-1], branch.values[1:]
    rows = np.flatnonzero((before - pot) * (after - pot) <= 0)
    gap = after[rows] - before[rows]
    share = np.divide(pot - before[rows], gap, out=np.zeros(len(rows)), where=gap != 0)[:, None]
    return np.asarray((1 - share) * branch.payoffs[rows] + share * branch.payoffs[rows + 1])


def _strategies(values: FloatArray, played: FloatArray) -> dict[str, Any]:
    """Which cards are in which range at which node, at some 1,500 points of the branch."""
    cards: dict[str, defaultdict[int, set[int]]] = {
        kind.label: defaultdict(set) for kind in tuple(Range)[1:]
    }
    complete = np.zeros(len(values), dtype=bool)
    distinct = 0
    every = [strategy_ranges(aggression) for aggression in played]
    for k, ranges in enumerate(every):
        for table in (ranges.aggressive, ranges.passive):
            for row, card in np.argwhere(table).tolist():
                cards[Range(int(table[row, card])).label][row + 1].add(card + 1)
        openings = ranges.aggressive[:3]
        kinds = (Range.VALUE_BET, Range.BLUFF)
        complete[k] = all((openings == kind).any(axis=1).all() for kind in kinds)
        distinct += all(_in_order(row) for row in openings)
    return {
        "examined": len(values),
        "cards_in_ranges": {
            kind: {str(row): sorted(found) for row, found in sorted(rows.items())}
            for kind, rows in cards.items()
        },
        "two_way": _two_way_bets(values, every),
        "value_and_bluffs_from": float(values[~complete].max(initial=0.0)),
        "bluffs_below_value": distinct,
    }


def _in_order(row: NDArray[np.int8]) -> bool:
    """Whether all bluffs of a node are with lower cards than all value bets."""
    bluffs, value = (np.flatnonzero(row == kind) for kind in (Range.BLUFF, Range.VALUE_BET))
    return not (bluffs.size and value.size) or bool(bluffs.max() < value.min())


def _two_way_bets(values: FloatArray, every: list[Ranges]) -> list[dict[str, Any]]:
    """For each player and card, at how many points and between which pots there is such a bet."""
    found: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    for value, ranges in zip(values.tolist(), every, strict=True):
        for row, card in np.argwhere(ranges.aggressive == Range.TWO_WAY_BET).tolist():
            found[row + 1, card + 1].append(value)
    return [
        {"node": row, "card": card, "points": len(pots), "pots": [min(pots), max(pots)]}
        for (row, card), pots in sorted(found.items())
    ]


def _figure_10(values: FloatArray, played: FloatArray) -> dict[str, Any]:
    """At which points the features of the published equilibrium occur, one by one and all at once.

    The feature that is left out of all at once is that node 2 always bets 5, 6 and 7.
    """
    bets, always = played > TOLERANCE, played > 1 - TOLERANCE
    two_way, pays = _two_way_at_node_3(played)
    best_seven = bets[:, 1, 6:].all(axis=1)
    low, cards_5_6, high = np.split(bets[:, 2], (4, 6), axis=1)
    both = cards_5_6.all(axis=1)
    found = {
        "node 2 bets the best seven cards": best_seven,
        "node 2 bets card 2 and none of 3 to 6 beside the best seven": best_seven
        & ~bets[:, 1, 2:6].any(axis=1)
        & bets[:, 1, 1],
        "node 5 always calls with the best three cards": always[:, 4, 10:].all(axis=1),
        "node 3 bets 5 and 6": both,
        "node 3 bets 5 and 6 apart from other ranges": both
        & (low.any(axis=1) & ~low[:, -1])
        & (high.any(axis=1) & ~high[:, 0]),
        "node 3 bets 5 and 6, two-way both": (two_way & pays).all(axis=1),
    }
    found["all"] = np.logical_and.reduce(list(found.values()))
    found["node 2 always bets 5, 6 and 7"] = always[:, 1, 4:7].all(axis=1)
    least = played[found["node 3 bets 5 and 6, two-way both"], 2, 4:6].min(axis=1)
    return {
        "most_of_both_two_way": float(least.max(initial=0.0)),
        **{name: _where(values[chosen]) for name, chosen in found.items()},
    }


def _two_way_at_node_3(played: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether cards 5 and 6 are two-way bets of player 3, and whether player 1 pays them: (K, 2).

    A two-way bet is for value against one opponent only, who then calls it with worse.
    """
    two_way = np.zeros((len(played), 2), dtype=bool)
    pays = np.zeros_like(two_way)
    for k in np.flatnonzero((played[:, 2, 4:6] > TOLERANCE).any(axis=1)):
        two_way[k] = strategy_ranges(played[k]).aggressive[2, 4:6] == Range.TWO_WAY_BET
        calls = (played[k, 3] > TOLERANCE) & (held(played[k])[3] > TOLERANCE)
        pays[k] = calls[:4].any(), calls[:5].any()
    return two_way, pays


def _where(pots: FloatArray) -> dict[str, Any]:
    return {
        "points": len(pots),
        "pots": [float(pots.min()), float(pots.max())] if len(pots) else [],
    }
