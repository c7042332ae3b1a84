"""The mixture of all iterates, by as few of them as decide what it is worth.

Symbols in shapes: K profiles, A actions, S sequences, D dimensions of a point.

Payoffs and values of deviations are linear in the weights of a mixture. With the payoffs of N
players and the values of S sequences an iterate is a point of D = N + S dimensions, and the mean of
any number of points is one of at most D + 1 of them (Carathéodory). So the worth of the mixture is
that of all iterates, up to rounding, and it is still joint play that anyone can measure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from eqbench.model.game import Game
from eqbench.model.kernels import all_direct_values
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

if TYPE_CHECKING:
    from .iteration import State

MOST_SEQUENCES = 1_000  # merging takes a time that grows with their cube
LEAST_KEPT = 64  # merging fewer at a time would be slower
# Of the largest: what is smaller in a triangular factor is rounding, and so in a direction.
NEGLIGIBLE = 1e-13


def joint_refusal(game: Game) -> bool | str:
    """True; or why the joint play of this game cannot be kept."""
    if game.tree.is_wide:
        return "joint=true: floats do not resolve the payoffs of this game"
    if (size := game.plan_form.n_sequences) > MOST_SEQUENCES:
        return (
            f"joint=true keeps joint play of at most {MOST_SEQUENCES:,} sequences; this game has "
            f"{size:,}"
        )
    return True


class JointPlay:
    """Iterates that are kept, with weights that stand for all of them.

    Parameters
    ----------
    averaging : exponent of t in the weight of iteration t
    """

    def __init__(self, form: SequenceForm, averaging: float) -> None:
        players, sequences = form.n_players, form.n_sequences
        self._form, self._averaging, self._count = form, averaging, 0
        dimensions = players + sequences
        size = dimensions + max(dimensions, LEAST_KEPT) + 1
        self._profiles = np.empty((size, form.n_actions))
        self._points, self._weights = np.empty((size, dimensions)), np.empty(size)

    def advance(
        self, advance: Callable[[int, int], object], state: State, start: int, count: int
    ) -> None:
        """Do iterations ``start + 1`` to ``start + count``, and keep the iterate of each."""
        for t in range(start, start + count):
            self.keep(t + 1, state)
            advance(t, 1)

    def keep(self, t: int, state: State) -> None:
        """Keep the profile that iteration t plays; after the last one the earlier ones merge."""
        if self._count == len(self._weights):
            self._merge()
        k, players = self._count, self._form.n_players
        self._profiles[k] = state.behavior[players:]
        self._weights[k] = float(t) ** self._averaging
        values = self._points[k, players:]
        all_direct_values(self._form.arrays, state.reach, values)
        products = state.reach * values
        self._points[k, :players] = np.bincount(self._form.sequence_player, products)
        self._count += 1

    def mixture(self) -> tuple[FloatArray, FloatArray]:
        """Profiles (K, A) and their weights (K,), which sum to 1 unless there is no iterate."""
        self._merge()
        weights = self._weights[: self._count]
        return self._profiles[: self._count].copy(), weights / (weights.sum() or 1.0)

    def _merge(self) -> None:
        count = self._count
        weights = merged_weights(self._points[:count], self._weights[:count])
        kept = np.flatnonzero(weights)
        self._count = len(kept)
        for array in (self._profiles, self._points):
            array[: len(kept)] = array[kept]
        self._weights[: len(kept)] = weights[kept]


def merged_weights(points: FloatArray, weights: FloatArray) -> FloatArray:
    """Weights (K,), at most D + 1 of them positive, with the same sum and mean of points (K, D).

    Along a direction that changes neither, the weights go to where one of them is 0. Directions
    with 0 in its place are left, by a reflection, so that they stay orthonormal.
    """
    weights = weights.copy()
    factor, triangle, _ = qr(np.column_stack([np.ones(len(points)), points]), pivoting=True)
    sizes = np.abs(np.diagonal(triangle))
    directions = factor[:, np.count_nonzero(sizes > NEGLIGIBLE * sizes.max(initial=0.0)) :]
    while directions.shape[1]:
        along = directions[:, 0]
        falling = along > NEGLIGIBLE  # its sum is 0 and its length 1
        steps = np.full(len(weights), np.inf)
        steps[falling] = weights[falling] / along[falling]
        gone = int(steps.argmin())
        weights = np.maximum(weights - steps[gone] * along, 0.0)
        weights[gone] = 0.0
        mirror = directions[gone].copy()
        mirror[0] += np.copysign(np.linalg.norm(mirror), mirror[0])
        reflected = np.outer(directions @ mirror, mirror * (2.0 / (mirror @ mirror)))
        directions = (directions - reflected)[:, 1:]
        directions[gone] = 0.0
    return weights
