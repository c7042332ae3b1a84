"""The compiled integrator: DOP853, a Runge-Kutta method of order eight (Dormand and Prince).

Coefficients are those that SciPy publishes in its class of that name (Hairer, Nørsett and Wanner
1993, II.5). The steps are our own, so that right side, step control and interpolation are one
piece of machine code: SciPy's drivers call back into Python for every evaluation, and with the
same compiled right side take three to five times as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import DOP853

from eqbench.solver import CHUNK_S

from . import kernels, step_kernels
from .integrators import Samples, collapsed, overflowed

if TYPE_CHECKING:
    from eqbench.model.tree import FloatArray


class Dop853:
    """One integration; see :class:`.integrators.Integration`."""

    unit = "evaluations"

    def __init__(
        self, field: kernels.Field, tolerance: float, state: FloatArray, start: float
    ) -> None:
        size, players = len(field.action), len(field.form.others) + 1
        self._field, self._room = field, kernels.room(field, tangent=len(state) > size + players)
        A, B, E3, E5, A_EXTRA, D = (
            np.ascontiguousarray(getattr(DOP853, name), dtype=np.float64)
            for name in ("A", "B", "E3", "E5", "A_EXTRA", "D")
        )
        self._method = step_kernels.Method(A, B, E3, E5, A_EXTRA, D, tolerance)
        self._walk = step_kernels.Walk(
            clock=np.array([start, start, 0.0, 0.0]),
            counts=np.zeros(3, dtype=np.int64),
            state=state.copy(),
            before=state.copy(),
            slopes=np.zeros((16, len(state))),
            dense=np.zeros((7, len(state))),
        )
        step_kernels.begin(self._field, self._room, self._method, self._walk)
        self._steps = 1  # between two questions whether to go on

    @property
    def work(self) -> int:
        """Evaluations of the right side."""
        return int(self._walk.counts[1])

    def sample(self, times: FloatArray, interrupted: Callable[[], bool]) -> Samples:
        """States at ascending times, as far as it comes."""
        rows, logs = np.empty((len(times), len(self._walk.state))), np.zeros(len(times))
        filled, code = 0, step_kernels.UNFINISHED
        while code == step_kernels.UNFINISHED:
            before = time.perf_counter()
            code, filled = step_kernels.follow(
                *(self._field, self._room, self._method, self._walk),
                *(times, rows, logs, filled, self._steps),
            )
            spent = time.perf_counter() - before
            if spent > 2 * CHUNK_S:
                self._steps = max(self._steps // 2, 1)
            elif code == step_kernels.UNFINISHED and spent < CHUNK_S:
                self._steps *= 2
            if code == step_kernels.UNFINISHED and interrupted():
                return Samples(rows[:filled], logs[:filled], "interrupted")
        return Samples(rows[:filled], logs[:filled], self._ending(code))

    def _ending(self, code: int) -> str:
        now = float(self._walk.clock[0])
        if code == step_kernels.REACHED:
            return ""
        if code == step_kernels.OVERFLOWED:
            return overflowed(now)
        return collapsed(now, self._method.tolerance)
