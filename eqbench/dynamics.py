"""The contract of solvers whose method is a flow: behavior that changes in continuous time.

A solver that is one offers ``flow(game)``, which gives a :class:`Flow` of that game. Studies
follow its trajectories and look at its rest points; they see states and frequencies, nothing else.

States are log-odds: of each free action (:class:`eqbench.model.choices.Choices`) the logarithm
of its frequency over that of the first action of its information set, float64 (F,).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from eqbench.model.choices import Choices
from eqbench.model.tree import FloatArray

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game


class Trajectory(NamedTuple):
    """States at given times, as far as the integrator came.

    Attributes
    ----------
    times : float64 (K,)
        The requested times up to where it ended; the first is that of the start.
    states : float64 (K, F)
        Log-odds; all finite.
    profits : float64 (K, N)
        Expected payoffs of the players, integrated over time from the first time on.
    growth : float64 (K,) or None
        Logarithm of how much longer the tangent is than at the first time, if one was followed.
    tangent : float64 (F,) or None
        Its direction at the last time, of length 1.
    ending : str
        Empty if all times were reached; otherwise why not, with what to do about it.
    """

    times: FloatArray
    states: FloatArray
    profits: FloatArray
    growth: FloatArray | None
    tangent: FloatArray | None
    ending: str


class Flow(Protocol):
    """The flow of one game."""

    @property
    def choices(self) -> Choices:
        """The free frequencies, in the order of the entries of states."""

    @property
    def integrator(self) -> str:
        """The integrator that is used, by name."""

    @property
    def rate(self) -> float:
        """Factor of all velocities, which sets the unit of time."""

    @property
    def statistics(self) -> dict[str, float]:
        """What the work so far consisted of: `evaluations` or `steps` of the integrator."""

    def state_of(self, behavior: FloatArray) -> FloatArray:
        """The state (F,) of a profile (A,).

        Raises
        ------
        UsageError
            If a frequency is 0 or 1, since such a state lies at infinity.
        """

    def behavior(self, states: FloatArray) -> FloatArray:
        """Frequencies float64 (..., A) of states (..., F), without overflow however large."""

    def payoffs(self, states: FloatArray) -> FloatArray:
        """Expected payoffs float64 (..., N) at states (..., F)."""

    def velocity(self, state: FloatArray) -> FloatArray:
        """Derivative of a state by time, float64 (F,)."""

    def state_jacobian(self, state: FloatArray) -> FloatArray:
        """Derivatives of the velocity (rows) by the state, float64 (F, F)."""

    def frequency_velocity(self, behavior: FloatArray) -> FloatArray:
        """Derivative of the free frequencies by time, float64 (F,); also on the boundary."""

    def frequency_jacobian(self, behavior: FloatArray) -> FloatArray:
        """Its derivatives (rows) by the free frequencies, float64 (F, F); also on the boundary."""

    def integrate(
        self,
        state: FloatArray,
        times: FloatArray,
        *,
        tangent: FloatArray | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Trajectory:
        """Follow the trajectory from `state` at ``times[0]`` through ascending times.

        Parameters
        ----------
        tangent : float64 (F,)
            Direction of a small displacement whose growth is followed (variational equations).
        interrupted : polled several times a second; the trajectory ends early when it says so
            A flow that keeps the time that it has reached as its attribute `now` until then can be
            watched; repeated play as well.
        """


class HandByHand(Protocol):
    """Repeated play in which behavior is adjusted after every hand, by what was seen lately."""

    def play(
        self,
        state: FloatArray,
        times: FloatArray,
        rng: np.random.Generator,
        *,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Trajectory:
        """Play from `state` at ``times[0]`` on; times are those of the flow that it imitates.

        Profits are payoffs that were won, times the time that a hand takes.
        """


class Dynamics(Protocol):
    """A solver whose method is a flow."""

    def flow(self, game: Game) -> Flow:
        """The flow of a game.

        Raises
        ------
        UsageError
            If an option does not fit the game, for example names a player that it lacks.
        """

    def hand_by_hand(self, game: Game, memory: int) -> HandByHand:
        """Repeated play in which players remember the last `memory` hands.

        Raises
        ------
        UsageError
            As for the flow, or if `memory` is less than 1.
        """
