"""No-limit betting of two players on the river: all five public cards are there, one round is left.

Each player has two cards of a range, a card of one is no card of the other, and the better hand of
seven wins the pot. Games of this kind are what poker solvers are used for; those with few hands
have known solutions (Chen and Ankenman 2006, ch. 11 and 16).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from eqbench.errors import SpecError
from eqbench.model.dealt import Hands, Turn
from eqbench.model.dealt_form import Settlement, ShowdownGame, ShowdownRules
from eqbench.model.rational import parse_rational, short_figure
from eqbench.model.words import Wording

from .betting import check_raises
from .holdem import (
    HANDS,
    NAMES,
    RANGE_FILE,
    SYMBOLS,
    hand_values,
    parse_cards,
    parse_range,
    place,
    read_range,
)

ALL_IN = "allin"
MOST_SIZES, MOST_BETTING, SAFE = 10, 10_000, 2**53
LARGEST = 10**9  # chips, and shares of the pot
_WORDS = {
    name: "".join(SYMBOLS.get(letter, letter) for letter in name).replace("T", "10")
    for name in NAMES
}
_PLACES = {name: place(hand) for name, hand in zip(NAMES, HANDS, strict=True)}


@dataclass(frozen=True)
class _State:
    """Where the betting stands.

    Attributes
    ----------
    player : who acts; -1 if the play is over
    paid : chips that each player has put in on the river
    bets : number of bets and raises so far
    step : by how much the last one was higher
    contending : players who have not folded
    moves : histories after the moves of the player
    """

    player: int = 0
    paid: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    bets: int = 0
    step: Fraction = Fraction(0)
    contending: tuple[int, ...] = (0, 1)
    moves: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class River(ShowdownGame):
    """The last round of no-limit hold'em between two players; payoffs are net profits in chips.

    Each player has put half of the pot in before, so the payoffs of both sum to 0. Player 1 acts
    first. A bet of a share of the pot is that share of `pot`; a raise of a share is to the bet of
    the other and that share of the pot after a call, at least by as much as the last bet or raise.
    What is more than the stack is all-in. Information sets are ``"<hand>:<history>"``, as in
    ``"AhKd:K B50"``: K check, B50 bet 50, R150 raise to 150, A100 all-in for 100 in all, F fold,
    C call.

    Parameters
    ----------
    board : five cards, each a rank 2 to 9, T, J, Q, K, A and a suit c, d, h, s
    ranges : hands that players may have, such as "AA,KQs,T9o:0.5", or a .txt file of that
        Those of player 1, a | and those of player 2, or one text for both.
    pot : chips in the pot
    stack : chips that each player has left
    bets : sizes of bets as shares of the pot, smallest first, and allin, such as "1/2,1,allin"
    raises : how often a bet may be raised, 0 to 100
    raise_sizes : shares of the pot by which to raise; those of bets unless given
    """

    board: str = "2c3d7h9sKc"
    ranges: str = "KsKh,6h5d|AsAd"
    pot: Fraction = Fraction(100)
    stack: Fraction = Fraction(100)
    bets: Fraction | str = Fraction(1)
    raises: int = 1
    raise_sizes: Fraction | str | None = None

    def __post_init__(self) -> None:
        if len(parse_cards(self.board)) != 5:
            raise SpecError(f"board={self.board} has {len(self.board) // 2} cards; give five")
        for name in ("pot", "stack"):
            if not 0 < getattr(self, name) <= LARGEST:
                raise SpecError(
                    f"{name}={str(getattr(self, name))[:40]}; choose a number of chips above 0 and "
                    f"up to {LARGEST:,}"
                )
        check_raises(self.raises, 0)
        raise_sizes = self.bets if self.raise_sizes is None else self.raise_sizes
        object.__setattr__(self, "bets", _joined(_sizes("bets", self.bets)))
        object.__setattr__(self, "raise_sizes", _joined(_sizes("raise_sizes", raise_sizes)))
        parts = self._range_texts
        if len(parts) > 2 or not all(parts):
            raise SpecError(
                f'ranges="{self.ranges[:40]}" has {len(parts)} parts or an empty one; give one '
                "range for both players, or two with | between them"
            )
        for part in parts:
            if not part.endswith(RANGE_FILE):  # files are read when the game is built
                parse_range(part)
        _ = self._states

    @property
    def wording(self) -> Wording:
        """What labels mean: hand ``AhKd`` is A♥K♦, in a grid of 13 x 13."""
        after = (text for state in self._states.values() for text in state.moves.items())
        moves = {text.rpartition(" ")[2]: name for name, text in after}
        verbs = {
            name: f"goes {name}" if name[0] == "a" else re.sub(r"^\w+", r"\g<0>s", name)
            for name in moves.values()
        }
        key = (
            "Hands such as A♥K♦ (AhKd in labels), bets in chips; after check–bet 50: these moves "
            "were played before, by the players in turn."
        )
        return Wording(_WORDS, moves, separator=" ", verbs=verbs, key=key, grid=_PLACES)

    def rules(self) -> ShowdownRules:
        """Rules of the game; chance deals both hands at once."""
        states, hands, half = self._states, self.hands, self.pot / 2
        ends = (state.paid for state in states.values() if state.player < 0)
        amounts = [share for a, b in ends for share in (half + a, half + b, half + (a + b) / 2)]
        unit = math.lcm(*(amount.denominator for amount in amounts))
        if unit * max(amounts) >= SAFE:
            raise SpecError(
                f"the stakes are multiples of {short_figure(Fraction(1, unit))} chips only, "
                "which is too fine; choose rounder sizes, a rounder pot and stack, or fewer raises"
            )

        def turn(history: str) -> Turn | None:
            state = states[history]
            return (state.player, tuple(state.moves)) if state.moves else None

        def settle(history: str) -> Settlement:
            end = states[history]
            first, second = (int(unit * (half + own)) for own in end.paid)
            return Settlement((first, second), end.contending)

        board = np.tile(parse_cards(self.board), (len(hands.labels), 1))
        strength = hand_values(np.column_stack([hands.cards, board]))
        return ShowdownRules(
            hands,
            turn,
            lambda history, move: states[history].moves[move],
            settle,
            lambda _: strength,
            unit,
        )

    def cache_key(self) -> str:
        """Hash of the range files, on which the game depends; empty if there are none."""
        files = [part for part in self._range_texts if part.endswith(RANGE_FILE)]
        text = "|".join(map(read_range, files))
        return hashlib.sha256(text.encode()).hexdigest() if files else ""

    @property
    def _range_texts(self) -> list[str]:
        """Texts of ranges or names of their files, of one player or both."""
        return [part.strip() for part in self.ranges.split("|")]

    @cached_property
    def hands(self) -> Hands:
        """Hands that a player may have, with their weights.

        Raises
        ------
        SpecError
            If a range cannot be read, or no deal is possible.
        """
        board = set(parse_cards(self.board))
        parts, ranges = self._range_texts, []
        for part in parts if len(parts) == 2 else parts * 2:
            listed = parse_range(read_range(part) if part.endswith(RANGE_FILE) else part)
            ranges.append({hand: w for hand, w in listed.items() if board.isdisjoint(hand)})
        kept = [at for at, hand in enumerate(HANDS) if any(hand in own for own in ranges)]
        weights = [_whole([own.get(HANDS[at], Fraction(0)) for at in kept]) for own in ranges]
        if max(sum(own) for own in weights) >= 2**62:
            raise SpecError("weights of hands differ too finely; choose weights of fewer digits")
        hands = Hands(
            tuple(NAMES[at] for at in kept),
            np.array([HANDS[at] for at in kept], dtype=np.int64).reshape(-1, 2),
            np.array(weights, dtype=np.int64),
        )
        if not hands.total():
            raise SpecError(
                f"no deal is possible with the board {self.board}: a range has no hand without its "
                "cards, or all hands of one player have a card of those of the other"
            )
        return hands

    @cached_property
    def _states(self) -> dict[str, _State]:
        """All states of the betting by their histories."""
        states, todo = dict[str, _State](), [("", _State())]
        for history, state in todo:  # which grows
            following = {
                name: (f"{history} {letters}".lstrip(), after)
                for name, letters, after in self._following(state)
            }
            states[history] = replace(state, moves={k: text for k, (text, _) in following.items()})
            todo += following.values()
            if len(todo) > MOST_BETTING:
                raise SpecError(
                    f"raises={self.raises} with these sizes of bets has more than {MOST_BETTING:,} "
                    "ways to play; choose fewer raises or sizes"
                )
        return states

    def _following(self, state: _State) -> Iterator[tuple[str, str, _State]]:
        """Names and letters of the moves in a state, and what follows them."""
        own, other, called = state.player, 1 - state.player, max(state.paid)
        if own < 0:
            return
        if state.bets:
            yield "fold", "F", replace(state, player=-1, contending=(other,))
            yield "call", "C", replace(state, player=-1, paid=(called, called))
        else:
            yield "check", "K", replace(state, player=1 if own == 0 else -1)
        if called == self.stack or state.bets > self.raises:
            return
        sizes = _sizes("raise_sizes", self.raise_sizes) if state.bets else _sizes("bets", self.bets)
        more = {max(state.step, size * (self.pot + 2 * called)) for size in sizes if size}
        totals = {min(called + each, self.stack) for each in more}
        for total in sorted(totals | ({self.stack} if 0 in sizes else set())):
            name, letter = ("raise to", "R") if state.bets else ("bet", "B")
            if total == self.stack:
                name, letter = "all-in", "A"
            paid = (total, called) if own == 0 else (called, total)
            after = _State(other, paid, state.bets + 1, total - called)
            yield f"{name} {_chips(total)}", f"{letter}{_chips(total)}", after


def _sizes(option: str, given: Fraction | str | None) -> list[Fraction]:
    """Shares of the pot, the smallest first; all-in is 0 and stands last."""
    parts = [part.strip() for part in str(given).split(",")]
    shares = [parse_rational(part) for part in parts if part != ALL_IN]
    sizes = {share for share in shares if share is not None and 0 < share <= LARGEST}
    are_right = len(sizes) == len(set(shares))
    if ALL_IN in parts:
        sizes.add(Fraction(0))
    if not are_right or not 0 < len(sizes) <= MOST_SIZES:
        raise SpecError(
            f'{option}="{str(given)[:40]}"; give 1 to {MOST_SIZES} shares of the pot above 0, or '
            f"{ALL_IN}, such as 1/2,1,{ALL_IN}"
        )
    return sorted(sizes, key=lambda size: (size == 0, size))


def _joined(sizes: list[Fraction]) -> Fraction | str:
    """Sizes as the value of an option."""
    if len(sizes) == 1 and sizes[0]:
        return sizes[0]
    return ",".join(str(size) if size else ALL_IN for size in sizes)


def _whole(weights: list[Fraction]) -> list[int]:
    """Weights as the smallest whole numbers in the same proportions."""
    unit = math.lcm(*(weight.denominator for weight in weights))
    numbers = [int(weight * unit) for weight in weights]
    common = math.gcd(*numbers) or 1
    return [number // common for number in numbers]


def _chips(amount: Fraction) -> str:
    """A number of chips, as a decimal if that is exact and short."""
    text = f"{float(amount):.9g}"
    return text if Fraction(text) == amount else str(amount)
