"""How fast behavior changes at each information set: the option `k` of the solver."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from eqbench.errors import SpecError, UsageError, known_labels
from eqbench.model.tree import FloatArray, GameTree
from eqbench.spec import parse_number

# A number as specs have them, but for the sign.
NUMBER = re.compile(r"\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def parse_speeds(text: str) -> list[tuple[str, float]]:
    """Places and their speeds, in the order of the text, such as ``P1=2; P3|2:KK=1/2``.

    Raises
    ------
    SpecError
        If a part is no ``place=number``, the number is not positive and finite, or a place is
        named twice.
    """
    pairs: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        place, _, number = part.rpartition("=")
        place, speed = place.strip(), _speed(number.strip())
        if not (place and 0 < speed < math.inf):
            raise SpecError(
                f"k has the part {part!r}; write PLAYER=SPEED or PLAYER|INFORMATION SET=SPEED with "
                "a speed > 0 such as 2, 0.5 or 1/2, and ; between parts, for example "
                "k='P1=2; P3|2:KK=1/2'"
            )
        if place in pairs:
            raise SpecError(f"k names {place!r} twice; say once how fast it is")
        pairs[place] = speed
    return list(pairs.items())


def _speed(text: str) -> float:
    """Value of an integer, a decimal or p/q; NaN if it is none, or out of range."""
    if not NUMBER.fullmatch(text):
        return math.nan
    try:
        return float(parse_number(text))
    except (SpecError, OverflowError):
        return math.nan


def speeds(tree: GameTree, pairs: Sequence[tuple[str, float]]) -> FloatArray:
    """Speed of each information set, float64 (I,); 1 where nothing is said.

    What is said of an information set holds whatever is said of its player.

    Raises
    ------
    UsageError
        If a place is neither a player nor an information set of the game.
    """
    owners = [tree.players[player] for player in tree.infoset_player]
    names = [f"{owner}|{label}" for owner, label in zip(owners, tree.infoset_labels, strict=True)]
    result = np.ones(tree.n_infosets)
    # players first, so that information sets override them
    for place, speed in sorted(pairs, key=lambda pair: pair[0] not in tree.players):
        known = owners if place in tree.players else names
        if place not in tree.players and place not in names:
            raise UsageError(
                f"k names {place!r}, which is no player and no information set of the game; "
                f"{known_labels(place, [*tree.players, *names])}"
            )
        result[[name == place for name in known]] = speed
    return result
