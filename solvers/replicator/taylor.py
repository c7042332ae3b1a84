"""The integrator heyoka: Taylor series, compiled for the game (Biscani and Izzo 2021).

The right side is written out as expressions of the sequence form. `sigmoid` is a function of its
own there, whose series is defined however large its argument; 1 / (1 + exp(-z)) overflows.
heyoka keeps what it has compiled, in memory and on disk, so the same game compiles once.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.solver import CHUNK_S

from . import kernels
from .integrators import ENDINGS, Samples

if TYPE_CHECKING:
    from eqbench.model.game import Game

# Compiling takes one to two seconds for so many products of payoffs and reaches.
MOST_PRODUCTS = 2000
# From about so many on, `dop853` is as fast and compiles nothing.
WORTHWHILE_PRODUCTS = 500
# For so many it takes a second without loops too, and then steps are twice as fast.
FEW_PRODUCTS = 200

# Steps between two looks at the clock.
AT_ONCE = 64
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


class Dual(NamedTuple):
    """An expression and its derivative along the tangent."""

    value: Any
    slope: Any


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


class Taylor:
    """One integration; see :class:`.integrators.Integration`.

    `stepper` is a `heyoka.taylor_adaptive` of its own, which stands at the start.
    """

    unit = "steps"

    def __init__(self, field: kernels.Field, tolerance: float, stepper: Any) -> None:
        import heyoka

        self._overflow = heyoka.taylor_outcome.err_nf_state
        self._stepper, self._size, self._tolerance = stepper, len(field.action), tolerance
        # views of what every step writes; to make them takes as long as a quarter of a step
        self._state, self._series = stepper.state, stepper.tc
        self._tangent = self._state[kernels.size_without_tangent(field) :]
        self._silent = UNSEEN - math.log(tolerance)
        self._log, self.work = 0.0, 0

    def sample(self, times: FloatArray, interrupted: Callable[[], bool]) -> Samples:
        """States at ascending times, as far as it comes."""
        rows, logs = np.empty((len(times), len(self._state))), np.zeros(len(times))
        stepper, asked, filled = self._stepper, time.perf_counter(), 0
        while filled < len(times):
            goal = float(times[filled])
            while stepper.time < goal:
                ending = self._advance(goal)
                if not ending and time.perf_counter() - asked > CHUNK_S:
                    asked = time.perf_counter()
                    ending = "interrupted" if interrupted() else ""
                if ending:
                    return Samples(rows[:filled], logs[:filled], ending)
            within = int(np.searchsorted(times, stepper.time, side="right"))
            if self.work:  # the series are in the time since the step began
                since = times[filled:within] - (stepper.time - stepper.last_h)
                kernels.sum_series(self._series, since, rows[filled:within])
            else:
                rows[filled:within] = self._state
            logs[filled:within] = self._log
            filled = within
        return Samples(rows, logs, "")

    def _advance(self, goal: float) -> str:
        """Make steps up to `goal`, but only a few; how it ended, empty if well."""
        stepper, state, series = self._stepper, self._state, self._series
        now = stepper.time
        for _ in range(AT_ONCE):
            if len(self._tangent):
                self._rescale()
            outcome, length = stepper.step(LONGEST_STEP, write_tc=True)
            self.work += 1
            trusted = kernels.trusted_step(series, state, self._size, self._silent)
            if not length <= trusted:
                if length > trusted:
                    state[:] = series[:, 0]
                    stepper.time = now
                    outcome, length = stepper.step(trusted, write_tc=True)
                # comparing the outcome of every step would take a tenth of its time
                if outcome == self._overflow:
                    return ENDINGS[kernels.OVERFLOWED].format(now=now)
            if not length > kernels.RESOLUTION * abs(now):
                return ENDINGS[kernels.COLLAPSED].format(now=now, tolerance=self._tolerance)
            now = stepper.time
            if now >= goal:
                break
        return ""

    def _rescale(self) -> None:
        """Give the tangent length 1 where it has become too short or too long."""
        length = float(np.sqrt(self._tangent @ self._tangent))
        if not kernels.SHORTEST < length < kernels.LONGEST:
            self._tangent /= length
            self._log += float(np.log(length))


def equations(field: kernels.Field, *, tangent: bool) -> list[tuple[Any, Any]]:
    """Variables with their derivatives by time, in the order of the integrated vector."""
    import heyoka

    zero, one = heyoka.expression(0.0), heyoka.expression(1.0)
    behavior = [Dual(one, zero)] * (len(field.form.entry_start) - 1)
    for f, (action, first) in enumerate(zip(field.action, field.first, strict=True)):
        share = heyoka.sigmoid(heyoka.expression(f"z{f}"))
        slope = share * (one - share) * heyoka.expression(f"w{f}")
        behavior[action], behavior[first] = Dual(share, slope), Dual(one - share, -slope)
    values = _values(field, behavior)
    gains = [
        (values[action].value - values[first].value, values[action].slope - values[first].slope)
        for action, first in zip(field.action, field.first, strict=True)
    ]
    odds = {f"z{f}": gain * field.speed[f] for f, (gain, _) in enumerate(gains)}
    won = {f"u{p}": values[p].value for p in range(len(field.form.others) + 1)}
    moved = {f"w{f}": slope * field.speed[f] for f, (_, slope) in enumerate(gains) if tangent}
    return [(heyoka.expression(name), side) for name, side in (odds | won | moved).items()]


def _values(field: kernels.Field, behavior: Sequence[Dual]) -> list[Dual]:
    """Counterfactual values of all sequences, those of the empty ones being payoffs."""
    # Python's integers, since unsigned ones of NumPy wrap around
    form = field.form
    block, parent = form.block_start.tolist(), form.parent.tolist()
    entry, opponents = form.entry_start.tolist(), form.opponents.tolist()
    reach = list(behavior)
    for i, above in enumerate(parent):
        for s in range(block[i], block[i + 1]):
            reach[s] = _product([reach[above], behavior[s]])
    terms = [
        [
            _product([reach[other] for other in opponents[e]], float(form.weight[e]))
            for e in range(entry[s], entry[s + 1])
            if form.weight[e]
        ]
        for s in range(len(behavior))
    ]
    for i in reversed(range(len(parent))):
        for s in range(block[i], block[i + 1]):
            terms[parent[i]].append(_product([behavior[s], _sum(terms[s])]))
    return [_sum(some) for some in terms]


def _sum(terms: Sequence[Dual]) -> Dual:
    import heyoka

    return Dual(heyoka.sum([t.value for t in terms]), heyoka.sum([t.slope for t in terms]))


def _product(factors: Sequence[Dual], weight: float = 1.0) -> Dual:
    import heyoka

    scale, values = heyoka.expression(weight), [factor.value for factor in factors]
    slopes = [
        heyoka.prod([scale, factor.slope, *values[:k], *values[k + 1 :]])
        for k, factor in enumerate(factors)
    ]
    return Dual(heyoka.prod([scale, *values]), heyoka.sum(slopes))
