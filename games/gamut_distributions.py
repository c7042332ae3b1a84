"""GAMUT's distributions of games: its classes with parameters drawn at random.

The definitions follow GAMUT 1.0.1 (Nudelman, Wortman, Shoham and Leyton-Brown 2004) as it is
called with ``-random_params -normalize -min_payoff -1 -max_payoff 1``. GAMUT is written in Java
and has another stream of random numbers, so its instances are not these. GAMUT also draws the
classes of the functions and subgames that a game is made of; here these are fixed, as said below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import SpecError, nearest
from eqbench.model.tree import GameTree

from .gamut import Dispersion, MinimumEffort, TravelersDilemma
from .random_games import CovarianceGame, RandomGame, with_numbered_actions
from .strategic import check_at_least, check_players, profiles, strategic_form_nodes

Draws = np.random.Generator
ZERO, ONE = Fraction(0), Fraction(1)
MOST_MONEY = 10_000.0  # GAMUT's largest demand and cost in an oligopoly


@dataclass(frozen=True)
class Gamut:
    """A game of one of GAMUT's distributions, with payoffs from -1 to 1.

    ``GraphicalGame``: a player's payoffs are uniform, one for each choice of the player and the
    neighbors in a graph of the players. ``PolymatrixGame``: they are sums of those in two-player
    games with the neighbors, all uniform. ``BidirectionalLEG``, ``UniformLEG``: local-effect games
    (Leyton-Brown and Tennenholtz 2003) on a graph of the actions. An action costs a function of
    the number of players at it, and one of the number at each neighbor, which is the same in both
    directions of an edge, or from one action to all its neighbors; tables of uniform numbers.

    These four are followed by a graph: ``-CG`` complete, ``-SG`` a star, ``-RG`` random with a
    uniform number of edges, ``-SW`` a small world (Watts and Strogatz 1998) with both parameters
    uniform, ``-Road`` plots along both sides of a road (Vickrey and Koller 2002). All graphs are
    undirected; those of GAMUT's graphical games may be directed.

    ``BertrandOligopoly``: who offers the lowest of the prices 1, 2, ... shares the demand, a table
    that falls, and pays for the share; costs grow as a power between 0 and 1 of the amount.
    ``CovariantGame`` has any covariance, ``-Pos`` one from 0 to 1, ``-Zero`` none. In
    ``DispersionGame``, ``MinimumEffortGame``, ``RandomGame`` and ``TravelersDilemma`` costs and
    rewards are random.

    Parameters
    ----------
    distribution : its name, for example PolymatrixGame-SW
    players : 2 to 20; in dispersion games 2 to 15
    actions : number of actions of every player
    seed : of the random numbers
    """

    distribution: str = "PolymatrixGame-SW"
    players: int = 3
    actions: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        check_players(self.players)
        check_at_least(2, actions=self.actions)
        check_at_least(0, seed=self.seed)
        if self.distribution not in DISTRIBUTIONS:
            known = nearest(self.distribution, DISTRIBUTIONS)
            raise SpecError(f"distribution={self.distribution} is unknown: {known}")
        if self.distribution == "DispersionGame":
            Dispersion(self.players, self.actions)

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.actions] * self.players)

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player.

        All payoffs are mapped by one affine function, whose image is -1 to 1.
        """
        draw = DISTRIBUTIONS[self.distribution]
        payoffs = draw(self.players, self.actions, np.random.default_rng(self.seed))
        payoffs = payoffs.reshape(*(self.actions,) * self.players, self.players)
        least, most = payoffs.min(), payoffs.max()
        return with_numbered_actions(2 * ((payoffs - least) / (most - least)) - 1)


def edges_of(graph: str, nodes: int, rng: Draws) -> NDArray[np.bool_]:
    """Edges of an undirected graph without loops, bool (nodes, nodes), and symmetric."""
    node = np.arange(nodes)
    others = node[:, None] != node
    match graph:
        case "SG":
            return others & ((node[:, None] == 0) | (node == 0))
        case "Road":
            along, side = np.divmod(node, 2)
            return abs(along[:, None] - along) + abs(side[:, None] - side) == 1
        case "RG":
            ends = np.argwhere(np.triu(others))
            chosen = rng.permutation(ends)[: rng.integers(1, len(ends), endpoint=True)]
            edges = np.zeros((nodes, nodes), dtype=bool)
            edges[tuple(chosen.T)] = True
            return edges | edges.T
        case "SW":
            return _small_world(nodes, rng)
    return others


