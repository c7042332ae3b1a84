"""The integrator heyoka: Taylor series, compiled for the game (Biscani and Izzo 2021).

The right side is written out as expressions of the sequence form. `sigmoid` is a function of its
own there, whose series is defined however large its argument; 1 / (1 + exp(-z)) overflows.
heyoka keeps what it has compiled, in memory and on disk, so the same game compiles once.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

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
    except ModuleNotFoundError as error:
        if error.name == "heyoka":
            return "heyoka is not installed"
        return f"heyoka cannot be imported ({error})"
    except Exception as error:  # whatever a broken installation raises
        return f"heyoka cannot be imported ({type(error).__name__}: {error})"
    return None


def refusal(game: Game) -> str | None:
    """Say why a game is not written out as expressions; None if it is."""
    largest = max(map(len, game.tree.infoset_actions), default=0)
    if largest > 2:
        return (
            f"an information set has {largest} actions, and heyoka's expressions are made for two "
            "at most"
        )
    if _products(game) > MOST_PRODUCTS:
        return (
            f"the expressions have {_products(game):,} products, of which at most "
            f"{MOST_PRODUCTS:,} compile in reasonable time"
        )
    return None


def pays(game: Game) -> bool:
    """Tell if expressions of a game are faster than the compiled right side."""
    return refusal(game) is None and _products(game) <= WORTHWHILE_PRODUCTS


def _products(game: Game) -> int:
    """Number of products of payoffs and reaches of the other players."""
    return len(game.sequence_form.arrays.weight)


def beginner(field: kernels.Field, tolerance: float) -> Callable[[FloatArray, float], Taylor]:
    """Return a function that begins integrations, which share what is compiled for a tangent."""
    import heyoka

    @cache
    def compiled(tangent: bool) -> Any:  # noqa: FBT001
        variables = equations(field, tangent=tangent)
        in_loops = tangent or len(field.form.weight) > FEW_PRODUCTS
        start = np.zeros(len(variables))
        return heyoka.taylor_adaptive(variables, start, tol=tolerance, compact_mode=in_loops)

    def begin(state: FloatArray, start: float) -> Taylor:
        stepper = copy.deepcopy(compiled(len(state) > kernels.size_without_tangent(field)))
        stepper.state[:] = state
        stepper.time = start
        return Taylor(field, tolerance, stepper)

    return begin


class Taylor(Integration):
    """Taylor series, by a `heyoka.taylor_adaptive` of its own, which stands at the start."""

    unit = "steps"

    def __init__(self, field: kernels.Field, tolerance: float, stepper: Any) -> None:
        import heyoka

        # views of what every step writes; to make them takes as long as a quarter of a step
        super().__init__(field, tolerance, stepper.state, stepper.time)
        self._stepper, self._series = stepper, stepper.tc
        self._overflow = heyoka.taylor_outcome.err_nf_state
        self._tangent = self.state[kernels.size_without_tangent(field) :]
        self._silent = UNSEEN - math.log(tolerance)
        self._log = 0.0

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
    values = _values(field, behavior)
    gains = [
        (values[action] - values[first]) * speed
        for action, first, speed in zip(field.action, field.first, field.speed, strict=True)
    ]
    won = [(heyoka.expression(f"u{p}"), values[p]) for p in range(len(field.form.others) + 1)]
    slopes = []
    if tangent:
        jacobian = heyoka.diff_tensors(gains, diff_args=odds).jacobian
        slopes = [heyoka.sum([g * w for g, w in zip(row, moves, strict=True)]) for row in jacobian]
    return [*zip(odds, gains, strict=True), *won, *zip(moves, slopes, strict=False)]


def _values(field: kernels.Field, behavior: Sequence[Any]) -> list[Any]:
    """Counterfactual values of all sequences, those of the empty ones being payoffs."""
    import heyoka

    # Python's integers, since unsigned ones of NumPy wrap around
    form = field.form
    block, parent = form.block_start.tolist(), form.parent.tolist()
    entry, opponents = form.entry_start.tolist(), form.opponents.tolist()
    reach = list(behavior)
    for i, above in enumerate(parent):
        for s in range(block[i], block[i + 1]):
            reach[s] = reach[above] * behavior[s]
    terms = [
        [
            heyoka.prod(
                [heyoka.expression(float(form.weight[e])), *(reach[t] for t in opponents[e])]
            )
            for e in range(entry[s], entry[s + 1])
            if form.weight[e]
        ]
        for s in range(len(behavior))
    ]
    for i in reversed(range(len(parent))):
        for s in range(block[i], block[i + 1]):
            terms[parent[i]].append(behavior[s] * heyoka.sum(terms[s]))
    return [heyoka.sum(some) for some in terms]
