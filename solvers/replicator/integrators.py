"""How trajectories are integrated, what is asked of a method, how they end, and DOP853."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.solver import CHUNK_S

from . import kernels

# Where floats are 1e-4 apart. Frequencies turn while log-odds change by about 1, so a little
# further on the moves that matter are rounded, and later lost: the log-odds would stand still.
LARGEST = 1e12
TOO_LARGE = (
    f"beyond {LARGEST:g}, where their changes are lost in rounding; start nearer to 0, ask for "
    "earlier times, or lower the rate or k"
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


class Integration(ABC):
    """One trajectory from a state (M,), followed piece by piece.

    Where it is sampled, and in how many calls, changes nothing about it.

    Attributes
    ----------
    unit : str
        What work is counted in.
    work : int
        How many of them it took so far.
    state, now : float64 (M,), float
        State and time at the end of the last step.
    """

    unit: str

    def __init__(
        self, field: kernels.Field, tolerance: float, state: FloatArray, now: float
    ) -> None:
        self.state, self.now, self.work = state, now, 0
        self._field, self._tolerance = field, tolerance
        self._steps = 1  # between two questions whether to go on

    @abstractmethod
    def _follow(
        self, times: FloatArray, rows: FloatArray, logs: FloatArray, filled: int
    ) -> tuple[int, int]:
        """Write what is sampled from row `filled` on; how it ended, and how many are filled.

        After so many further steps as are made at once it is left unfinished.
        """

    def sample(
        self, times: FloatArray, interrupted: Callable[[], bool], *, least: int = 0
    ) -> tuple[FloatArray, FloatArray, str]:
        """States at ascending times, none earlier than those before; there may be no time.

        They are cut off from where log-odds exceed `LARGEST`, but for the first `least`.

        Returns
        -------
        rows : float64 (K, M)
            Finite states at the first K of the times.
        logs : float64 (K,)
            Logarithms of what the tangents in them were divided by.
        ending : str
            Empty if all times were reached; otherwise why not, with what to do about it.
        """
        rows, logs = np.empty((len(times), len(self.state))), np.zeros(len(times))
        filled, code, stopped = 0, kernels.UNFINISHED, False
        while code == kernels.UNFINISHED and not stopped:
            before = time.perf_counter()
            code, filled = self._follow(times, rows, logs, filled)
            spent = time.perf_counter() - before
            if spent > 2 * CHUNK_S:
                self._steps = max(self._steps // 2, 1)
            elif code == kernels.UNFINISHED and spent < CHUNK_S:
                self._steps *= 2
            stopped = code == kernels.UNFINISHED and interrupted()
        ending = ENDINGS[code].format(now=self.now, tolerance=self._tolerance)
        log_odds = rows[:filled, : len(self._field.action)]
        large = np.flatnonzero(np.abs(log_odds).max(axis=1, initial=0.0) > LARGEST)
        if len(large):
            filled = max(large[0], least)
            ending = f"at time {times[large[0]]:.6g} log-odds are {TOO_LARGE}"
        return rows[:filled], logs[:filled], ending


class Dop853(Integration):
    """DOP853, a Runge-Kutta method of order eight (Dormand and Prince).

    The steps are our own, so that right side, step control and interpolation are one piece of
    machine code: SciPy's drivers call back into Python for every evaluation, and with the same
    compiled right side take three to five times as long.
    """

    unit = "evaluations"

    def __init__(
        self, field: kernels.Field, tolerance: float, state: FloatArray, start: float
    ) -> None:
        super().__init__(field, tolerance, state.copy(), start)
        self._game = (field, kernels.room(field, len(state)), tolerance)
        self._walk = kernels.Walk(
            clock=np.array([start, start, 0.0, 0.0]),
            counts=np.zeros(3, dtype=np.int64),
            state=self.state,
            before=state.copy(),
            slopes=np.zeros((16, len(state))),
            dense=np.zeros((7, len(state))),
        )
        kernels.begin(*self._game, self._walk)

    def _follow(
        self, times: FloatArray, rows: FloatArray, logs: FloatArray, filled: int
    ) -> tuple[int, int]:
        walk = self._walk
        ended = kernels.follow(*self._game, walk, times, rows, logs, filled, self._steps)
        self.now, self.work = float(walk.clock[0]), int(walk.counts[1])
        return ended
