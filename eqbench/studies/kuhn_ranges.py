"""Strategies of three-player Kuhn poker, node by node: what bets, checks and calls are for.

Symbols in shapes: N cards, A actions. The rows of all arrays are the nodes 1 to 12 of Billingham
2018: players 1 to 3 open, then answers to a bet of player 3 (4 to 6), player 2 (7 to 9), player 1
(10 to 12).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.tree import FloatArray, GameTree


class Node(NamedTuple):
    """A decision node: its player (0 to 2), what was played before, and what to call it."""

    player: int
    history: str
    title: str


NODES = (
    Node(0, "", "P1 opens"),
    Node(1, "K", "P2 after a check"),
    Node(2, "KK", "P3 after two checks"),
    Node(0, "KKB", "P1 answers P3's bet"),
    Node(1, "KKBF", "P2 after P1 folds"),
    Node(1, "KKBC", "P2 after P1 calls"),
    Node(2, "KB", "P3 answers P2's bet"),
    Node(0, "KBF", "P1 after P3 folds"),
    Node(0, "KBC", "P1 after P3 calls"),
    Node(1, "B", "P2 answers P1's bet"),
    Node(2, "BF", "P3 after P2 folds"),
    Node(2, "BC", "P3 after P2 calls"),
)
N_OPENINGS = 3
# Rows at which a player has opened before, and the row of that opening.
EARLIER = {3: 0, 7: 0, 8: 0, 4: 1, 5: 1}
AGGRESSIVE = ("bet", "call")


def node_title(row: int) -> str:
    """Title of the node in that row, for example ``1 · P1 opens``."""
    return f"{row + 1} · {NODES[row].title}"


def bet_before(row: int) -> int:
    """Row of the bet to which the nodes in the rows 3 to 11 are answers."""
    return (len(NODES) - 1 - row) // 3


def answers_to(opening: int) -> tuple[int, int, int]:
    """Rows of the answers to a bet: the first opponent's, the other's after a fold and a call."""
    first = 9 - 3 * opening
    return first, first + 1, first + 2


@dataclass(frozen=True, eq=False)
class KuhnNodes:
    """Where the frequencies of the twelve nodes stand in a profile.

    Attributes
    ----------
    cards : int
        N.
    action : int64 (12, N)
        Bet or call with each card; -1 where the rules or a reduction do not allow it.
    """

    cards: int
    action: NDArray[np.int64]

    @classmethod
    def of(cls, tree: GameTree) -> KuhnNodes:
        """The nodes of a tree.

        Raises
        ------
        UsageError
            If it is not three-player Kuhn poker without raises.
        """
        row_of = {(node.player, node.history): row for row, node in enumerate(NODES)}
        places = []
        for i, label in enumerate(tree.infoset_labels):
            card, colon, history = label.partition(":")
            row = row_of.get((int(tree.infoset_player[i]), history))
            if row is None or not colon or not (card.isascii() and card.isdigit()):
                raise UsageError(
                    "the twelve decision nodes belong to three-player Kuhn poker without raises; "
                    f"this game has an information set {label!r}. "
                    "Choose kuhn(players=3, ...) or skp"
                )
            places.append((row, int(card) - 1))
        cards = 1 + max((card for _, card in places), default=-1)
        if len(set(places)) != 12 * cards or cards < 3:
            raise UsageError(
                "the twelve decision nodes belong to three-player Kuhn poker; "
                f"this game has {len(places)} information sets instead of 12 with each card"
            )
        action = np.full((12, cards), -1)
        for i, place in enumerate(places):
            names = tree.infoset_actions[i]
            known = [a for a, name in enumerate(names) if name in AGGRESSIVE]
            if known:
                action[place] = tree.action_start[i] + known[0]
        return cls(cards, action)

    def aggression(self, behavior: FloatArray) -> FloatArray:
        """Frequencies of bet or call, float64 (12, N), from those of all actions (A,)."""
        return np.where(self.action >= 0, behavior[self.action], 0.0)


def held(aggression: FloatArray) -> FloatArray:
    """Fraction of each card that a player still holds at each node, float64 (12, N).

    At their second decision that is what they checked at their first one (Billingham 2018,
    Figure 10).
    """
    fraction = np.ones_like(aggression)
    fraction[list(EARLIER)] -= aggression[list(EARLIER.values())]
    return fraction


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


def kinds_of(played: FloatArray, tolerance: float = TOLERANCE) -> NDArray[np.int8]:
    """Ranges of bets and calls, and then of checks, at K points: int8 (K, 2, 12, N)."""
    found = [strategy_ranges(frequencies, tolerance) for frequencies in played]
    return np.array([(ranges.aggressive, ranges.passive) for ranges in found])


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
    """Cards (N,) with which the player who opens here calls a later bet."""
    calls = np.zeros(played.shape[1], dtype=np.bool_)
    for row, own_opening in EARLIER.items():
        if own_opening == opening:
            bet = played[bet_before(row)]
            calls |= played[row] & (np.sum(bet) > bet)
    return calls
