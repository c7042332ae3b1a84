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

from .gamut import MOST_DISPERSED, Dispersion, MinimumEffort, TravelersDilemma
from .random_games import CovarianceGame, RandomGame
from .strategic import check_at_least, check_players, profiles, strategic_form, strategic_form_nodes

MOST_MONEY = 10_000.0  # GAMUT's largest demand and cost in an oligopoly


@dataclass(frozen=True)
class Gamut:
    """A game of one of GAMUT's distributions, with payoffs from -1 to 1.

    ``GraphicalGame``: a player's payoffs are uniform, one for each choice of the player and the
    neighbors in a graph of the players. ``PolymatrixGame``: a player's payoff is the sum of those
    in two-player games with the neighbors, all uniform. ``BidirectionalLEG``, ``UniformLEG``:
    local-effect games (Leyton-Brown and Tennenholtz 2003) on a graph of the actions. Choosing an
    action costs a function of the number of players there, and one of the number at each
    neighbor, which is the same in both directions of an edge, or the same from one action to all
    its neighbors. All functions are tables of uniform numbers.

    These four are followed by a graph: ``-CG`` complete, ``-SG`` a star, ``-RG`` random with a
    uniform number of edges, ``-SW`` a small world (Watts and Strogatz 1998) with both of its
    parameters uniform, ``-Road`` plots on both sides of a road (Vickrey and Koller 2002). Graphs
    are undirected, those of GAMUT's graphical games may be directed.

    ``BertrandOligopoly``: who offers the lowest of the prices 1, 2, ... shares the demand, a table
    that falls, and pays for the share; costs grow as a power between 0 and 1 of the amount.
    ``CovariantGame`` has any covariance, ``-Pos`` one from 0 to 1, ``-Zero`` none.
    ``DispersionGame``, ``MinimumEffortGame``, ``RandomGame`` and ``TravelersDilemma`` are
    `dispersion`, `minimum_effort`, `random` and `travelers_dilemma` with random costs and rewards.

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
        base, _, graph = self.distribution.partition("-")
        if self.distribution not in SINGLE and not (base in ON_GRAPH and graph in GRAPHS):
            known = [*SINGLE, *(f"{name}-{suffix}" for name in ON_GRAPH for suffix in GRAPHS)]
            raise SpecError(
                f"distribution={self.distribution} is unknown: {nearest(self.distribution, known)}"
            )
        if base == "DispersionGame" and self.players > MOST_DISPERSED:
            raise SpecError(f"players={self.players}; allowed are 2 to {MOST_DISPERSED} players")

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.actions] * self.players)

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player.

        All payoffs are mapped by one affine function, whose image is -1 to 1.
        """
        rng = np.random.default_rng(self.seed)
        base, _, graph = self.distribution.partition("-")
        if base in ON_GRAPH:
            payoffs, nodes = ON_GRAPH[base]
            edges = GRAPHS[graph](self.actions if nodes == "actions" else self.players, rng)
            table = payoffs(edges, self.players, self.actions, rng)
        else:
            table = SINGLE[self.distribution](self.players, self.actions, rng)
        least, most = table.min(), table.max()
        labels = [f"a{action + 1}" for action in range(self.actions)]
        table = 2 * ((table - least) / (most - least)) - 1
        return strategic_form([labels] * self.players, table)


def _complete(nodes: int, _: np.random.Generator) -> NDArray[np.bool_]:
    return ~np.eye(nodes, dtype=bool)


def _star(nodes: int, _: np.random.Generator) -> NDArray[np.bool_]:
    center = np.arange(nodes) == 0
    return center[:, None] ^ center


def _road(nodes: int, _: np.random.Generator) -> NDArray[np.bool_]:
    """Two rows of plots; neighbors are those beside and across the road."""
    along, side = np.divmod(np.arange(nodes), 2)
    away = abs(along[:, None] - along) + abs(side[:, None] - side)
    return away == 1


