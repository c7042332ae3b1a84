"""Families in strategic form that the literature on equilibrium computation tests with.

Unless stated otherwise, random numbers come from ``numpy.random.default_rng(seed)``: with one
version of NumPy a seed is the same game on every platform. GAMUT has other streams of numbers.

The definitions follow GAMUT (Nudelman, Wortman, Shoham and Leyton-Brown 2004, "Run the GAMUT:
a comprehensive approach to evaluating game-theoretic algorithms") and the papers that it
takes them from; every class says where it differs.
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

from .strategic import (
    check_at_least,
    check_players,
    check_within_int64,
    over_one_denominator,
    profiles,
    strategic_form,
    strategic_form_nodes,
)

MOST_DISPERSED = 15  # players; 16 ** 16 would not fit into an int64


class _EqualActions:
    """A game in strategic form in which every player has as many actions as the others."""

    players: int
    seed: int | None = None
    counted = "actions"  # name of the option that says how many

    def __post_init__(self) -> None:
        check_players(self.players)
        check_at_least(2, **{self.counted: self.n_actions})
        if self.seed is not None:
            check_at_least(0, seed=self.seed)

    @property
    def n_actions(self) -> int:
        """Number of actions of every player."""
        return int(getattr(self, self.counted))

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.n_actions] * self.players)


def with_numbered_actions(
    payoffs: NDArray, prefix: str = "a", first: int = 1, denominator: int = 1
) -> GameTree:
    """Tree of payoffs (A, ..., A, N) whose actions are a prefix and consecutive numbers."""
    labels = [f"{prefix}{first + action}" for action in range(payoffs.shape[0])]
    return strategic_form([labels] * payoffs.shape[-1], payoffs, denominator=denominator)


@dataclass(frozen=True)
class Dispersion(_EqualActions):
    """All get the same, and the more, the more evenly the players spread over the actions.

    A strong dispersion game of common interest, symmetric in players and actions (Grenager,
    Powers and Shoham 2002). Profiles are ordered by the entropy of the shares of players at
    the actions, as by GAMUT's DispersionGame, but compared exactly and not after rounding.
    GAMUT draws the payoffs; here that is done if there is a seed.

    Parameters
    ----------
    players : 2 to 15
    actions : number of actions of every player
    seed : none: payoffs are the ranks 0, 1, ... of the entropies; else sorted uniform numbers
    """

    players: int = 3
    actions: int = 3
    seed: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.players > MOST_DISPERSED:
            raise SpecError(f"players={self.players}; allowed are 2 to {MOST_DISPERSED} players")

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player.

        With n players, c of them at an action, the entropy log n - sum(c log c) / n falls as
        the integer product of all c ** c grows.
        """
        chosen = profiles(self.players, self.actions)
        power = np.array([max(c, 1) ** c for c in range(self.players + 1)], dtype=np.int64)
        product = np.ones(chosen.shape[:-1], dtype=np.int64)
        for action in range(self.actions):
            product *= power[np.count_nonzero(chosen == action, axis=-1)]
        distinct, place = np.unique(product, return_inverse=True)
        values = np.arange(len(distinct))
        if self.seed is not None:
            values = np.sort(np.random.default_rng(self.seed).random(len(distinct)))
        common = values[::-1][place.reshape(product.shape)]
        return with_numbered_actions(np.repeat(common[..., None], self.players, axis=-1))


