"""What integrators have in common: the contract, how they end, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from eqbench.model.tree import FloatArray

# A trajectory that is asked for as a whole ends after so many evaluations or steps: a quarter of
# an hour in small games.
CEILING = 100_000_000
# Where floats are 1e-4 apart. Frequencies turn while log-odds change by about 1, so a little
# further on the moves that matter are rounded, and later lost: the log-odds would stand still.
LARGEST = 1e12


class Samples(NamedTuple):
    """What an integration reached.

    Attributes
    ----------
    rows : float64 (K, M)
        Finite states at the first K of the times that were asked for.
    logs : float64 (K,)
        Logarithms of what the tangents in them were divided by.
    ending : str
        Empty if all times were reached; otherwise why not, with what to do about it.
    """

    rows: FloatArray
    logs: FloatArray
    ending: str


class Integration(Protocol):
    """One trajectory, followed piece by piece.

    Where it is sampled, and in how many calls, changes nothing about it but for the first step of
    `lsoda`.
    """

    unit: str

    @property
    def work(self) -> int:
        """How many units it took so far."""

    def sample(self, times: FloatArray, interrupted: Callable[[], bool]) -> Samples:
        """States at ascending times (K,), none earlier than those before; K may be 0."""


def overflowed(now: float) -> str:
    """How an integration ends that leaves the numbers a computer has."""
    return f"values overflowed after time {now:.6g}; scale the payoffs down, or lower the rate or k"


def collapsed(now: float, tolerance: float) -> str:
    """How an integration ends whose steps vanish beside the time."""
    return (
        f"at time {now:.6g} no step that time can resolve meets tolerance={tolerance:g}; raise "
        "the tolerance, lower the rate, or start at time 0"
    )


def too_long(goal: float, done: str) -> str:
    """How a trajectory ends that would go on forever; `done` is the work, such as ``9 steps``."""
    return (
        f"after {done} time {goal:.6g} was still ahead; lower the rate or k, raise the tolerance, "
        "or ask for earlier times"
    )


def too_large(now: float) -> str:
    """How an integration ends whose log-odds are beyond what floats resolve."""
    return (
        f"at time {now:.6g} log-odds are beyond {LARGEST:g}, where their changes are lost in "
        "rounding; start nearer to 0, ask for earlier times, or lower the rate or k"
    )


def as_far_as_resolved(found: Samples, times: FloatArray, size: int, *, least: int = 0) -> Samples:
    """What was sampled at `times`, up to where one of the `size` log-odds exceeds `LARGEST`.

    The first `least` rows are kept in any case.
    """
    large = np.abs(found.rows[:, :size]).max(axis=1, initial=0.0) > LARGEST
    if not large.any():
        return found
    first = int(large.argmax())
    kept = max(first, least)
    return Samples(found.rows[:kept], found.logs[:kept], too_large(times[first]))
