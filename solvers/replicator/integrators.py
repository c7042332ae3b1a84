"""How trajectories are integrated and how they end: DOP853, and Taylor series of heyoka.

heyoka (Biscani and Izzo 2021) compiles the right side of a game, written out as expressions of
the sequence form, and keeps it in memory and on disk. `sigmoid` is a function of its own there,
whose series is defined however large its argument; 1 / (1 + exp(-z)) overflows.
"""

from __future__ import annotations

import copy
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise, starmap
from typing import Any

import numpy as np

from eqbench.model.game import Game
from eqbench.model.sequence_form import FormArrays
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
    kernels.COLLAPSED: "at time {now:.6g} no step that time can resolve meets "
    "tolerance={tolerance:g}; raise the tolerance, lower the rate, or start at time 0",
    kernels.OVERFLOWED: "values overflowed after time {now:.6g}; scale the payoffs down, or lower "
    "the rate or k",
}

# Compiling takes one to two seconds for so many products of payoffs and reaches.
MOST_PRODUCTS = 2000
# From about so many on, `dop853` is as fast and compiles nothing.
WORTHWHILE_PRODUCTS = 500
# For so many it takes a second without loops too, and then steps are twice as fast.
FEW_PRODUCTS = 200

# At rest, where all series end, a step would be infinite.
LONGEST_STEP = 1e3
# Frequencies below the tolerance times exp(-UNSEEN) leave no trace in a series.
UNSEEN = 13.0


class Integration(ABC):
    """One trajectory from a state (M,), followed piece by piece.

    Where it is sampled, and in how many calls, changes nothing about it.
    """

    unit: str  # of `work`, which counts what it took so far

    def __init__(
        self, field: kernels.VectorField, tolerance: float, state: FloatArray, now: float
    ) -> None:
        self.state, self.now, self.work = state, now, 0  # at the end of the last step
        self._field, self._tolerance = field, tolerance
        self._steps = 1  # between two questions whether to go on

    @abstractmethod
    def _follow(self, filled: int, *samples: FloatArray) -> tuple[int, int]:
        """Write states and logarithms at times from row `filled` on.

        Returns how it ended and how many rows are filled. After `_steps` it is left unfinished.
        """

    def sample(
        self, times: FloatArray, interrupted: Callable[[], bool], *, least: int = 0
    ) -> tuple[FloatArray, FloatArray, str]:
        """States at ascending times, none earlier than those before; there may be no time.

        They are cut off from where log-odds exceed `LARGEST`, but for the first `least`.
        Returns finite states (K, M) at the first K of the times, logarithms (K,) of what the
        tangents in them were divided by, and why not all times were reached, empty if they were.
        """
        rows, logs = np.empty((len(times), len(self.state))), np.zeros(len(times))
        filled, code, stopped = 0, kernels.UNFINISHED, False
        while code == kernels.UNFINISHED and not stopped:
            before = time.perf_counter()
            code, filled = self._follow(filled, times, rows, logs)
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
        self, field: kernels.VectorField, tolerance: float, state: FloatArray, start: float
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
        kernels.suited(kernels.begin, field)(*self._game, self._walk)

    def _follow(self, filled: int, *samples: FloatArray) -> tuple[int, int]:
        walk = self._walk
        follow = kernels.suited(kernels.follow, self._field)
        ended = follow(*self._game, walk, *samples, filled, self._steps)
        self.now, self.work = float(walk.clock[0]), int(walk.counts[1])
        return ended


def refusal(game: Game, most: int = MOST_PRODUCTS) -> str | None:
    """Say why a game is not written out as expressions; None if it is."""
    if game.product is not None:
        return "heyoka writes out a tree, and this game goes without; leave integrator=auto"
    largest = int(np.diff(game.tree.action_start).max(initial=0))
    products = len(game.sequence_form.arrays.weight)
    if largest <= 2 and products <= most:
        return None
    return (
        f"an information set has {largest} actions, and there are {products:,} products of payoffs "
        f"and reaches; heyoka takes 2 and {most:,} at most, so leave integrator=auto"
    )


def stepper(field: kernels.VectorField, tolerance: float, tangent: bool) -> Any:  # noqa: FBT001
    """Compile a `heyoka.taylor_adaptive` that stands at 0."""
    import heyoka

    variables = equations(field, tangent=tangent)
    in_loops = tangent or len(field.form.weight) > FEW_PRODUCTS
    zeros = np.zeros(len(variables))
    return heyoka.taylor_adaptive(variables, zeros, tol=tolerance, compact_mode=in_loops)


