"""What integrators have in common: the contract, how they end, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from eqbench.model.tree import FloatArray

    from .kernels import Field

# An integration ends after so many steps: 20 minutes and more.
CEILING = 100_000_000


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

    Where it is sampled, and in how many calls, changes nothing about it but for the first step and
    the fresh starts of `lsoda`.
    """

    unit: str

    def __init__(self, field: Field, state: FloatArray, start: float, tolerance: float) -> None:
        """Begin at `state` (M,): log-odds, profits and, if there is one, tangent."""

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


def too_many(now: float) -> str:
    """How an integration ends that goes on forever."""
    return (
        f"{CEILING:,} steps were made by time {now:.6g}; lower the rate or k, raise the tolerance, "
        "or ask for earlier times"
    )
