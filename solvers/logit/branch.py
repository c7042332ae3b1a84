"""A branch of logit quantal response equilibria, from its prior on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import ResponsePath
from eqbench.model.profile import random_profile
from eqbench.model.tree import FloatArray

from . import steps
from .flat_tree import flat_tree, workspace
from .kernels import log_frequencies

if TYPE_CHECKING:
    from eqbench.model.game import Game

FIRST_LENGTH = 2.0
# Points for which memory is taken at a time.
BLOCK = 64


class Branch:
    """The branch that starts at a prior where lambda is 0.

    Parameters
    ----------
    game : Game
        With at least one choice.
    rng : generator of a prior, or None for the uniform one
    """

    def __init__(self, game: Game, rng: np.random.Generator | None = None) -> None:
        tree = game.tree
        self.game, self.flat = game, flat_tree(tree)
        if rng is not None:
            logs, start = np.log(random_profile(tree, rng))[self.flat.action], self.flat.start
            odds = logs - np.repeat(logs[start[:-1]], np.diff(start))
            self.flat = self.flat._replace(prior=np.delete(odds, start[:-1]))
        self._work = workspace(self.flat)
        first = np.append(self.flat.prior, 0.0)
        self._course = np.empty((2, len(first)))
        sign = steps.begin(self.flat, self._work, first, self._course)
        self._control = np.array([FIRST_LENGTH, 1.0, sign])
        self._counts = np.zeros(2, dtype=np.int64)
        self._points = [first[None]]
        self.steps = 0
        self.stalled = False

    @property
    def lambdas(self) -> FloatArray:
        """Lambda at all points so far, float64 (steps + 1,)."""
        return np.concatenate([block[:, -1] for block in self._points])

    @property
    def last(self) -> float:
        """Lambda at the last point."""
        return float(self._points[-1][-1, -1])

    @property
    def newton_iterations(self) -> int:
        return int(self._counts[0])

    @property
    def refused_steps(self) -> int:
        return int(self._counts[1])

    def advance(self, stops: FloatArray, count: int) -> bool:
        """Take at most `count` steps towards the last stop; whether the branch goes on.

        Parameters
        ----------
        stops : float64 (L,), ascending
            Where lambda is hit exactly.
        """
        while count > 0 and not self.stalled:
            points = np.empty((min(count, BLOCK) + 1, len(self.flat.prior) + 1))
            points[0] = self._points[-1][-1]
            made, status = steps.advance(
                self.flat,
                self._work,
                stops,
                self._course,
                self._control,
                self._counts,
                points,
            )
            if made:
                self._points.append(points[1 : made + 1])
            self.steps += made
            count -= made
            self.stalled = status == steps.STALLED
            if status == steps.ENDED:
                return False
        return not self.stalled

    def advance_to_regret(self, stops: FloatArray, count: int, regret: float | None) -> bool:
        """Like `advance`, but not beyond a point of at most this max regret."""
        if regret is None:
            return self.advance(stops, count)
        for _ in range(count):
            if not self.advance(stops, 1) or self.regret(self.behavior()) <= regret:
                return False
        return True

    def points(self) -> FloatArray:
        """All points, log-odds and lambda, float64 (steps + 1, F+1)."""
        return np.concatenate(self._points)

    def log_probabilities(self, points: FloatArray) -> FloatArray:
        """Logarithms of all frequencies, float64 (K, A), at points (K, F+1)."""
        logs = np.zeros((len(points), self.game.tree.n_actions))
        logs[:, self.flat.action] = log_frequencies(self.flat, points)
        return logs

    def last_log_probabilities(self) -> FloatArray:
        """Logarithms of the frequencies at the last point, float64 (A,)."""
        return self.log_probabilities(self._points[-1][-1:])[0]

    def behavior(self) -> FloatArray:
        """Frequencies at the last point, float64 (A,)."""
        return np.asarray(np.exp(self.last_log_probabilities()))

    def regret(self, behavior: FloatArray) -> float:
        """Largest regret in payoff units, on the kernels."""
        return float(self.game.payoff_model().regrets(behavior).max())

    def path(self, at: FloatArray, ending: str) -> ResponsePath:
        """All points, as studies see them."""
        points = self.points()
        logs = self.log_probabilities(points)
        behavior = np.exp(logs)
        return ResponsePath(
            lambdas=points[:, -1],
            behavior=behavior,
            log_probabilities=logs,
            turns=turns(points[:, -1]),
            landings=np.flatnonzero((points[:, -1:] == at).any(axis=1)),
            ending=ending,
        )


def turns(lambdas: FloatArray) -> NDArray[np.int64]:
    """Points at which lambda turns around, int64 (T,)."""
    rising = np.diff(lambdas) > 0
    return np.flatnonzero(rising[1:] != rising[:-1]) + 1
