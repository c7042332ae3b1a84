"""Labels of information sets and actions in words: ``2:KB`` is ``Q after check–bet``.

A game of cards or dice declares what its labels mean by a class attribute or property `wording`
of its dataclass. Labels of other games stand as they are, and so does a label that does not fit.
In files, JSON and the interchange form of profiles labels are never replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from eqbench.model.profile import label_parts

AT_START = "at the start"


@dataclass(frozen=True)
class Wording:
    """Meanings of the labels ``"<private>:<history>"`` of a game.

    Attributes
    ----------
    private : what a player holds, by how labels call it; what is not in it makes a label unfit, or
        has the words of `others`; if it is empty, all stand as they are
    moves : public moves by their letters in a history
    boards : what chance turns up for all to see, by its text in a history; a new round begins there
    separator : what stands between the moves of a history; each is a letter if it is empty
    verbs : what a player does who takes an action, for example ``bets``
    key : what the words mean, for a line next to where they first stand
    others : words, with {} in place of the label, for what `private` does not have
    grid : row and column of hands of two cards in a grid of 13 x 13, by how labels call them: the
        aces first, pairs on the diagonal and suited hands above it; empty if hands are no such
    """

    private: Mapping[str, str] = field(default_factory=dict)
    moves: Mapping[str, str] = field(default_factory=dict)
    boards: Mapping[str, str] = field(default_factory=dict)
    separator: str = ""
    verbs: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    others: str = ""
    grid: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def _rounds(self) -> re.Pattern[str]:
        """Boards in a history, the longest first."""
        boards = sorted(self.boards, key=lambda text: -len(text))
        return re.compile(f"({'|'.join(map(re.escape, boards)) or '(?!)'})")

    def history(self, text: str) -> str | None:
        """Public moves in words, ``after check–bet, K♥``; None if they do not fit.

        Examples
        --------
        >>> Wording(moves={"K": "check", "B": "bet"}).history("KB")
        'after check–bet'
        """
        parts = []
        for part in filter(None, self._rounds.split(text)):
            letters = part.split(self.separator) if self.separator else part
            if part in self.boards:
                parts.append(self.boards[part])
            elif self.separator or all(letter in self.moves for letter in letters):
                parts.append("–".join(self.moves.get(letter, letter) for letter in letters))
            else:
                return None
        return f"after {', '.join(parts)}" if parts else AT_START


class HasWording(Protocol):
    """A game that may declare what its labels mean."""

    @property
    def wording(self) -> Wording | None: ...


@dataclass(frozen=True)
class Situation:
    """An information set in words.

    Attributes
    ----------
    private : card, hand or roll, such as ``Q``; empty if the game declares no words
    history : what was played before, such as ``after check–bet``; empty likewise
    words : both, or the label as it is
    """

    private: str
    history: str
    words: str

    @property
    def moves(self) -> str:
        """The history without its first word, for a column of such."""
        return self.history.removeprefix("after ").removeprefix("at the ")

    @property
    def short(self) -> str:
        """Words for narrow columns: ``Q · check–bet``."""
        return f"{self.private} · {self.moves}" if self.private else self.words


def situation(label: str, game: HasWording | Wording | None) -> Situation:
    """Return an information set in words, by what its game declares; its label if nothing fits.

    Examples
    --------
    >>> import eqbench
    >>> situation("2:KB", eqbench.load_game("kuhn3")).words
    'Q after check–bet'
    """
    wording = wording_of(game)
    held, colon, text = label.partition(":")
    history = wording.history(text) if wording and colon else None
    if wording is None or history is None:
        return Situation("", "", label)
    others = wording.others.format(held) if wording.private else held
    private = wording.private.get(held, others)
    if not private:
        return Situation("", "", label)
    return Situation(private, history, f"{private} {history}")


def deed(action: str, game: HasWording | Wording | None) -> str:
    """Return what a player does who takes an action: ``bets``, or ``plays beer``."""
    wording = wording_of(game)
    verb = wording.verbs.get(action) if wording else None
    return verb or f"plays {action}"


def clause(
    player: str, action: str, label: str, game: HasWording | Wording | None, how: str = ""
) -> str:
    """Return what a player does in words: ``P1 never bets with Q after check–bet``.

    Parameters
    ----------
    how : `always`, `never` or another word before the verb
    """
    found = situation(label, game)
    who = f"{player} {how}".strip()
    if found.private:
        return f"{who} {deed(action, game)} with {found.private} {found.history}"
    return f"{who} {deed(action, game)}{f' at {label}' if label else ''}"


def place_in_words(place: str, game: HasWording | Wording | None) -> str:
    """Return ``PLAYER|INFOSET|ACTION`` in words, as it is where the game declares none."""
    if place.count("|") < 2:  # an expression of several
        return place
    player, label, action = label_parts(place)
    return clause(player, action, label, game) if situation(label, game).private else place


def key_line(game: HasWording | Wording | None) -> str:
    """Return the line that explains the words of a game; empty if it declares none."""
    wording = wording_of(game)
    return wording.key if wording else ""


def wording_of(game: HasWording | Wording | None) -> Wording | None:
    """Return what a game declares on its labels, if anything."""
    return game if isinstance(game, Wording | None) else game.wording
