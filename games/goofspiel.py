"""Goofspiel with hidden bids (Ross 1971; variant as in Lanctot et al. 2019, OpenSpiel).

A prize is turned up in each round, and everybody bids one of the own cards, all at once. The
highest bid wins the prize's points; if several are highest, no player does. Players learn who won,
not what was bid. Whoever has most points in the end has won.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eqbench.errors import SpecError
from eqbench.model.assemble import LevelLayout
from eqbench.model.tree import TERMINAL, GameTree, Payoffs
from eqbench.model.words import Wording

Prizes = Literal["descending", "ascending"]
NOBODY = "="
_KEY = "Bids 31 after P2 won–a tie: own bids of 3, then 1; P2 won round 1, no player round 2."


@dataclass(frozen=True)
class Goofspiel:
    """Goofspiel; information sets ``"<own bids>:<winners>"``, a digit for each past round.

    ``"31:2="`` is 3 bid first and then 1, player 2 the first winner, and no second one. Players
    move in turn without seeing the bids of the round, and the last card is not a decision. The
    winners share a payoff of 1, the losers one of -1; if all have equal points, no player wins.

    Parameters
    ----------
    cards : cards of each player and prizes, 1..cards, 2 to 9
    players : 2 to 6
    prizes : order in which the prizes come, known to all
    """

    cards: int = 4
    players: int = 2
    prizes: Prizes = "descending"

    def __post_init__(self) -> None:
        for name, least, most in (("cards", 2, 9), ("players", 2, 6)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise SpecError(f"{name}={value}; allowed are {least} to {most}")

    @property
    def wording(self) -> Wording:
        """What labels mean: own bids, then the winners of the rounds."""
        won = {str(k): f"P{k} won" for k in range(1, self.players + 1)} | {NOBODY: "a tie"}
        verbs = {str(k): f"bids {k}" for k in range(1, self.cards + 1)}
        return Wording({"": "no bids"}, won, verbs=verbs, key=_KEY, others="bids {}")

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        nodes, begun = 0, 1
        for left in range(self.cards, 1, -1):
            nodes += begun * sum(left**k for k in range(self.players))
            begun *= left**self.players
        return nodes + begun

    def build(self) -> GameTree:
        """Game tree, laid out level by level."""
        layout = _BiddingLayout(self.players, self.cards)
        prizes = range(1, self.cards + 1)
        for prize in prizes if self.prizes == "ascending" else reversed(prizes):
            layout.play_round(prize)
        return layout.scored()


class _BiddingLayout(LevelLayout):
    """All nodes above the present level, and what the play was before each of its M nodes.

    Past bids and winners are the decimal digits of a number, one for each round, so that they
    are easily put together to a key. A round that no player won has the digit 0.
    """

    def __init__(self, players: int, cards: int) -> None:
        super().__init__()
        self.players, self.cards = players, cards
        self.holds = np.ones((1, players, cards), dtype=bool)
        self.bid = np.zeros((1, players), dtype=np.int64)  # in this round
        self.bids = np.zeros((1, players), dtype=np.int64)
        self.winners = np.zeros(1, dtype=np.int64)
        self.points = np.zeros((1, players), dtype=np.int64)
        self.parent, self.move = np.array([-1]), np.array([-1])

    def play_round(self, prize: int) -> None:
        """Let everybody bid, which takes no decision with the last card, and pay the prize."""
        if self.holds[0, 0].sum() > 1:
            for player in range(self.players):
                self._decide(player)
        else:
            self.bid = self.holds.argmax(axis=2) + 1
        top = self.bid == self.bid.max(axis=1, keepdims=True)
        won = top & (top.sum(axis=1, keepdims=True) == 1)
        self.points += prize * won
        self.bids = 10 * self.bids + self.bid
        self.winners = 10 * self.winners + np.where(won.any(axis=1), won.argmax(axis=1) + 1, 0)

    def scored(self) -> GameTree:
        """Game tree in which the play is over at the present level."""
        self.add(self.parent, self.move, TERMINAL)
        wins = self.points == self.points.max(axis=1, keepdims=True)
        winners = wins.sum(axis=1, keepdims=True)
        losers = self.players - winners
        parts = math.lcm(*range(1, self.players))
        base = np.where(wins, parts // winners, -parts // np.maximum(losers, 1)) * (losers > 0)
        self.pay(base)
        return self.tree(self.players, lambda base: Payoffs(base, parts), chance_denominator=1)

    def _decide(self, player: int) -> None:
        """Make the present level decisions of a player, and go down to the level below."""
        keys, infoset = np.unique(self.bids[:, player] * 10**9 + self.winners, return_inverse=True)
        self.add(self.parent, self.move, player, infoset + len(self.table.label))
        for key in keys.tolist():
            self._add_infoset(player, *divmod(key, 10**9))
        row, card = np.nonzero(self.holds[:, player])
        self.parent = row + (self.placed - len(self.parent))
        self.move = np.arange(len(row)) - np.searchsorted(row, row)
        for name in ("holds", "bid", "bids", "winners", "points"):
            setattr(self, name, getattr(self, name)[row])
        self.holds[np.arange(len(row)), player, card] = False
        self.bid[:, player] = card + 1

    def _add_infoset(self, player: int, bids: int, winners: int) -> None:
        own = str(bids or "")
        past = str(winners).zfill(len(own)).replace("0", NOBODY) if own else ""
        held = (str(card) for card in range(1, self.cards + 1))
        self.table.player.append(player)
        self.table.label.append(f"{own}:{past}")
        self.table.actions.append(tuple(card for card in held if card not in own))