@dataclass(frozen=True)
class MinimumEffort(_EqualActions):
    """A player gets a + b * (least effort of all) - c * (own effort), efforts 1, 2, ....

    The weakest-link game of Van Huyck, Battalio and Beil 1990, whose treatment A the defaults
    are; GAMUT's MinimumEffortGame. Every common effort is an equilibrium, and all prefer more.

    Parameters
    ----------
    players : 2 to 20
    efforts : the highest effort; the lowest is 1
    a : payment in any case
    b : what one unit of the least effort is worth to everybody; above c
    c : what one unit of one's own effort costs; not negative
    """

    players: int = 2
    efforts: int = 7
    a: Fraction = Fraction(3, 5)
    b: Fraction = Fraction(1, 5)
    c: Fraction = Fraction(1, 10)
    counted = "efforts"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.c < self.b:
            raise SpecError(f"b={self.b}, c={self.c}; the game needs 0 <= c < b")
        (a, b, c), denominator = over_one_denominator(self.a, self.b, self.c)
        check_within_int64(max(abs(a) + (b + c) * self.efforts, denominator))

    def build(self) -> GameTree:
        """Game tree whose actions are the efforts."""
        effort = profiles(self.players, self.efforts) + 1
        (a, b, c), denominator = over_one_denominator(self.a, self.b, self.c)
        payoffs = a + b * effort.min(axis=-1, keepdims=True) - c * effort
        return with_numbered_actions(payoffs, prefix="", denominator=denominator)


@dataclass(frozen=True)
class MajorityVoting(_EqualActions):
    """The candidate with most votes wins; of several such, the one with the lowest number.

    GAMUT's MajorityVoting. What a player gets when a candidate wins is drawn uniformly from
    [0, 1], independently of everything else (GAMUT's interval is [-100, 100]).

    Parameters
    ----------
    players : 2 to 20
    candidates : number of candidates, the actions of every player
    seed : of the random numbers
    """

    players: int = 3
    candidates: int = 3
    seed: int = 0
    counted = "candidates"

    def build(self) -> GameTree:
        """Game tree whose actions are the numbers of the candidates."""
        utility = np.random.default_rng(self.seed).random((self.players, self.candidates))
        vote = profiles(self.players, self.candidates)
        winner = np.zeros(vote.shape[:-1], dtype=np.int64)
        most = np.count_nonzero(vote == 0, axis=-1)
        for candidate in range(1, self.candidates):
            votes = np.count_nonzero(vote == candidate, axis=-1)
            winner[votes > most] = candidate
            most = np.maximum(most, votes)
        return with_numbered_actions(utility.T[winner], prefix="")


@dataclass(frozen=True)
class TravelersDilemma(_EqualActions):
    """Everybody gets the lowest claim, whoever made it a reward, and those above pay for it.

    The defaults are the game of Basu 1994. For more players, as in GAMUT's TravelersDilemma,
    the reward goes to a lowest claim only if it is the only one. GAMUT has no penalty and
    claims from 1, which is ``lowest=1,penalty=0``.

    Parameters
    ----------
    players : 2 to 20
    lowest : the least amount that can be claimed
    highest : the largest amount that can be claimed; amounts between differ by 1
    reward : for the only player with the lowest claim
    penalty : of every player who claims more than the lowest claim; the reward unless given
    """

    players: int = 2
    lowest: int = 2
    highest: int = 100
    reward: Fraction = Fraction(2)
    penalty: Fraction | None = None

    def __post_init__(self) -> None:
        check_players(self.players)
        penalty = self.reward if self.penalty is None else self.penalty
        object.__setattr__(self, "penalty", penalty)
        check_at_least(0, lowest=self.lowest)
        check_at_least(self.lowest + 1, highest=self.highest)
        if self.reward <= 0 or penalty < 0:
            raise SpecError(
                f"reward={self.reward}, penalty={penalty}; choose reward > 0 and penalty >= 0"
            )
        (reward, loss), denominator = over_one_denominator(self.reward, penalty)
        check_within_int64(self.highest * denominator + reward + loss)

    @property
    def n_actions(self) -> int:
        """Number of amounts that can be claimed."""
        return self.highest - self.lowest + 1

    def build(self) -> GameTree:
        """Game tree whose actions are the claims."""
        assert self.penalty is not None  # __post_init__ filled it in
        (reward, penalty), denominator = over_one_denominator(self.reward, self.penalty)
        claim = profiles(self.players, self.n_actions) + self.lowest
        least = claim.min(axis=-1, keepdims=True)
        alone = np.count_nonzero(claim == least, axis=-1, keepdims=True) == 1
        gain = np.where(claim > least, -penalty, reward * alone)
        return with_numbered_actions(denominator * least + gain, "", self.lowest, denominator)


