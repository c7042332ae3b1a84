"""From realization plans near an equilibrium to the equilibrium itself, to rounding.

Newton's method on the support first: it takes a millisecond and suffices nearly always. Where
the support is not clear, semismooth steps that need none, which solve most of what is left; then
a linear program comes nearer and shows it, and Newton's method again. Nothing counts but the
measured regret.

Symbols: N players, I information sets, A actions, S sequences. Information sets stand in the
order of a player's decisions, so that one pass forward or backward is enough.

V_s is the value of sequence s over the terminals that end in it. With lambda_I the value of
information set I, the slack is ``r_s = lambda_I(s) - V_s - sum of lambda_J`` over the information
sets J to which s leads. Plans x are an equilibrium if and only if r >= 0 and x_s r_s = 0 (for two
players Koller, Megiddo and von Stengel 1996; for more Ganzfried 2025).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lstsq
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from eqbench.errors import UsageError
from eqbench.model.compiled import kernel
from eqbench.model.game import Game
from eqbench.model.inspection import counterfactual_reach
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.realization import realization, shares
from eqbench.model.tree import FloatArray, IntArray

from ..fischer_burmeister import System, descend

# Linear programs that are solved at most, each from where the last one led.
ROUNDS = 8
# Regret, as a share of the payoff range, that counts as an equilibrium to rounding.
SOLVED = 1e-13
# Actions up to which a step of any method takes a tenth of a second at most.
MOST_ACTIONS = 1000
# Polishing a game of so many actions takes about as long as compiling.
FEW_ACTIONS = 300


class PlanGame:
    """What polishing asks of a game.

    Attributes
    ----------
    model, measure
        The payoff model that knows realization plans, and the one that measures regrets.
    scale : payoff that counts as 1
    infoset : int64 (A,)
        Information set of each sequence but the empty ones.
    """

    def __init__(self, game: Game) -> None:
        self.game, self.form = game, game.sequence_form
        self.model, self.measure = SequenceFormModel(self.form), game.payoff_model()
        self.scale = game.tree.payoff_range or 1.0
        self.infoset = self.form.sequence_infoset[self.form.n_players :].astype(np.int64)

    def above(self, sequence: int) -> int:
        """The sequence that leads to the information set of a sequence that is not empty."""
        return int(self.form.parent[self.infoset[sequence - self.form.n_players]])

    @cached_property
    def flow(self) -> FloatArray:
        """Equations ``flow @ plans = 0`` of each information set, float64 (I, S)."""
        return self.form.flow()[self.form.n_players :]

    def feasible(self, weights: NDArray) -> FloatArray:
        """The realization plans (S,) nearest at hand to weights (S,) that may be no plans."""
        plans = np.array(weights, dtype=np.float64)
        if plans.shape != (self.form.n_sequences,) or not np.isfinite(plans).all():
            raise UsageError(
                f"weights have shape {plans.shape}, finite: {np.isfinite(plans).all()}; give one "
                f"finite weight for each of the {self.form.n_sequences} sequences"
            )
        return realization(self.form, shares(self.form, np.maximum(plans, 0.0)))

    def values(self, plans: FloatArray, chosen: NDArray[np.int64]) -> FloatArray:
        """Values of all sequences, float64 (S,), with later play as `chosen` (I,) says.

        Where that is negative it is filled with a best sequence.
        """
        values = self.model.direct_values(plans)
        _continue_play(self.form.block_start, self.form.parent, chosen, values[:, None])
        return values

    def derivatives(self, plans: FloatArray, chosen: NDArray[np.int64]) -> FloatArray:
        """Derivatives of `values` (rows) by the weights, float64 (S, S)."""
        matrix = self.model.direct_derivatives(plans)
        _continue_play(self.form.block_start, self.form.parent, chosen, matrix)
        return matrix

    def slacks(self, plans: FloatArray, chosen: NDArray[np.int64] | None = None) -> FloatArray:
        """What each sequence falls short of the chosen (I,) of its information set, float64 (S,).

        Of the best unless given. Weighted with the reach of chance and of the other players; 0
        at empty sequences.
        """
        chosen = np.full(self.form.n_infosets, -1) if chosen is None else chosen
        values = self.values(plans, chosen)
        slacks = np.zeros(len(values))
        slacks[self.form.n_players :] = values[chosen[self.infoset]] - values[self.form.n_players :]
        return slacks

    def behavior(self, plans: FloatArray) -> FloatArray:
        """Frequencies, float64 (A,), that play like feasible plans (S,).

        Where the own plan does not lead: the first best action, or equal frequencies if the
        other players do not lead there either.
        """
        form, n = self.form, self.form.n_players
        chosen = np.full(form.n_infosets, -1)
        self.values(plans, chosen)
        best = np.zeros(form.n_sequences)
        best[chosen] = 1.0
        missed = np.bincount(self.infoset, plans[n:], form.n_infosets) == 0
        behavior = shares(form, plans)
        others_lead = counterfactual_reach(self.game.tree, behavior > 0) > 0
        return np.where((missed & others_lead)[self.infoset], best[n:], behavior)


@kernel
def _continue_play(
    block_start: IntArray, parent: IntArray, chosen: NDArray[np.int64], values: FloatArray
) -> None:
    """Turn direct values into values with later play of the chosen sequences, in place.

    Of each column of `values` (S, K). ``chosen[i]`` (I,) is the sequence played at information
    set i; where it is negative it becomes the first of the best ones by the first column.
    """
    for i in range(len(parent) - 1, -1, -1):
        if chosen[i] < 0:
            first, last = block_start[i], block_start[i + 1]
            chosen[i] = first + np.argmax(values[first:last, 0])
        values[parent[i]] += values[chosen[i]]


@dataclass(frozen=True, eq=False)
class PolishedPlans:
    """Feasible plans, behavior that plays like them, and its largest regret."""

    weights: FloatArray  # float64 (S,)
    # float64 (A,): see `PlanGame.behavior` for places where the own plan does not lead
    behavior: FloatArray
    regret: float  # in payoff units, measured by the game's payoff model


def polish(game: Game, weights: NDArray) -> PolishedPlans:
    """The profile with the smallest regret on the way to an equilibrium near `weights`.

    Parameters
    ----------
    weights : float64 (S,)
        About realization plans of all players; small violations of any kind are put right. If
        nothing lowers the regret, the result is these plans made feasible.

    Raises UsageError if the shape is wrong or a weight is not finite.
    """
    plan_game = PlanGame(game)
    return improve(plan_game, plan_game.feasible(weights))


def improve(game: PlanGame, plans: FloatArray) -> PolishedPlans:
    """Like `polish`, from feasible plans (S,)."""
    best = measured(game, plans)
    if game.form.n_actions > MOST_ACTIONS and best.regret <= SOLVED * game.scale:
        return best
    for start in _starts(game, plans):
        # of equal regrets the earlier one
        made = [best, measured(game, start), *by_newton(game, start)]
        best = min(made, key=lambda polished: polished.regret)
        if best.regret <= SOLVED * game.scale:
            break
    return best


def _starts(game: PlanGame, plans: FloatArray) -> Iterator[FloatArray]:
    """Plans (S,) to start Newton's method from, until an equilibrium is found."""
    yield plans
    if game.form.n_actions <= MOST_ACTIONS:
        yield descended(game, plans)
    for _ in range(ROUNDS):
        nearer = closer(game, plans)
        if nearer is None:
            return
        plans = nearer
        yield plans


