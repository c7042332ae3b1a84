"""The compiled integrator: DOP853, a Runge-Kutta method of order eight (Dormand and Prince).

Coefficients are those that SciPy publishes in its class of that name (Hairer, Nørsett and Wanner
1993, II.5). The steps are our own, so that right side, step control and interpolation are one
piece of machine code: SciPy's drivers call back into Python for every evaluation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import DOP853

from eqbench.solver import CHUNK_S

from . import kernels
from .integrators import CEILING, Samples, collapsed, overflowed, too_many

if TYPE_CHECKING:
    from eqbench.model.tree import FloatArray

# Steps between two questions whether to go on, at first.
FEW = 16


class Dop853:
    """One integration; see :class:`.integrators.Integration`."""

    unit = "evaluations"

    def __init__(
        self, field: kernels.Field, state: FloatArray, start: float, tolerance: float
    ) -> None:
        size, players = len(field.action), len(field.form.others) + 1
        self._field, self._room = field, kernels.room(field, tangent=len(state) > size + players)
        A, B, E3, E5, A_EXTRA, D = (
            np.ascontiguousarray(getattr(DOP853, name), dtype=np.float64)
            for name in ("A", "B", "E3", "E5", "A_EXTRA", "D")
        )
        self._method = kernels.Method(A, B, E3, E5, A_EXTRA, D, tolerance)
        self._walk = kernels.Walk(
            clock=np.array([start, start, 0.0, 0.0]),
            counts=np.zeros(3, dtype=np.int64),
            state=state.copy(),
            before=state.copy(),
            slopes=np.zeros((16, len(state))),
            dense=np.zeros((7, len(state))),
        )
        kernels.begin(self._field, self._room, self._method, self._walk)
        self._steps = FEW

    @property
    def work(self) -> int:
        """Evaluations of the right side."""
        return int(self._walk.counts[1])

    def sample(self, times: FloatArray, interrupted: Callable[[], bool]) -> Samples:
        """States at ascending times, as far as it comes."""
        rows, logs = np.empty((len(times), len(self._walk.state))), np.zeros(len(times))
        filled, code = 0, kernels.UNFINISHED
        while code == kernels.UNFINISHED:
            before = time.perf_counter()
            code, filled = kernels.follow(
                *(self._field, self._room, self._method, self._walk),
                *(times, rows, logs, filled, self._steps),
            )
            if code == kernels.UNFINISHED and interrupted():
                return Samples(rows[:filled], logs[:filled], "interrupted")
            if self._walk.counts[0] >= CEILING:
                break
            if time.perf_counter() - before < CHUNK_S:
                self._steps = min(2 * self._steps, CEILING)
        return Samples(rows[:filled], logs[:filled], self._ending(code))

    def _ending(self, code: int) -> str:
        now = float(self._walk.clock[0])
        if code == kernels.REACHED:
            return ""
        if code == kernels.OVERFLOWED:
            return overflowed(now)
        if code == kernels.COLLAPSED:
            return collapsed(now, self._method.tolerance)
        return too_many(now)
