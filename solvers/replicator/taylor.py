"""The integrator heyoka: Taylor series, compiled for the game (Biscani and Izzo 2021).

The right side is written out as expressions of the sequence form. `sigmoid` is a function of its
own there, whose series is defined however large its argument; 1 / (1 + exp(-z)) overflows.
heyoka keeps what it has compiled, in memory and on disk, so the same game compiles once.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.model.sequence_form import FormArrays
from eqbench.model.tree import FloatArray

from . import kernels
from .integrators import Integration

if TYPE_CHECKING:
    from eqbench.model.game import Game

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


def obstacle() -> str | None:
    """Say why heyoka cannot be imported; None if it can, which takes a moment at first."""
    try:
        import heyoka  # noqa: F401
    except Exception as error:  # whatever a broken installation raises
        return (
            f"heyoka is not installed, or broken ({type(error).__name__}: {error}); install it "
            "with: pip install 'eqbench[ode]', or leave integrator=auto"
        )
    return None


def refusal(game: Game) -> str | None:
    """Say why a game is not written out as expressions; None if it is."""
    largest = max(map(len, game.tree.infoset_actions), default=0)
    products = len(game.sequence_form.arrays.weight)
    if largest <= 2 and products <= MOST_PRODUCTS:
        return None
    return (
        f"an information set has {largest} actions, and there are {products:,} products of payoffs "
        f"and reaches; heyoka takes 2 and {MOST_PRODUCTS:,} at most, so leave integrator=auto"
    )


def pays(game: Game) -> bool:
    """Tell if expressions of a game are faster than the compiled right side."""
    return refusal(game) is None and len(game.sequence_form.arrays.weight) <= WORTHWHILE_PRODUCTS


def stepper(field: kernels.Field, tolerance: float, tangent: bool) -> Any:  # noqa: FBT001
    """Compile a `heyoka.taylor_adaptive` that stands at 0."""
    import heyoka

    variables = equations(field, tangent=tangent)
    in_loops = tangent or len(field.form.weight) > FEW_PRODUCTS
    start = np.zeros(len(variables))
    return heyoka.taylor_adaptive(variables, start, tol=tolerance, compact_mode=in_loops)


class Taylor(Integration):
    """Taylor series, by a copy of what `compiled` gives with a tangent or without."""

    unit = "steps"

    def __init__(
        self,
        compiled: Callable[[bool], Any],
        field: kernels.Field,
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

    def _follow(
        self, times: FloatArray, rows: FloatArray, logs: FloatArray, filled: int
    ) -> tuple[int, int]:
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
            self._log += np.log(kernels.unit_length(self._tangent))
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


def equations(field: kernels.Field, *, tangent: bool) -> list[tuple[Any, Any]]:
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
    won = [(heyoka.expression(f"u{p}"), values[p]) for p in range(len(field.form.others) + 1)]
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
