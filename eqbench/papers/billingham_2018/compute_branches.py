"""What can be read off the points of traced branches: counts, ranges of payoffs, strategies.

Symbols in shapes: K points, N players.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.kuhn_ranges import TOLERANCE, KuhnNodes, Range, held, strategy_ranges
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.jobs import SMALL_DECKS, SMOOTHED, kuhn
from eqbench.registry import load_game
from eqbench.studies.branch import VERTICAL, Branch, crossing_counts, read_points, turning_points

NARROW = 1e-6
_EXAMINED, _POTS = 1500, 600
# Pots that all of the branches pass whose ranges of payoffs are compared.
_WINDOW = (0.5, 9.9)
# Two-way bets with few cards are rarer than what counts elsewhere.
_FEW_CARDS, _RARE = 7, 1e-3
_KINDS = tuple(Range)[1:]


def branches(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Facts about the branches of 4 to 13 cards."""
    return {"decks": [_described(load_branch(jobs, cards)) for cards in SMALL_DECKS]}


def large_branches(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Facts about the branches of 26 and 52 cards, and ranges of payoffs at equal strengths."""
    names = {"n9": 9, "n13": 13, **dict.fromkeys(SMOOTHED, 13), "n26": 26, "n52": 52}
    traced = {name: load_branch(jobs, cards, name) for name, cards in names.items()}
    window = np.linspace(*_WINDOW, _POTS)
    return {
        "decks": [_described(traced[name]) for name in ("n26", "n52")],
        "window": list(_WINDOW),
        "mean_range": {
            name: float(_ranges(branch, window).max(axis=1).mean())
            for name, branch in traced.items()
        },
    }


def load_branch(jobs: Path, cards: int, job: str = "") -> Branch:
    """The branch of a deck as its job left it."""
    return read_points(load_game(kuhn(cards)), jobs / (job or f"n{cards}") / "points.csv")


def _described(branch: Branch) -> dict[str, Any]:
    nodes = KuhnNodes.of(branch.game.tree)
    rows = np.unique(np.linspace(0, len(branch.values) - 1, _EXAMINED).astype(int))
    aggression = np.array([nodes.aggression(branch.behavior(k)) for k in rows])
    return {
        "cards": nodes.cards,
        "points": len(branch.values),
        "ends": [float(branch.values.min()), float(branch.values.max())],
        "folds": len(turning_points(branch.values)),
        **_counts(branch.values),
        **_payoffs(branch),
        **_steps(branch),
        **_strategies(branch.values[rows], aggression),
        **_openings(branch.values[rows], aggression),
        "figure_10": _figure_10(branch.values, _everywhere(branch, nodes))
        if nodes.cards == 13
        else None,
        "rare_two_way": _rare_two_way(branch, nodes) if nodes.cards <= _FEW_CARDS else None,
    }


def _counts(values: FloatArray) -> dict[str, Any]:
    """How many points there are at one pot, folds closer than 1e-4 counted as one."""
    breakpoints, counts = crossing_counts(values, VERTICAL)
    most, several = int(counts.max()), counts > 1
    starts = np.flatnonzero(several & ~np.concatenate(([False], several[:-1])))
    at_most = np.flatnonzero(counts == most)
    narrow, narrow_counts = crossing_counts(values, NARROW)
    widest = max(
        (float(narrow[k + 1] - narrow[k]), float(narrow[k]))
        for k in np.flatnonzero(narrow_counts == narrow_counts.max())
    )
    return {
        "most": most,
        "most_at": [[float(breakpoints[k]), float(breakpoints[k + 1])] for k in at_most],
        "ranges_with_several": len(starts),
        "most_narrow": int(narrow_counts.max()),
        "narrow_width": widest[0],
        "narrow_from": widest[1],
    }


def _payoffs(branch: Branch) -> dict[str, Any]:
    """How far payoffs range at one pot: at most by player, and on average over pots."""
    grid = np.linspace(branch.values.min(), branch.values.max(), _POTS + 2)[1:-1]
    ranges = _ranges(branch, grid)
    return {
        "largest_range": ranges.max(axis=0).tolist(),
        "mean_range": float(ranges.max(axis=1).mean()),
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
    crossed: FloatArray = (1 - share) * branch.payoffs[rows] + share * branch.payoffs[rows + 1]
    return crossed


def _steps(branch: Branch) -> dict[str, Any]:
    """Lengths of steps in the space of frequencies and pot."""
    steps = np.diff(branch.arclength)
    least, middle, most = np.quantile(steps[steps > 0], [0.01, 0.5, 1.0])
    return {"steps": [float(least), float(middle), float(most)]}


def _strategies(values: FloatArray, aggression: FloatArray) -> dict[str, Any]:
    """Which cards are in which range at which node, at some 1,500 points of the branch.

    `cards` holds for each kind of range and each node the cards, and `two_way` for each player
    and card at how many of the points and between which pots there is a two-way bet.
    """
    cards: dict[str, defaultdict[int, set[int]]] = {k.label: defaultdict(set) for k in _KINDS}
    two_way: dict[tuple[int, int], list[float]] = {}
    complete = np.zeros(len(values), dtype=bool)
    distinct = 0
    for k, played in enumerate(aggression):
        ranges = strategy_ranges(played)
        for table in (ranges.aggressive, ranges.passive):
            for row, card in np.argwhere(table).tolist():
                kind = Range(int(table[row, card]))
                cards[kind.label][row + 1].add(card + 1)
                if kind is Range.TWO_WAY_BET:
                    two_way.setdefault((row + 1, card + 1), []).append(float(values[k]))
        openings = ranges.aggressive[:3]
        complete[k] = all(
            (row == Range.VALUE_BET).any() and (row == Range.BLUFF).any() for row in openings
        )
        distinct += all(_in_order(row) for row in openings)
    return {
        "examined": len(values),
        "range_tolerance": TOLERANCE,
        "cards_in_ranges": {
            kind: {str(row): sorted(found) for row, found in sorted(rows.items())}
            for kind, rows in cards.items()
        },
        "two_way": _bets_by_place(two_way),
        "value_and_bluffs_from": float(values[~complete].max()) if not complete.all() else 0.0,
        "bluffs_below_value": distinct,
    }


def _rare_two_way(branch: Branch, nodes: KuhnNodes) -> list[dict[str, Any]]:
    """Two-way bets with frequencies above 0.001, at all points of a branch."""
    found: dict[tuple[int, int], list[float]] = {}
    for k, value in enumerate(branch.values.tolist()):
        ranges = strategy_ranges(nodes.aggression(branch.behavior(k)), _RARE)
        for row, card in np.argwhere(ranges.aggressive == Range.TWO_WAY_BET).tolist():
            found.setdefault((row + 1, card + 1), []).append(value)
    return _bets_by_place(found)


def _bets_by_place(found: dict[tuple[int, int], list[float]]) -> list[dict[str, Any]]:
    return [
        {"node": row, "card": card, "points": len(pots), "pots": [min(pots), max(pots)]}
        for (row, card), pots in sorted(found.items())
    ]


def _in_order(row: NDArray[np.int8]) -> bool:
    """Whether all bluffs of a node are with lower cards than all value bets."""
    bluffs, value = (np.flatnonzero(row == kind) for kind in (Range.BLUFF, Range.VALUE_BET))
    return not (bluffs.size and value.size) or bool(bluffs.max() < value.min())


def _openings(values: FloatArray, aggression: FloatArray) -> dict[str, Any]:
    """How bets with the best two cards move."""
    top, second = aggression[:, 0, -1], aggression[:, :3, -2]
    return {
        "turns_of_top_at_node_1": len(turning_points(np.round(top, 2))),
        "second_best_bet": [_first(values, bets > TOLERANCE) for bets in second.T],
    }


def _first(values: FloatArray, chosen: NDArray[np.bool_]) -> float | None:
    """The smallest of the chosen pots."""
    return float(values[chosen].min()) if chosen.any() else None


def _everywhere(branch: Branch, nodes: KuhnNodes) -> FloatArray:
    """Frequencies of bet or call (K, 12, cards) at all points of a branch."""
    return np.array([nodes.aggression(branch.behavior(k)) for k in range(len(branch.values))])


def _figure_10(values: FloatArray, aggression: FloatArray) -> dict[str, Any]:
    """At which points the features of the published equilibrium occur, one by one and all at once.

    The feature that is left out of all at once is that node 2 always bets 5, 6 and 7.
    """
    bets, always = aggression > TOLERANCE, aggression > 1 - TOLERANCE
    two_way, as_published = _two_way_at_node_3(aggression)
    found = {
        "node 2 bets the best seven cards": bets[:, 1, 6:].all(axis=1),
        "node 2 bets card 2 and none of 3 to 6 beside the best seven": bets[:, 1, 6:].all(axis=1)
        & ~bets[:, 1, 2:6].any(axis=1)
        & bets[:, 1, 1],
        "node 5 always calls with the best three cards": always[:, 4, 10:].all(axis=1),
        "node 3 bets 5 and 6": bets[:, 2, 4:6].all(axis=1),
        "node 3 bets 5 and 6 apart from other ranges": _apart(bets[:, 2]),
        "node 3 bets 5 and 6, two-way both": (two_way & as_published).all(axis=1),
    }
    found["all"] = np.logical_and.reduce(list(found.values()))
    found["node 2 always bets 5, 6 and 7"] = always[:, 1, 4:7].all(axis=1)
    for place, card in enumerate((5, 6)):
        found[f"node 3 bets {card} two-way"] = two_way[:, place] & as_published[:, place]
        found[f"node 3 bets {card} two-way, the other way"] = (
            two_way[:, place] & ~as_published[:, place]
        )
    both = found["node 3 bets 5 and 6, two-way both"]
    least = aggression[both, 2, 4:6].min(axis=1)
    return {
        "most_of_both_two_way": float(least.max(initial=0.0)),
        **{name: _where(values, np.asarray(chosen)) for name, chosen in found.items()},
    }


def _two_way_at_node_3(aggression: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether cards 5 and 6 are two-way bets of player 3, and whether player 1 pays them: (K, 2).

    A two-way bet is for value against one opponent only, who then calls it with worse.
    """
    two_way = np.zeros((len(aggression), 2), dtype=bool)
    pays = np.zeros_like(two_way)
    for k in np.flatnonzero((aggression[:, 2, 4:6] > TOLERANCE).any(axis=1)):
        two_way[k] = strategy_ranges(aggression[k]).aggressive[2, 4:6] == Range.TWO_WAY_BET
        calls = (aggression[k, 3] > TOLERANCE) & (held(aggression[k])[3] > TOLERANCE)
        pays[k] = calls[:4].any(), calls[:5].any()
    return two_way, pays


def _apart(bets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether cards 5 and 6 are bet, with cards that are not above and below, and others bet."""
    low, high = bets[:, :4], bets[:, 6:]
    both = bets[:, 4:6].all(axis=1)
    outside = low.any(axis=1) & high.any(axis=1)
    apart: NDArray[np.bool_] = both & outside & ~bets[:, 3] & ~bets[:, 6]
    return apart


def _where(values: FloatArray, chosen: NDArray[np.bool_]) -> dict[str, Any]:
    pots: list[float] = values[chosen].tolist()
    return {"points": len(pots), "pots": [min(pots), max(pots)] if pots else []}
