"""Kuhn poker for two to six players and any number of cards.

Each player antes an equal share of the pot and is dealt one card. In turn everybody checks
or bets one unit; after a bet the others in turn fold or call, and the play ends with a
showdown (Kuhn 1950; three players: Abou Risk and Szafron 2010, Szafron et al. 2013, §2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import SpecError
from eqbench.model.dealt import DealtRules, all_deals, build_dealt
from eqbench.model.tree import GameTree, Payoffs

Reduction = Literal["none", "dominated21", "dominated22", "billingham", "dominated25"]
LETTERS = {"check": "K", "bet": "B", "fold": "F", "call": "C"}
LARGEST_POT = 1e15  # beyond that a bet of one unit is lost in rounding
OPENING, ANSWERING = ("check", "bet"), ("fold", "call")


@dataclass(frozen=True)
class Kuhn:
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
    """

    players: int = 2
    cards: int | None = None
    pot: Fraction | None = None
    reduce: Reduction = "none"

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
        if self.reduce != "none" and self.players != 3:
            raise SpecError(
                f"reduce={self.reduce} is defined for 3 players, not {self.players}; "
                "use reduce=none"
            )
        if self.reduce.startswith("dominated") and cards != 4:
            raise SpecError(
                f"reduce={self.reduce} is defined for 4 cards, not {cards}; "
                "use reduce=billingham or reduce=none"
            )

    def build(self) -> GameTree:
        """Game tree with information sets ``"<card>:<history>"``."""
        deletions = _REDUCTIONS[self.reduce]
        cards, pot = self.cards, self.pot
        assert cards is not None  # __post_init__ filled both in
        assert pot is not None

        def allowed(history: str, card: int) -> tuple[str, ...]:
            deleted = deletions(history, card, cards)
            actions = ANSWERING if "B" in history else OPENING
            return tuple(action for action in actions if action not in deleted)

        return build_kuhn(self.players, cards, pot, allowed)


def build_kuhn(
    players: int, cards: int, pot: Fraction, allowed: Callable[[str, int], tuple[str, ...]]
) -> GameTree:
    """Tree of Kuhn poker with the actions that `allowed(history, card)` leaves."""
    rules = DealtRules(
        players=[f"P{p + 1}" for p in range(players)],
        deals=all_deals(cards, players),
        turn=lambda history: turn(history, players),
        letter=LETTERS.__getitem__,
        allowed=allowed,
        payoffs=showdown,
    )
    return build_dealt(
        rules, lambda base, slope: Payoffs(base, players, slope, "pot", Fraction(pot))
    )


def turn(history: str, players: int) -> tuple[int, tuple[str, ...]] | None:
    """Who acts after a history and with which actions; None when the hand is over."""
    opener = history.find("B")
    if opener < 0:
        return (len(history), OPENING) if len(history) < players else None
    answers = len(history) - opener - 1
    if answers == players - 1:
        return None
    return (opener + 1 + answers) % players, ANSWERING


def showdown(history: str, deals: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Net profits at the end of a hand, times the number of players.

    Returns base and slope, int64 (D, N): the profit is ``(base + slope * pot) / players``.
    """
    players = deals.shape[1]
    opener = history.find("B")
    stake = np.zeros(players, dtype=np.int64)
    if opener >= 0:
        stake[opener] = 1
        for k, answer in enumerate(history[opener + 1 :]):
            stake[(opener + 1 + k) % players] = answer == "C"
        contending = np.where(stake > 0, deals, 0)
    else:
        contending = deals
    wins = np.arange(players) == contending.argmax(axis=1)[:, None]
    base = players * (wins * stake.sum() - stake)
    return base, players * wins - 1


def _keep_all(history: str, card: int, cards: int) -> tuple[str, ...]:
    return ()


def _dominated21(history: str, card: int, cards: int) -> tuple[str, ...]:
    answering, called = "B" in history, "C" in history
    if answering and (card == 1 or (card == 2 and called)):
        return ("call",)
    return ("fold",) if answering and card == cards else ()


def _billingham(history: str, card: int, cards: int) -> tuple[str, ...]:
    """With two checks the highest card is bet; also what :func:`_dominated21` deletes."""
    if history == "KK" and card == cards:
        return ("check",)
    return _dominated21(history, card, cards)


def _dominated25(history: str, card: int, cards: int) -> tuple[str, ...]:
    if "B" not in history and card == cards - 1:
        return ("bet",)
    return _billingham(history, card, cards)


# With four cards Billingham's 22 deletions are the 21 and the bet with the highest card.
_REDUCTIONS = {
    "none": _keep_all,
    "dominated21": _dominated21,
    "dominated22": _billingham,
    "billingham": _billingham,
    "dominated25": _dominated25,
}
