"""What trajectories earn over windows of time, beside the payoffs of published equilibria.

Symbols in shapes: K times, N players.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.extremes import extremes_by_name
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

DOUBLINGS = 8
LEAST_INTERVALS = 20  # of a window
LAST_SHARE = 0.1
AGREE = 0.01  # of the largest payoff of a set, in size
SAME = 1e-9  # of the payoff range; sets meet at the ends of their ranges of the parameter


class Stretch(NamedTuple):
    """A stretch of a trajectory, from one position to another one, both included."""

    first: int
    last: int

    def payoffs(self, times: FloatArray, profits: FloatArray) -> FloatArray:
        """Return average payoffs of the players, float64 (N,), from profits (K, N)."""
        first, last = self
        return (profits[last] - profits[first]) / (times[last] - times[first])


def windows_of(times: FloatArray) -> list[Stretch]:
    """Return windows of time, each twice as long as the one before, then the last tenth.

    They are [T/2^k, T/2^(k-1)] with T the time that was reached, measured from the first one,
    as far as they contain 20 intervals; ends are the nearest of the times (K,).
    """
    length = times - times[0]
    ends = [length[-1] / 2**k for k in range(DOUBLINGS, -1, -1)]
    shares = [*pairwise(ends), ((1 - LAST_SHARE) * length[-1], length[-1])]
    found = [Stretch(*(int(np.abs(length - end).argmin()) for end in share)) for share in shares]
    return [window for window in found if window.last - window.first >= LEAST_INTERVALS]


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
        sets = known_sets(game)

        def payoff(player: int, known: KnownSet, parameters: FloatArray) -> float:
            return float(known.payoffs_near(parameters)[player])

        count = game.tree.n_players
        players = [extremes_by_name(sets, partial(payoff, player)) for player in range(count)]
        ranges = {known.name: np.array([ends[known.name] for ends in players]) for known in sets}
        return cls(ranges, SAME * game.tree.payoff_range)

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

    def to_json(self) -> list[dict[str, Any]]:
        return [
            {"name": name, "payoffs": self.ranges[name].tolist(), "agree": agree}
            for name, agree in self.tolerances.items()
        ]

    def beside(self, payoffs: Sequence[FloatArray]) -> list[dict[str, Any]]:
        """Return for each set how far payoffs over several windows are from it, as JSON values.

        `agrees` are the positions of the windows whose payoffs are its payoffs within tolerance.
        """
        found = []
        for name, agree in self.tolerances.items():
            gaps = [self.gaps(row)[name] for row in payoffs]
            agrees = [window for window, gap in enumerate(gaps) if gap <= agree]
            found.append({"name": name, "gaps": gaps, "agrees": agrees})
        return found

    def nearest(self, payoffs: FloatArray) -> dict[str, Any]:
        """Return names of the sets whose payoffs are nearest to (N,), and how far; None without.

        Several are nearest if they share payoffs. `gap` is in payoff units, `gap_share` that over
        the largest payoff of these sets in size, None if it is 0.
        """
        gaps = self.gaps(payoffs)
        if not gaps:
            return dict.fromkeys(("nearest", "gap", "gap_share"))
        gap = min(gaps.values())
        names = [name for name in gaps if gaps[name] <= gap + self.rounding]
        size = max(map(self._size, names))
        return {"nearest": names, "gap": gap, "gap_share": gap / size if size > 0 else None}


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Return the largest distance over the players of two ranges (N, 2); 0 if they overlap."""
    between = np.maximum(one[:, 0] - other[:, 1], other[:, 0] - one[:, 1])
    return float(max(between.max(), 0.0))
