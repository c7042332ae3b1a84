"""Kuhn poker for two to six players and any number of cards.

Each player antes an equal share of the pot and is dealt one card. In turn everybody checks
or bets one unit; after a bet the others in turn fold or call, and the play ends with a
showdown (Kuhn 1950; three players: Abou Risk and Szafron 2010, Szafron et al. 2013, §2).
With the option `raises` whoever faces a bet may also raise it by one unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from eqbench.errors import SpecError
from eqbench.model.dealt import single_cards
from eqbench.model.dealt_form import Settlement, ShowdownGame, ShowdownRules
from eqbench.model.words import Wording

from .betting import (
    LETTERS,
    betting_words,
    check_raises,
    play_round,
    rank_names,
    round_nodes,
)

Reduction = Literal[
    "none", "dominated21", "dominated22", "billingham", "dominated25", "half_street"
]
LARGEST_POT = 1e15  # beyond that a bet of one unit is lost in rounding
OPENING, ANSWERING = ("check", "bet"), ("fold", "call")
Allowed = Callable[[str, int], tuple[str, ...]]  # (history, card) -> actions


@dataclass(frozen=True)
class Kuhn(ShowdownGame):
    """Kuhn poker; payoffs are net profits and affine in the pot.

    Parameters
    ----------
    players : 2 to 6
    cards : size of the deck, 1..cards with `cards` highest; players + 1 unless given
    pot : sum of the antes; equal to the number of players unless given
    reduce : which dominated actions are deleted (information sets never are)
        `dominated21` (three players, four cards): the lowest card never calls, the highest
        never folds, the second lowest never calls after a bet and a call. `dominated22`:
        also, player 3 bets the highest card after two checks (the 415-node tree of
        Ganzfried 2025). `billingham` (three players): the 22 frequencies that Billingham
        2018, §2 fixes. `dominated25` (four cards): these and the opening bets with card 3.
        `half_street` (two players): player 1 only checks at first; not dominated, but another
        game, whose limit for many cards is known.
    raises : how often a bet may be raised in a hand, by one unit each time; 0 to 100
    """

    players: int = 2
    cards: int | None = None
    pot: Fraction | None = None
    reduce: Reduction = "none"
    raises: int = 0

    def __post_init__(self) -> None:
        if not 2 <= self.players <= 6:
            raise SpecError(f"players={self.players}; allowed are 2 to 6 players")
        cards = self.players + 1 if self.cards is None else self.cards
        pot = Fraction(self.players) if self.pot is None else self.pot
        object.__setattr__(self, "cards", cards)
        object.__setattr__(self, "pot", pot)
        if cards < self.players:
            raise SpecError(
                f"cards={cards} is fewer than players={self.players}; "
                "every player needs a card, so choose cards >= players"
            )
        if pot > LARGEST_POT:
            raise SpecError(f"the pot is too large; choose a pot up to {LARGEST_POT:.0e}")
        if pot < 0:
            raise SpecError(f"pot={pot} is negative; choose a pot >= 0")
        players = 2 if self.reduce == "half_street" else 3
        if self.reduce != "none" and self.players != players:
            raise SpecError(
                f"reduce={self.reduce} is defined for {players} players, not {self.players}; "
                "use reduce=none"
            )
        if self.reduce.startswith("dominated") and cards != 4:
            raise SpecError(
                f"reduce={self.reduce} is defined for 4 cards, not {cards}; "
                "use reduce=billingham or reduce=none"
            )
        check_raises(self.raises, 0)
        if self.raises and self.reduce != "none":
            raise SpecError(
                f"reduce={self.reduce} with raises={self.raises}: what is dominated is known "
                "only without raises; use reduce=none or raises=0"
            )

    @property
    def wording(self) -> Wording:
        """What labels mean: card 2 of 4 is Q, ``KB`` is check–bet."""
        assert self.cards is not None
        return _words(self.cards)

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        assert self.cards is not None
        if self.reduce != "none":
            return super().expected_nodes()
        hand = round_nodes(self.players, 1 + self.raises, [1] * (self.players + 1))
        return 1 + math.perm(self.cards, self.players) * hand

    def rules(self) -> ShowdownRules:
        """Rules of the game; information sets are ``"<card>:<history>"``."""
        assert self.cards is not None  # __post_init__ filled both in
        assert self.pot is not None
        allowed = None if self.reduce == "none" else self._allowed
        return kuhn_rules(self.players, self.cards, self.pot, allowed, raises=self.raises)

    def _allowed(self, history: str, card: int) -> tuple[str, ...]:
        assert self.cards is not None
        deleted = _deleted(self.reduce, history, card, self.cards)
        actions = ANSWERING if "B" in history else OPENING
        return tuple(action for action in actions if action != deleted)


def _words(cards: int) -> Wording:
    return betting_words({str(k): name for k, name in enumerate(rank_names(cards), start=1)})


def kuhn_rules(
    players: int, cards: int, pot: Fraction, allowed: Allowed | None, *, raises: int = 0
) -> ShowdownRules:
    """Rules of Kuhn poker with the actions that `allowed(history, card)` leaves."""
    hands = single_cards(cards, players)  # refuses too many
    strength = np.arange(cards)

    def settle(history: str) -> Settlement:
        end = play_round(history, players, range(players))
        paid = tuple(players * stake for stake in end.stakes)
        return Settlement(paid, end.contending, (1,) * players)

    return ShowdownRules(
        hands,
        lambda history: play_round(history, players, range(players)).turn(1 + raises),
        lambda history, action: history + LETTERS[action],
        settle,
        lambda _: strength,
        players,
        "pot",
        Fraction(pot),
        allowed=allowed,
    )


def _deleted(reduce: Reduction, history: str, card: int, cards: int) -> str | None:
    """Action that a reduction takes away from a card, if there is one.

    With four cards Billingham's 22 deletions are the 21 and the check with the highest card.
    """
    if reduce == "half_street":
        return None if history else "bet"
    if "B" in history:
        if card == 1 or (card == 2 and "C" in history):
            return "call"
        return "fold" if card == cards else None
    if reduce == "dominated25" and card == cards - 1:
        return "bet"
    return "check" if history == "KK" and card == cards and reduce != "dominated21" else None


# -- simplified three-player Kuhn poker (SKP) of Billingham 2017: J, Q, K, A are cards 1 to 4 ------

J, Q, K, A = 1, 2, 3, 4


@dataclass(frozen=True)
class SimplifiedKuhn(ShowdownGame):
    """SKP at any pot >= 2, all dominated actions deleted; eleven frequencies remain.

    J is passive. Q may bluff and never calls. K never opens, and calls only if no player called
    before. A always calls, and player 3 bets it after two checks (Billingham 2017, §2).

    Parameters
    ----------
    pot : sum of the antes; at least 2
    """

    pot: Fraction = Fraction(3)

    def __post_init__(self) -> None:
        if self.pot < 2:
            raise SpecError(f"pot={self.pot} is below 2; no player bets then, so choose a pot >= 2")
        if self.pot > LARGEST_POT:
            raise SpecError(f"the pot is too large; choose a pot up to {LARGEST_POT:.0e}")

    @property
    def wording(self) -> Wording:
        """What labels mean: cards 1 to 4 are J, Q, K and A."""
        return _words(4)

    def rules(self) -> ShowdownRules:
        """Rules of the game, labeled as Kuhn poker with three players and four cards."""
        return kuhn_rules(3, 4, self.pot, _allowed)


def _allowed(history: str, card: int) -> tuple[str, ...]:
    if "B" not in history:
        if card in (J, K):
            return ("check",)
        return ("bet",) if card == A and history == "KK" else ("check", "bet")
    if card == A:
        return ("call",)
    return ("fold", "call") if card == K and "C" not in history else ("fold",)
