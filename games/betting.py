"""Rounds of limit betting: who acts, with which actions, and what everybody has put in.

A round is a text with one letter per action: K check, B bet, F fold, C call, R raise. In turn
the players check or bet; whoever faces a bet folds, calls or, while raises are left, raises by
one more bet. All others in the hand answer a bet or a raise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from eqbench.errors import SpecError
from eqbench.model.words import Wording

LETTERS = {"check": "K", "bet": "B", "fold": "F", "call": "C", "raise": "R"}
MAX_RAISES = 100
VERBS = {move: f"{move}s" for move in LETTERS}
RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
SUITS = "♠♥♦♣"


def rank_names(ranks: int) -> list[str]:
    """Names of ranks 1 to `ranks`: the highest are J Q K, or J Q K A; numbers if they are many."""
    if ranks > len(RANKS):
        return [str(rank) for rank in range(1, ranks + 1)]
    end = len(RANKS) - (ranks <= 3)  # with three cards they are J, Q and K, as Kuhn has them
    return list(RANKS[end - ranks : end])


def betting_words(
    cards: Mapping[str, str], boards: Mapping[str, str] = MappingProxyType({}), names: str = ""
) -> Wording:
    """Words for the labels of a game of limit betting.

    Parameters
    ----------
    cards : names of private cards by their labels, the lowest first
    boards : names of public cards by how histories have them
    names : what the cards are called in the key, if not all one after the other
    """
    labels = list(cards)
    in_labels = f"{labels[0]} to {labels[-1]} in labels" if len(labels) > 1 else "in labels 1"
    if len(labels) > len(RANKS):
        names = names or f"{labels[0]} to {labels[-1]}"
    key = (
        f"Cards {names or ' '.join(cards.values())}, the highest last ({in_labels}); after "
        "check–bet: these moves were played before, by the players in turn."
    )
    moves = {letter: move for move, letter in LETTERS.items()}
    return Wording(cards, moves, boards, verbs=VERBS, key=key)


@dataclass(frozen=True)
class BettingRound:
    """Where a round of betting stands.

    Attributes
    ----------
    bets : number of bets and raises so far
    stakes : bets that each player has put in, 0 for those who are not in the round
    contending : players who have not folded, in playing order
    waiting : players who must still act, the next one first
    """

    bets: int
    stakes: tuple[int, ...]
    contending: tuple[int, ...]
    waiting: tuple[int, ...]

    def turn(self, limit: int) -> tuple[int, tuple[str, ...]] | None:
        """Who acts and how, with at most `limit` bets and raises; None after the round."""
        if not self.waiting:
            return None
        more = self.bets < limit
        if self.bets == 0:
            return self.waiting[0], ("check", "bet") if more else ("check",)
        return self.waiting[0], ("fold", "call", "raise") if more else ("fold", "call")


@lru_cache(4096)
def play_round(letters: str, players: int, seats: Sequence[int]) -> BettingRound:
    """State of a round after some actions.

    Parameters
    ----------
    players : number of players at the table
    seats : those who are in the hand when the round begins, in playing order
    """
    bets, stakes = 0, [0] * players
    contending, waiting = list(seats), list(seats)
    for letter in letters:
        player = waiting.pop(0)
        if letter in "BR":
            bets += 1
            place = contending.index(player)
            waiting = contending[place + 1 :] + contending[:place]
        if letter == "F":
            contending.remove(player)
        elif letter != "K":
            stakes[player] = bets
    return BettingRound(bets, tuple(stakes), tuple(contending), tuple(waiting))


def round_nodes(seats: int, limit: int, end: Sequence[int]) -> int:
    """Number of nodes of a round of betting, with what follows it.

    Parameters
    ----------
    seats : number of players who are in the hand when the round begins
    limit : at most so many bets and raises
    end : for every number of players 0..seats who have not folded, the number of nodes from
        the end of the round on
    """

    @cache
    def nodes(there: int, waiting: int, left: int) -> int:
        """From a bet on: players who have not folded and who must answer, and bets left."""
        if not waiting:
            return end[there]
        raised = nodes(there, there - 1, left - 1) if left else 0
        return 1 + raised + nodes(there - 1, waiting - 1, left) + nodes(there, waiting - 1, left)

    return end[seats] + seats * (1 + (nodes(seats, seats - 1, limit - 1) if limit else 0))


def check_raises(raises: int, least: int) -> None:
    """Refuse a number of raises below `least`, and one that no machine could play out.

    Raises
    ------
    SpecError
    """
    if not least <= raises <= MAX_RAISES:
        raise SpecError(f"raises={raises}; allowed are {least} to {MAX_RAISES}")