def _random_graph(nodes: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    first, second = np.triu_indices(nodes, 1)
    chosen = rng.permutation(len(first))[: rng.integers(1, len(first), endpoint=True)]
    edges = np.zeros((nodes, nodes), dtype=bool)
    edges[first[chosen], second[chosen]] = True
    return edges | edges.T


def _small_world(nodes: int, rng: np.random.Generator) -> NDArray[np.bool_]:
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


def _graphical(edges: NDArray, players: int, actions: int, rng: np.random.Generator) -> NDArray:
    """Payoffs (A, ..., A, N); along the axes of strangers they are constant."""
    payoffs = np.empty((actions,) * players + (players,))
    for player, known in enumerate(edges | np.eye(players, dtype=bool)):
        payoffs[..., player] = rng.random(np.where(known, actions, 1))
    return payoffs


def _polymatrix(edges: NDArray, players: int, actions: int, rng: np.random.Generator) -> NDArray:
    """Payoffs (A, ..., A, N), sums over edges; both players of an edge have their own matrix."""
    payoffs = np.zeros((actions,) * players + (players,))
    for player, other in np.argwhere(edges):
        shape = np.where(np.isin(np.arange(players), (player, other)), actions, 1)
        payoffs[..., player] += rng.random(shape)
    return payoffs


def _local_effect(
    edges: NDArray, players: int, actions: int, rng: np.random.Generator, *, uniform: bool
) -> NDArray:
    """Payoffs (A, ..., A, N); ``cost[a, b, k]`` is what k players at b cost those at a."""
    cost = rng.random((1 if uniform else actions, actions, players + 1))
    if not uniform:
        lower = np.tri(actions, dtype=bool)[..., None]
        cost = np.where(lower, cost, cost.transpose(1, 0, 2))
    cost = np.where(edges[..., None], cost, 0)
    cost[range(actions), range(actions)] = rng.random((actions, players + 1))
    chosen = profiles(players, actions)
    payoffs = np.zeros(chosen.shape)
    for action in range(actions):
        count = np.count_nonzero(chosen == action, axis=-1)
        payoffs -= cost[chosen, action, count[..., None]]
    return payoffs


def _bertrand(players: int, actions: int, rng: np.random.Generator) -> NDArray:
    """Payoffs p D(p) / m - C(D(p) / m) of the m who offer the lowest price p, else 0."""
    demand = np.sort(rng.random(actions + 1))[::-1]
    demand *= MOST_MONEY / demand[0]
    growth = rng.random()
    price = profiles(players, actions) + 1
    lowest = price.min(axis=-1, keepdims=True)
    sells = price == lowest
    share = demand[lowest] / np.count_nonzero(sells, axis=-1, keepdims=True)
    return sells * (lowest * share - MOST_MONEY * (share / MOST_MONEY) ** growth)


def _covariant(
    players: int, actions: int, rng: np.random.Generator, *, least: float | None, most: float
) -> NDArray:
    """Payoffs with a covariance drawn between bounds, the lower by default the smallest of all."""
    rho = rng.uniform(-1 / (players - 1) if least is None else least, most)
    return _table(CovarianceGame(players, actions, Fraction(rho), _seed(rng)))


def _effort(players: int, actions: int, rng: np.random.Generator) -> NDArray:
    cost = Fraction(int(rng.integers(1, 100)), 100)
    return _table(MinimumEffort(players, actions, a=Fraction(0), b=Fraction(1), c=cost))


def _travelers(players: int, actions: int, rng: np.random.Generator) -> NDArray:
    reward = Fraction(int(rng.integers(101, 100 * actions)), 100)
    return _table(TravelersDilemma(players, 1, actions, reward, penalty=Fraction(0)))


def _table(game: Any) -> NDArray:
    payoffs: NDArray = game.build().payoffs.table
    return payoffs


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**32))


GRAPHS = {
    "CG": _complete,
    "RG": _random_graph,
    "Road": _road,
    "SG": _star,
    "SW": _small_world,
}
# Payoffs, and what the nodes of the graph are.
ON_GRAPH: dict[str, tuple[Callable[..., NDArray], str]] = {
    "BidirectionalLEG": (partial(_local_effect, uniform=False), "actions"),
    "GraphicalGame": (_graphical, "players"),
    "PolymatrixGame": (_polymatrix, "players"),
    "UniformLEG": (partial(_local_effect, uniform=True), "actions"),
}
SINGLE: dict[str, Callable[[int, int, np.random.Generator], NDArray]] = {
    "BertrandOligopoly": _bertrand,
    "CovariantGame": partial(_covariant, least=None, most=1),
    "CovariantGame-Pos": partial(_covariant, least=0, most=1),
    "CovariantGame-Zero": partial(_covariant, least=0, most=0),
    "DispersionGame": lambda n, m, rng: _table(Dispersion(n, m, _seed(rng))),
    "MinimumEffortGame": _effort,
    "RandomGame": lambda n, m, rng: _table(RandomGame(n, m, _seed(rng))),
    "TravelersDilemma": _travelers,
}
