"""Which game is it: a signature that no labels and no orders change, and maps between equal games.

Games are the same if players, information sets, actions and nodes of one can be renamed to those
of the other. Labels, the order of actions, of chance outcomes and of players do not matter. Chance
moves that follow each other count as one, so dealing card by card is dealing a hand. Payoffs and
probabilities must agree exactly; forced moves count as moves.

A game is seen as a graph. Its vertices are players, information sets, actions and nodes; its edges
lead from a node to its parent, its information set and the action before it, from an action to its
information set, from that to its player, and from a player to each terminal. Probabilities and
payoffs are labels of edges. The color of a vertex is refined by the colors around it until nothing
changes (Weisfeiler and Leman 1968); where vertices then still look alike, one of each game is
singled out, as by McKay and Piperno (2014, J. Symbolic Comput. 60). What is found is checked edge
by edge, so that games are never called the same that are not.

Symbols in shapes: N players, I information sets, A actions, V vertices, E edges.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import CHANCE, TERMINAL, GameTree

MOST_TRIES = 200  # vertices singled out until two games count as not decided, so as different

_Colors = NDArray[np.uint64]
_ODD = np.uint64(0x9E3779B97F4A7C15)  # multipliers and shifts of SplitMix64
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


@dataclass(frozen=True, eq=False)
class Isomorphism:
    """Where the parts of one game stand in another that is the same.

    Attributes
    ----------
    players : int64 (N,)
        Player of the other game for each of this one.
    infosets : int64 (I,)
    actions : int64 (A,)
    """

    players: NDArray[np.int64]
    infosets: NDArray[np.int64]
    actions: NDArray[np.int64]


def signature(tree: GameTree) -> str:
    """Text that is equal for games that are the same; of others it may be, but hardly ever is.

    Raises
    ------
    TypeError
        If payoffs or probabilities are not known exactly.
    """
    graph = _Graph.of(tree)
    return hashlib.sha256(np.sort(graph.refined(graph.kinds)).astype("<u8").tobytes()).hexdigest()[
        :32
    ]


def isomorphism(tree: GameTree, other: GameTree) -> Isomorphism | None:
    """Map of a game to another that is the same; None if there is none, or none is found in time.

    Players keep their seats if that is possible.

    Raises
    ------
    TypeError
        If payoffs or probabilities are not known exactly.
    """
    if _counts(tree) != _counts(other):
        return None
    here, there = _Graph.of(tree), _Graph.of(other)
    if len(here.kinds) != len(there.kinds) or len(here.edges) != len(there.edges):
        return None
    found = _matched(
        here, there, here.refined(here.kinds), there.refined(there.kinds), [MOST_TRIES]
    )
    if found is None:
        return None
    ends = np.cumsum([0, *_counts(tree)[:3]])
    return Isomorphism(*(found[a:b] - a for a, b in pairwise(ends.tolist())))


def _counts(tree: GameTree) -> tuple[int, ...]:
    return tree.n_players, tree.n_infosets, tree.n_actions, tree.n_terminals


@dataclass(frozen=True, eq=False)
class _Graph:
    """A game as a graph: players, information sets, actions and nodes, in this order.

    Attributes
    ----------
    kinds : uint64 (V,)
        Colors at the beginning.
    edges : int64 (E, 2)
        Lower and upper end of each.
    labels : uint64 (E,)
    texts : what the labels stand for
    """

    kinds: _Colors
    edges: NDArray[np.int64]
    labels: _Colors
    texts: dict[int, str]

    @classmethod
    def of(cls, tree: GameTree) -> _Graph:
        if not tree.exact:
            raise TypeError("only games that are known exactly can be compared")
        within = (tree.player == CHANCE) & (tree.player[tree.parent] == CHANCE)
        within[0] = False  # a chance move that is part of the one before
        top = tree.parent.astype(np.int64)
        odds: dict[int, Fraction] = {}
        for node in np.flatnonzero(
            (tree.player[tree.parent] == CHANCE) & (tree.parent >= 0)
        ).tolist():
            above = int(top[node])
            part = Fraction(int(tree.chance[node]), tree.chance_denominator)
            if within[above]:
                part, top[node] = part * odds[above], top[above]
            odds[node] = part
        kept = np.flatnonzero(~within)
        starts = np.cumsum([0, tree.n_players, tree.n_infosets, tree.n_actions])
        players, infosets, actions, nodes = starts.tolist()
        place = np.full(tree.n_nodes, -1)
        place[kept] = nodes + np.arange(len(kept))

        texts: dict[int, str] = {}
        numbers: dict[str, int] = {}

        def number(text: str) -> int:
            if text not in numbers:
                digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
                found = int.from_bytes(digest, "little")
                while found in texts:  # two labels of a game never share a number
                    found += 1
                numbers[text], texts[found] = found, text
            return numbers[text]

        below, decided = kept[1:], kept[tree.infoset[kept] >= 0]
        moved = below[tree.incoming[below] >= 0]
        numerators, denominator = tree.payoffs.rational()
        values, where = np.unique(numerators.ravel(), return_inverse=True)
        payoffs = [number(f"payoff {Fraction(int(value), denominator)}") for value in values]
        seats = np.tile(np.arange(tree.n_players), tree.n_terminals)
        parts = [
            (
                place[below],
                place[top[below]],
                [number(f"chance {odds.get(n)}") for n in below.tolist()],
            ),
            (place[decided], infosets + tree.infoset[decided], number("met")),
            (place[moved], actions + tree.incoming[moved], number("led")),
            (actions + np.arange(tree.n_actions), infosets + tree.action_infoset, number("choice")),
            (infosets + np.arange(tree.n_infosets), players + tree.infoset_player, number("own")),
            (
                np.repeat(place[tree.terminals], tree.n_players),
                players + seats,
                np.array(payoffs, dtype=np.uint64)[where.ravel()],
            ),
        ]
        edges = [np.stack((low, high), axis=1) for low, high, _ in parts]
        labels = [np.broadcast_to(np.array(own, np.uint64), len(low)) for low, _, own in parts]
        kinds = np.repeat(np.arange(1, 5, dtype=np.uint64), np.diff([*starts, nodes + len(kept)]))
        kinds[nodes:] += (tree.player[kept] == TERMINAL) + np.uint64(2) * (
            tree.player[kept] == CHANCE
        )
        return cls(kinds, np.concatenate(edges), np.concatenate(labels), texts)

    @cached_property
    def _ends(self) -> tuple[NDArray, NDArray, _Colors]:
        """Targets, sources and labels of the edges in both directions."""
        both = np.concatenate((self.edges, self.edges[:, ::-1]))
        return both[:, 0], both[:, 1], np.concatenate((self.labels, _mixed(self.labels)))

    def refined(self, colors: _Colors) -> _Colors:
        """Colors (V,) that tell apart what these do, and what has other colors around it."""
        target, source, labels = self._ends
        count, found = 0, len(np.unique(colors))
        while found > count:
            around = np.zeros_like(colors)
            np.add.at(around, target, _mixed(_mixed(colors)[source] + labels))
            colors = _mixed(_mixed(colors) + around)
            count, found = found, len(np.unique(colors))
        return colors

    def in_order(self, place: NDArray[np.int64]) -> NDArray:
        """The edges with their labels, (E, 3), sorted, if vertices stand at other places (V,)."""
        rows = np.column_stack((place[self.edges].astype(np.uint64), self.labels))
        return rows[np.lexsort(rows.T)]


def _mixed(colors: _Colors) -> _Colors:
    """SplitMix64: numbers that differ become numbers that look independent."""
    colors = colors + _ODD
    for shift, factor in _STEPS:
        colors = (colors ^ (colors >> np.uint64(shift))) * np.uint64(factor)
    return colors ^ (colors >> np.uint64(31))


def _matched(
    here: _Graph, there: _Graph, mine: _Colors, theirs: _Colors, tries: list[int]
) -> NDArray[np.int64] | None:
    """Vertex of the other graph for each of this one, (V,), by stable colors of both."""
    order, other = np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable")
    shown = mine[order]
    if not np.array_equal(shown, theirs[other]):
        return None
    alike = np.zeros(len(shown), dtype=bool)
    alike[1:] = shown[1:] == shown[:-1]
    alike[:-1] |= alike[1:]
    if not alike.any():
        place = np.empty(len(order), dtype=np.int64)
        place[order] = other
        return place if _is_same(here, there, place) else None
    vertex = int(order[alike].min())
    choices = np.flatnonzero(theirs == mine[vertex]).tolist()
    for choice in sorted(choices, key=lambda other: other != vertex):
        tries[0] -= 1
        if tries[0] < 0:
            return None
        marked = [colors.copy() for colors in (mine, theirs)]
        for colors, single in zip(marked, (vertex, choice), strict=True):
            colors[single] = _mixed(colors[single : single + 1])[0]
        found = _matched(here, there, here.refined(marked[0]), there.refined(marked[1]), tries)
        if found is not None:
            return found
    return None


def _is_same(here: _Graph, there: _Graph, place: NDArray[np.int64]) -> bool:
    """Whether kinds of vertices, all edges and what their labels stand for agree."""
    return (
        np.array_equal(here.kinds, there.kinds[place])
        and np.array_equal(here.in_order(place), there.in_order(np.arange(len(place))))
        and all(there.texts[label] == text for label, text in here.texts.items())
    )
