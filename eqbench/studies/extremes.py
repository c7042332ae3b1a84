"""Figures and payoffs over published sets of equilibria, as studies compare with them.

Symbols in shapes: K parameters, N players.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from msgspec import Struct

from eqbench.equilibria.known import (
    SAME_PAYOFF,
    extremes,
    known_sets,
    linearized,
    payoff_of,
    some_member,
)
from eqbench.equilibria.reference import TOLERANCE, KnownSet
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

_ASIDE = 0.25  # of the way from a member to other parameters
AGREE = 0.01  # of the largest payoff of a set, in size
_GOLDEN = (5**0.5 - 1) / 2  # its multiples without their integer part are all different


def extremes_by_name(
    sets: tuple[KnownSet, ...], figure: Callable[[KnownSet, FloatArray], float]
) -> dict[str, tuple[float, float]]:
    """Smallest and largest value of a figure by name of the set, whose pieces share its name.

    Parameters
    ----------
    figure : function of a piece and its parameters (K,)
    """
    found: dict[str, tuple[float, float]] = {}
    for piece in sets:
        ends = (*extremes(piece, partial(figure, piece)), *found.get(piece.name, ()))
        found[piece.name] = (min(ends), max(ends))
    return found


def is_linear(known: KnownSet, figure: Callable[[FloatArray], float]) -> bool:
    """Whether a figure and the constraints of a set are linear in the parameters.

    They are compared with their linearization at one member, at parameters of no special kind.

    Parameters
    ----------
    figure : function of parameters (K,)
    """

    def values(parameters: FloatArray) -> FloatArray:
        return np.append(known.violations(parameters), figure(parameters))

    start = some_member(known)
    if not len(start):
        return True
    step = _ASIDE * (_GOLDEN * np.arange(1, len(start) + 1) % 1.0 - start)
    base, slopes = linearized(values, start)
    return bool(np.abs(values(start + step) - base - slopes @ step).max() <= TOLERANCE)


class Solution(Struct, frozen=True, kw_only=True):
    """A published set of equilibria: smallest and largest payoff of each player.

    Payoffs agree with it that differ by no more than `agree`.
    """

    name: str
    payoffs: list[tuple[float, float]]
    agree: float


class Beside(Struct, frozen=True, kw_only=True):
    """How far payoffs over several windows are from a published set, and which agree with it."""

    name: str
    gaps: list[float | None]
    agrees: list[int]


class Nearest(Struct, frozen=True, kw_only=True):
    """The published sets whose payoffs are nearest, several if they share payoffs.

    `gap` is in payoff units, `gap_share` that over the largest payoff of these sets in size, None
    if it is 0. All are None if no equilibria were published.
    """

    nearest: list[str] | None = None
    gap: float | None = None
    gap_share: float | None = None


@dataclass(frozen=True, eq=False)
class KnownPayoffs:
    """Payoffs of the published sets of equilibria of a game.

    By name of the set the smallest and largest payoff of each player, (N, 2). They may depend on
    each other, so that not all combinations belong to the set.
    """

    ranges: dict[str, FloatArray]
    rounding: float  # payoffs that differ by no more are the same

    @classmethod
    def of(cls, game: Game) -> KnownPayoffs:
        """Return the payoffs of all published sets of a game, as far as the verifier agrees."""
        sets, count = known_sets(game), game.tree.n_players
        players = [extremes_by_name(sets, partial(payoff_of, player)) for player in range(count)]
        ranges = {known.name: np.array([ends[known.name] for ends in players]) for known in sets}
        return cls(ranges, SAME_PAYOFF * game.tree.payoff_range)

    @property
    def tolerances(self) -> dict[str, float]:
        """By name of the set how far payoffs that agree with it may be from its own.

        A hundredth of its largest payoff in size, 0 if all are 0, but at most half the distance of
        the closest two sets whose payoffs differ, so that none agrees with both.
        """
        apart = [_apart(one, other) for one, other in combinations(self.ranges.values(), 2)]
        closest = min((gap for gap in apart if gap > self.rounding), default=np.inf)
        return {name: min(AGREE * self._size(name), closest / 2) for name in self.ranges}

    def _size(self, name: str) -> float:
        """Largest payoff of a set in size, or 0 if that is rounding."""
        size = float(np.abs(self.ranges[name]).max())
        return size if size > self.rounding else 0.0

    def gaps(self, payoffs: FloatArray) -> dict[str, float]:
        """Return by set the largest distance of a player's payoff, of (N,), from its own."""
        point = np.column_stack((payoffs, payoffs))
        return {name: _apart(point, known) for name, known in self.ranges.items()}

    def solutions(self) -> list[Solution]:
        """Return the sets with their payoffs and tolerances."""
        return [
            Solution(name=name, payoffs=self.ranges[name].tolist(), agree=agree)
            for name, agree in self.tolerances.items()
        ]

    def beside(self, payoffs: Sequence[FloatArray]) -> list[Beside]:
        """Return for each set how far payoffs over several windows are from it."""
        found = []
        for name, agree in self.tolerances.items():
            gaps = [self.gaps(row)[name] for row in payoffs]
            agrees = [window for window, gap in enumerate(gaps) if gap <= agree]
            found.append(Beside(name=name, gaps=[*gaps], agrees=agrees))
        return found

    def nearest(self, payoffs: FloatArray) -> Nearest:
        """Return the sets whose payoffs are nearest to (N,), and how far they are."""
        gaps = self.gaps(payoffs)
        if not gaps:
            return Nearest()
        gap = min(gaps.values())
        names = [name for name in gaps if gaps[name] <= gap + self.rounding]
        size = max(map(self._size, names))
        return Nearest(nearest=names, gap=gap, gap_share=gap / size if size > 0 else None)


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Return the largest distance over the players of two ranges (N, 2); 0 if they overlap."""
    between = np.maximum(one[:, 0] - other[:, 1], other[:, 0] - one[:, 1])
    return float(max(between.max(), 0.0))
