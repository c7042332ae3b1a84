"""Which cards are value bets, bluffs, two-way bets, sandbags and bluff-catchers.

Billingham 2018, §2 and §5.2 names these ranges for three-player Kuhn poker and explains the
two-way bet; what follows makes them precise. They are read off a profile, never off the order
of the cards alone. "Sometimes" and "there is" mean a frequency above a tolerance.

A bet meets two opponents. What counts is how each of them answers it before anybody else has
called: with the cards that they still hold at that node, in deals that reach it. Against one
opponent a bet with some card is

- for value if the opponent sometimes calls with a worse card and never folds a better one,
- a bluff if the opponent sometimes folds a better card and never calls with a worse one,

and neither of them otherwise. Altogether it is

- a *value bet* if it is for value against somebody and a bluff against nobody,
- a *bluff* if it is a bluff against somebody and for value against nobody,
- a *two-way bet* if it is for value against one opponent and a bluff against the other.

A check of player 1 or 2 is a *sandbag* if the player sometimes calls a bet with that card later
and it is no worse than the worst card that the player bets for value at that node. A player
who bets nothing for value there can sandbag the highest card only.

A call is a *bluff-catch* if the card beats some of the cards that are bet, all these bets are
bluffs against the caller, and some better card is bet too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray
from eqbench.studies.kuhn_nodes import EARLIER, N_OPENINGS, answers_to, bet_before, held

# Regularized equilibria play inferior actions with small frequencies too.
TOLERANCE = 0.02

BoolArray = NDArray[np.bool_]


class Range(IntEnum):
    """What an action with a card is; NONE if it is none of these or is not played."""

    NONE = 0
    VALUE_BET = 1
    BLUFF = 2
    TWO_WAY_BET = 3
    SANDBAG = 4
    BLUFF_CATCH = 5

    @property
    def label(self) -> str:
        """The name in words, for example ``two-way bet``."""
        return RANGE_LABELS[self]


RANGE_LABELS = ("none", "value bet", "bluff", "two-way bet", "sandbag", "bluff-catch")


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of the twelve nodes with N cards; entries are those of :class:`Range`.

    Attributes
    ----------
    aggressive : int8 (12, N)
        Of bets at nodes 1 to 3 and of calls at the others.
    passive : int8 (12, N)
        Of checks at nodes 1 and 2; zero elsewhere.
    """

    aggressive: NDArray[np.int8]
    passive: NDArray[np.int8]


def strategy_ranges(aggression: FloatArray, tolerance: float = TOLERANCE) -> Ranges:
    """Ranges of a profile with frequencies of bet or call float64 (12, N)."""
    played = (aggression > tolerance) & (held(aggression) > tolerance)
    aggressive = np.zeros(aggression.shape, dtype=np.int8)
    passive = np.zeros_like(aggressive)
    for opening in range(N_OPENINGS):
        bet = played[opening]
        first, second = (_against(aggression, opening, j, tolerance) for j in (0, 1))
        for_value, bluff = first.for_value | second.for_value, first.bluff | second.bluff
        aggressive[opening, bet & for_value & ~bluff] = Range.VALUE_BET
        aggressive[opening, bet & bluff & ~for_value] = Range.BLUFF
        aggressive[opening, bet & bluff & for_value] = Range.TWO_WAY_BET
        for row, faced in zip(answers_to(opening), (first, second, second), strict=True):
            aggressive[row, played[row] & _beats_bluffs_only(bet, faced.bluff)] = Range.BLUFF_CATCH
    for opening in range(N_OPENINGS - 1):
        value_bets = np.flatnonzero(aggressive[opening] == Range.VALUE_BET)
        worst = value_bets[0] if len(value_bets) else played.shape[1] - 1
        sandbags = _calls_later(played, opening) & (1 - aggression[opening] > tolerance)
        sandbags[:worst] = False
        passive[opening, sandbags] = Range.SANDBAG
    return Ranges(aggressive, passive)


class _Against(NamedTuple):
    """What bets with each card are against one opponent, bool (N,) each."""

    for_value: BoolArray
    bluff: BoolArray


def _against(aggression: FloatArray, opening: int, opponent: int, tolerance: float) -> _Against:
    """What bets are against the first (0) or the second opponent (1) who answers."""
    first, second, _ = answers_to(opening)
    row, other = (first, second) if opponent == 0 else (second, first)
    fraction = held(aggression)
    # the second opponent answers alone only if the first one folds
    lets_pass = fraction[other] * (1 - aggression[other] if opponent else 1) > tolerance
    # the third card is neither the bettor's (rows) nor this opponent's (columns)
    third = np.sum(lets_pass) > lets_pass[:, None].astype(int) + lets_pass
    answers = third & (fraction[row] > tolerance)
    calls = answers & (aggression[row] > tolerance)
    folds = answers & (1 - aggression[row] > tolerance)
    calls_worse = np.tril(calls, -1).any(axis=1)
    folds_better = np.triu(folds, 1).any(axis=1)
    return _Against(calls_worse & ~folds_better, folds_better & ~calls_worse)


def _beats_bluffs_only(bet: BoolArray, bluff: BoolArray) -> BoolArray:
    """Cards (N,) that beat bets, bluffs all of them, and that some bet beats."""
    above = np.cumsum(bet[::-1])[::-1] > bet
    return _any_below(bet) & ~_any_below(bet & ~bluff) & above


def _any_below(cards: BoolArray) -> BoolArray:
    return np.cumsum(cards) > cards


def _calls_later(played: BoolArray, opening: int) -> BoolArray:
    """Cards (N,) with which the player who opens here calls a bet that somebody makes later."""
    calls = np.zeros(played.shape[1], dtype=np.bool_)
    for row, own_opening in EARLIER.items():
        if own_opening == opening:
            bet = played[bet_before(row)]
            calls |= played[row] & (np.sum(bet) > bet)
    return calls