def by_newton(game: PlanGame, plans: FloatArray, held: Held = ()) -> Iterator[PolishedPlans]:
    """What Newton's method makes of the support of feasible plans (S,), step by step."""
    for made in corrected(game, plans, held):
        # weights that are nothing but rounding become 0
        yield measured(game, game.feasible(np.where(made < BEYOND, 0.0, made)))


def descended(game: PlanGame, plans: FloatArray) -> FloatArray:
    """Feasible plans (S,) at the end of semismooth steps."""
    system = System(game.game)
    *_, last = descend(system, system.start(game.behavior(plans)))
    return game.feasible(last.weights)


def measured(game: PlanGame, plans: FloatArray) -> PolishedPlans:
    """Feasible plans (S,) with their behavior and regret."""
    behavior = game.behavior(plans)
    return PolishedPlans(plans, behavior, float(game.measure.regrets(behavior).max()))


def warm_up_polish(game: Game) -> None:
    """Compile what polishing runs, with the types of this game."""
    plans = PlanGame(game)
    uniform = plans.feasible(np.ones(game.sequence_form.n_sequences))
    if game.tree.n_actions <= FEW_ACTIONS:
        improve(plans, uniform)
    else:  # the machine code depends on the number of players only
        plans.slacks(uniform)
        plans.model.direct_derivatives(uniform)


# -- Newton's method on a support ------------------------------------------------------------------

# Singular values below this share of the largest belong to weights that may vary freely.
RANK_TOLERANCE = 1e-10
ITERATIONS = 15
SMALLEST_STEP, LARGEST_STEP = 1e-15, 3.0
# A weight or a slack, as a share of the payoff range, beyond its bound by less is rounding.
BEYOND = 1e-14
CORRECTIONS = 12


# Frequencies that are given: pairs of a sequence and its frequency.
Held = tuple[tuple[int, Fraction], ...]
Marks = NDArray[np.bool_]


