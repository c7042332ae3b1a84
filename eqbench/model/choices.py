"""Which frequencies are free: all but the first action of every information set.

Symbols: A actions, C information sets with more than one action, F free frequencies, that is
their actions without the first one of each. The first action takes what the others leave.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray, GameTree, IntArray, frozen


@dataclass(frozen=True, eq=False)
class Choices:
    """The free frequencies of a game, in the order of its actions.

    Attributes
    ----------
    action : int32 (F,)
        Action of each free frequency.
    first : int32 (F,)
        First action of the same information set.
    start : int32 (C+1,)
        First free frequency of each information set with a choice.
    infoset : int32 (C,)
        The information sets with a choice.
    n_actions : int
        A, those of single-action information sets counted.
    """

    action: IntArray
    first: IntArray
    start: IntArray
    infoset: IntArray
    n_actions: int

    @classmethod
    def of(cls, tree: GameTree) -> Choices:
        """The free frequencies of a game tree."""
        return cls.of_blocks(tree.action_start)

    @classmethod
    def of_blocks(cls, action_start: NDArray) -> Choices:
        """The free frequencies where information set i has actions from ``action_start[i]`` on."""
        count = np.diff(action_start)
        infoset = np.flatnonzero(count > 1)
        sizes = count[infoset] - 1
        first = np.repeat(action_start[:-1][infoset], sizes)
        start = np.concatenate(([0], np.cumsum(sizes)))
        place = np.arange(len(first)) - np.repeat(start[:-1], sizes)
        parts = (first + 1 + place, first, start, infoset)
        arrays = [frozen(np.ascontiguousarray(part, dtype=np.int32)) for part in parts]
        return cls(arrays[0], arrays[1], arrays[2], arrays[3], int(action_start[-1]))

    @property
    def size(self) -> int:
        """Number of free frequencies F."""
        return len(self.action)

    def blocks(self) -> list[IntArray]:
        """The actions of each information set with a choice."""
        bounds = pairwise(self.start.tolist())
        return [np.append(self.first[a], self.action[a:b]) for a, b in bounds]

    def behavior(self, free: FloatArray) -> FloatArray:
        """All frequencies, float64 (A,), from the free ones (F,)."""
        behavior = np.ones(self.n_actions)
        behavior[self.action] = free
        np.subtract.at(behavior, self.first, free)
        return behavior

    def gains(self, values: FloatArray) -> FloatArray:
        """Value of each free action above the first one of its set, (F,), from values (A,)."""
        return values[self.action] - values[self.first]


def exchanges(sets: Iterable[NDArray]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of sets of actions of one information set each, all but the first one, and that first one."""
    none = [np.zeros(0, dtype=np.int64)]
    pairs = [(own[1:], np.repeat(own[:1], len(own) - 1)) for own in sets]
    action, first = zip(*pairs, strict=True) if pairs else ((), ())
    return np.concatenate([*none, *action]), np.concatenate([*none, *first])


def directions(action: NDArray, first: NDArray, n_actions: int) -> FloatArray:
    """Changes of frequencies (A, D) where `first` gives way to `action`, both (D,)."""
    matrix = np.zeros((n_actions, len(action)))
    columns = np.arange(len(action))
    matrix[action, columns] = 1.0
    matrix[first, columns] = -1.0
    return matrix