def _small_world(nodes: int, rng: Draws) -> NDArray[np.bool_]:
    """Ring in which each node knows the next few, and edges then get another end at random."""
    reach = int(rng.integers(1, max(nodes // 2 - 1, 1), endpoint=True))
    rewired = rng.random()
    away = abs(np.arange(nodes)[:, None] - np.arange(nodes))
    away = np.minimum(away, nodes - away)
    edges = (away > 0) & (away <= reach)
    for step in range(1, reach + 1):
        for node in range(nodes):
            free = np.flatnonzero(~edges[node] & (away[node] > 0))
            if rng.random() <= rewired and len(free):
                other, end = (node + step) % nodes, rng.choice(free)
                edges[node, other] = edges[other, node] = False
                edges[node, end] = edges[end, node] = True
    return edges


def _graphical(graph: str, players: int, actions: int, rng: Draws) -> NDArray:
    """Payoffs (A, ..., A, N); along the axes of strangers they are constant."""
    payoffs = np.empty((actions,) * players + (players,))
    for player, known in enumerate(edges_of(graph, players, rng)):
        known[player] = True
        payoffs[..., player] = rng.random(np.where(known, actions, 1))
    return payoffs


def _polymatrix(graph: str, players: int, actions: int, rng: Draws) -> NDArray:
    """Payoffs (A, ..., A, N), sums over edges; both players of an edge have their own matrix."""
    payoffs = np.zeros((actions,) * players + (players,))
    for pair in np.argwhere(edges_of(graph, players, rng)):
        shape = np.where(np.isin(np.arange(players), pair), actions, 1)
        payoffs[..., pair[0]] += rng.random(shape)
    return payoffs


def _local_effect(kind: str, graph: str, players: int, actions: int, rng: Draws) -> NDArray:
    """Payoffs (A, ..., A, N); ``cost[a, b, k]`` is what k players at b cost those at a."""
    edges = edges_of(graph, actions, rng)
    cost = rng.random((1 if kind == "uniform" else actions, actions, players + 1))
    if kind == "bidirectional":
        lower = np.tri(actions, dtype=bool)[..., None]
        cost = np.where(lower, cost, cost.transpose(1, 0, 2))
    cost = np.where(edges[..., None], cost, 0)
    cost[range(actions), range(actions)] = rng.random((actions, players + 1))
    chosen = profiles(players, actions)
    counts = (np.count_nonzero(chosen == action, axis=-1) for action in range(actions))
    return -sum(cost[chosen, action, count[..., None]] for action, count in enumerate(counts))


def _bertrand(players: int, actions: int, rng: Draws) -> NDArray:
    """Payoffs p D(p) / m - C(D(p) / m) of the m who offer the lowest price p, else 0."""
    demand = np.sort(rng.random(actions + 1))[::-1]
    demand *= MOST_MONEY / demand[0]
    price = profiles(players, actions) + 1
    lowest = price.min(axis=-1, keepdims=True)
    sells = price == lowest
    share = demand[lowest] / np.count_nonzero(sells, axis=-1, keepdims=True)
    return sells * (lowest * share - MOST_MONEY * (share / MOST_MONEY) ** rng.random())


def _built(game: Callable[[int, int, Draws], Any]) -> Callable[[int, int, Draws], NDArray]:
    """Payoffs of a family that there is already."""
    return lambda players, actions, rng: game(players, actions, rng).build().payoffs.table


def _share(rng: Draws) -> Fraction:
    return Fraction(int(rng.integers(1, 100)), 100)


def _seed(rng: Draws) -> int:
    return int(rng.integers(2**32))


def _covariance(least: float, most: float, players: int, actions: int, rng: Draws) -> Any:
    rho = Fraction(rng.uniform(max(least, -1 / (players - 1)), most))
    return CovarianceGame(players, actions, rho, _seed(rng))


_ON_GRAPH: dict[str, Callable[..., NDArray]] = {
    "BidirectionalLEG": partial(_local_effect, "bidirectional"),
    "GraphicalGame": _graphical,
    "PolymatrixGame": _polymatrix,
    "UniformLEG": partial(_local_effect, "uniform"),
}
DISTRIBUTIONS: dict[str, Callable[[int, int, Draws], NDArray]] = {
    "BertrandOligopoly": _bertrand,
    "CovariantGame": _built(partial(_covariance, -1, 1)),
    "CovariantGame-Pos": _built(partial(_covariance, 0, 1)),
    "CovariantGame-Zero": _built(partial(_covariance, 0, 0)),
    "DispersionGame": _built(lambda n, m, rng: Dispersion(n, m, _seed(rng))),
    "MinimumEffortGame": _built(lambda n, m, rng: MinimumEffort(n, m, ZERO, ONE, _share(rng))),
    "RandomGame": _built(lambda n, m, rng: RandomGame(n, m, _seed(rng))),
    "TravelersDilemma": _built(
        lambda n, m, rng: TravelersDilemma(n, 1, m, 1 + (m - 1) * _share(rng), ZERO)
    ),
} | {
    f"{name}-{graph}": partial(draw, graph)
    for name, draw in _ON_GRAPH.items()
    for graph in ("CG", "RG", "Road", "SG", "SW")
}
