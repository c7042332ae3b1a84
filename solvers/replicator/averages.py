"""Time averages of behavior, as realization plans, over the latest share of the time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray

from . import kernels

if TYPE_CHECKING:
    from eqbench.model.sequence_form import SequenceForm

# States that an average takes of a unit of time, a power of two, so that times are exact.
POINTS = 8
# How far apart the times are, as a ratio, at which an average may begin.
SPACING = 1.05


class Averages:
    """Integrals of the realization plans by the trapezoidal rule.

    Parameters
    ----------
    form : the whole sequence form
    field : the same for kernels
    state : float64 (F,), where the time is 0
    """

    def __init__(self, form: SequenceForm, field: kernels.Field, state: FloatArray) -> None:
        self._form, self._field = form, field
        self._room = kernels.room(field, tangent=False)
        self._total = np.zeros(form.n_sequences)
        self.units = 0
        kernels.add_plans(field, self._room, state[None, :], self._total)
        self._marks = [(0, self._integral())]

    def add(self, states: FloatArray) -> None:
        """Go on by whole units of time; states are (K, F) with K a multiple of `POINTS`."""
        while len(states):
            mark = max(self.units + 1, math.ceil(SPACING * self._marks[-1][0]))
            units = min(mark - self.units, len(states) // POINTS)
            kernels.add_plans(self._field, self._room, states[: units * POINTS], self._total)
            self.units += units
            states = states[units * POINTS :]
            if self.units == mark:
                self._marks.append((mark, self._integral()))

    def latest(self, share: float) -> FloatArray:
        """Frequencies (A,) that play like the average over at least the latest `share`."""
        end = self._integral()
        if self.units == 0:
            plan = self._room.reach
        else:
            since = (1.0 - share) * self.units
            units, begin = max((m for m in self._marks if m[0] <= since), key=lambda m: m[0])
            plan = (end - begin) / (POINTS * (self.units - units))
        # of what is hardly ever reached, the difference is rounding and may be negative
        return RealizationPlan(np.maximum(plan, 0.0)).to_behavior(self._form)

    def _integral(self) -> FloatArray:
        """Integral of the plans from the first time to now, less half of the first, (S,)."""
        return self._total - 0.5 * self._room.reach
