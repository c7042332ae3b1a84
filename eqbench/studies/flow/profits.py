"""What trajectories earn over windows of time, beside the payoffs of published equilibria.

Symbols in shapes: K times, N players, W windows.
"""

from __future__ import annotations

from collections.abc import Mapping
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
AGREE = 0.01  # of the largest payoff of a set, in size
SAME = 1e-9  # of the payoff range; sets meet at the ends of their ranges of the parameter


class Window(NamedTuple):
    """A stretch of a trajectory, from one position to another one, both included."""

    first: int
    last: int


def windows_of(times: FloatArray) -> list[Window]:
    """Return windows of time, each twice as long as the one before, then the last tenth.

    They are [T/2^k, T/2^(k-1)] with T the time that was reached, measured from the first one,
    as far as they contain 20 intervals; ends are the nearest of the times (K,).
    """
    length = times - times[0]
    ends = [length[-1] / 2**k for k in range(DOUBLINGS, -1, -1)]
    shares = [*pairwise(ends), ((1 - LAST_SHARE) * length[-1], length[-1])]
    positions = [Window(*(int(np.abs(length - end).argmin()) for end in share)) for share in shares]
    return [window for window in positions if window.last - window.first >= LEAST_INTERVALS]


def window_payoffs(times: FloatArray, profits: FloatArray, window: Window) -> FloatArray:
    """Return average payoffs of the players over a window, float64 (N,), from profits (K, N)."""
    first, last = window
    return (profits[last] - profits[first]) / (times[last] - times[first])


@dataclass(frozen=True, eq=False)
class KnownPayoffs:
    """Payoffs of the published sets of equilibria of a game.

    Attributes
    ----------
    ranges : by name of the set the smallest and largest payoff of each player, (N, 2)
        Payoffs of a set may depend on each other, so that not all combinations belong to it.
    tolerances : by name of the set how far payoffs that agree with it may be from its own
        A hundredth of its largest payoff in size, 0 if all are 0, but at most half the distance of
        the closest two sets whose payoffs differ, so that none agrees with both.
    rounding : float
        Payoffs that differ by no more are the same.
    """

    ranges: dict[str, FloatArray]
    tolerances: dict[str, float]
    rounding: float

    @classmethod
    def of(cls, game: Game) -> KnownPayoffs:
        """Return the payoffs of all published sets of a game, as far as the verifier agrees."""
        ranges: dict[str, FloatArray] = {}
        for known in known_sets(game):
            players = range(game.tree.n_players)
            found = np.array([extremes(known, partial(_payoff, known, p)) for p in players])
            other = ranges.get(known.name, found)  # the pieces of one set share its name
            ranges[known.name] = np.column_stack(
                (np.minimum(found[:, 0], other[:, 0]), np.maximum(found[:, 1], other[:, 1]))
            )
        rounding = SAME * game.tree.payoff_range
        return cls(ranges, tolerances(ranges, rounding), rounding)

    def gaps(self, payoffs: FloatArray) -> dict[str, float]:
        """Return by set the largest distance of a player's payoff, of (N,), from its own."""
        return {
            name: _apart(np.column_stack((payoffs, payoffs)), known)
            for name, known in self.ranges.items()
        }

    def to_json(self) -> list[dict[str, Any]]:
        """Return names, payoffs, and how far payoffs that agree may be from them."""
        return [
            {"name": name, "payoffs": known.tolist(), "agree": self.tolerances[name]}
            for name, known in self.ranges.items()
        ]


def _payoff(known: KnownSet, player: int, parameters: FloatArray) -> float:
    return float(known.payoffs_near(parameters)[player])


def tolerances(ranges: Mapping[str, FloatArray], rounding: float) -> dict[str, float]:
    """Return by set the largest distance of payoffs that agree with its own, `ranges` (N, 2)."""
    apart = [_apart(one, other) for one, other in combinations(ranges.values(), 2)]
    closest = min((gap for gap in apart if gap > rounding), default=np.inf)
    sizes = {name: _size(known, rounding) for name, known in ranges.items()}
    return {name: min(AGREE * size, closest / 2) for name, size in sizes.items()}


def _size(payoffs: FloatArray, rounding: float) -> float:
    """Return the largest payoff in size, or 0 if that is rounding."""
    size = float(np.abs(payoffs).max())
    return size if size > rounding else 0.0


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Return the largest distance over the players of two ranges (N, 2); 0 if they overlap."""
    between = np.maximum(one[:, 0] - other[:, 1], other[:, 0] - one[:, 1])
    return float(max(between.max(), 0.0))


def beside_known(known: KnownPayoffs, payoffs: list[FloatArray]) -> list[dict[str, Any]]:
    """Return for each published set how far payoffs over W windows are from it, as JSON values.

    `agrees` are the positions of the windows whose payoffs are its payoffs within tolerance.
    """
    gaps = [known.gaps(row) for row in payoffs]
    return [
        {
            "name": name,
            "gaps": [gap[name] for gap in gaps],
            "agrees": [w for w, gap in enumerate(gaps) if gap[name] <= known.tolerances[name]],
        }
        for name in known.ranges
    ]


def nearest_known(known: KnownPayoffs, payoffs: FloatArray) -> dict[str, Any]:
    """Return names of the sets whose payoffs are nearest to (N,), and how far; None without sets.

    Several are nearest if they share payoffs. `gap` is in payoff units, `gap_share` that over the
    largest payoff of these sets in size, None if it is 0.
    """
    gaps = known.gaps(payoffs)
    if not gaps:
        return dict.fromkeys(("nearest", "gap", "gap_share"))
    gap = min(gaps.values())
    names = [name for name in gaps if gaps[name] <= gap + known.rounding]
    size = max(_size(known.ranges[name], known.rounding) for name in names)
    return {"nearest": names, "gap": gap, "gap_share": gap / size if size > 0 else None}
