"""Regrets where every player takes a strategy from another profile, as the verifier sees them.

Symbols in shapes: N players, n entries, A actions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.studies.crossplay_payoffs import Combinations, first_of_each
from eqbench.verification import Verification

# The verifier takes 0.1 ms for three-player Kuhn poker, and five times as long in fractions.
MOST_VERIFIED = 20_000


@dataclass(eq=False)
class Measure:
    """The verifier on combinations; equal plans are measured once.

    `frequencies` is (n, A); `verify` takes one row of such values.
    """

    combinations: Combinations
    frequencies: NDArray
    verify: Callable[[NDArray], Verification]
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        tree = self.combinations.tree
        self._owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))
        self._known: dict[tuple[int, ...], Verification] = {}

    def of(self, entries: Sequence[int]) -> Verification:
        """Figures of the combination in which player p follows entry `entries[p]`."""
        plans = tuple(self.combinations.plan[range(len(entries)), entries].tolist())
        if plans not in self._known:
            rows = np.asarray(entries)[self._owner]
            mixed = self.frequencies[rows, np.arange(len(rows))]
            self._known[plans] = self.verify(mixed)
        return self._known[plans]

    def regrets(self, choices: Sequence[Sequence[int]]) -> NDArray | None:
        """Regrets (c_1, …, c_N, N) of all combinations of the entries that players choose from.

        None if they are too many to verify.
        """
        sizes = tuple(map(len, choices))
        if math.prod(sizes) > MOST_VERIFIED:
            return None
        regrets = np.empty((*sizes, len(sizes)), dtype=self.dtype)
        for place in np.ndindex(*sizes):
            entries = [own[k] for own, k in zip(choices, place, strict=True)]
            regrets[place] = self.of(entries).regrets
        return regrets

    def all_regrets(self) -> NDArray | None:
        """Regrets of all combinations of entries (n, …, n, N), None if they are too many."""
        regrets = self.regrets(first_of_each(self.combinations.plan))
        return None if regrets is None else regrets[np.ix_(*self.combinations.plan)]
