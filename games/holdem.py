"""Hands of two cards: their names, ranges of them in the usual notation, and what they are worth.

A card is the number ``4 * rank + suit``, ranks from the deuce and suits in the order c d h s. Hands
are ranked by 25 lines of NumPy, since the evaluators on the package index have wheels for Linux and
few versions of Python alone, and a game has to be there wherever eqbench runs; tests count all
classes of hands, which are published.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import read_file
from eqbench.errors import SpecError

RANKS, SUITS = "23456789TJQKA", "cdhs"
SYMBOLS = dict(zip(SUITS, "♣♦♥♠", strict=True))
CARDS = tuple(rank + suit for rank in RANKS for suit in SUITS)
RANGE_FILE = ".txt"
MOST_BYTES = 2**20  # of a range file
_CARD = f"[{RANKS}][{SUITS}]"
_CLASS = f"([{RANKS}])([{RANKS}])([so]?)"
_WEIGHT = r"(?P<weight>\d{1,9}(?:\.\d{0,15})?|\.\d{1,15})"
_ITEM = re.compile(rf"(?P<hands>[^:]+?)\s*(?::\s*{_WEIGHT})?", re.ASCII)
_HANDS = re.compile(rf"{_CLASS}(?:(?P<up>\+)|-{_CLASS})?")

Hand = tuple[int, int]  # two cards, the higher first
HANDS: tuple[Hand, ...] = tuple(
    sorted(
        ((a, b) for b, a in combinations(range(len(CARDS)), 2)),
        key=lambda hand: (-(hand[0] >> 2), -(hand[1] >> 2), -hand[0], -hand[1]),
    )
)
NAMES = tuple(CARDS[a] + CARDS[b] for a, b in HANDS)


def place(hand: Hand) -> tuple[int, int]:
    """Row and column of a hand among 13: pairs on the diagonal, suited hands above it."""
    high, low = (12 - (card >> 2) for card in hand)
    return (high, low) if (hand[0] - hand[1]) % 4 == 0 else (low, high)


def parse_cards(text: str) -> tuple[int, ...]:
    """Cards of a text such as ``AsKd7h``.

    Raises
    ------
    SpecError
        If it is no sequence of different cards.
    """
    names = re.findall(_CARD, text)
    if "".join(names) != text or len(set(names)) < len(names):
        raise SpecError(
            f"{text[:40]!r} is no list of different cards; a card is a rank of {RANKS} and a suit "
            f"of {SUITS}, as in AsKd7h7c2s"
        )
    return tuple(map(CARDS.index, names))


def read_range(path: str) -> str:
    """Range in the notation of :func:`parse_range` from a file of lines, with comments after #.

    Raises
    ------
    SpecError
        If the file cannot be read.
    """
    try:
        text = read_file(os.path.expanduser(path), MOST_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        is_text = not isinstance(error, UnicodeDecodeError)
        reason = getattr(error, "strerror", None) if is_text else "it is not UTF-8 text"
        raise SpecError(
            f"cannot read the range file {path}: {reason or error}; give the path of a text such "
            "as AA,KQs:0.5; relative ones start at the current folder"
        ) from None
    return ",".join(line.partition("#")[0] for line in text.splitlines())


def parse_range(text: str) -> dict[Hand, Fraction]:
    """Weights of hands, such as of ``AA,KQs,T9o:0.5,88+,A5s-A2s,AhKh``; see the documentation.

    A later part replaces the weights of earlier ones, and a weight of 0 takes hands away.

    Raises
    ------
    SpecError
        If it does not follow the notation.
    """
    found: dict[Hand, Fraction] = {}
    for item in filter(None, map(str.strip, text.split(","))):
        match = _ITEM.fullmatch(item)
        hands = match and list(_hands(match["hands"]))
        if not hands or not match:
            raise SpecError(
                f"{item[:20]!r} is no part of a range; parts such as AA, KQs, T9o, AK, 88+, ATs+, "
                "A5s-A2s, AhKh or random, with a weight from 0 on as in 76s:0.5, are separated by "
                "commas"
            )
        found |= dict.fromkeys(hands, Fraction(match["weight"] or 1))
    return {hand: weight for hand, weight in found.items() if weight}


def _hands(text: str) -> Iterator[Hand]:
    """Hands that a part of a range stands for; none if it is no such part."""
    if text == "random":
        yield from HANDS
    elif re.fullmatch(f"{_CARD}{_CARD}", text) and text[:2] != text[2:]:
        first, second = map(CARDS.index, (text[:2], text[2:]))
        yield max(first, second), min(first, second)
    elif match := _HANDS.fullmatch(text):
        *ranks, kind, other_high, other_low, other_kind = match.group(1, 2, 3, 5, 6, 7)
        high, low = sorted(map(RANKS.index, ranks), reverse=True)
        end = (high, low)
        if match["up"]:
            end = (12, 12) if high == low else (high, high - 1)
        elif other_high:
            lower, higher = sorted(map(RANKS.index, (other_high, other_low)))
            end = (higher, lower)
            if other_kind != kind:
                return
        lows = range(min(low, end[1]), max(low, end[1]) + 1)
        if (high == low) != (end[0] == end[1]) or (high == low and kind):
            return
        if high == end[0]:
            classes = [(high, each) for each in lows]
        elif high - low == end[0] - end[1]:
            classes = [(each + high - low, each) for each in lows]
        else:
            return
        for first, second in classes:
            for a, b in ((a, b) for a in range(4) for b in range(4)):
                is_pair, is_suited = first == second, a == b
                if (a > b) if is_pair else kind in ("", "s" if is_suited else "o"):
                    yield 4 * first + a, 4 * second + b


def hand_values(cards: NDArray[np.int64]) -> NDArray[np.int64]:
    """What the best five of some cards are worth, the more the better.

    Parameters
    ----------
    cards : int (H, n)
        Different cards in each row, n from 5 to 9.

    Returns
    -------
    int64 (H,)
        Category, 0 to 8 (straight flush), in the bits from 26 on, below them two sets of ranks.
    """
    is_there = np.zeros((len(cards), 4, 13), dtype=bool)
    is_there[np.arange(len(cards))[:, None], cards & 3, cards >> 2] = True
    copies = is_there.sum(axis=1)
    flush = (is_there & (is_there.sum(axis=2) >= 5)[:, :, None]).any(axis=1)

    def highest(ranks: NDArray, most: int) -> NDArray:
        """The highest ranks of those, bool (H, 13)."""
        return ranks & (ranks[:, ::-1].cumsum(axis=1)[:, ::-1] <= most)

    def straight(ranks: NDArray) -> NDArray:
        """Lowest rank of the highest straight, the ace counting as 1; 0 if there is none."""
        with_ace = np.column_stack([ranks[:, -1], ranks])
        runs = np.all([with_ace[:, k : k + 10] for k in range(5)], axis=0)
        return np.max(runs * np.arange(1, 11), axis=1)

    groups = [highest(copies >= size, most) for size, most in ((4, 1), (3, 1), (2, 2), (2, 1))]
    (four, three, two_pairs, pair), singles = groups, copies > 0
    second = highest((copies >= 2) & ~three, 1)
    nothing, run, run_in_suit = np.zeros_like(four), straight(singles), straight(flush)
    bits = 2 ** np.arange(13)
    kinds = [  # category, condition, ranks that count first, and ranks that count then
        (8, run_in_suit > 0, run_in_suit, nothing),
        (7, four.any(axis=1), four, highest(singles & ~four, 1)),
        (6, three.any(axis=1) & second.any(axis=1), three, second),
        (5, flush.any(axis=1), highest(flush, 5), nothing),
        (4, run > 0, run, nothing),
        (3, three.any(axis=1), three, highest(singles & ~three, 2)),
        (2, two_pairs.sum(axis=1) == 2, two_pairs, highest(singles & ~two_pairs, 1)),
        (1, pair.any(axis=1), pair, highest(singles & ~pair, 3)),
    ]
    values = [
        (kind << 26) + ((first if first.ndim == 1 else first @ bits) << 13) + then @ bits
        for kind, _, first, then in kinds
    ]
    return np.select([each[1] for each in kinds], values, highest(singles, 5) @ bits)
