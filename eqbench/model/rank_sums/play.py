"""The public play of three-player Kuhn poker: twelve situations and thirteen endings.

A situation is a history in which somebody decides; they stand player by player, four each.
Move ``2 * situation`` is the passive action there (check or fold) and the next number the
active one (bet or call). Every player moves once or twice before the play ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PLAYERS = 3
SITUATIONS = ("", "KKB", "KBF", "KBC", "K", "B", "KKBF", "KKBC", "KK", "KB", "BF", "BC")
MOVES = 2 * len(SITUATIONS)


def _frozen(values: list[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    array = np.array(values, dtype=np.int64)
    array.setflags(write=False)
    return array


def _paths() -> NDArray[np.int64]:
    paths = np.full((len(ENDINGS), PLAYERS, 2), -1)
    for path, history in zip(paths, ENDINGS, strict=True):
        for length, letter in enumerate(history):
            situation = SITUATIONS.index(history[:length])
            own = path[situation // 4]
            own[0 if own[0] < 0 else 1] = 2 * situation + (letter in "BC")
    return _frozen(paths)


def _earlier() -> NDArray[np.int64]:
    earlier = np.full(len(SITUATIONS), -1)
    for first, second in PATHS.reshape(-1, 2):
        if second >= 0:
            earlier[second // 2] = first
    return _frozen(earlier)


_AFTER = [h + letter for h in SITUATIONS for letter in ("FC" if "B" in h else "KB")]
ENDINGS = tuple(history for history in _AFTER if history not in SITUATIONS)
# What each move leads to: a situation, or 12 + an ending.
LEADS_TO = _frozen([(*SITUATIONS, *ENDINGS).index(history) for history in _AFTER])
# Own moves on the way to each ending, int64 (13, 3, 2); -1 where there is no second one.
PATHS = _paths()
# The own move before each situation, -1 at first decisions.
EARLIER = _earlier()
