"""Leduc poker for two to six players (Southey et al. 2005).

Everybody antes 1 and is dealt one card; a round of betting with bets of 2 follows, then one
public card and a round with bets of 4. At the showdown a pair with the public card wins, else
the highest rank; equal hands split the pot. More players play as in OpenSpiel (Lanctot et al.
2019): the deck has one more rank for each, and rounds begin with the first player in the hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import SpecError
from eqbench.model.dealt import PublicCards, Turn, single_cards
from eqbench.model.dealt_form import Settlement, ShowdownGame, ShowdownRules
from eqbench.model.tree import CHANCE
from eqbench.model.words import Wording

from .betting import (
    LETTERS,
    SUITS,
    BettingRound,
    betting_words,
    check_raises,
    play_round,
    rank_names,
    round_nodes,
)

ANTE, BETS = 1, (2, 4)


@dataclass(frozen=True)
class Leduc(ShowdownGame):
    """Leduc poker; information sets ``"<card>:<round 1>"``, then ``"…/<public card>:<round 2>"``.

    A card is its rank, 1 the lowest, and a letter for its suit, as in ``"2a:KBC/3b:K"``.

    Parameters
    ----------
    players : 2 to 6
    ranks : number of ranks; players + 1 unless given
    suits : number of cards of each rank, 1 to 26
    raises : how many bets and raises a round of betting may have, 1 to 100
    """

    players: int = 2
    ranks: int | None = None
    suits: int = 2
    raises: int = 2

    def __post_init__(self) -> None:
        if not 2 <= self.players <= 6:
            raise SpecError(f"players={self.players}; allowed are 2 to 6 players")
        ranks = self.players + 1 if self.ranks is None else self.ranks
        object.__setattr__(self, "ranks", ranks)
        if ranks < 1:
            raise SpecError(f"ranks={ranks}; choose ranks >= 1")
        if not 1 <= self.suits <= len(ascii_lowercase):
            raise SpecError(f"suits={self.suits}; allowed are 1 to {len(ascii_lowercase)}")
        if self.n_cards <= self.players:
            raise SpecError(
                f"ranks={self.ranks} and suits={self.suits} make {self.n_cards} cards; "
                f"{self.players} players and the public card need {self.players + 1}, so choose "
                "more ranks or suits"
            )
        check_raises(self.raises, 1)

    @property
    def n_cards(self) -> int:
        """Size of the deck."""
        assert self.ranks is not None  # __post_init__ filled it in
        return self.ranks * self.suits

    @property
    def wording(self) -> Wording:
        """What labels mean: card ``2a`` of three ranks is Q♠."""
        assert self.ranks is not None
        suits = SUITS if self.suits <= len(SUITS) else ascii_lowercase
        ranks = rank_names(self.ranks)
        names = {
            self._name(card + 1): ranks[card // self.suits] + suits[card % self.suits]
            for card in range(self.n_cards)
        }
        boards = {f"/{label}:": name for label, name in names.items()}
        return betting_words(names, boards, f"{' '.join(ranks)} in suits {suits[: self.suits]}")

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        boards = self.n_cards - self.players
        over = [1] * (self.players + 1)
        second = (round_nodes(n, self.raises, over) for n in range(2, self.players + 1))
        ends = [1, 1, *(1 + boards * nodes for nodes in second)]
        hand = round_nodes(self.players, self.raises, ends)
        dealing = sum(math.perm(self.n_cards, k) for k in range(self.players))
        return dealing + math.perm(self.n_cards, self.players) * hand

    def rules(self) -> ShowdownRules:
        """Rules of the game; chance deals the private cards one after another."""
        hands = single_cards(self.n_cards, self.players, self._name)  # refuses too many
        names = {name: card for card, name in enumerate(hands.labels, start=1)}
        numbers, strength = np.arange(1, self.n_cards + 1), cache(self._strength)
        return ShowdownRules(
            replace(hands, one_by_one=True),
            lambda history: self._turn(history, tuple(names)),
            lambda history, move: history + LETTERS.get(move, f"/{move}:"),
            self._settle,
            lambda history: strength(history.partition("/")[2].partition(":")[0]),
            self._shares,
            public=PublicCards(self.n_cards - self.players, lambda name: numbers == names[name]),
        )

    @cached_property
    def _shares(self) -> int:
        """Into how many parts a chip is cut, so that any number of players can split a pot."""
        return math.lcm(*range(1, min(self.players, self.suits) + 1))

    def _name(self, card: int) -> str:
        rank, suit = divmod(card - 1, self.suits)
        return f"{rank + 1}{ascii_lowercase[suit]}"

    def _rounds(self, history: str) -> tuple[BettingRound, str, BettingRound]:
        """First round, public card (or nothing) and second round of a history."""
        before, _, after = history.partition("/")
        board, _, letters = after.partition(":")
        first = play_round(before, self.players, range(self.players))
        return first, board, play_round(letters, self.players, first.contending)

    def _turn(self, history: str, boards: tuple[str, ...]) -> Turn | None:
        first, board, second = self._rounds(history)
        if first.waiting:
            return first.turn(self.raises)
        if len(first.contending) == 1:
            return None
        return second.turn(self.raises) if board else (CHANCE, boards)

    def _settle(self, history: str) -> Settlement:
        """How a hand ends, in parts of a chip."""
        first, _, second = self._rounds(history)
        stakes = zip(first.stakes, second.stakes, strict=True)
        paid = (ANTE + BETS[0] * early + BETS[1] * late for early, late in stakes)
        return Settlement(tuple(self._shares * chips for chips in paid), second.contending)

    def _strength(self, board: str) -> NDArray[np.int64]:
        """What cards are worth in a showdown: a pair with the public card beats all ranks."""
        rank = np.arange(self.n_cards) // self.suits + 1
        return rank + (rank == int(board[:-1] or 0)) * self.n_cards
