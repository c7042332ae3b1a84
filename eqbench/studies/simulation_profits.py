"""Profits of simulated trajectories over windows of time, beside those of published equilibria.

Symbols in shapes: K times, N players, W windows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.extremes import extremes
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

DOUBLINGS = 8
LEAST_INTERVALS = 20  # of a window
LAST_SHARE = 0.1
AGREE = 1e-4  # of the payoff range
SAME = 1e-9  # of the payoff range; sets meet at the ends of their ranges of the parameter


class Window(NamedTuple):
    """A stretch of a trajectory, from one position to another one, both included."""

    first: int
    last: int


def windows_of(times: FloatArray) -> list[Window]:
    """Windows of a trajectory in time, each twice as long as the one before, then the last tenth.

    They are [T/2^k, T/2^(k-1)] with T the time that was reached, measured from the first one,
    as far as they contain 20 intervals; ends are the nearest of the times (K,).
    """
    length = times - times[0]
    ends = [length[-1] / 2**k for k in range(DOUBLINGS, -1, -1)]
    shares = [*pairwise(ends), ((1 - LAST_SHARE) * length[-1], length[-1])]
    positions = [Window(*(int(np.abs(length - end).argmin()) for end in share)) for share in shares]
    return [window for window in positions if window.last - window.first >= LEAST_INTERVALS]


def window_payoffs(times: FloatArray, profits: FloatArray, window: Window) -> FloatArray:
    """Average payoffs of the players over a window, float64 (N,), from profits (K, N)."""
    first, last = window
    return (profits[last] - profits[first]) / (times[last] - times[first])


@dataclass(frozen=True, eq=False)
class KnownPayoffs:
    """Payoffs of the published sets of equilibria of a game.

    Attributes
    ----------
    ranges : by name of the set the smallest and largest payoff of each player, (N, 2)
        Payoffs of a set may depend on each other, so that not all combinations belong to it.
    tolerance : float
        Payoffs that differ by no more agree: 1e-4 of the payoff range, but at most half the
        distance of the closest two sets whose payoffs differ, so that none agrees with both.
    """

    ranges: dict[str, FloatArray]
    tolerance: float

    @classmethod
    def of(cls, game: Game) -> KnownPayoffs:
        """The payoffs of all published sets of a game, as far as the verifier agrees."""
        ranges: dict[str, FloatArray] = {}
        for known in known_sets(game):
            players = range(game.tree.n_players)
            found = np.array([extremes(known, partial(_payoff, known, p)) for p in players])
            other = ranges.get(known.name, found)  # the pieces of one set share its name
            ranges[known.name] = np.column_stack(
                (np.minimum(found[:, 0], other[:, 0]), np.maximum(found[:, 1], other[:, 1]))
            )
        return cls(ranges, agreement(ranges.values(), game.tree.payoff_range))

    def gaps(self, payoffs: FloatArray) -> dict[str, float]:
        """By set the largest distance of a player's payoff, of (N,), from those of the set."""
        return {
            name: _apart(np.column_stack((payoffs, payoffs)), known)
            for name, known in self.ranges.items()
        }

    def to_json(self) -> list[dict[str, Any]]:
        """Name and payoffs of each set."""
        return [{"name": name, "payoffs": known.tolist()} for name, known in self.ranges.items()]


def _payoff(known: KnownSet, player: int, parameters: FloatArray) -> float:
    return float(known.payoffs_near(parameters)[player])


def agreement(ranges: Iterable[FloatArray], payoff_range: float) -> float:
    """The largest distance of payoffs that agree, where sets have payoffs in `ranges` (N, 2)."""
    apart = [_apart(one, other) for one, other in combinations(ranges, 2)]
    closest = min((gap for gap in apart if gap > SAME * payoff_range), default=np.inf)
    return min(AGREE * payoff_range, closest / 2)


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Largest distance over the players of two ranges (N, 2); 0 if they overlap."""
    between = np.maximum(one[:, 0] - other[:, 1], other[:, 0] - one[:, 1])
    return float(max(between.max(), 0.0))


def beside_known(known: KnownPayoffs, payoffs: list[FloatArray]) -> list[dict[str, Any]]:
    """For each published set how far payoffs over W windows are from it, as JSON values.

    `agrees` are the positions of the windows whose payoffs are its payoffs within tolerance.
    """
    gaps = [known.gaps(row) for row in payoffs]
    return [
        {
            "name": name,
            "gaps": [gap[name] for gap in gaps],
            "agrees": [w for w, gap in enumerate(gaps) if gap[name] <= known.tolerance],
        }
        for name in known.ranges
    ]


def nearest_known(known: KnownPayoffs, payoffs: FloatArray) -> dict[str, Any]:
    """Name of the set whose payoffs are nearest to (N,), and how far; None without sets.

    `gap` is in payoff units, `gap_share` that over the largest payoff of the set in size.
    """
    gaps = known.gaps(payoffs)
    if not gaps:
        return dict.fromkeys(("nearest", "gap", "gap_share"))
    name = min(gaps, key=gaps.__getitem__)
    largest = float(np.abs(known.ranges[name]).max())
    share = gaps[name] / largest if largest > 0 else None
    return {"nearest": name, "gap": gaps[name], "gap_share": share}
