"""The integrator LSODA of SciPy: Adams and BDF methods of variable order (Petzold 1983).

Every evaluation comes back into Python, which costs more than the compiled right side. Since
SciPy 1.17 integrations may be interleaved; before, SciPy raises an error where one does not end
before the next begins. They are not for threads: what SciPy warns of, which the endings say too,
is silenced for the whole process meanwhile.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import ode

from eqbench.solver import CHUNK_S

from . import kernels
from .integrators import Samples, collapsed, overflowed

if TYPE_CHECKING:
    from eqbench.model.tree import FloatArray

# Its many small steps let errors grow to more than those of the others at the same tolerance.
# Below the second it refuses to work, since rounding is larger.
STRICTER, STRICTEST = 10.0, 1e-13
# Steps that it makes before it comes back, and its word for having made them.
AT_ONCE, EXCESS_WORK = 5000, -1


class StoppedError(Exception):
    """The right side stops the integration; the text says why."""


class Lsoda:
    """One integration; see :class:`.integrators.Integration`.

    Its first step depends on how far away the first time is. Of a tangent it follows the direction
    and the logarithm of the length: a method that looks back at several steps cannot have its
    vector rescaled, and the tangent itself may vanish beside any absolute tolerance.
    """

    unit = "evaluations"

    def __init__(
        self, field: kernels.Field, tolerance: float, state: FloatArray, start: float
    ) -> None:
        size, players = len(field.action), len(field.form.others) + 1
        self._size, self._tangent = len(state), slice(size + players, len(state))
        self._follows_tangent = len(state) > size + players
        self._field = field
        self._room = kernels.room(field, tangent=self._follows_tangent)
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
        rows, logs = np.empty((len(times), self._size)), np.zeros(len(times))
        self._asked, self._interrupted = time.perf_counter(), interrupted
        for k, goal in enumerate(times):
            ending = ""
            try:
                while not ending and self._ode.t < goal:
                    ending = self._advance(float(goal))
            except StoppedError as stop:
                ending = str(stop)
            if ending:
                return Samples(rows[:k], logs[:k], ending)
            rows[k], logs[k] = self._ode.y[:-1], self._ode.y[-1]
        return Samples(rows, logs, "")

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
        if self._follows_tangent:
            tangent, moved = state[self._tangent], result[self._tangent]
            with np.errstate(over="ignore", invalid="ignore"):  # it is told below
                result[-1] = (tangent @ moved) / (tangent @ tangent)
                moved -= result[-1] * tangent
        if not np.isfinite(result).all():
            raise StoppedError(overflowed(now))
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
            return collapsed(before, self._tolerance)
        return ""