def corrected(game: PlanGame, plans: FloatArray, held: Held) -> Iterator[FloatArray]:
    """Plans (S,) that solve the equations of the support and of those that it turns into.

    Weights that come out negative leave the support, sequences that come out better than the
    best enter it. What has left already and enters again is only tied: its weight stays 0.
    Weights may still be negative.
    """
    played = tied = plans > game.slacks(plans) / game.scale
    seen: set[bytes] = set()
    has_left = np.zeros(len(plans), dtype=bool)
    for _ in range(CORRECTIONS):
        played, tied = _with_paths(game, plans, played, tied)
        key = played.tobytes() + tied.tobytes()
        if key in seen:
            return
        seen.add(key)
        made = solve_on(game, plans, played, tied, held)
        if made is None:
            return
        yield made
        slack = game.slacks(made, _most_played(game, made, played))
        led = np.append(np.ones(game.form.n_players, bool), played[game.form.parent[game.infoset]])
        leaving = played & (made < -BEYOND)
        entering = led & ~tied & (slack < -BEYOND * game.scale)
        if not leaving.any() and not entering.any():
            return
        has_left |= leaving
        played = (played & ~leaving) | (entering & ~has_left)
        tied = (tied & ~leaving) | entering


class Equations:
    """What the weights of a support solve: ties, flow, and what is held.

    Parameters
    ----------
    plans : float64 (S,)
        Plans near a solution.
    played, tied : bool (S,)
        Weights that are unknowns, the others are 0; and sequences whose slack is 0: all that
        are played and maybe others. They must be consistent.

    Attributes
    ----------
    unknown : int64 (K,)
        Sequences with an unknown weight.
    tied, best : int64 (T,)
        Sequences that must be as good as another of their information set, and that one.
    chosen : int64 (I,)
        The sequence that each information set continues with.
    linear : float64 (I + H, S)
        Flow and held frequencies: ``linear @ plans = 0``.
    """

    def __init__(
        self, game: PlanGame, plans: FloatArray, played: Marks, tied: Marks, held: Held
    ) -> None:
        self.game, self.held, n = game, held, game.form.n_players
        self.chosen = _most_played(game, plans, played)
        sequence = np.flatnonzero(tied[n:]) + n
        best = self.chosen[game.infoset[sequence - n]]
        self.tied, self.best = sequence[sequence != best], best[sequence != best]
        self.unknown = np.flatnonzero(played[n:]) + n
        self.linear = np.vstack((game.flow, held_rows(game, held)))

    def scaled(self, plans: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives (E, K) by the unknown weights, rows divided by their scale (E,).

        Ties first, then flow, then what is held.
        """
        matrix = self.game.derivatives(plans, self.chosen)
        ties = matrix[self.best] - matrix[self.tied]
        rows = np.vstack((ties, self.linear))[:, self.unknown]
        # sets that others hardly reach have short rows, and the rank is a matter of ratios
        scale = np.abs(rows).max(axis=1, initial=0.0)
        scale[scale == 0.0] = 1.0
        return rows / scale[:, None], scale

    def left(self, plans: FloatArray) -> FloatArray:
        """By how much plans (S,) violate the equations, float64 (E,)."""
        values = self.game.values(plans, self.chosen)
        return np.concatenate((values[self.best] - values[self.tied], self.linear @ plans))


def held_rows(game: PlanGame, held: Held) -> FloatArray:
    """Equations ``rows @ plans = 0`` of frequencies that are held, float64 (H, S)."""
    rows = np.zeros((len(held), game.form.n_sequences))
    for row, (sequence, frequency) in zip(rows, held, strict=True):
        row[sequence] = 1.0
        row[game.above(sequence)] = -float(frequency)
    return rows


def solve_on(
    game: PlanGame, plans: FloatArray, played: Marks, tied: Marks, held: Held
) -> FloatArray | None:
    """Weights (S,) with all tied sequences equally good; they may be negative.

    None if Newton's method, with the shortest steps, leaves the neighborhood.
    """
    x = np.where(played, plans, 0.0)
    equations = Equations(game, x, played, tied, held)
    if not len(equations.unknown):
        return x
    for _ in range(ITERATIONS):
        matrix, scale = equations.scaled(x)
        try:
            # QR is several times faster than singular values and as good where the rank is clear
            step = lstsq(
                matrix, -equations.left(x) / scale, cond=RANK_TOLERANCE, lapack_driver="gelsy"
            )[0]
        except (LinAlgError, ValueError):  # ValueError: not finite
            return None
        size = np.abs(step).max()
        if not size <= LARGEST_STEP:
            return None
        x[equations.unknown] += step
        if size <= SMALLEST_STEP:
            break
    return x


def _most_played(game: PlanGame, plans: FloatArray, played: Marks) -> NDArray[np.int64]:
    """The sequence that others of its set are compared with, int64 (I,).

    Where none is played the first of the best.
    """
    form = game.form
    weights = np.where(played, plans, -np.inf)
    chosen = np.full(form.n_infosets, -1)
    for i in range(form.n_infosets):
        first, last = form.block_start[i], form.block_start[i + 1]
        if played[first:last].any():
            chosen[i] = first + int(np.argmax(weights[first:last]))
    game.values(np.maximum(plans, 0.0), chosen)
    return chosen


def _with_paths(
    game: PlanGame, plans: FloatArray, played: Marks, tied: Marks
) -> tuple[Marks, Marks]:
    """The support made consistent: what leads to a played sequence is played and leads on."""
    form, n = game.form, game.form.n_players
    played, tied = played.copy(), tied.copy()
    played[:n] = True
    best = np.full(form.n_infosets, -1)
    game.values(plans, best)
    for i in range(form.n_infosets):
        block = slice(form.block_start[i], form.block_start[i + 1])
        if not played[form.parent[i]]:
            played[block] = tied[block] = False
        elif not played[block].any():
            played[best[i]] = True
    return played, tied | played


# -- a linear program, which needs no support ------------------------------------------------------

# Prices of the gap against distance. A high one goes far to close the last of it, and so it does
# where equilibria are nearly degenerate; a low one stays where the linearization is true.
PRICES = (1e7, 1e5, 1e3)
# A gap that falls to this share is small enough not to try the other prices.
CLOSED = 0.1


def closer(game: PlanGame, plans: FloatArray) -> FloatArray | None:
    """Feasible plans (S,) with a smaller gap than the feasible `plans`; None if none are found."""
    best, least = None, gap(game, plans)
    goal = CLOSED * least
    for price in PRICES:
        found = linearized(game, plans, price)
        if found is None:
            continue
        made = game.feasible(found)
        left = gap(game, made)
        if left < least:
            best, least = made, left
        if left <= goal:
            break
    return best


def gap(game: PlanGame, plans: FloatArray) -> float:
    """Sum of the regrets of feasible plans (S,), in payoff units: 0 at equilibria only."""
    return float(plans @ game.slacks(plans))


def linearized(game: PlanGame, plans: FloatArray, price: float) -> FloatArray | None:
    """Weights (S,) with the least sum of price times linearized gap and of all changes.

    A linear program over changes of the plans and the values of information sets (von Stengel
    1996, for the best responses). Because changes cost, what need not move stays, and the error
    of the linearization is of second order in the distance of the equilibrium, without a region
    of trust. None if there is no gap or the program fails.
    """
    form, n = game.form, game.form.n_players
    slack = game.slacks(plans)
    # changes are counted in this unit: the program has absolute tolerances
    unit = float(plans @ slack) / game.scale
    if not unit > 0.0:
        return None
    values = game.model.direct_values(plans) / game.scale
    derivatives = game.model.direct_derivatives(plans) / game.scale
    # the slack of a sequence is lambda_I - (sum of lambda_J below) - its own value
    value_rows = game.flow.T
    gain = (derivatives[:n].sum(axis=0) - values - plans @ derivatives)[n:]
    cost = np.concatenate((gain + 1.0 / price, 1.0 / price - gain, -value_rows[:n].sum(axis=0)))
    change, shift = csr_array(derivatives[n:, n:]), csr_array(game.flow[:, n:])
    # Any: SciPy takes sparse matrices and arrays of bounds, its annotations do not say so
    inequalities: Any = hstack((change, -change, csr_array(-value_rows[n:])), format="csr")
    still = csr_array((form.n_infosets, form.n_infosets))
    equations: Any = hstack((shift, -shift, still), format="csr")
    # growth, decrease, values of information sets
    nothing, free = np.zeros(len(gain)), np.full(form.n_infosets, np.inf)
    low = np.concatenate((nothing, nothing, -free))
    high = np.concatenate((nothing + np.inf, plans[n:] / unit, free))
    bounds: Any = np.stack((low, high), axis=1)
    limits = slack[n:] / (game.scale * unit)
    flow_left = -(game.flow @ plans) / unit
    made = linprog(cost, inequalities, limits, equations, flow_left, bounds, method="highs-ds")
    if made.x is None:
        return None
    up, down, _ = np.split(made.x, (len(gain), 2 * len(gain)))
    result = plans.copy()
    kept = np.where(down >= plans[n:] / unit, 0.0, plans[n:] - unit * down)
    result[n:] = kept + unit * up
    return result
