"""Eigenvalues of a flow at a rest point, and what they say about its stability.

Actions that are not played have rows of their own: how fast their frequency grows depends, to
first order, on that frequency alone. So the Jacobian is block triangular. The eigenvalues across
the face on which a rest point lies are read off; only those within it are computed.

A Jacobian with a defective eigenvalue zero, as it occurs at continua of equilibria, has computed
eigenvalues of the order of the square root of rounding. Such eigenvalues are found by ranks
instead: null spaces are split off until none is left (Golub and Wilkinson 1976, section 10).
Singular values, unlike eigenvalues, change by no more than the matrix does.

Symbols in shapes: A actions, F free frequencies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.dynamics import Flow
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.tree import FloatArray

# Real parts and singular values up to this share of the spectral norm of the Jacobian are zero.
TOLERANCE = 1e-9
# Frequencies up to here are zero; a profile with so many digits is one of the face.
FACE = 1e-9

UNSTABLE, STABLE = "unstable", "asymptotically stable"
COUNTS = ("unstable", "centre_oscillatory", "zero", "stable")


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues at one rest point.

    Attributes
    ----------
    eigenvalues : complex128 (F,), of the Jacobian in frequency coordinates; the largest real part
        first
    across : the largest of those across the face of the rest point, positive where an action that
        is not played would gain; minus infinity if there are none
    scale : spectral norm of the Jacobian
    speed : largest derivative of a frequency by time, which is zero at a rest point
    """

    eigenvalues: NDArray[np.complex128]
    across: float
    scale: float
    speed: float

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of eigenvalues, not pairs; those that oscillate are on the center manifold."""
        limit = TOLERANCE * self.scale
        real, turns = self.eigenvalues.real, np.abs(self.eigenvalues.imag) > limit
        center = np.abs(real) <= limit
        masks = (real > limit, center & turns, center & ~turns, real < -limit)
        return {name: int(mask.sum()) for name, mask in zip(COUNTS, masks, strict=True)}

    @property
    def verdict(self) -> str:
        """Stability by linearization, in the words of Billingham 2017, section 4.1.

        On a center manifold linearization does not decide: without unstable eigenvalues a rest
        point with one is not shown to be stable or unstable, only not to attract exponentially.
        """
        counts = self.counts
        if counts["unstable"]:
            return UNSTABLE
        if counts["centre_oscillatory"] or counts["zero"]:
            return center_manifold(counts["centre_oscillatory"])
        return STABLE

    @property
    def is_rest_point(self) -> bool:
        """Whether nothing moves there, up to what counts as zero."""
        return self.speed <= TOLERANCE * max(self.scale, np.finfo(float).tiny)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        pairs = np.column_stack((self.eigenvalues.real, self.eigenvalues.imag)).tolist()
        rest = {"verdict": self.verdict, "scale": self.scale, "speed": self.speed}
        return {"eigenvalues": pairs} | self.counts | rest


def center_manifold(dimension: int) -> str:
    """The verdict on a rest point with so many imaginary eigenvalues and no unstable one."""
    return f"centre manifold of oscillatory dimension {dimension}"


def on_face(choices: Choices, behavior: FloatArray) -> FloatArray:
    """Frequencies (A,) of which tiny ones are made zero and the largest of each set gives way."""
    found = np.where(behavior <= FACE, 0.0, behavior)
    for block in blocks(choices):
        largest = block[np.argmax(found[block])]
        found[largest] = 1.0 - (found[block].sum() - found[largest])
    return found


def spectrum(flow: Flow, behavior: FloatArray) -> Spectrum:
    """Return the eigenvalues of a flow at a rest point float64 (A,).

    Raises
    ------
    UsageError
        If the Jacobian is not finite there.
    """
    choices = flow.choices
    behavior = on_face(choices, behavior)
    velocity, jacobian = flow.frequency_velocity(behavior), flow.frequency_jacobian(behavior)
    if not (np.isfinite(jacobian).all() and np.isfinite(velocity).all()):
        raise UsageError("the flow has no finite Jacobian at this profile; check its rates")
    size = choices.size
    if not size:
        return Spectrum(np.zeros(0, dtype=np.complex128), -np.inf, 0.0, 0.0)
    # of each set the largest frequency gives way, so an action that is not played has its own row
    pairs = [
        (action, block[np.argmax(behavior[block])])
        for block in blocks(choices)
        for action in np.delete(block, np.argmax(behavior[block]))
    ]
    action, largest = np.transpose(pairs)
    there = spread(choices.action, choices.first, choices.n_actions)[action]
    back = spread(action, largest, choices.n_actions)[choices.action]
    matrix = there @ jacobian @ back
    scale = float(np.linalg.norm(matrix, 2))
    played = behavior[action] > 0
    across = matrix.diagonal()[~played]
    within = eigenvalues(matrix[np.ix_(played, played)], TOLERANCE * scale)
    values = np.concatenate((across.astype(np.complex128), within))
    order = np.lexsort((values.imag, -values.real))
    most, speed = float(across.max(initial=-np.inf)), float(np.abs(velocity).max())
    return Spectrum(values[order], most, scale, speed)


def eigenvalues(matrix: FloatArray, rounding: float) -> NDArray[np.complex128]:
    """Eigenvalues of a square matrix; those zero within rounding, defective or not, are exact.

    Singular values up to `rounding` count as zero.
    """
    zeros = 0
    while len(matrix):
        _, singular, right = np.linalg.svd(matrix)
        rank = int((singular > rounding).sum())
        if rank == len(matrix):
            break
        zeros += len(matrix) - rank
        # the null space is the first block of a basis in which the matrix is block triangular
        matrix = right[:rank] @ matrix @ right[:rank].T
    return np.concatenate((np.linalg.eigvals(matrix), np.zeros(zeros, dtype=np.complex128)))


def blocks(choices: Choices) -> list[NDArray[np.int64]]:
    """The actions of each information set with a choice."""
    bounds = zip(choices.start[:-1].tolist(), choices.start[1:].tolist(), strict=True)
    return [np.append(choices.first[a], choices.action[a:b]).astype(np.int64) for a, b in bounds]


def spread(action: NDArray, first: NDArray, n_actions: int) -> FloatArray:
    """Changes of all frequencies (rows, A) by the free ones (F); `first` gives way to `action`."""
    matrix = np.zeros((n_actions, len(action)))
    columns = np.arange(len(action))
    matrix[action, columns] = 1.0
    matrix[first, columns] = -1.0
    return matrix
