"""Families in strategic form that the literature on equilibrium computation tests with.

The definitions follow GAMUT (Nudelman, Wortman, Shoham and Leyton-Brown 2004, "Run the GAMUT:
a comprehensive approach to evaluating game-theoretic algorithms") and the papers that it
takes them from; every class says where it differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from eqbench.errors import SpecError
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


@dataclass(frozen=True)
class Dispersion:
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
        check_players(self.players)
        check_at_least(2, actions=self.actions)
        if self.players > MOST_DISPERSED:
            raise SpecError(f"players={self.players}; allowed are 2 to {MOST_DISPERSED} players")
        if self.seed is not None:
            check_at_least(0, seed=self.seed)

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.actions] * self.players)

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
        labels = [f"a{action + 1}" for action in range(self.actions)]
        return strategic_form(
            [labels] * self.players, np.repeat(common[..., None], self.players, axis=-1)
        )


@dataclass(frozen=True)
class MinimumEffort:
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

    def __post_init__(self) -> None:
        check_players(self.players)
        check_at_least(2, efforts=self.efforts)
        if not 0 <= self.c < self.b:
            raise SpecError(f"b={self.b}, c={self.c}; the game needs 0 <= c < b")
        (a, b, c), denominator = over_one_denominator(self.a, self.b, self.c)
        check_within_int64(max(abs(a) + (b + c) * self.efforts, denominator))

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.efforts] * self.players)

    def build(self) -> GameTree:
        """Game tree whose actions are the efforts."""
        effort = profiles(self.players, self.efforts) + 1
        (a, b, c), denominator = over_one_denominator(self.a, self.b, self.c)
        payoffs = a + b * effort.min(axis=-1, keepdims=True) - c * effort
        labels = [str(level + 1) for level in range(self.efforts)]
        return strategic_form([labels] * self.players, payoffs, denominator=denominator)


@dataclass(frozen=True)
class MajorityVoting:
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

    def __post_init__(self) -> None:
        check_players(self.players)
        check_at_least(2, candidates=self.candidates)
        check_at_least(0, seed=self.seed)

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.candidates] * self.players)

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
        labels = [str(candidate + 1) for candidate in range(self.candidates)]
        return strategic_form([labels] * self.players, utility.T[winner])


@dataclass(frozen=True)
class TravelersDilemma:
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

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.highest - self.lowest + 1] * self.players)

    def build(self) -> GameTree:
        """Game tree whose actions are the claims."""
        assert self.penalty is not None  # __post_init__ filled it in
        (reward, penalty), denominator = over_one_denominator(self.reward, self.penalty)
        claim = profiles(self.players, self.highest - self.lowest + 1) + self.lowest
        least = claim.min(axis=-1, keepdims=True)
        alone = np.count_nonzero(claim == least, axis=-1, keepdims=True) == 1
        gain = np.where(claim > least, -penalty, reward * alone)
        labels = [str(amount) for amount in range(self.lowest, self.highest + 1)]
        return strategic_form(
            [labels] * self.players, denominator * least + gain, denominator=denominator
        )
