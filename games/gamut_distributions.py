"""GAMUT's distributions of games: its classes with parameters drawn at random.

The definitions follow GAMUT 1.0.1 (Nudelman, Wortman, Shoham and Leyton-Brown 2004) as it is
called with ``-random_params -normalize -min_payoff -1 -max_payoff 1``. Its random numbers are those
of Java, so its instances are not these. It also draws the kinds of the functions and subgames that
a game is made of; here they are fixed, as said below.
"""

from __future__ import annotations

import itertools
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


@dataclass(frozen=True)
class Gamut:
    """A game of one of GAMUT's distributions, with payoffs from -1 to 1.

    On a graph of the players, ``GraphicalGame``: a uniform payoff for each choice of a player and
    the neighbors, and ``PolymatrixGame``: sums of those in two-player games with the neighbors.
    On a graph of the actions, ``BidirectionalLEG`` and ``UniformLEG``: local-effect games
    (Leyton-Brown and Tennenholtz 2003). An action costs a function of the number of players at
    it, and one of the number at each neighbor, which is the same in both directions of an edge, or
    from one action to all its neighbors; all are tables of uniform numbers.

    The graph follows: ``-CG`` complete, ``-SG`` a star, ``-RG`` random with a uniform number of
    edges, ``-SW`` a small world (Watts and Strogatz 1998) with both parameters uniform, ``-Road``
    plots along both sides of a road (Vickrey and Koller 2002). None is directed; those of GAMUT's
    graphical games may be.

    ``BertrandOligopoly``: who offers the lowest of the prices 1, 2, ... shares the demand, a table
    that falls, and pays for the share; costs grow as a power between 0 and 1 of the amount.
    ``CovariantGame`` has any covariance, ``-Pos`` one from 0 to 1, ``-Zero`` none. Further
    ``DispersionGame``, ``MinimumEffortGame``, ``RandomGame`` and ``TravelersDilemma``.

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

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.actions] * self.players)

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player.

        All payoffs are mapped by one affine function, whose image is -1 to 1.
        """
        rng = np.random.default_rng(self.seed)
        payoffs = DISTRIBUTIONS[self.distribution](self.players, self.actions, rng)
        payoffs = payoffs.reshape(*[self.actions] * self.players, self.players)
        least, most = payoffs.min(), payoffs.max()
        return with_numbered_actions(2 * ((payoffs - least) / (most - least)) - 1)


def edges_of(graph: str, nodes: int, rng: Draws) -> NDArray[np.bool_]:
    """Edges of an undirected graph without loops, bool (nodes, nodes), and symmetric."""
    node = np.arange(nodes)
    away = abs(node[:, None] - node)
    edges = away > 0
    if graph == "SG":
        edges &= (node[:, None] == 0) | (node == 0)
    elif graph == "Road":
        along, side = np.divmod(node, 2)
        edges = abs(along[:, None] - along) + abs(side[:, None] - side) == 1
    elif graph == "RG":
        ends = rng.permutation(np.argwhere(np.triu(edges)))
        edges[tuple(ends[rng.integers(1, len(ends), endpoint=True) :].T)] = False
        edges &= edges.T
    elif graph == "SW":  # a ring in which each knows the next few; then edges get other ends
        reach = int(rng.integers(1, max(nodes // 2 - 1, 1), endpoint=True))
        edges &= np.minimum(away, nodes - away) <= reach
        rewired = rng.random()
        for step, one in itertools.product(range(1, reach + 1), range(nodes)):
            free = np.flatnonzero(~edges[one] & (away[one] > 0))
            if rng.random() <= rewired and len(free):
                old, new = (one + step) % nodes, rng.choice(free)
                edges[one, old] = edges[old, one] = False
                edges[one, new] = edges[new, one] = True
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
        cost = np.where(np.tri(actions)[..., None] > 0, cost, cost.transpose(1, 0, 2))
    cost = np.where(edges[..., None], cost, 0)
    cost[..., 0] = 0  # nobody has no effect
    cost[range(actions), range(actions)] = rng.random((actions, players + 1))
    chosen = profiles(players, actions)
    counts = (np.count_nonzero(chosen == action, axis=-1) for action in range(actions))
    return -sum(cost[chosen, action, count[..., None]] for action, count in enumerate(counts))


def _bertrand(players: int, actions: int, rng: Draws) -> NDArray:
    """Payoffs p D(p) / m - C(D(p) / m) of the m who offer the lowest price p, else 0."""
    demand = np.sort(rng.random(actions + 1))[::-1]
    demand /= demand[0]  # as by GAMUT the largest demand is the largest cost
    price = profiles(players, actions) + 1
    lowest = price.min(axis=-1, keepdims=True)
    sells = price == lowest
    share = demand[lowest] / np.count_nonzero(sells, axis=-1, keepdims=True)
    return sells * (lowest * share - share ** rng.random())


def _family(name: str, players: int, actions: int, rng: Draws) -> NDArray:
    """Payoffs of a family that there is already, with what it leaves open drawn."""
    seed, share = int(rng.integers(2**32)), Fraction(int(rng.integers(1, 100)), 100)
    size, nothing = (players, actions), Fraction(0)
    match name:
        case "DispersionGame":
            game: Any = Dispersion(*size, seed)
        case "MinimumEffortGame":
            game = MinimumEffort(*size, a=nothing, b=Fraction(1), c=share)
        case "RandomGame":
            game = RandomGame(*size, seed)
        case "TravelersDilemma":
            game = TravelersDilemma(players, 1, actions, 1 + (actions - 1) * share, nothing)
        case _:
            least = 0 if "-" in name else -1 / (players - 1)
            game = CovarianceGame(*size, Fraction(rng.uniform(least, "Zero" not in name)), seed)
    return np.asarray(game.build().payoffs.table)


ON_GRAPH: dict[str, Callable[..., NDArray]] = {
    "BidirectionalLEG": partial(_local_effect, "bidirectional"),
    "GraphicalGame": _graphical,
    "PolymatrixGame": _polymatrix,
    "UniformLEG": partial(_local_effect, "uniform"),
}
COVARIANT = ("CovariantGame", "CovariantGame-Pos", "CovariantGame-Zero")
OTHERS = ("DispersionGame", "MinimumEffortGame", "RandomGame", "TravelersDilemma")
DISTRIBUTIONS: dict[str, Callable[[int, int, Draws], NDArray]] = {
    "BertrandOligopoly": _bertrand,
    **{name: partial(_family, name) for name in COVARIANT + OTHERS},
    **{
        f"{name}-{graph}": partial(draw, graph)
        for name, draw in ON_GRAPH.items()
        for graph in ("CG", "RG", "Road", "SG", "SW")
    },
}
