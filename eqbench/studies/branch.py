"""A branch of equilibria: what continuation finds along one curve.

Symbols in shapes: K points, N players, F free frequencies, A actions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray


@dataclass(frozen=True, eq=False)
class Branch:
    """Points of one curve of equilibria of a game with a payoff parameter.

    Attributes
    ----------
    game : Game
        At any value of its parameter.
    parameter : str
        Name of the parameter, for example ``pot``.
    values : float64 (K,)
        The parameter. Not monotone: the curve folds, and has vertical pieces.
    arclength : float64 (K,)
        Never decreasing; length in the space of free frequencies and parameter.
    free : float64 (K, F)
        Free frequencies in the order of :class:`eqbench.model.choices.Choices`.
    payoffs : float64 (K, N)
    """

    game: Game
    parameter: str
    values: FloatArray
    arclength: FloatArray
    free: FloatArray
    payoffs: FloatArray

    def __post_init__(self) -> None:
        points = np.shape(self.values)
        shapes = [np.shape(self.arclength), np.shape(self.free), np.shape(self.payoffs)]
        allowed = [points, (*points, self.choices.size), (*points, self.game.tree.n_players)]
        if len(points) != 1 or points[0] < 2 or shapes != allowed:
            raise UsageError(
                f"a branch of this game has K >= 2 values, then arclength (K,), frequencies "
                f"(K, {self.choices.size}) and payoffs (K, {self.game.tree.n_players}); got "
                f"{points}, then {', '.join(map(str, shapes))}"
            )
        if np.any(np.diff(self.arclength) < 0):
            raise UsageError("arclength decreases along the branch; put its points in order")

    @cached_property
    def choices(self) -> Choices:
        """Which actions the free frequencies belong to."""
        return Choices.of(self.game.tree)

    def behavior(self, point: int) -> FloatArray:
        """All frequencies at a point, float64 (A,)."""
        return self.choices.behavior(self.free[point])

    def equal_arclength(self, step: float) -> Branch:
        """The branch at points equally far apart, both ends among them.

        They lie on the polyline through the given points, and as far apart as `step` or as
        little less as it takes to arrive at the end (Billingham 2018, §5.2).

        Raises
        ------
        UsageError
            If the step is not positive, or the branch has no length.
        """
        length = float(self.arclength[-1] - self.arclength[0])
        if not 0 < step < math.inf or length == 0:
            raise UsageError(
                f"points {step} apart on a branch of length {length:g}; "
                "both must be positive numbers"
            )
        count = max(math.ceil(length / step * (1 - 1e-12)), 1) + 1
        targets = np.linspace(self.arclength[0], self.arclength[-1], count)
        after = np.searchsorted(self.arclength, targets, side="right")
        after = np.clip(after, 1, len(self.arclength) - 1)
        gap = self.arclength[after] - self.arclength[after - 1]
        # beyond a piece without length the weight would be 0/0
        weight = np.divide(
            targets - self.arclength[after - 1], gap, out=np.ones(count), where=gap > 0
        )

        def at_targets(points: FloatArray) -> FloatArray:
            share = weight.reshape(-1, *[1] * (points.ndim - 1))
            return (1 - share) * points[after - 1] + share * points[after]

        return Branch(
            self.game,
            self.parameter,
            at_targets(self.values),
            targets,
            at_targets(self.free),
            at_targets(self.payoffs),
        )


def turning_points(values: FloatArray) -> NDArray[np.int64]:
    """Points where a polyline of values (K,) turns back, int64, without its two ends.

    Where it stands still before it turns back, the last of the equal values.
    """
    moves = np.flatnonzero(np.diff(values))
    rises = values[moves + 1] > values[moves]
    return moves[1:][rises[1:] != rises[:-1]]