class Taylor(Integration):
    """Taylor series, by a copy of what `compiled` gives with a tangent or without."""

    unit = "steps"

    def __init__(
        self,
        compiled: Callable[[bool], Any],
        field: kernels.VectorField,
        tolerance: float,
        state: FloatArray,
        start: float,
    ) -> None:
        import heyoka

        without_tangent = kernels.size_without_tangent(field)
        self._stepper = copy.deepcopy(compiled(len(state) > without_tangent))
        self._stepper.time = start
        # views of what every step writes; to make them takes as long as a quarter of a step
        super().__init__(field, tolerance, self._stepper.state, start)
        self.state[:] = state
        self._series, self._tangent = self._stepper.tc, self.state[without_tangent:]
        self._overflow = heyoka.taylor_outcome.err_nf_state
        self._silent, self._log = UNSEEN - math.log(tolerance), 0.0

    def _follow(self, filled: int, *samples: FloatArray) -> tuple[int, int]:
        times, rows, logs = samples
        stepper, last = self._stepper, self.work + self._steps
        while filled < len(times):
            while self.now < times[filled]:
                if self.work >= last:
                    return kernels.UNFINISHED, filled
                ending = self._advance()
                if ending != kernels.REACHED:
                    return ending, filled
            within = int(np.searchsorted(times, self.now, side="right"))
            if self.work:  # the series are in the time since the step began
                since = times[filled:within] - (self.now - stepper.last_h)
                kernels.sum_series(self._series, since, rows[filled:within])
            else:
                rows[filled:within] = self.state
            logs[filled:within] = self._log
            filled = within
        return kernels.REACHED, filled

    def _advance(self) -> int:
        """Make one step; how it ended."""
        stepper, state, series, now = self._stepper, self.state, self._series, self.now
        if len(self._tangent):
            length = math.sqrt(self._tangent @ self._tangent)  # a kernel takes longer to call
            if not kernels.SHORTEST < length < kernels.LONGEST:
                self._tangent /= length
                self._log += math.log(length)
        outcome, length = stepper.step(LONGEST_STEP, write_tc=True)
        self.work += 1
        trusted = kernels.trusted_step(series, state, len(self._field.action), self._silent)
        if not length <= trusted:
            if length > trusted:
                state[:] = series[:, 0]
                stepper.time = now
                outcome, length = stepper.step(trusted, write_tc=True)
            # comparing the outcome of every step would take a tenth of its time
            if outcome == self._overflow:
                return kernels.OVERFLOWED
        if not length > kernels.RESOLUTION * abs(now):
            return kernels.COLLAPSED
        self.now = stepper.time
        return kernels.REACHED


def equations(field: kernels.VectorField, *, tangent: bool) -> list[tuple[Any, Any]]:
    """Variables with their derivatives by time, in the order of the integrated vector."""
    import heyoka

    names = ([f"{kind}{f}" for f in range(len(field.action))] for kind in "zw")
    odds, moves = ([heyoka.expression(name) for name in kind] for kind in names)
    behavior = [heyoka.expression(1.0)] * (len(field.form.entry_start) - 1)
    for action, first, z in zip(field.action, field.first, odds, strict=True):
        behavior[action] = heyoka.sigmoid(z)
        behavior[first] = 1.0 - behavior[action]
    values = _values(field.form, behavior)
    gains = [
        (values[action] - values[first]) * speed
        for action, first, speed in zip(field.action, field.first, field.speed, strict=True)
    ]
    players = range(len(field.form.infoset_start) - 1)
    won = [(heyoka.expression(f"u{p}"), values[p]) for p in players]
    slopes = heyoka.diff_tensors(gains, diff_args=odds).jacobian if tangent else []
    turns = [heyoka.sum([g * w for g, w in zip(row, moves, strict=True)]) for row in slopes]
    return [*zip(odds, gains, strict=True), *won, *zip(moves, turns, strict=False)]


def _values(form: FormArrays, behavior: Sequence[Any]) -> list[Any]:
    """Counterfactual values of all sequences, those of the empty ones being payoffs."""
    import heyoka

    # Python's integers, since unsigned ones of NumPy wrap around
    bounds = pairwise(form.block_start.tolist())
    blocks = list(zip(form.parent.tolist(), starmap(range, bounds), strict=True))
    opponents, weight = form.opponents.tolist(), map(heyoka.expression, form.weight.tolist())
    reach = list(behavior)
    for above, block in blocks:
        for s in block:
            reach[s] = reach[above] * behavior[s]
    products = [
        heyoka.prod([share, *(reach[t] for t in others)])
        for share, others in zip(weight, opponents, strict=True)
    ]
    terms = [products[first:last] for first, last in pairwise(form.entry_start.tolist())]
    for above, block in reversed(blocks):
        terms[above] += [behavior[s] * heyoka.sum(terms[s]) for s in block]
    return [heyoka.sum(some) for some in terms]