@dataclass(frozen=True)
class RandomGame(_EqualActions):
    """All payoffs are independent and uniform in [0, 1].

    Parameters
    ----------
    players : 2 to 20
    actions : number of actions of every player
    seed : of the random numbers
    """

    players: int = 2
    actions: int = 2
    seed: int = 0

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player."""
        shape = (self.actions,) * self.players
        payoffs = np.random.default_rng(self.seed).random((*shape, self.players))
        return with_numbered_actions(payoffs)


@dataclass(frozen=True)
class SignedRandomGame(RandomGame):
    """All payoffs are independent and uniform in [-1, 1], drawn as by Černý et al.

    The very games of Černý, Das Gupta and Kroer 2026 (arXiv:2508.10204): one player after the
    other gets numbers of NumPy's older generator, the Mersenne twister.

    Parameters
    ----------
    players : 2 to 20
    actions : number of actions of every player
    seed : of the random numbers, below 2^32
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed >= 2**32:
            raise SpecError(f"seed={self.seed} is too large; choose seed < {2**32}")

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player."""
        shape = (self.players, *[self.actions] * self.players)
        payoffs = np.random.RandomState(self.seed).uniform(-1, 1, shape)
        return with_numbered_actions(np.moveaxis(payoffs, 0, -1))


@dataclass(frozen=True)
class CovarianceGame(_EqualActions):
    """Payoffs are standard normal, with one covariance between players at each profile.

    Payoffs at different profiles are independent. This is the covariant game of Rinott and
    Scarsini 2000, the class CovariantGame of GAMUT (Nudelman et al. 2004). With rho 1 all
    players have the same payoffs; with -1 / (players - 1) payoffs sum to zero, up to rounding.

    Parameters
    ----------
    players : 2 to 20
    actions : number of actions of every player
    rho : covariance, from -1 / (players - 1) to 1
    seed : of the random numbers
    """

    players: int = 2
    actions: int = 2
    rho: Fraction = Fraction(1, 2)
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        least = Fraction(-1, self.players - 1)
        if not least <= self.rho <= 1:
            raise SpecError(
                f"rho={self.rho} is not a covariance of {self.players} players; allowed are "
                f"{least} to 1"
            )

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player.

        The symmetric root of the covariance matrix scales the mean of independent normals by
        sqrt(1 + (N - 1) rho) and the deviations from it by sqrt(1 - rho). GAMUT takes the
        Cholesky factor, which does not exist at both ends of the range of rho.
        """
        shape = (self.actions,) * self.players
        normal = np.random.default_rng(self.seed).standard_normal((*shape, self.players))
        mean = normal.mean(axis=-1, keepdims=True)
        common = float(1 + (self.players - 1) * self.rho) ** 0.5
        return with_numbered_actions(common * mean + float(1 - self.rho) ** 0.5 * (normal - mean))


Draws = np.random.Generator


@dataclass(frozen=True)
class Gamut(_EqualActions):
    """A game of one of GAMUT's distributions, with payoffs from -1 to 1.

    As GAMUT 1.0.1 draws them with ``-random_params -normalize -min_payoff -1 -max_payoff 1``, but
    from other random numbers. GAMUT also draws the kinds of the functions and subgames that a game
    is made of; here they are fixed.

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
        super().__post_init__()
        if self.distribution not in DISTRIBUTIONS:
            known = nearest(self.distribution, DISTRIBUTIONS)
            raise SpecError(f"distribution={self.distribution} is unknown: {known}")

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
    cost[..., 0] = 0  # zero users have no effect
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
