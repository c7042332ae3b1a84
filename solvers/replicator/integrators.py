"""How trajectories are integrated: the contract, how they end, and the integrators but heyoka."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from scipy.integrate import ode

from eqbench.solver import CHUNK_S

from . import kernels

if TYPE_CHECKING:
    from eqbench.model.tree import FloatArray

# Where floats are 1e-4 apart. Frequencies turn while log-odds change by about 1, so a little
# further on the moves that matter are rounded, and later lost: the log-odds would stand still.
LARGEST = 1e12
TOO_LARGE = (
    f"at time {{now:.6g}} log-odds are beyond {LARGEST:g}, where their changes are lost in "
    "rounding; start nearer to 0, ask for earlier times, or lower the rate or k"
)
# How an integration ends, by the code of the kernels.
ENDINGS = {
    kernels.REACHED: "",
    kernels.UNFINISHED: "interrupted",
    kernels.COLLAPSED: (
        "at time {now:.6g} no step that time can resolve meets tolerance={tolerance:g}; raise "
        "the tolerance, lower the rate, or start at time 0"
    ),
    kernels.OVERFLOWED: (
        "values overflowed after time {now:.6g}; scale the payoffs down, or lower the rate or k"
    ),
}

# LSODA makes many small steps, whose errors grow to more than those of the others at the same
# tolerance. Below the second it refuses to work, since rounding is larger.
STRICTER, STRICTEST = 10.0, 1e-13
# Steps that it makes before it comes back, and its word for having made them.
AT_ONCE, EXCESS_WORK = 5000, -1


class Samples(NamedTuple):
    """Samples of a trajectory, as far as the integration came.

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


def as_far_as_resolved(found: Samples, times: FloatArray, size: int, *, least: int = 0) -> Samples:
    """Cut off what was sampled at `times` from where one of the `size` log-odds exceeds `LARGEST`.

    The first `least` rows are kept in any case.
    """
    large = np.abs(found.rows[:, :size]).max(axis=1, initial=0.0) > LARGEST
    if not large.any():
        return found
    first = int(large.argmax())
    kept = max(first, least)
    return Samples(found.rows[:kept], found.logs[:kept], TOO_LARGE.format(now=times[first]))


class Dop853:
    """One integration by DOP853, a Runge-Kutta method of order eight (Dormand and Prince).

    The steps are our own, so that right side, step control and interpolation are one piece of
    machine code: SciPy's drivers call back into Python for every evaluation, and with the same
    compiled right side take three to five times as long.
    """

    unit = "evaluations"

    def __init__(
        self, field: kernels.Field, tolerance: float, state: FloatArray, start: float
    ) -> None:
        self._game = (field, kernels.room(field, len(state)), tolerance)
        self._walk = kernels.Walk(
            clock=np.array([start, start, 0.0, 0.0]),
            counts=np.zeros(3, dtype=np.int64),
            state=state.copy(),
            before=state.copy(),
            slopes=np.zeros((16, len(state))),
            dense=np.zeros((7, len(state))),
        )
        kernels.begin(*self._game, self._walk)
        self._steps = 1  # between two questions whether to go on

    @property
    def work(self) -> int:
        """Evaluations of the right side."""
        return int(self._walk.counts[1])

    def sample(self, times: FloatArray, interrupted: Callable[[], bool]) -> Samples:
        """States at ascending times, as far as it comes."""
        rows, logs = np.empty((len(times), len(self._walk.state))), np.zeros(len(times))
        filled, code, stopped = 0, kernels.UNFINISHED, False
        while code == kernels.UNFINISHED and not stopped:
            before = time.perf_counter()
            code, filled = kernels.follow(
                *self._game, self._walk, times, rows, logs, filled, self._steps
            )
            spent = time.perf_counter() - before
            if spent > 2 * CHUNK_S:
                self._steps = max(self._steps // 2, 1)
            elif code == kernels.UNFINISHED and spent < CHUNK_S:
                self._steps *= 2
            stopped = code == kernels.UNFINISHED and interrupted()
        ending = ENDINGS[code].format(now=self._walk.clock[0], tolerance=self._game[2])
        return Samples(rows[:filled], logs[:filled], ending)


class StoppedError(Exception):
    """The right side stops the integration; the text says why."""


class Lsoda:
    """One integration by LSODA: Adams and BDF methods of variable order (Petzold 1983).

    Every evaluation comes back into Python, which costs more than the compiled right side. Since
    SciPy 1.17 integrations may be interleaved; before, SciPy raises an error where one does not
    end before the next begins. They are not for threads: what SciPy warns of, which the endings
    say too, is silenced for the whole process meanwhile.

    Its first step depends on how far away the first time is. Of a tangent it follows the direction
    and the logarithm of the length: a method that looks back at several steps cannot have its
    vector rescaled, and the tangent itself may vanish beside any absolute tolerance.
    """

    unit = "evaluations"

    def __init__(
        self, field: kernels.Field, tolerance: float, state: FloatArray, start: float
    ) -> None:
        self._field, self._room = field, kernels.room(field, len(state))
        self._tangent = slice(kernels.size_without_tangent(field), len(state))
        self.work, self._tolerance = 0, tolerance
        self._asked = 0.0
        self._interrupted: Callable[[], bool] = lambda: False
        strict = max(tolerance / STRICTER, STRICTEST)
        self._ode = ode(self._slope).set_integrator(
            "lsoda", rtol=strict, atol=strict, nsteps=AT_ONCE
        )
        self._ode.set_initial_value(np.append(state, 0.0), start)

    def sample(self, times: FloatArray, interrupted: Callable[[], bool]) -> Samples:
        """States at ascending times, as far as it comes."""
        rows = np.empty((len(times), len(self._ode.y)))
        self._asked, self._interrupted = time.perf_counter(), interrupted
        filled, ending = 0, ""
        try:
            while filled < len(times) and not ending:
                if self._ode.t < times[filled]:
                    ending = self._advance(float(times[filled]))
                else:
                    rows[filled] = self._ode.y
                    filled += 1
        except StoppedError as stop:
            ending = str(stop)
        return Samples(rows[:filled, :-1], rows[:filled, -1], ending)

    def _slope(self, now: float, state: FloatArray) -> FloatArray:
        """Derivative by time, where the tangent only turns and the last entry is its growth.

        Raises
        ------
        StoppedError
            If it is not finite, for which LSODA has no code, or the user interrupts.
        """
        self.work += 1
        result = np.zeros(len(state))
        kernels.derivative(self._field, self._room, state[:-1], result[:-1])
        tangent, moved = state[self._tangent], result[self._tangent]
        if len(tangent):
            with np.errstate(over="ignore", invalid="ignore"):  # it is told below
                result[-1] = (tangent @ moved) / (tangent @ tangent)
                moved -= result[-1] * tangent
        if not np.isfinite(result).all():
            raise StoppedError(ENDINGS[kernels.OVERFLOWED].format(now=now))
        if self.work % 64 == 0 and time.perf_counter() - self._asked > CHUNK_S:
            self._asked = time.perf_counter()
            if self._interrupted():
                raise StoppedError("interrupted")
        return result

    def _advance(self, goal: float) -> str:
        """Go on to `goal` or for so many steps; how it ended, empty if well."""
        before = self._ode.t
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # its codes say the same
            self._ode.integrate(goal)
        code, now = self._ode.get_return_code(), self._ode.t
        shortest = AT_ONCE * kernels.RESOLUTION * abs(now)
        if code < 0 and (code != EXCESS_WORK or now - before <= shortest):
            return ENDINGS[kernels.COLLAPSED].format(now=before, tolerance=self._tolerance)
        return ""
