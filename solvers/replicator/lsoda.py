"""The integrator LSODA of SciPy: Adams and BDF methods of variable order (Petzold 1983).

Every evaluation comes back into Python, which costs more than the compiled right side. Since
SciPy 1.17 integrations may be interleaved and run in threads; before, SciPy raises an error where
one does not end before the next begins.
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
from .integrators import CEILING, Samples, collapsed, overflowed, too_many

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

    Its first step depends on how far away the first time is. A tangent is given length 1 at a
    time that was asked for if its length has left the range of the other integrators; the method
    then starts anew, since it looks back at several steps. So the integration ends where a tangent
    grows by many orders of magnitude between two times.
    """

    unit = "evaluations"

    def __init__(
        self, field: kernels.Field, state: FloatArray, start: float, tolerance: float
    ) -> None:
        size, players = len(field.action), len(field.form.others) + 1
        self._tangent = slice(size + players, None) if len(state) > size + players else None
        self._field = field
        self._room = kernels.room(field, tangent=self._tangent is not None)
        self.work, self._log, self._tolerance = 0, 0.0, tolerance
        self._asked = 0.0
        self._interrupted: Callable[[], bool] = lambda: False
        strict = max(tolerance / STRICTER, STRICTEST)
        self._ode = ode(self._slope).set_integrator(
            "lsoda", rtol=strict, atol=strict, nsteps=AT_ONCE
        )
        self._ode.set_initial_value(state.copy(), start)

    def sample(self, times: FloatArray, interrupted: Callable[[], bool]) -> Samples:
        """States at ascending times, as far as it comes."""
        rows, logs = np.empty((len(times), len(self._ode.y))), np.zeros(len(times))
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
            self._rescale()
            rows[k], logs[k] = self._ode.y, self._log
        return Samples(rows, logs, "")

    def _slope(self, now: float, state: FloatArray) -> FloatArray:
        """Derivative by time.

        Raises
        ------
        StoppedError
            If it is not finite, for which LSODA has no code, or the user interrupts.
        """
        self.work += 1
        result = np.empty(len(state))
        kernels.derivative(self._field, self._room, state, result)
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
        return too_many(now) if self.work >= CEILING else ""

    def _rescale(self) -> None:
        """Start anew with a tangent of length 1 where it has become too short or too long."""
        if self._tangent is None:
            return
        state = self._ode.y.copy()
        length = float(np.linalg.norm(state[self._tangent]))
        if not kernels.SHORTEST < length < kernels.LONGEST:
            state[self._tangent] /= length
            self._log += float(np.log(length))
            self._ode.set_initial_value(state, self._ode.t)
